// What was known before the book and loses: a row for each move, the dearest first.
import { h } from './dom.js';
import { often, percent, points } from './words.js';

const HEADS = ['known move', 'met', 'on your own', 'with it', 'loss per 100'];

export function makeRepairs(app) {
  const { count, rows } = app.data.repairs;
  if (!count) return h('p', { class: 'repairs' }, 'None of the known moves that may be met loses anything.');
  const line = (node, text, move) => {
    const told = [text, text ? ' ' : '', h('strong', {}, move)];
    return node === null ? told : h('button', { type: 'button', class: 'move', click: () => app.go(node) }, told);
  };
  return h('div', { class: 'repairs' },
    h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Known moves that lose' }, h('table', {},
      h('caption', {}, `Known moves that lose: ${count.toLocaleString('en')}, ${count > rows.length ? `the dearest ${rows.length} of them` : 'the dearest first'}`),
      h('thead', {}, h('tr', {}, HEADS.map((name, k) => h('th', { scope: 'col', class: k ? 'number' : null }, name)))),
      h('tbody', {}, rows.map(([node, text, move, reach, value, worth, loss]) => h('tr', {},
        h('td', {}, line(node, text, move)), h('td', { class: 'number' }, often(reach)),
        h('td', { class: 'number' }, percent(value)), h('td', { class: 'number' }, percent(worth)), h('td', { class: 'number' }, points(loss, false))))))),
    h('p', { class: 'aside' }, 'After each of these moves you have less than if you played on your own from the position before it. “With it” counts all that this book adds after the move, its memory paid. The loss is in points per 100 games, as often as the move is met.'));
}
