// The board: drawn as SVG, clicked or dragged with mouse, pen or finger. It knows squares and pieces, nothing
// of books.
import { FILES, isWhite, squareName } from './chess.js';
import { find, h, s } from './dom.js';

const SQUARE = 45;
const EDGE = 13; // room for the coordinates
const PIECE_NAMES = { p: 'pawn', n: 'knight', b: 'bishop', r: 'rook', q: 'queen', k: 'king' };

const corner = (square, flipped) => {
  const file = square % 8;
  const rank = Math.floor(square / 8);
  return [SQUARE * (flipped ? 7 - file : file), SQUARE * (flipped ? rank : 7 - rank)];
};
const squareRect = (square, flipped) => {
  const [x, y] = corner(square, flipped);
  const dark = (square % 8 + Math.floor(square / 8)) % 2 === 0;
  return s('rect', { x, y, width: SQUARE, height: SQUARE, class: dark ? 'dark' : 'light', 'data-square': squareName(square) });
};
const pieceUse = (piece, square, flipped) => {
  const [x, y] = corner(square, flipped);
  return s('use', { href: `#piece-${isWhite(piece) ? 'w' : 'b'}${piece.toLowerCase()}`, x, y, width: SQUARE, height: SQUARE, 'data-on': squareName(square) });
};

// A small board that does nothing, for print.
export function diagram(position, flipped) {
  const all = Array.from({ length: 64 }, (_, square) => square);
  return s('svg', { class: 'diagram', viewBox: `0 0 ${8 * SQUARE} ${8 * SQUARE}`, role: 'img', 'aria-label': describe(position) },
    s('g', { class: 'squares' }, all.map((square) => squareRect(square, flipped))),
    s('g', { class: 'pieces' }, all.filter((square) => position.board[square]).map((square) => pieceUse(position.board[square], square, flipped))));
}

// `onMove(from, to)` answers whether a move was accepted; `onPick(square)` may play at one click.
export function makeBoard({ onMove, onPick }) {
  const squares = s('g', { class: 'squares' });
  const marks = s('g', { class: 'marks' });
  const pieces = s('g', { class: 'pieces' });
  const arrows = s('g', { class: 'arrows' });
  const letters = s('g', { class: 'coordinates', 'aria-hidden': 'true' });
  const svg = s('svg', { class: 'board', viewBox: `${-EDGE} 0 ${8 * SQUARE + EDGE} ${8 * SQUARE + EDGE}`, role: 'img', 'aria-label': 'Board' },
    squares, marks, letters, pieces, arrows);
  const element = h('div', { class: 'board-frame' }, svg);
  let flipped = false;
  let shown = null;
  let chosen = -1;
  let drag = null;

  const middle = (square) => corner(square, flipped).map((x) => x + SQUARE / 2);

  function drawSquares() {
    squares.replaceChildren();
    letters.replaceChildren();
    for (let square = 0; square < 64; square += 1) {
      const [x, y] = corner(square, flipped);
      squares.append(squareRect(square, flipped));
      if (y === 7 * SQUARE) letters.append(s('text', { x: x + SQUARE / 2, y: y + SQUARE + 9.5 }, FILES[square % 8]));
      if (x === 0) letters.append(s('text', { x: -EDGE / 2, y: y + SQUARE / 2 + 3.5 }, String(1 + Math.floor(square / 8))));
    }
  }

  function drawArrow({ from, to, share, kind }) {
    const [x1, y1] = middle(from);
    const [x2, y2] = middle(to);
    const length = Math.hypot(x2 - x1, y2 - y1);
    const [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
    const width = 2.5 + 8.5 * Math.sqrt(share);
    const head = 9 + 1.1 * width;
    const tip = length - 6;
    const at = (far, across) => `${(x1 + dx * far - dy * across).toFixed(1)},${(y1 + dy * far + dx * across).toFixed(1)}`;
    const half = width / 2;
    const wing = half + 3.5 + width * 0.25;
    const outline = [at(10, half), at(tip - head, half), at(tip - head, wing), at(tip, 0), at(tip - head, -wing), at(tip - head, -half), at(10, -half)];
    return s('polygon', { points: outline.join(' '), class: `arrow ${kind}` });
  }

  function drawPieces(moved) {
    pieces.replaceChildren();
    shown.position.board.forEach((piece, square) => {
      if (!piece) return;
      const use = pieceUse(piece, square, flipped);
      pieces.append(use);
      if (moved && square === moved.to) slide(use, moved.from, square);
    });
  }

  function slide(use, from, to) {
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    const [x1, y1] = corner(from, flipped);
    const [x2, y2] = corner(to, flipped);
    use.animate([{ transform: `translate(${x1 - x2}px, ${y1 - y2}px)` }, { transform: 'none' }], { duration: 160, easing: 'ease-out' });
  }

  function drawMarks() {
    marks.replaceChildren();
    const mark = (square, kind) => {
      const [x, y] = corner(square, flipped);
      marks.append(s('rect', { x, y, width: SQUARE, height: SQUARE, class: kind }));
    };
    if (shown.last) [shown.last.from, shown.last.to].forEach((square) => mark(square, 'last'));
    if (chosen >= 0) mark(chosen, 'chosen');
  }

  // last: {from, to}; arrows: [{from, to, share, kind}]; animate: whether the last move was just made.
  function show(view, animate = false) {
    const turned = view.flipped !== flipped || !squares.firstChild;
    flipped = view.flipped;
    shown = view;
    chosen = -1;
    if (turned) drawSquares();
    drawMarks();
    drawPieces(animate && !turned ? view.last : null);
    // Short arrows lie on long ones, so that both are seen.
    const reach = ({ from, to }) => Math.hypot((from % 8) - (to % 8), Math.floor(from / 8) - Math.floor(to / 8));
    arrows.replaceChildren(...[...view.arrows].sort((a, b) => reach(b) - reach(a)).map(drawArrow));
    svg.setAttribute('aria-label', view.label);
  }

  function squareUnder(event) {
    const box = squares.getBoundingClientRect();
    const file = Math.floor((8 * (event.clientX - box.left)) / box.width);
    const down = Math.floor((8 * (event.clientY - box.top)) / box.height);
    if (file < 0 || file > 7 || down < 0 || down > 7) return -1;
    return flipped ? 8 * down + 7 - file : 8 * (7 - down) + file;
  }

  function choose(square) {
    chosen = square;
    drawMarks();
  }

  function release() {
    if (drag?.use) drag.use.removeAttribute('transform');
    const ended = drag;
    drag = null;
    svg.classList.remove('dragging');
    return ended;
  }

  svg.addEventListener('pointerdown', (event) => {
    const square = squareUnder(event);
    if (square < 0 || event.button || drag) return;
    const use = find(`[data-on="${squareName(square)}"]`, pieces);
    drag = { id: event.pointerId, square, use, x: event.clientX, y: event.clientY, moved: false };
    if (use) svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener('pointermove', (event) => {
    if (!drag?.use || event.pointerId !== drag.id) return;
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.moved && Math.hypot(dx, dy) < 6) return;
    if (!drag.moved) pieces.append(drag.use);
    drag.moved = true;
    svg.classList.add('dragging');
    const scale = (8 * SQUARE) / squares.getBoundingClientRect().width;
    drag.use.setAttribute('transform', `translate(${dx * scale} ${dy * scale})`);
  });
  svg.addEventListener('pointerup', (event) => {
    if (!drag || event.pointerId !== drag.id) return;
    const { square: start, moved } = release();
    const square = squareUnder(event);
    if (square < 0) return;
    if (moved) {
      if (square !== start) onMove(start, square);
      return;
    }
    const piece = shown.position.board[square];
    const mine = piece && isWhite(piece) === shown.position.white;
    if (chosen >= 0 && square !== chosen && !mine) {
      onMove(chosen, square);
      choose(-1);
      return;
    }
    if (chosen >= 0 && square !== chosen && onMove(chosen, square, true)) return;
    if (chosen < 0 && onPick(square)) return;
    choose(mine && square !== chosen ? square : -1);
  });
  svg.addEventListener('pointercancel', release);

  // Which piece a pawn becomes: four buttons over its square.
  function askPromotion(square, white, take) {
    const before = document.activeElement;
    const close = () => {
      box.remove();
      before?.focus?.({ preventScroll: true });
    };
    const box = h('div', { class: 'promotion', role: 'dialog', 'aria-label': 'Promote to', keydown: (event) => {
      const buttons = [...box.children];
      const to = buttons.indexOf(document.activeElement) + ({ ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key] ?? 0);
      if (event.key === 'Escape') close();
      else if (/^Arrow/.test(event.key)) buttons[(to + 4) % 4].focus();
      else return;
      event.preventDefault();
      event.stopPropagation();
    } }, [...'qrbn'].map((letter) => h('button', { type: 'button', 'data-promote': letter, 'aria-label': PIECE_NAMES[letter], click: () => {
      close();
      take(letter);
    } }, s('svg', { viewBox: '0 0 45 45', 'aria-hidden': 'true' }, s('use', { href: `#piece-${white ? 'w' : 'b'}${letter}`, width: 45, height: 45 })))));
    find('.promotion', element)?.remove();
    const [x, y] = corner(square, flipped);
    box.style.setProperty('--left', `${(100 * (x + EDGE)) / (8 * SQUARE + EDGE)}%`);
    box.classList.toggle('from-below', y > 0);
    element.append(box);
    box.firstChild.focus({ preventScroll: true });
  }

  return { element, show, askPromotion };
}

// The pieces in words, for people who do not see the board.
export function describe(position) {
  const men = { true: {}, false: {} };
  position.board.forEach((piece, square) => {
    if (!piece) return;
    const kind = PIECE_NAMES[piece.toLowerCase()];
    (men[isWhite(piece)][kind] ||= []).push(squareName(square));
  });
  const side = (name, list) => `${name}: ${['king', 'queen', 'rook', 'bishop', 'knight', 'pawn'].filter((kind) => list[kind])
    .map((kind) => `${kind}${list[kind].length > 1 ? 's' : ''} ${list[kind].join(' ')}`).join(', ')}.`;
  return `${side('White', men.true)} ${side('Black', men.false)}`;
}
