// Just enough chess to put the pieces where the moves say. The rules were checked when the file was made.

export const START_FEN = 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1';
export const FILES = 'abcdefgh';
// Some actions move no piece: giving up, and the rest of the moves together.
export const movesPiece = (name) => /^[a-h][1-8][a-h][1-8]/.test(name);

export const squareName = (square) => FILES[square % 8] + (1 + Math.floor(square / 8));
export const squareAt = (name) => FILES.indexOf(name[0]) + 8 * (Number(name[1]) - 1);
export const isWhite = (piece) => piece !== '' && piece === piece.toUpperCase();

export function readFen(text) {
  const [placing, turn = 'w', castling = '-', passing = '-', half = '0', full = '1'] = text.trim().split(/\s+/);
  const board = new Array(64).fill('');
  placing.split('/').forEach((row, down) => {
    let file = 0;
    for (const letter of row) {
      if (/\d/.test(letter)) file += Number(letter);
      else {
        if (file < 8 && down < 8) board[8 * (7 - down) + file] = letter;
        file += 1;
      }
    }
  });
  return {
    board,
    white: turn !== 'b',
    rooks: castlingRooks(board, castling),
    passing: passing === '-' ? -1 : squareAt(passing),
    half: Number(half),
    full: Number(full),
  };
}

// The rooks that may still castle, by square: K and Q are the outermost ones, other letters are files.
function castlingRooks(board, letters) {
  const rooks = [];
  for (const letter of letters === '-' ? '' : letters) {
    const white = letter === letter.toUpperCase();
    const rank = white ? 0 : 56;
    const rook = white ? 'R' : 'r';
    const row = board.slice(rank, rank + 8);
    const kind = letter.toLowerCase();
    const file = kind === 'k' ? row.lastIndexOf(rook) : kind === 'q' ? row.indexOf(rook) : FILES.indexOf(kind);
    if (file >= 0) rooks.push(rank + file);
  }
  return rooks;
}

export function writeFen({ board, white, rooks, passing, half, full }) {
  const rows = [];
  for (let rank = 7; rank >= 0; rank -= 1) {
    let row = '';
    let empty = 0;
    for (let file = 0; file < 8; file += 1) {
      const piece = board[8 * rank + file];
      if (piece) {
        row += (empty || '') + piece;
        empty = 0;
      } else empty += 1;
    }
    rows.push(row + (empty || ''));
  }
  return [rows.join('/'), white ? 'w' : 'b', castlingLetters(board, rooks), passing < 0 ? '-' : squareName(passing), half, full].join(' ');
}

function castlingLetters(board, rooks) {
  const letters = rooks.map((square) => {
    const white = square < 8;
    const rank = white ? 0 : 56;
    const row = board.slice(rank, rank + 8);
    const rook = white ? 'R' : 'r';
    const file = square - rank;
    const right = file > row.indexOf(white ? 'K' : 'k');
    const outermost = right ? row.lastIndexOf(rook) === file : row.indexOf(rook) === file;
    const letter = outermost ? (right ? 'K' : 'Q') : FILES[file].toUpperCase();
    return white ? letter : letter.toLowerCase();
  });
  return letters.sort((a, b) => 'KHGFEDCBAQkhgfedcbaq'.indexOf(a) - 'KHGFEDCBAQkhgfedcbaq'.indexOf(b)).join('') || '-';
}

// The position after a move in UCI notation; castling also as king takes rook.
export function play(position, uci) {
  if (!movesPiece(uci)) return position;
  const from = squareAt(uci);
  const to = squareAt(uci.slice(2));
  const board = position.board.slice();
  const piece = board[from];
  const kind = piece.toLowerCase();
  const white = isWhite(piece);
  const ownRook = board[to] === (white ? 'R' : 'r');
  let taken = board[to] !== '';
  let passing = -1;
  board[from] = '';
  if (kind === 'k' && (ownRook || Math.abs((from % 8) - (to % 8)) > 1)) {
    taken = false;
    const rank = 8 * Math.floor(from / 8);
    const right = to > from;
    const rook = ownRook ? to : rank + (right ? 7 : 0);
    board[rook] = '';
    board[rank + (right ? 6 : 2)] = piece;
    board[rank + (right ? 5 : 3)] = white ? 'R' : 'r';
  } else {
    if (kind === 'p' && from % 8 !== to % 8 && !board[to]) {
      board[8 * Math.floor(from / 8) + (to % 8)] = '';
      taken = true;
    }
    if (kind === 'p' && Math.abs(from - to) === 16) {
      const enemy = white ? 'p' : 'P';
      const beside = [to % 8 > 0 ? board[to - 1] : '', to % 8 < 7 ? board[to + 1] : ''];
      if (beside.includes(enemy)) passing = (from + to) / 2;
    }
    const promoted = uci[4];
    board[to] = promoted ? (white ? promoted.toUpperCase() : promoted) : piece;
  }
  const rooks = position.rooks.filter((square) => square !== from && square !== to && !(kind === 'k' && square < 8 === white));
  return {
    board,
    white: !position.white,
    rooks,
    passing,
    half: kind === 'p' || taken ? 0 : position.half + 1,
    full: position.full + (position.white ? 0 : 1),
  };
}

// Positions of a tree, each computed once.
export function positions(tree, start) {
  const known = new Map([[0, readFen(start || START_FEN)]]);
  return (k) => {
    const missing = [];
    let j = k;
    for (; !known.has(j); j = tree.parent[j]) missing.push(j);
    for (const m of missing.reverse()) known.set(m, play(known.get(tree.parent[m]), tree.name(m)));
    return known.get(k);
  };
}

// What makes two positions the same for a player: the pieces, who moves, castling and en passant.
export function positionKey(position) {
  return `${position.board.map((piece) => piece || '.').join('')}${position.white}${position.rooks}${position.passing}`;
}
