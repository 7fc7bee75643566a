// What to say to any move that somebody makes: in the book, as good, into the book by another order, a known
// alternative, unknown, or not legal; and what the book's own move is for.
import { play, positionKey } from './chess.js';
import { bookMoves } from './cards.js';
import { writeSan } from './rules.js';
import { percent, points } from './words.js';

export const NEAR = 0.005; // half a point in a hundred games: as good as the book's move

// The studied moves of an own position: [{move, say, score, worth, replies: [[say, p, value]], line}].
export function studied({ view, data, numbers }, k) {
  const written = (sans) => sans.map((san, j) => numbers.prefix(view.depth[k] + 1 + j, j === 0) + san).join(' ');
  const asked = (data.tree.others?.[k] ?? []).map(([move, say, score, worth, replies, line]) => ({ move, say, score, worth, replies, line: written(line) }));
  if (asked.length) return asked;
  return (data.tree.choice?.[k]?.options ?? []).map(([move, say, worth, , opinion]) => ({ move, say, score: opinion, worth, replies: [], line: '' }));
}

// {kind, ...}: book {node}; into {node, say}; equal or worse {option, loss}; unknown {say}.
export function judgeMove(app, k, uci) {
  const { view: book, data } = app;
  const node = bookMoves(book, k).find((c) => book.name(c) === uci);
  if (node !== undefined) return { kind: 'book', node };
  const say = data.chess ? writeSan(app.position(k), uci) : uci;
  if (data.chess && app.among) {
    const twin = app.among(positionKey(play(app.position(k), uci))).find((j) => book.followed(j) && (!book.leaf(j) || book.own(j)));
    if (twin !== undefined) return { kind: 'into', node: twin, say };
  }
  const options = studied(app, k);
  const option = options.find((one) => one.move === uci);
  const own = options.find((one) => bookMoves(book, k).some((c) => book.name(c) === one.move));
  if (option) {
    const loss = (own ? own.worth : book.worth[k]) - option.worth;
    return { kind: loss <= NEAR ? 'equal' : 'worse', option, loss, say };
  }
  const last = options[options.length - 1];
  return { kind: 'unknown', say, least: own && options.length > 1 && last !== own ? { say: last.say, loss: own.worth - last.worth } : null };
}

// The sentences after a wrong move, and about the right one.
export function explain(app, k, verdict) {
  const { view: book, data, numbers } = app;
  const other = data.rival;
  const [best] = bookMoves(book, k);
  const right = numbers.prefix(book.depth[best], true) + book.say(best);
  const said = [];
  const answersTo = (replies) => replies.slice(0, 2).map(([move, p]) => `${move} (${percent(p, 0)})`).join(' or ');
  if (verdict.kind === 'worse') {
    const { option, loss } = verdict;
    said.push(`${verdict.say} earns ${points(loss, false)} points per 100 games less than ${right} against ${other}.`);
    if (option.replies.length) said.push(`${other} answers ${answersTo(option.replies)}.`);
    if (option.line) said.push(`The line: ${option.line}.`);
  } else if (verdict.kind === 'unknown' && verdict.least) {
    said.push(`${verdict.say} is not among the engine’s ${studied(app, k).length} best moves here; the last of these, ${verdict.least.say}, earns ${points(verdict.least.loss, false)} points per 100 games less.`);
  } else if (verdict.kind === 'unknown') said.push(`${verdict.say} was not studied here.`);
  return said;
}

// What the book's move is for: the answers to expect and what comes then.
export function purpose(app, k) {
  const { view: book, data } = app;
  const [best] = bookMoves(book, k);
  if (best === undefined || book.leaf(best)) return '';
  const replies = book.children(best).sort((a, b) => book.p[b] - book.p[a]).slice(0, 2).map((c) => {
    const next = book.own(c) && book.inside(c) ? bookMoves(book, c)[0] : undefined;
    return `${book.say(c)} (${percent(book.p[c], 0)})${next === undefined ? '' : `, then ${book.say(next)}`}`;
  });
  const gain = book.worth[k] - (book.value[k] ?? 0.5);
  return `${data.rival} answers ${replies.join('; ')}.${gain > 0 ? ` Knowing this line is worth ${points(gain)} points per 100 games from here.` : ''}`;
}
