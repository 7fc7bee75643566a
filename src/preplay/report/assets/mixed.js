// Both sides prepare: two mixed books on one tree, seen from either side.
import { byShare } from './app.js';
import { makeChart } from './chart.js';
import { factList, h } from './dom.js';
import { decodeTree, likeliest } from './model.js';
import { moveRows } from './position.js';
import { makeTop, made } from './summary.js';
import { compact, often, percent, plural, points, power } from './words.js';

export function makeMixed(data) {
  const tree = decodeTree(data.tree);
  const { x, prep } = data.tree;
  const view = {
    ...tree,
    data,
    side: '1',
    own: (k) => view.player[k] === view.side,
    held: (k) => (x[k] ?? 0),
    // How often the book plays the move into a position.
    study: (k) => (prep[k - 1] ?? 0),
    // The book's own moves out of a position, the most probable first.
    studied: (k) => tree.children(k).filter((c) => view.study(c) > 0).sort((a, b) => view.study(b) - view.study(a)),
    mine: (k) => k > 0 && view.own(tree.parent[k]) && view.held(tree.parent[k]) > 0 && view.study(k) > 0.5,
    dim: (k) => tree.reach[k] < 1e-9,
    ending: (k) => (tree.leaf(k) ? (tree.player[k] === 'f' ? 'game over' : 'books end') : ''),
    main: (k) => likeliest(tree, k),
    value: (k) => (view.side === '1' ? data.tree.value[k] : 1 - data.tree.value[k]),
  };
  return view;
}

// The book's moves out of a position, each with its share where there are several.
function studiedMoves(view, k, write, or = ', ') {
  const studied = view.studied(k);
  return studied.map((c, j) => [j === 0 ? '' : j === studied.length - 1 ? or : ', ', write(c), studied.length > 1 ? `\u00a0(${studyShare(view, c)})` : '']);
}

const studyShare = (view, c) => percent(view.study(c), view.study(c) < 0.1 ? 1 : 0);

export function mixedCard(app, k) {
  const { view, data, numbers } = app;
  const me = data.sides[Number(view.side) - 1];
  const mover = data.sides[Number(view.player[k]) - 1];
  const met = ['Met in', often(view.reach[k]), view.reach[k] < 0.995 ? `(${percent(view.reach[k])})` : ''];
  const worth = [`Expected score of ${me}`, percent(view.value(k))];
  if (view.leaf(k)) {
    return [h('p', { class: 'verdict' }, view.player[k] === 'f' ? 'The game is over' : 'Both books end here'),
      view.player[k] === 'f' ? null : h('p', {}, 'From here on both sides play as at the board.'), factList([met, worth])];
  }
  if (view.player[k] === 'c') return [h('p', { class: 'label' }, 'Chance decides'), moveRows(app, byShare(view, k), () => '', 'theirs'), factList([met, worth])];
  const held = view.held(k);
  const studied = view.studied(k);
  return [
    h('p', { class: 'label' }, view.own(k) ? `${me} to move` : `${mover} answers`),
    h('p', { class: 'held' }, held > 0
      ? [`In ${mover}’s book `, h('strong', {}, percent(held)), ' of the time', studied.length ? [', to play ', studiedMoves(view, k, (c) => h('strong', {}, numbers.prefix(view.depth[c], true) + view.say(c)), ' or ')] : '', '.']
      : `Not in ${mover}’s book: played as at the board.`),
    h('p', { class: 'label' }, 'Moves in equilibrium'),
    moveRows(app, byShare(view, k), (c) => (held > 0 && studied.includes(c) ? h('span', { class: 'pill' }, studied.length > 1 ? `book ${studyShare(view, c)}` : 'book') : ''), view.own(k) ? 'mine' : 'theirs'),
    factList([met, worth]),
  ];
}

// Every history that a side's book holds, the likeliest first.
export function mixedTable(app) {
  const body = h('tbody');
  const more = h('button', { type: 'button', class: 'plain more', click: () => draw(200) });
  const caption = h('caption');
  let rows = [];
  let drawn = 0;
  function draw(count) {
    const { view, numbers } = app;
    for (const k of rows.slice(drawn, drawn + count)) {
      body.append(h('tr', {}, h('td', {}, h('button', { type: 'button', class: 'move', click: () => app.go(k) }, numbers.line(view, view.path(k)) || 'Start')),
        h('td', { class: 'plays' }, studiedMoves(view, k, view.say)), h('td', { class: 'number' }, percent(view.held(k))), h('td', { class: 'number' }, often(view.reach[k]))));
    }
    drawn = Math.min(rows.length, drawn + count);
    more.hidden = drawn >= rows.length;
    more.textContent = `Show more (${rows.length - drawn} left)`;
  }
  return {
    element: h('div', { class: 'scroll' }, h('table', {}, caption, h('thead', {}, h('tr', {}, ['After', 'Play', 'Learned', 'Met in'].map((name, k) => h('th', { scope: 'col', class: k > 1 ? 'number' : null }, name)))), body), more),
    refresh() {
      const { view, data } = app;
      rows = Array.from({ length: view.n }, (_, k) => k).filter((k) => view.own(k) && view.held(k) > 1e-6)
        .sort((a, b) => view.held(b) - view.held(a) || view.depth[a] - view.depth[b]);
      caption.textContent = `${data.sides[Number(view.side) - 1]}’s book: ${plural(rows.length, 'position')}, each learned with the probability given`;
      body.replaceChildren();
      drawn = 0;
      draw(100);
    },
  };
}

export function gapChart(data) {
  const measured = data.trace.filter((row) => row[2] > 0);
  if (measured.length < 2) return h('p', { class: 'aside' }, data.trace.length ? 'The first measurement was exact: there is no way to show.' : 'The run kept no trace of its gap.');
  const holder = h('div');
  const select = h('select', { id: 'gap-x', change: draw }, h('option', { value: '0' }, 'iterations'), h('option', { value: '1' }, 'seconds'));
  function draw() {
    const by = Number(select.value);
    const rows = data.trace.filter((row) => row[by] > 0 && row[2] > 0);
    const chart = makeChart({
      label: `Certified gap against ${by ? 'seconds' : 'iterations'}, both logarithmic`,
      series: [{ name: 'gap', tone: 'tone-a', points: rows.map((row) => ({ x: row[by], y: row[2] })) }],
      x: { label: by ? 'seconds' : 'iterations', log: true },
      left: { label: 'certified gap', log: true, format: (v) => power(v, 0) },
      height: 300,
      tip: (j) => [`gap ${power(rows[j][2])}`, plural(rows[j][0], 'iteration'), `${compact(rows[j][1])} s`],
      xs: rows.map((row) => row[by]),
    });
    holder.replaceChildren(chart.element);
  }
  draw();
  return h('div', {}, h('p', { class: 'aside' }, 'The gap is measured by exact best responses: neither side can gain more than this by any other book.'),
    h('label', { for: 'gap-x' }, 'Against ', select), holder);
}

// How exact a result is, as points in a hundred games.
export const exactness = (gap) => (gap < 1e-12 ? 'exact' : `exact to ${points(gap, false)} points per 100 games`);

export function mixedTop(data) {
  const { worth } = data;
  makeTop(data, data.players[0] === data.players[1] ? 'Both sides prepare' : `Both prepare: ${data.players[0].split(',')[0]} and ${data.players[1].split(',')[0]}`, [
    [percent(worth.value, 2), `for ${data.sides[0]}, net of memory`], [exactness(worth.gap), '', 'wide']]);
}

export function mixedFacts(data) {
  const { worth } = data;
  const [one, two] = data.sides;
  const cases = [['Nobody prepares', worth.baseline], [`Only ${one} prepares`, worth.alone[0]], [`Only ${two} prepares`, worth.alone[1]], ['Both prepare', worth.value]]
    .filter(([, value]) => Number.isFinite(value));
  const spent = worth.costs ? ` (cost ${worth.costs.map(compact).join(' and ')} a position)` : '';
  const learns = (k) => [`${data.sides[k]} learns`, `${compact(Number(worth.sizes[k].toFixed(1)))} positions`, Number.isFinite(worth.entropy[k]) ? `on average; plays with ${worth.entropy[k].toFixed(2)} nats of entropy a game` : 'on average'];
  return h('div', { class: 'trust' },
    h('h2', {}, `${one}’s score, net of memory`),
    factList([...cases.map(([name, value]) => [name, percent(value, 2)]), ['At the board, memory not subtracted', percent(worth.utility, 2)],
      ['Certified', `between ${percent(worth.lower, 4)} and ${percent(worth.upper, 4)}`, exactness(worth.gap)], learns(0), learns(1)]),
    h('p', {}, `${one}: ${data.players[0]}. ${two}: ${data.players[1]}.`),
    h('p', {}, `An equilibrium in mixed books${spent}: each side learns positions with the probabilities shown, and neither gains more than the gap by learning others. Found by ${worth.method} in ${plural(worth.iterations ?? 0, 'iteration')}, ${compact(Number((worth.seconds ?? 0).toFixed(2)))} s. It holds within this model: for these values, moves and costs.`),
    made(data));
}
