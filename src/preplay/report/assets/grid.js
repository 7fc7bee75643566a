// A board for games whose moves put marks on a grid, such as tic-tac-toe and connect four. The drawing says
// {rows, columns, falls, cells}: the cell that the move into each history fills (counted from the upper left,
// row by row; -1 for none), and whether marks fall to the bottom of their column.
import { h, s } from './dom.js';

const CELL = 60;

export const gridMarks = (view, drawing, k) => {
  const marks = new Map();
  for (const j of view.path(k)) if (drawing.cells[j] >= 0) marks.set(drawing.cells[j], view.player[view.parent[j]]);
  return marks;
};

// Where a mark ends that is put into a cell; -1 where there is no room.
export function landing(drawing, marks, cell) {
  if (!drawing.falls) return marks.has(cell) ? -1 : cell;
  for (let row = drawing.rows - 1; row >= 0; row -= 1) {
    const at = row * drawing.columns + (cell % drawing.columns);
    if (!marks.has(at)) return at;
  }
  return -1;
}

export const cellName = (drawing, cell) => (drawing.falls ? `column ${1 + (cell % drawing.columns)}` : `row ${1 + Math.floor(cell / drawing.columns)}, column ${1 + (cell % drawing.columns)}`);

export function makeGrid(drawing, onCell) {
  const { rows, columns } = drawing;
  const body = s('g');
  const svg = s('svg', { class: 'board grid-board', viewBox: `0 0 ${columns * CELL} ${rows * CELL}`, role: 'img', 'aria-label': 'Board' }, body);
  svg.addEventListener('click', (event) => {
    const box = svg.getBoundingClientRect();
    const column = Math.floor((columns * (event.clientX - box.left)) / box.width);
    const row = Math.floor((rows * (event.clientY - box.top)) / box.height);
    if (column >= 0 && column < columns && row >= 0 && row < rows) onCell(row * columns + column);
  });
  const place = (cell) => [CELL * (cell % columns), CELL * Math.floor(cell / columns)];
  function mark(cell, player, last) {
    const [x, y] = place(cell);
    const tone = `${player === '1' ? 'first' : 'second'}${last ? ' last' : ''}`;
    if (drawing.falls) return s('circle', { cx: x + CELL / 2, cy: y + CELL / 2, r: CELL * 0.38, class: `disc ${tone}` });
    if (player === '1') return s('path', { d: `M${x + 14} ${y + 14}l${CELL - 28} ${CELL - 28}m0 ${28 - CELL}l${28 - CELL} ${CELL - 28}`, class: `stroke ${tone}` });
    return s('circle', { cx: x + CELL / 2, cy: y + CELL / 2, r: CELL * 0.3, class: `stroke ${tone}` });
  }
  // targets: [{cell, share, kind}], the moves to expect or to make.
  function show({ marks, last, targets, label }) {
    const cells = Array.from({ length: rows * columns }, (_, cell) => cell);
    body.replaceChildren(
      ...cells.map((cell) => s('rect', { x: place(cell)[0] + 1, y: place(cell)[1] + 1, width: CELL - 2, height: CELL - 2, rx: 6, class: 'cell', 'data-cell': cell })),
      ...targets.map(({ cell, share, kind }) => s('circle', { cx: place(cell)[0] + CELL / 2, cy: place(cell)[1] + CELL / 2, r: 4 + 12 * Math.sqrt(share), class: `target ${kind}` })),
      ...[...marks].map(([cell, player]) => mark(cell, player, cell === last)));
    svg.setAttribute('aria-label', label);
  }
  return { element: h('div', { class: 'board-frame' }, svg), show };
}

// The marks in words.
export function describeMarks(drawing, marks) {
  const list = (player) => [...marks].filter(([, one]) => one === player).map(([cell]) => `row ${1 + Math.floor(cell / drawing.columns)} column ${1 + (cell % drawing.columns)}`).join(', ') || 'none';
  return `First player: ${list('1')}. Second player: ${list('2')}.`;
}
