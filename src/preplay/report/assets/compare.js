// Two books side by side: what each is worth, and position by position where they differ.
import { makeBoard, describe } from './board.js';
import { readFen, squareAt } from './chess.js';
import { find, h, tabs } from './dom.js';
import { makeTop } from './summary.js';
import { compact, often, percent, plural, points } from './words.js';

const AT_ONCE = 200;
const KINDS = [['differ', 'Different move'], ['first', 'Only in the first'], ['second', 'Only in the second'], ['same', 'The same']];

export function kindOf({ told: [a, b] }) {
  if (a && b) return a[1] === b[1] ? 'same' : 'differ';
  return a ? 'first' : 'second';
}

export function showCompare(data) {
  const [one, two] = data.books;
  const groups = Object.fromEntries(KINDS.map(([kind]) => [kind, data.rows.filter((row) => kindOf(row) === kind)]));
  makeTop(data, `${one.name} and ${two.name}`, [[compact(groups.differ.length), 'positions with different moves'], [compact(groups.first.length + groups.second.length), 'in only one', 'wide'], [compact(groups.same.length), 'the same', 'wide']]);
  const board = data.chess ? makeBoard({ onMove: () => false, onPick: () => false }) : null;
  const line = h('p', { class: 'line-strip' });
  const legend = h('p', { class: 'aside' }, h('strong', { class: 'tone-first' }, `Blue: ${one.name}`), ', ', h('strong', { class: 'tone-second' }, `orange: ${two.name}`));
  const arrow = (told, kind) => (told ? [{ from: squareAt(told[1]), to: squareAt(told[1].slice(2)), share: kind === 'mine' ? 0.7 : 0.3, kind }] : []);
  let current = null;
  function show(row, button) {
    current?.removeAttribute('aria-current');
    current = button;
    current?.setAttribute('aria-current', 'true');
    line.textContent = row.line || 'The start';
    const position = board && readFen(row.fen);
    board?.show({ position, flipped: data.side === 2, last: null, arrows: [...arrow(row.told[0], 'mine'), ...arrow(row.told[1], 'theirs')], label: describe(position) });
  }

  function table(kind) {
    const rows = groups[kind];
    const body = h('tbody');
    const more = h('button', { type: 'button', class: 'plain', click: () => draw() });
    let drawn = 0;
    const cell = (told) => (told ? [h('strong', {}, told[0]), h('span', { class: 'note' }, ` ${points(told[3])}`)] : '–');
    function draw() {
      for (const row of rows.slice(drawn, drawn + AT_ONCE)) {
        const button = h('button', { type: 'button', class: 'move', click: () => show(row, button) }, row.line || 'Start');
        body.append(h('tr', {}, h('td', {}, button), h('td', {}, cell(row.told[0])), h('td', {}, cell(row.told[1])), h('td', { class: 'number' }, often(Math.min(1, Math.max(...row.told.filter(Boolean).map((told) => told[2])))))));
      }
      drawn = Math.min(rows.length, drawn + AT_ONCE);
      more.hidden = drawn >= rows.length;
      more.textContent = `Show more (${rows.length - drawn} left)`;
    }
    draw();
    return h('div', { class: 'pane' }, rows.length
      ? h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': `${plural(rows.length, 'position')}` }, h('table', {}, h('caption', {}, `${plural(rows.length, 'position')}, the most frequent first; what each adds in points per 100 games`),
        h('thead', {}, h('tr', {}, ['After', one.name, two.name, 'Met in'].map((name, k) => h('th', { scope: 'col', class: k === 3 ? 'number' : null }, name)))), body), more)
      : h('p', {}, 'None.'));
  }

  const facts = [['Against', (b) => b.rival], ['Positions', (b) => compact(b.size)], ['Without preparation', (b) => percent(b.without, 2)], ['With the book', (b) => percent(b.value, 2)], ['Checked afresh', (b) => (b.fresh === null ? '–' : percent(b.fresh, 2))],
    ['Gain per 100 games', (b) => points(b.value - b.without)], ['Price of a position', (b) => compact(b.cost)], ['Net of memory', (b) => percent(b.net, 2)], ['No book nets more than', (b) => percent(b.upper, 2)], ['Made', (b) => b.made.replace('T', ' ')]];
  const summary = h('div', { class: 'pane' }, h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'The two books' }, h('table', {}, h('caption', {}, 'Each by its own model: scores compare only where the models are the same'),
    h('thead', {}, h('tr', {}, h('td', {}), data.books.map((b) => h('th', { scope: 'col' }, b.name)))),
    h('tbody', {}, facts.map(([name, of]) => h('tr', {}, h('th', { scope: 'row' }, name), data.books.map((b) => h('td', {}, of(b)))))))));
  const pane = tabs('Comparison', [{ name: 'books', title: 'Books', body: summary }, ...KINDS.map(([kind, title]) => ({ name: kind, title: `${title} (${groups[kind].length})`, body: table(kind) }))]);
  document.body.classList.add('shell');
  const main = find('#main');
  main.classList.add('explorer', board ? 'with-board' : 'no-board');
  main.append(h('section', { class: 'stage', 'aria-label': board ? 'Board' : 'Line' }, line, board ? board.element : '', legend), pane.element);
  pane.show('books');
  const first = groups.differ[0] ?? data.rows[0];
  if (first) show(first, null);
  document.documentElement.dataset.settled = 'true';
}
