// Which chess moves are legal, and how people write them. Castling is written as the king's move to the
// g or c file in usual chess and as king takes rook in Chess960, as the tree's own moves are.
import { FILES, isWhite, play, squareAt, squareName } from './chess.js';

const STEPS = {
  n: [[1, 2], [2, 1], [2, -1], [1, -2], [-1, -2], [-2, -1], [-2, 1], [-1, 2]],
  b: [[1, 1], [1, -1], [-1, -1], [-1, 1]],
  r: [[1, 0], [0, 1], [-1, 0], [0, -1]],
};
STEPS.q = [...STEPS.b, ...STEPS.r];
STEPS.k = STEPS.q;
const SLIDES = 'brq';

const step = (square, [dx, dy]) => {
  const [x, y] = [(square % 8) + dx, Math.floor(square / 8) + dy];
  return x < 0 || x > 7 || y < 0 || y > 7 ? -1 : 8 * y + x;
};

function* along(board, from, kind) {
  for (const direction of STEPS[kind]) {
    for (let to = step(from, direction); to >= 0; to = step(to, direction)) {
      yield to;
      if (board[to] || !SLIDES.includes(kind)) break;
    }
  }
}

// Whether a side attacks a square.
export function attacked(board, square, byWhite) {
  for (const kind of 'nbrqk') {
    for (const to of along(board, square, kind)) if (board[to].toLowerCase() === kind && isWhite(board[to]) === byWhite) return true;
  }
  const pawn = byWhite ? 'P' : 'p';
  return [-1, 1].some((dx) => board[step(square, [dx, byWhite ? -1 : 1])] === pawn);
}

const kingOf = (board, white) => board.indexOf(white ? 'K' : 'k');

export function inCheck(position, white = position.white) {
  const king = kingOf(position.board, white);
  return king >= 0 && attacked(position.board, king, !white);
}

function pawnTargets({ board, white, passing }, from) {
  const up = white ? 1 : -1;
  const targets = [];
  const one = step(from, [0, up]);
  if (one >= 0 && !board[one]) {
    targets.push(one);
    const two = step(one, [0, up]);
    if (Math.floor(from / 8) === (white ? 1 : 6) && !board[two]) targets.push(two);
  }
  for (const dx of [-1, 1]) {
    const to = step(from, [dx, up]);
    if (to >= 0 && (board[to] ? isWhite(board[to]) !== white : to === passing)) targets.push(to);
  }
  return targets;
}

// Castling: everything between king, rook and their goals is free, and the king meets no attack.
function castlings({ board, white, rooks }, chess960) {
  const king = kingOf(board, white);
  const moves = [];
  for (const rook of rooks.filter((square) => square < 8 === white)) {
    const rank = white ? 0 : 56;
    const right = rook > king;
    const goals = [rank + (right ? 6 : 2), rank + (right ? 5 : 3)];
    const span = (a, b) => Array.from({ length: Math.abs(a - b) + 1 }, (_, k) => Math.min(a, b) + k);
    const free = [...span(king, goals[0]), ...span(rook, goals[1])].every((square) => square === king || square === rook || !board[square]);
    const without = board.slice();
    without[king] = '';
    const bare = without.slice();
    bare[rook] = '';
    const safe = span(king, goals[0]).every((square) => !attacked(square === goals[0] ? bare : without, square, !white));
    if (free && safe) moves.push(squareName(king) + squareName(chess960 ? rook : goals[0]));
  }
  return moves;
}

// Every legal move in UCI notation.
export function legalMoves(position, chess960 = false) {
  const { board, white } = position;
  const moves = [];
  board.forEach((piece, from) => {
    if (!piece || isWhite(piece) !== white) return;
    const kind = piece.toLowerCase();
    const targets = kind === 'p' ? pawnTargets(position, from) : along(board, from, kind);
    for (const to of targets) {
      if (board[to] && isWhite(board[to]) === white) continue;
      const name = squareName(from) + squareName(to);
      if (kind === 'p' && (to < 8 || to > 55)) moves.push(...[...'qrbn'].map((letter) => name + letter));
      else moves.push(name);
    }
  });
  const plain = moves.filter((uci) => !inCheck(play(position, uci), white));
  return [...plain, ...castlings(position, chess960)];
}

function castles(position, uci) {
  const [from, to] = [squareAt(uci), squareAt(uci.slice(2))];
  const { board } = position;
  if (board[from].toLowerCase() !== 'k') return false;
  return Math.abs((from % 8) - (to % 8)) > 1 || (board[to] !== '' && isWhite(board[to]) === isWhite(board[from]));
}

// A legal move as people write it: Nf3, exd5, O-O, e8=Q+.
export function writeSan(position, uci, moves = legalMoves(position, false)) {
  const [from, to] = [squareAt(uci), squareAt(uci.slice(2))];
  const after = play(position, uci);
  const mark = inCheck(after) ? (legalMoves(after, false).length ? '+' : '#') : '';
  if (castles(position, uci)) return `${to > from ? 'O-O' : 'O-O-O'}${mark}`;
  const piece = position.board[from];
  const kind = piece.toUpperCase();
  if (kind === 'P') {
    const taking = from % 8 !== to % 8 ? `${FILES[from % 8]}x` : '';
    return taking + squareName(to) + (uci[4] ? `=${uci[4].toUpperCase()}` : '') + mark;
  }
  const rivals = moves.filter((other) => other.slice(2, 4) === uci.slice(2, 4) && other.slice(0, 2) !== uci.slice(0, 2) && position.board[squareAt(other)] === piece && !castles(position, other));
  let where = '';
  if (rivals.length) {
    const name = uci.slice(0, 2);
    if (!rivals.some((other) => other[0] === name[0])) where = name[0];
    else where = rivals.some((other) => other[1] === name[1]) ? name : name[1];
  }
  return kind + where + (position.board[to] ? 'x' : '') + squareName(to) + mark;
}

const bare = (san) => san.replace(/[+#]/g, '');

// What somebody may have meant: {move} one legal move, {several} where more than one fits, {illegal} where it
// reads like a move that cannot be made here, or {unread}. Understands e4, E4, e2-e4, e2e4, nf3, Ngf3, 0-0, e8Q.
export function readMove(position, text, chess960 = false) {
  const moves = legalMoves(position, chess960);
  const sans = new Map(moves.map((uci) => [uci, bare(writeSan(position, uci, moves))]));
  const typed = text.trim().replace(/^\d+\s*(\.+|…)\s*/, '').replace(/[+#!?]+$/g, '').replace(/\s+/g, '').replace(/[–—]/g, '-');
  if (!typed) return { unread: true };
  const hits = (fits) => moves.filter(fits);
  const tries = [
    (uci) => sans.get(uci) === typed,
    (uci) => uci === typed.toLowerCase().replace(/[-x=]/g, ''),
    (uci) => sans.get(uci).replace('=', '') === typed.replace('=', ''),
  ];
  if (/^[o0]-?[o0](-?[o0])?$/i.test(typed)) {
    const long = typed.replace(/-/g, '').length === 3;
    tries.push((uci) => sans.get(uci) === (long ? 'O-O-O' : 'O-O'));
  }
  const loose = (san) => san.toLowerCase().replace(/[x=:-]/g, '');
  // In small letters b may be a bishop or a pawn: what has the right letters in full comes first.
  tries.push((uci) => loose(sans.get(uci)) === loose(typed));
  // More said than needed: Ngf3 where Nf3 is enough, Ng1f3.
  const parts = /^([kqrbn]?)([a-h]?)([1-8]?)[x:-]?([a-h][1-8])=?([qrbn]?)$/i.exec(typed);
  if (parts) {
    const [, piece, file, rank, target, promoted] = parts.map((part) => (part || '').toLowerCase());
    tries.push((uci) => uci.slice(2, 4) === target && position.board[squareAt(uci)].toLowerCase() === (piece || 'p') && (!file || uci[0] === file) && (!rank || uci[1] === rank) && (!promoted || uci[4] === promoted) && !castles(position, uci));
  }
  for (const fits of tries) {
    const found = hits(fits);
    if (found.length === 1) return { move: found[0] };
    if (found.length > 1) return { several: found };
  }
  const reads = parts || /^[o0]-?[o0](-?[o0])?$/i.test(typed) || /^[a-h][1-8][-x]?[a-h][1-8]=?[qrbn]?$/i.test(typed);
  return reads ? { illegal: true } : { unread: true };
}
