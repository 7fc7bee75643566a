// The board with the line above it and the buttons below; moves on it walk the tree, answer the trainer, or are
// answered themselves.
import { byShare, turn, walk } from './app.js';
import { describe, makeBoard } from './board.js';
import { isWhite, movesPiece, squareAt, squareName } from './chess.js';
import { h, icon, toast } from './dom.js';
import { cellName, describeMarks, gridMarks, landing, makeGrid } from './grid.js';
import { legalMoves } from './rules.js';

// The line to the current position, and what the opening is called; the current move is always in view.
function makeLine(app) {
  const { view, numbers, data } = app;
  const name = h('span', { class: 'opening' });
  const moves = h('nav', { class: 'way', 'aria-label': 'The line to this position' });
  const element = h('div', { class: 'line-strip' }, name, moves);
  const early = data.before?.length ? h('span', { class: 'before' }, `${data.beforeLine} `) : null;
  app.listeners.push((k) => {
    let opening = '';
    for (let j = k; j >= 0 && !opening; j = view.parent[j]) opening = data.tree.openings?.[j] ?? '';
    name.textContent = opening;
    name.hidden = !opening;
    const focused = moves.contains(document.activeElement);
    const steps = view.path(k);
    const button = (j, text) => h('button', { type: 'button', class: 'move', disabled: app.training(), click: () => app.go(j), 'aria-current': j === k ? 'true' : null }, text);
    moves.replaceChildren(...[early, button(0, 'Start'), ...steps.map((j, at) => button(j, numbers.prefix(view.depth[j], at === 0) + view.say(j)))].filter(Boolean));
    const last = moves.lastElementChild;
    moves.scrollLeft = last.offsetLeft + last.offsetWidth - moves.clientWidth + 8;
    if (focused) last.focus({ preventScroll: true });
  });
  return element;
}

function buttons(app) {
  const button = (label, path, action, kind = '') => h('button', { type: 'button', class: `plain icon ${kind}`, 'aria-label': label, title: label, click: action }, icon(path));
  return h('div', { class: 'controls' },
    button('Start', 'M18 5l-7 7l7 7M7 5v14', () => walk(app, 'Home')), button('Back', 'M15 5l-7 7l7 7', () => walk(app, 'ArrowLeft')),
    button('Next', 'M9 5l7 7l-7 7', () => walk(app, 'ArrowRight')), button('End of the line', 'M6 5l7 7l-7 7M17 5v14', () => walk(app, 'End')),
    app.data.chess && button('Turn the board', 'M7 20V5m0 0L3 9m4-4l4 4M17 4v15m0 0l4-4m-4 4l-4-4', () => turn(app), 'turn'));
}

export function makeStage(app) {
  const { data } = app;
  const board = data.chess ? chessStage(app) : data.drawing ? gridStage(app) : null;
  return {
    hasBoard: board !== null,
    element: h('section', { class: 'stage', 'aria-label': board ? 'Board' : 'Line' }, makeLine(app), board, buttons(app)),
  };
}

// The legal moves between two squares: castling also as king takes rook, promotions by each piece.
function movesBetween(app, from, to) {
  const position = app.position(app.at);
  const name = squareName(from) + squareName(to);
  const legal = legalMoves(position, app.data.chess960);
  const direct = legal.filter((uci) => uci.slice(0, 4) === name);
  if (direct.length || position.board[from].toLowerCase() !== 'k') return direct;
  const [rank, right] = [8 * Math.floor(from / 8), to > from];
  const goal = squareName(rank + (right ? 6 : 2));
  const rook = position.rooks.find((square) => Math.floor(square / 8) === Math.floor(from / 8) && square > from === right);
  const castling = legal.filter((uci) => uci.slice(0, 2) === squareName(from) && (uci.slice(2) === goal || uci.slice(2) === squareName(rook ?? -1)) && Math.abs(squareAt(uci) - squareAt(uci.slice(2))) !== 1);
  return to === rook || Math.abs(from - to) === 2 ? castling : [];
}

function chessStage(app) {
  const { view, data } = app;
  const made = (uci) => (app.training() ? app.trainer.moved(uci) : app.tried(uci));
  const board = makeBoard({
    // `quiet`: the second click was on another own piece, which is a new choice unless it makes a move.
    onMove(from, to, quiet = false) {
      const position = app.position(app.at);
      const piece = position.board[from];
      if (!piece || isWhite(piece) !== position.white) {
        if (!quiet) toast(`${position.white ? 'White' : 'Black'} is to move.`);
        return false;
      }
      const found = movesBetween(app, from, to);
      if (!found.length) {
        if (!quiet) toast(`${squareName(from)}–${squareName(to)} is not a legal move here.`);
        return false;
      }
      if (found.length > 1) board.askPromotion(to, position.white, (letter) => made(found.find((uci) => uci[4] === letter)));
      else made(found[0]);
      return true;
    },
    onPick(square) {
      if (app.training()) return false;
      const name = squareName(square);
      const from = view.children(app.at).filter((c) => view.name(c).startsWith(name));
      const to = view.children(app.at).filter((c) => view.name(c).slice(2, 4) === name);
      const hit = from.length === 1 ? from : from.length === 0 && to.length === 1 ? to : [];
      if (hit.length) app.go(hit[0]);
      return hit.length > 0;
    },
  });
  function squaresOf(k) {
    const name = view.name(k);
    if (!movesPiece(name)) return null;
    const [from, to] = [squareAt(name), squareAt(name.slice(2))];
    const before = app.position(view.parent[k]);
    const king = before.board[from].toLowerCase() === 'k';
    // In king-takes-rook notation the king does not end on the rook's square.
    const castles = king && before.board[to] && isWhite(before.board[to]) === isWhite(before.board[from]);
    return { from, to: castles ? 8 * Math.floor(from / 8) + (to > from ? 6 : 2) : to };
  }
  app.listeners.push((k, { animate, reveal }) => {
    const position = app.position(k);
    const hide = app.training() && !reveal;
    const mine = view.own(k);
    const nodes = hide || (data.kind === 'book' && view.endOf(k) !== '-') ? [] : byShare(view, k).filter((c) => view.p[c] >= 0.005 && movesPiece(view.name(c))).slice(0, 8);
    board.show({
      position,
      flipped: app.flipped,
      last: k ? squaresOf(k) : null,
      arrows: nodes.map((c) => ({ ...squaresOf(c), share: view.p[c], kind: mine ? 'mine' : 'theirs' })).filter(({ from }) => from >= 0),
      label: `${position.white ? 'White' : 'Black'} to move. ${describe(position)}`,
    }, animate);
  });
  return board.element;
}

function gridStage(app) {
  const { view, data } = app;
  const { drawing } = data;
  const grid = makeGrid(drawing, (clicked) => {
    const marks = gridMarks(view, drawing, app.at);
    const cell = landing(drawing, marks, clicked);
    if (cell < 0) {
      toast('That cell is taken.');
      return;
    }
    const c = view.children(app.at).find((j) => drawing.cells[j] === cell);
    if (app.training()) app.trainer.moved(c === undefined ? cellName(drawing, cell) : view.name(c));
    else if (c === undefined) toast(`${cellName(drawing, cell)} is not in the book.`);
    else app.go(c);
  });
  app.listeners.push((k, { reveal }) => {
    const marks = gridMarks(view, drawing, k);
    const hide = app.training() && !reveal;
    const ended = data.kind === 'book' && view.endOf(k) !== '-';
    const next = hide || ended ? [] : view.children(k).filter((c) => drawing.cells[c] >= 0);
    grid.show({
      marks,
      last: k ? drawing.cells[k] : -1,
      targets: next.map((c) => ({ cell: drawing.cells[c], share: view.p[c], kind: view.own(k) ? 'mine' : 'theirs' })),
      label: describeMarks(drawing, marks),
    });
  });
  return grid.element;
}
