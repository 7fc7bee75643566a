// Sweeps and Figure 1: curves with values under the pointer, the settings, and a table.
import { legend, makeChart } from './chart.js';
import { find, h, section } from './dom.js';
import { makeFoot, makeTop, tile } from './summary.js';
import { compact, plural, points } from './words.js';

const MEASURE_NAMES = {
  value: 'value with the book',
  size: 'positions learned',
  net: 'value net of memory',
  upper: 'certified upper bound',
  baseline: 'value before the first move',
  unprepared: 'value without preparation',
  gain: 'gain over no preparation',
  histories: 'histories looked at',
  questions: 'questions asked',
  searches: 'engine searches',
  seconds: 'seconds',
};

const TONES = [['tone-a', 'circle'], ['tone-b', 'square'], ['tone-c', 'diamond']];
const sideTitle = (side) => (/^\d+$/.test(side) ? `Player ${side}` : side.charAt(0).toUpperCase() + side.slice(1));

function curveX(data) {
  if (data.plain) return { of: (row) => data.settings[row.at], axis: { label: data.key, log: data.log, room: 0.03 } };
  return { of: (row) => row.at, axis: { label: data.key, room: 0.08, ticks: data.settings.map((_, k) => k), format: (k) => String(data.settings[k] ?? '').slice(0, 14) } };
}

const FRACTIONS = new Set(['value', 'net', 'upper', 'baseline', 'unprepared', 'gain']);

// The paper's figure: value on the left, size on the right, one panel a side.
function figureOne(data) {
  const { of, axis } = curveX(data);
  return data.series.map((line) => {
    const series = [
      { name: 'Utility', tone: 'tone-a', marker: 'circle', points: line.points.map((row) => ({ x: of(row), y: row.value })) },
      { name: 'Size of the book', tone: 'tone-b', marker: 'square', axis: 'right', thin: true, points: line.points.map((row) => ({ x: of(row), y: row.size })) },
    ];
    const chart = makeChart({
      label: `${sideTitle(line.side)} prepares: utility and size of the best book against the opponent’s randomness`,
      series,
      x: { ...axis, label: 'randomness r of the opponent' },
      left: { label: 'utility', tone: 'tone-a', high: 1.02, format: (v) => v.toFixed(2) },
      right: { label: 'positions', tone: 'tone-b', low: 0, whole: true },
      height: 280,
      tip: (j) => {
        const row = line.points[j];
        return [`r = ${compact(data.settings[row.at])}`, `utility ${row.value.toFixed(4)}`, `${plural(row.size, 'position')}`, `without preparation ${row.unprepared.toFixed(4)}`];
      },
    });
    return section(`figure-${line.side.replace(/\W/g, '')}`, `${sideTitle(line.side)} prepares`, legend(series), chart.element);
  });
}

function sweepCharts(data) {
  const { of, axis } = curveX(data);
  const holder = h('div');
  const chosen = new Set(['value', 'size']);
  function draw() {
    holder.replaceChildren(...data.measures.filter((name) => chosen.has(name)).map((name) => {
      const series = data.series.map((line, k) => ({ name: sideTitle(line.side), tone: TONES[k % 3][0], marker: TONES[k % 3][1], points: line.points.map((row) => ({ x: of(row), y: row[name] })) }));
      const chart = makeChart({
        label: `${MEASURE_NAMES[name]} against ${data.key}`,
        series, x: axis, height: 240,
        left: { label: MEASURE_NAMES[name], low: FRACTIONS.has(name) ? undefined : 0, whole: name === 'size', format: compact },
      });
      return h('figure', {}, h('figcaption', {}, MEASURE_NAMES[name], data.series.length > 1 && legend(series)), chart.element);
    }));
  }
  const boxes = data.measures.map((name) => h('label', { class: 'check' }, h('input', { type: 'checkbox', checked: chosen.has(name), change: (event) => {
    if (event.target.checked) chosen.add(name);
    else chosen.delete(name);
    draw();
  } }), MEASURE_NAMES[name]));
  draw();
  return [section('curves', 'Curves', h('fieldset', { class: 'checks' }, h('legend', {}, 'Show'), boxes), holder)];
}

function pointTable(data) {
  const names = ['value', 'size', 'net', 'upper', 'unprepared', 'searches', 'seconds'];
  const rows = data.series.flatMap((line) => line.points.map((row) => h('tr', {}, h('td', {}, sideTitle(line.side)), h('td', { class: 'number' }, typeof data.settings[row.at] === 'number' ? compact(data.settings[row.at]) : String(data.settings[row.at])),
    names.map((name) => h('td', { class: 'number' }, FRACTIONS.has(name) ? row[name].toFixed(4) : compact(row[name]))), h('td', {}, row.ending))));
  return section('points', 'All points', h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Table of all points' }, h('table', {},
    h('thead', {}, h('tr', {}, ['side', data.key, ...names, 'ended'].map((name, k) => h('th', { scope: 'col', class: k > 0 && k <= names.length + 1 ? 'number' : null }, name)))), h('tbody', {}, rows))));
}

export function showCurves(data) {
  const figure = data.command === 'figure1';
  const count = data.series.reduce((sum, line) => sum + line.points.length, 0);
  const bests = data.series.map((line) => {
    const best = line.points.reduce((a, b) => (b.gain > a.gain ? b : a));
    const at = data.settings[best.at];
    return tile(`${sideTitle(line.side)} gains most`, points(best.gain), `points per 100 games at ${data.key} ${typeof at === 'number' ? compact(at) : at}`);
  });
  makeTop(data, figure ? 'How much predictability costs' : `What changes with ${data.key}`, [[plural(count, 'best book'), '']]);
  const main = find('#main');
  main.classList.add('sheet-page');
  main.append(
    h('p', { class: 'subtitle' }, figure ? `${data.game}: the best book against an opponent that plays more and more randomly (Figure 1 of the paper).` : `${data.game} (${data.matchup}): the best book at each value of ${data.key}.`),
    h('dl', { class: 'tiles' }, bests, tile('Points', plural(count, 'best book'), `${plural(data.settings.length, 'value')} of ${data.key}`, data.cost !== null && `cost ${compact(data.cost)} a position`)),
    ...(figure ? figureOne(data) : sweepCharts(data)), pointTable(data));
  makeFoot(data);
}
