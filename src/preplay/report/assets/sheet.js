// The sheet that a coach would hand out: what it is for, then line by line in the order worth learning.
import { diagram } from './board.js';
import { bookMoves } from './cards.js';
import { find, h } from './dom.js';
import { END_NAMES, often, percent, plural, points } from './words.js';

const DIAGRAMS = 40;

// Every line to its end: [{nodes, last, fresh}], `fresh` the first move that no line before has shown.
export function linesOf(book) {
  const shown = new Set();
  const lines = [];
  for (const k of book.order) {
    if (!book.inside(k) || shown.has(k)) continue;
    const nodes = book.path(k);
    let at = k;
    for (;;) {
      const best = bookMoves(book, at)[0];
      shown.add(at);
      nodes.push(best);
      const open = book.children(best).filter((c) => book.own(c) && book.inside(c) && !shown.has(c)).sort((a, b) => book.reach[b] - book.reach[a]);
      if (!open.length) break;
      nodes.push(open[0]);
      [at] = open;
    }
    lines.push({ nodes, from: k, last: nodes[nodes.length - 1] });
  }
  return lines;
}

export function makeSheet(app) {
  const { view: book, data, numbers } = app;
  const { score, without, label } = data.trust.headline;
  const lines = linesOf(book);
  const told = lines.map(({ nodes, from, last }, at) => {
    const begin = book.depth[from];
    const text = nodes.map((k, j) => {
      const name = numbers.prefix(book.depth[k], j === 0) + book.say(k);
      return [j ? ' ' : '', book.mine(k) ? h('strong', { class: book.depth[k] > begin ? 'new' : null }, name) : h('span', {}, name)];
    });
    const replies = book.children(last).sort((a, b) => book.p[b] - book.p[a]).slice(0, 3).map((c) => `${book.say(c)} ${percent(book.p[c], 0)}${book.endOf(c) === '-' ? '' : ` (${END_NAMES[book.endOf(c)]})`}`);
    return h('li', {}, data.chess && at < DIAGRAMS ? diagram(app.position(last), app.flipped) : '',
      h('p', { class: 'moves' }, text), h('p', { class: 'aside' }, `Met in ${often(book.reach[from])}.`, replies.length ? ` Then: ${replies.join(', ')}.` : ''));
  });
  find('#sheet').replaceChildren(
    h('h2', {}, `${data.sides[data.side - 1]} against ${data.rival}`),
    h('p', {}, `${plural(book.size, 'position')} in ${plural(lines.length, 'line')}; ${label} ${percent(score)}, ${points(score - without)} points per 100 games. Own moves are bold; what is new in a line is underlined.`),
    data.before?.length ? h('p', {}, `All lines begin after ${data.beforeLine}.`) : '',
    h('ol', {}, told));
}
