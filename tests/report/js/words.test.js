import assert from 'node:assert/strict';
import test from 'node:test';
import { landing } from '../../../src/preplay/report/assets/grid.js';
import { namesMove, readMoves } from '../../../src/preplay/report/assets/search.js';
import { often, percent, points, whyChosen } from '../../../src/preplay/report/assets/words.js';

test('a move is found by its own name only', () => {
  assert.ok(namesMove('Bxe7', 'b4e7', 'Bxe7+', true));
  assert.ok(!namesMove('Be7', 'b4e7', 'Bxe7+', true));
  assert.ok(!namesMove('Bxe7', 'b4e7', 'Be7', true));
  assert.ok(!namesMove('be7', 'b4e7', 'Be7', true));
  assert.ok(namesMove('be7', 'b4e7', 'Be7', true, true));
  assert.ok(namesMove('0-0', 'e1g1', 'O-O', true));
  assert.ok(namesMove('e8Q', 'e7e8q', 'e8=Q#', true));
  assert.ok(!namesMove('A', 'a', 'a', false));
  assert.deepEqual(readMoves('1. e4 {best} e5 (1... c5) 2.Nf3 1/2-1/2'), ['e4', 'e5', 'Nf3']);
});

test('numbers as players say them', () => {
  assert.equal(often(1), 'every game');
  assert.equal(often(1 / 120), '1 in 120 games');
  assert.equal(often(0.75), '3 in 4 games');
  assert.equal(percent(0.0001), '<0.1%');
  assert.equal(points(-0.0123), '−1.23');
});

test('marks fall to the lowest free cell of a column', () => {
  const four = { rows: 6, columns: 7, falls: true };
  assert.equal(landing(four, new Map(), 3), 38);
  assert.equal(landing(four, new Map([[38, '1']]), 3), 31);
  const full = new Map([0, 7, 14, 21, 28, 35].map((cell) => [cell, '1']));
  assert.equal(landing(four, full, 0), -1);
  assert.equal(landing({ rows: 3, columns: 3, falls: false }, new Map([[4, '1']]), 4), -1);
});

test('why the book plays a move', () => {
  const [sound, trap] = [['e2e4', 'e4', 0.55, 0.62, 40], ['g2g4', 'g4', 0.7, 0.7, -20]];
  assert.match(whyChosen([sound, trap], 1, false), /^Not the engine’s first choice: e4 would earn at most 62\.00% from here, g4 earns 70\.00%/);
  assert.match(whyChosen([sound, trap], 1, true), /^Not the first choice among the moves you allow/);
  assert.match(whyChosen([trap, sound], 0, false), /also the best against this opponent.*memory paid/);
  assert.equal(whyChosen([sound], 0, true), 'The only move that you allow here.');
  assert.equal(whyChosen([sound], 0, false), 'No other move was near enough to be considered.');
  assert.match(whyChosen([['a', 'a', 0.2, 1, 0], trap], 1, false), /a would earn an unknown share/);
});
