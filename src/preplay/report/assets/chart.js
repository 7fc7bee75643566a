// Curves on two axes with values under the pointer and under the arrow keys.
import { announce, h, s } from './dom.js';
import { compact } from './words.js';

function niceTicks(low, high, count) {
  const step = (high - low) / count || 1;
  const power = 10 ** Math.floor(Math.log10(step));
  const size = [1, 2, 2.5, 5, 10].map((m) => m * power).find((m) => m >= step * 0.999);
  const ticks = [];
  for (let at = Math.ceil(low / size - 1e-9) * size; at <= high + size * 1e-9; at += size) ticks.push(Math.abs(at) < size * 1e-9 ? 0 : at);
  return ticks;
}

function logTicks(low, high, most) {
  const ticks = [];
  const [from, to] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const every = Math.max(1, Math.ceil((to - from) / most));
  for (let e = from; e <= to; e += every) if (10 ** e >= low / 1.001 && 10 ** e <= high * 1.001) ticks.push(10 ** e);
  return ticks.length > 1 ? ticks : [low, high];
}

// One axis: {label, log, low, high, format, ticks, margin}. Gives the place of a number between 0 and 1.
function makeAxis(numbers, options) {
  const { log = false, whole = false } = options;
  let low = options.low ?? Math.min(...numbers);
  let high = options.high ?? Math.max(...numbers);
  if (log) {
    low = Math.max(low, 1e-15);
    if (!(high > low)) high = low * 10;
  } else {
    const room = (high - low || Math.abs(high) || 1) * (options.room ?? 0.06);
    if (options.low === undefined) low -= room;
    if (options.high === undefined) high += room;
  }
  const place = log
    ? (x) => (Math.log(Math.max(x, 1e-15)) - Math.log(low)) / (Math.log(high) - Math.log(low))
    : (x) => (x - low) / (high - low);
  return {
    ...options,
    low,
    high,
    place,
    format: options.format || compact,
    ticks: (count) => options.ticks || (log ? logTicks(low, high, count) : niceTicks(low, high, count).filter((t) => !whole || Number.isInteger(t))),
  };
}

function markerShape(kind, x, y, size) {
  if (kind === 'square') return s('rect', { x: x - size * 0.9, y: y - size * 0.9, width: size * 1.8, height: size * 1.8, class: 'marker' });
  if (kind === 'diamond') return s('polygon', { points: `${x},${y - size * 1.3} ${x + size * 1.3},${y} ${x},${y + size * 1.3} ${x - size * 1.3},${y}`, class: 'marker' });
  return s('circle', { cx: x, cy: y, r: size, class: 'marker' });
}

// series: [{name, tone, marker, axis: 'left' | 'right', points: [{x, y, tip}]}]. `tone` is a class of the style.
// `onPick(index)` gets the point chosen; `tips(x index)` rows of the little box, by default one per series.
export function makeChart({ label, series, x, left, right, height = 260, onPick, xs, tip, rule }) {
  const all = series.flatMap((line) => line.points);
  const xAxis = makeAxis(all.map((point) => point.x), x);
  const axes = { left: makeAxis(series.filter((l) => l.axis !== 'right').flatMap((l) => l.points.map((q) => q.y)), left) };
  if (right) axes.right = makeAxis(series.filter((l) => l.axis === 'right').flatMap((l) => l.points.map((q) => q.y)), right);
  const stops = xs || [...new Set(all.map((point) => point.x))].sort((a, b) => a - b);
  const box = h('div', { class: 'tip', hidden: true });
  const svg = s('svg', { class: 'chart', tabindex: 0, role: 'img', 'aria-label': `${label}. Use the arrow keys to read the values.` });
  const frame = h('div', { class: 'chart-frame' }, svg, box);
  let width = 0;
  let at = -1;
  let picked = -1;
  let cursor = null;
  const margin = { top: 14, right: right ? 58 : 16, bottom: 42, left: 58 };
  const px = (value) => margin.left + xAxis.place(value) * (width - margin.left - margin.right);
  const py = (value, side = 'left') => height - margin.bottom - axes[side].place(value) * (height - margin.top - margin.bottom);

  function draw() {
    svg.replaceChildren();
    svg.setAttribute('viewBox', `0 0 ${width} ${height}`);
    svg.setAttribute('height', height);
    const grid = s('g', { class: 'grid' });
    for (const tick of axes.left.ticks(5)) {
      grid.append(s('line', { x1: margin.left, x2: width - margin.right, y1: py(tick), y2: py(tick) }),
        s('text', { x: margin.left - 8, y: py(tick) + 4, 'text-anchor': 'end' }, axes.left.format(tick)));
    }
    if (axes.right) for (const tick of axes.right.ticks(5)) grid.append(s('text', { x: width - margin.right + 8, y: py(tick, 'right') + 4, class: right.tone || '' }, axes.right.format(tick)));
    for (const tick of xAxis.ticks(Math.max(3, Math.floor(width / 75)))) {
      grid.append(s('line', { x1: px(tick), x2: px(tick), y1: height - margin.bottom, y2: height - margin.bottom + 5, class: 'tick' }),
        s('text', { x: px(tick), y: height - margin.bottom + 19, 'text-anchor': 'middle' }, xAxis.format(tick)));
    }
    grid.append(s('line', { x1: margin.left, x2: width - margin.right, y1: height - margin.bottom, y2: height - margin.bottom, class: 'axis' }),
      s('text', { x: (margin.left + width - margin.right) / 2, y: height - 6, 'text-anchor': 'middle', class: 'name' }, x.label),
      s('text', { x: 14, y: (height - margin.bottom + margin.top) / 2, 'text-anchor': 'middle', class: `name ${left.tone || ''}`, transform: `rotate(-90 14 ${(height - margin.bottom + margin.top) / 2})` }, left.label));
    if (right) grid.append(s('text', { x: width - 8, y: (height - margin.bottom + margin.top) / 2, 'text-anchor': 'middle', class: `name ${right.tone || ''}`, transform: `rotate(90 ${width - 8} ${(height - margin.bottom + margin.top) / 2})` }, right.label));
    if (rule) grid.append(s('line', { x1: margin.left, x2: width - margin.right, y1: py(rule.at), y2: py(rule.at), class: 'rule' }),
      s('text', { x: width - margin.right, y: py(rule.at) - 6, 'text-anchor': 'end', class: 'rule-name' }, rule.label));
    svg.append(grid);
    for (const line of series) {
      const group = s('g', { class: `series ${line.tone || 'tone-a'}` });
      const spots = line.points.map((q) => [px(q.x), py(q.y, line.axis || 'left')]);
      group.append(s('polyline', { points: spots.map((q) => q.map((n) => n.toFixed(1)).join(',')).join(' ') }));
      if (spots.length <= 120) spots.forEach(([cx, cy]) => group.append(markerShape(line.marker, cx, cy, line.thin ? 2.6 : 3.4)));
      svg.append(group);
    }
    cursor = s('g', { class: 'cursor' });
    svg.append(cursor);
    drawCursor();
  }

  function drawCursor() {
    if (!cursor) return;
    cursor.replaceChildren();
    const spot = (index, kind) => {
      const value = stops[index];
      cursor.append(s('line', { x1: px(value), x2: px(value), y1: margin.top, y2: height - margin.bottom, class: kind }));
      for (const line of series) {
        const point = line.points.find((q) => q.x === value);
        if (point) cursor.append(s('g', { class: `spot ${kind} ${line.tone || 'tone-a'}` }, markerShape(line.marker, px(value), py(point.y, line.axis || 'left'), kind === 'picked' ? 6 : 5)));
      }
    };
    if (picked >= 0) spot(picked, 'picked');
    if (at >= 0 && at !== picked) spot(at, 'under');
  }

  function rows(index) {
    if (tip) return tip(index);
    return [`${x.label}: ${xAxis.format(stops[index])}`, ...series.map((line) => {
      const point = line.points.find((q) => q.x === stops[index]);
      return point ? `${line.name}: ${(line.axis === 'right' ? axes.right : axes.left).format(point.y)}` : null;
    }).filter(Boolean)];
  }

  function hover(index, speak = false) {
    at = index;
    drawCursor();
    box.hidden = index < 0;
    if (index < 0) return;
    const text = rows(index);
    box.replaceChildren(...text.map((row, k) => h(k ? 'span' : 'strong', {}, row)));
    const where = px(stops[index]);
    box.classList.toggle('to-left', where > width * 0.55);
    box.style.setProperty('--at', `${where}px`);
    if (speak) announce(text.join(', '));
  }

  function nearest(event) {
    const where = event.clientX - svg.getBoundingClientRect().left;
    let best = 0;
    stops.forEach((value, k) => {
      if (Math.abs(px(value) - where) < Math.abs(px(stops[best]) - where)) best = k;
    });
    return best;
  }

  svg.addEventListener('pointermove', (event) => hover(nearest(event)));
  svg.addEventListener('pointerleave', () => hover(-1));
  svg.addEventListener('blur', () => hover(-1));
  svg.addEventListener('click', (event) => {
    if (onPick) onPick(nearest(event));
    else hover(nearest(event));
  });
  svg.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const from = at >= 0 ? at : picked;
    if (step) hover(Math.min(stops.length - 1, Math.max(0, from < 0 ? 0 : from + step)), true);
    else if (event.key === 'Home' || event.key === 'End') hover(event.key === 'Home' ? 0 : stops.length - 1, true);
    else if ((event.key === 'Enter' || event.key === ' ') && onPick && at >= 0) onPick(at);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  new ResizeObserver(() => {
    if (frame.clientWidth && Math.abs(frame.clientWidth - width) > 1) {
      width = frame.clientWidth;
      draw();
    }
  }).observe(frame);
  return {
    element: frame,
    pick(index) {
      picked = index;
      drawCursor();
    },
  };
}

export function legend(series) {
  return h('ul', { class: 'legend' }, series.map((line) => h('li', {},
    s('svg', { viewBox: '0 0 28 12', width: 28, height: 12, 'aria-hidden': 'true' },
      s('g', { class: `series ${line.tone}` }, s('polyline', { points: '0,6 28,6' }), markerShape(line.marker, 14, 6, 3.4))),
    line.name)));
}
