// A match: its games as one tree to walk, the list of them, and the score beside the promise.
import { byShare } from './app.js';
import { factList, h } from './dom.js';
import { decodeTree, likeliest } from './model.js';
import { moveRows } from './position.js';
import { made, makeTop } from './summary.js';
import { compact, percent, plural, points } from './words.js';

export function makeMatch(data) {
  const tree = decodeTree(data.tree);
  return {
    ...tree,
    data,
    own: (k) => tree.player[k] === (data.match.side.includes('black') || data.match.side.includes('2') ? '2' : '1'),
    mine: () => false,
    dim: () => false,
    ending: (k) => (tree.leaf(k) ? plural(data.tree.games[k], 'game') : ''),
    main: (k) => likeliest(tree, k),
  };
}

export function matchCard(app, k) {
  const { view, data } = app;
  const count = data.tree.games[k];
  const facts = factList([['Games here', compact(count), `of ${compact(data.match.games)}`], ['Score of the prepared side', percent(view.value[k])]]);
  if (view.leaf(k)) return [h('p', { class: 'verdict' }, view.player[k] === 'f' ? 'The game is over' : 'The tree ends here; the games went on'), facts];
  return [h('p', { class: 'label' }, 'Played'), moveRows(app, byShare(view, k), (c) => `${plural(data.tree.games[c], 'game')}, score ${percent(view.value[c])}`, view.own(k) ? 'mine' : 'theirs'), facts];
}

export function matchTop(data) {
  const { score, games } = data.match;
  makeTop(data, `Match: prepared against ${data.match.opponent}`, [[percent(score[0]), `± ${points(score[1], false)} in ${plural(games, 'game')}${data.match.adjudication === 'model' ? ', by the model' : ''}`]]);
}

export function matchFacts(data) {
  const m = data.match;
  const interval = ([mean, , low, high]) => `${percent(mean)} (${percent(low)} to ${percent(high)})`;
  const sign = (x) => `${x < 0 ? '−' : '+'}${Math.abs(Math.round(x))}`;
  const [elo, low, high] = m.elo;
  return h('div', { class: 'trust' },
    factList([
      ['Score', interval(m.score), '95 % interval'],
      ['Promised', percent(m.promised), m.promised_error > 1e-6 ? `± ${points(m.promised_error, false)}` : ''],
      ['Do they agree?', m.agrees ? 'yes' : 'no', `chance alone differs as much in ${percent(m.p_value, 0)} of matches`],
      m.control && ['Without the book', interval(m.control), '95 % interval'],
      m.tally[0] !== null && ['Won, drawn, lost', m.tally.map(compact).join(' – ')],
      m.adjudication !== 'model' && elo !== null && ['As Elo', sign(elo), low !== null && high !== null ? `(${sign(low)} to ${sign(high)})` : ''],
      ['Book moves a game', m.book_moves.toFixed(1)],
      ['Games are', m.adjudication === 'model' ? 'scored by the model where the book ends' : 'played to the end'],
    ]),
    h('h2', {}, 'How they ended'), factList(m.endings.map(([name, count]) => [name, compact(count)])),
    made(data));
}

const result = (score) => ({ 1: '1', 0: '0', 0.5: '½' })[score] ?? percent(score);

// The games one by one; choosing one goes to its end in the tree.
export function gameList(app) {
  const { data, view } = app;
  const last = (line) => {
    let k = 0;
    for (const name of line) {
      const next = view.children(k).find((c) => view.name(c) === name);
      if (next === undefined) break;
      k = next;
    }
    return k;
  };
  const head = ['Game', 'Prepared', 'Score', 'Ended by', 'Book moves', 'Moves'];
  return h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'All games' }, h('table', {},
    h('caption', {}, data.match.games > data.list.length ? `The first ${data.list.length} of ${plural(data.match.games, 'game')}` : plural(data.list.length, 'game')),
    h('thead', {}, h('tr', {}, head.map((name) => h('th', { scope: 'col' }, name)))),
    h('tbody', {}, data.list.map(([number, side, score, reason, depth, length, line]) => h('tr', {},
      h('td', {}, h('button', { type: 'button', class: 'move', click: () => app.go(last(line)) }, `Game ${number}`)),
      h('td', {}, data.sides[side - 1]), h('td', {}, result(score)), h('td', {}, reason), h('td', {}, depth), h('td', {}, Math.ceil(length / 2)))))));
}
