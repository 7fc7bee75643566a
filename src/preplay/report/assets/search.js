// Finding a position: by FEN, by moves from the start, or by moves anywhere.
import { readFen } from './chess.js';
import { readMove } from './rules.js';
import { plural } from './words.js';

export const plainMove = (text) => text.replace(/[+#!?]/g, '').replace(/^0-0-0/, 'O-O-O').replace(/^0-0/, 'O-O').replace('=', '');

export function readMoves(text) {
  return text.replace(/\{[^}]*\}|\([^)]*\)/g, ' ').replace(/\d+\s*(?:\.+|…)/g, ' ').replace(/(?:1-0|0-1|1\/2-1\/2|\*)\s*$/, ' ')
    .split(/[\s,]+/).filter(Boolean);
}

// Whether a text names the move that the data calls `name` and people `said`: Bxe7 is not Be7. With `loose`,
// small letters will do.
export function namesMove(text, name, said, chess, loose = false) {
  if (text === name || text === said) return true;
  if (!chess) return false;
  const [asked, plain] = [plainMove(text), plainMove(said)];
  return asked === plain || asked.toLowerCase() === name || (loose && asked.toLowerCase() === plain.toLowerCase());
}

// How many of the moves before the start a line begins with.
function movesBefore({ before, played, chess }, moves) {
  const other = before.findIndex((said, k) => k >= moves.length || !namesMove(moves[k], played[k], said, chess, true));
  return other < 0 ? before.length : other;
}

export function looksLikeFen(text) {
  return /^[pnbrqkPNBRQK1-8]+(?:\/[pnbrqkPNBRQK1-8]+){7}/.test(text.trim());
}

// The child that a text means: by its name, else by what the rules make of it.
export function childNamed(app, k, text) {
  const { view, data } = app;
  const children = view.children(k).sort((a, b) => view.p[b] - view.p[a]);
  const exact = children.find((c) => namesMove(text, view.name(c), view.say(c), data.chess));
  if (exact !== undefined || !data.chess) return exact;
  const { move } = readMove(app.position(k), text, data.chess960);
  return children.find((c) => view.name(c) === move);
}

// {nodes, message}: the positions found, the most frequent first, and a sentence about them.
export function searchTree(app, text) {
  const { view, data, numbers } = app;
  const byReach = (nodes) => nodes.sort((a, b) => view.reach[b] - view.reach[a]);
  if (data.chess && looksLikeFen(text)) {
    const wanted = readFen(text);
    const turn = text.trim().split(/\s+/).length > 1;
    const men = wanted.board.join(' ');
    const nodes = [];
    for (let k = 0; k < view.n; k += 1) {
      const here = app.position(k);
      if (here.board.join(' ') === men && (!turn || here.white === wanted.white)) nodes.push(k);
    }
    return { nodes: byReach(nodes), message: nodes.length ? `This position is in the book, reached in ${plural(nodes.length, 'way')}.` : 'This position is not in the book.' };
  }
  const moves = readMoves(text);
  if (!moves.length) return { nodes: [], message: '' };
  // As far as the book knows a line.
  const follow = (line) => {
    let at = 0;
    for (let matched = 0; ; matched += 1) {
      const next = matched < line.length ? childNamed(app, at, line[matched]) : undefined;
      if (next === undefined) return { at, matched };
      at = next;
    }
  };
  // The line may be told from the very beginning, with the moves before the start.
  const early = movesBefore(data, moves);
  const whole = early > 0 && early === data.before.length;
  let line = moves;
  if (whole && follow(line).matched < line.length) line = moves.slice(early);
  const { at, matched } = follow(line);
  if (matched === line.length) return { nodes: [at], message: 'Found.' };
  for (const loose of [false, true]) {
    const inside = [];
    for (let k = 1; k < view.n; k += 1) {
      let j = k;
      let m = moves.length - 1;
      while (m >= 0 && j > 0 && namesMove(moves[m], view.name(j), view.say(j), data.chess, loose)) {
        j = view.parent[j];
        m -= 1;
      }
      if (m < 0) inside.push(k);
    }
    if (inside.length) return { nodes: byReach(inside), message: `${plural(inside.length, 'place')} with ${moves.join(' ')}.` };
  }
  if (early === moves.length) return { nodes: [0], message: `The book starts after ${data.before.join(' ')}.` };
  if (matched || whole) return { nodes: [at], message: `The book knows this up to ${matched ? numbers.line(view, view.path(at)) : 'its start'}, not ${line[matched]}.` };
  return { nodes: [], message: `Nothing found for “${text.trim().slice(0, 60)}”.` };
}
