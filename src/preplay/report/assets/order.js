// The order worth learning: value against memory, steps to click, and what a smaller book gives up.
import { legend, makeChart } from './chart.js';
import { h } from './dom.js';
import { percent, plural, points } from './words.js';

const STEPS_AT_ONCE = 40;
const LEAST_SEEN = 5e-4; // what memory must cost for a second curve to be told from the first

export function makeOrder(app) {
  const { view: book, data, numbers } = app;
  const { unprepared, cost } = data.worth;
  const stops = [[0, unprepared, null], ...data.steps];
  const whole = stops[stops.length - 1];
  const verdict = h('div', { class: 'verdict-box', role: 'status' });
  const rows = h('ol', { class: 'steps' });
  const more = h('button', { type: 'button', class: 'plain more' });
  const slider = h('input', {
    type: 'range', id: 'book-size', min: 0, max: stops.length - 1, step: 1, value: stops.length - 1,
    input: () => choose(Number(slider.value)),
  });
  const curve = (name, tone, marker, worth) => ({ name, tone, marker, points: stops.map(([size, value]) => ({ x: size, y: worth(size, value) })) });
  const net = (size, value) => value - cost * size;
  const series = [curve(data.trust.scores, 'tone-a', 'circle', (size, value) => value)];
  const priced = cost * whole[0] >= LEAST_SEEN;
  if (priced) series.push(curve('net: less the price of the memory', 'tone-b', 'square', net));
  const chart = makeChart({
    label: `${data.trust.scores} against the number of positions learned`,
    series,
    x: { label: 'positions learned', whole: true, low: 0, room: 0.03 },
    left: { label: data.trust.scores, format: (v) => `${(100 * v).toFixed(Math.abs(whole[1] - unprepared) < 0.05 ? 1 : 0)}%` },
    rule: { at: unprepared, label: 'without preparation' },
    height: 230,
    onPick: choose,
    tip: (j) => [plural(stops[j][0], 'position'), percent(stops[j][1]), ...(priced ? [`net ${percent(net(...stops[j]))}`] : []), ...(j ? [`the best book while a position costs up to ${points(stops[j][2], false)} points per 100 games`] : [])],
  });
  let chosen = stops.length - 1;
  let drawn = 0;

  function choose(j) {
    chosen = j;
    slider.value = j;
    book.choose(stops[j][0]);
    app.refresh();
    show();
  }

  function show() {
    const [size, value] = stops[chosen];
    chart.pick(chosen);
    slider.setAttribute('aria-valuetext', `${plural(size, 'position')}, ${percent(value)}`);
    const lost = whole[1] - value;
    verdict.replaceChildren(
      h('p', { class: 'big' }, h('strong', {}, plural(size, 'position')), ' for ', h('strong', {}, percent(value)), priced && `, net ${percent(net(size, value))}`),
      chosen === stops.length - 1
        ? h('p', {}, `The whole book: ${points(value - unprepared)} points per 100 games over no preparation.`)
        : h('p', {}, `You save ${plural(whole[0] - size, 'position')} and give up `, h('strong', {}, `${points(lost, false)} points per 100 games`), ` of the whole book’s ${points(whole[1] - unprepared, false)}.`),
      chosen === stops.length - 1 ? '' : h('button', { type: 'button', class: 'plain', click: () => choose(stops.length - 1) }, 'Back to the whole book'));
    for (const row of rows.children) {
      const j = Number(row.dataset.step);
      row.classList.toggle('beyond', j > chosen);
      if (j === chosen) row.setAttribute('aria-current', 'step');
      else row.removeAttribute('aria-current');
    }
  }

  // The lines that a step adds: for each of its last positions the way there, new moves marked.
  function newLines(j) {
    const fresh = new Set(book.order.slice(j ? stops[j - 1][0] : 0, stops[j][0]));
    const last = new Set(fresh);
    for (const k of fresh) {
      let above = book.parent[k];
      while (above >= 0 && !book.own(above)) above = book.parent[above];
      last.delete(above);
    }
    return [...last].sort((a, b) => book.reach[b] - book.reach[a]).map((k) => {
      const path = [...book.path(k), book.main(k)];
      const begin = path.findIndex((c) => fresh.has(book.parent[c]));
      return { k, old: path.slice(0, begin), fresh: path.slice(begin) };
    });
  }

  function lineButton({ k, old, fresh }) {
    return h('button', { type: 'button', class: 'line-button', 'data-node': k, click: () => app.go(k) },
      old.length > 0 && h('span', { class: 'old' }, `${numbers.line(book, old)} `),
      h('span', {}, fresh.map((c, at) => {
        const text = numbers.prefix(book.depth[c], at === 0) + book.say(c);
        return [at ? ' ' : '', book.mine(c) ? h('strong', {}, text) : text];
      })));
  }

  function addRows() {
    const to = Math.min(stops.length - 1, drawn + STEPS_AT_ONCE);
    for (let j = drawn + 1; j <= to; j += 1) {
      const [size, value] = stops[j];
      const lines = newLines(j);
      const rest = lines.slice(3);
      rows.append(h('li', { 'data-step': j },
        h('div', { class: 'step-head' },
          h('span', { class: 'step-number' }, String(j)),
          h('span', { class: 'step-what' }, plural(size - stops[j - 1][0], 'position'), h('span', { class: 'note' }, ` ${size.toLocaleString('en')} in all`)),
          h('span', { class: 'step-gain' }, points(value - stops[j - 1][1])),
          h('span', { class: 'step-value' }, percent(value)),
          h('button', { type: 'button', class: 'plain', click: () => choose(j), 'aria-label': `Stop here, after step ${j}` }, 'Stop here')),
        lines.slice(0, 3).map(lineButton),
        rest.length > 0 && h('details', {}, h('summary', {}, plural(rest.length, 'more line')), rest.slice(0, 60).map(lineButton))));
    }
    drawn = to;
    more.hidden = drawn >= stops.length - 1;
    more.textContent = `Show more (${(stops.length - 1 - drawn).toLocaleString('en')} steps left)`;
    show();
  }
  more.addEventListener('click', addRows);

  const element = h('div', { class: 'order' });
  if (stops.length === 1) element.append(h('p', { class: 'aside' }, 'The best book is empty: at this price nothing is worth learning.'));
  else {
    element.append(
      h('p', { class: 'aside' }, 'Every point is the best book of its size. Choose one to see what it gives up; the tree, the values and the trainer follow.'),
      chart.element,
      series.length > 1 ? legend(series) : '',
      h('label', { class: 'slider', for: 'book-size' }, h('span', {}, 'How much to learn'), slider),
      verdict,
      h('h2', {}, 'In this order'),
      h('div', { class: 'step-head titles', 'aria-hidden': 'true' }, h('span', { class: 'step-number' }, ''), h('span', { class: 'step-what' }, 'learn'), h('span', { class: 'step-gain' }, 'points / 100'), h('span', { class: 'step-value' }, 'score')),
      rows, more);
    addRows();
  }
  return { element, choose, whole: () => choose(stops.length - 1) };
}
