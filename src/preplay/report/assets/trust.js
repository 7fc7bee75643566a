// How far to believe it: what was promised, judged, checked afresh and played, side by side; and what
// “best” means here.
import { h } from './dom.js';
import { made } from './summary.js';
import { compact, eloGain, percent, plural, points } from './words.js';

const plusMinus = ({ mean, error }) => `${points(mean)} ± ${points(error, false)}`;

export function makeTrust(data) {
  const { trust, worth } = data;
  const apart = worth.upper - worth.net;
  const best = apart <= 1e-9
    ? 'Best within this model: by the values, the opponent and the moves that were assumed, no other book earns more at this price.'
    : `Within this model another book could earn up to ${points(apart, false)} points per 100 games more at this price${worth.ending === 'complete' ? '' : '; the computation was stopped before all was looked at'}.`;
  const price = worth.cost > 0 ? `A position is worth learning here when it earns at least ${points(worth.cost, false)} points per 100 games (cost ${compact(worth.cost)}).` : '';
  const limit = worth.budget !== null && worth.budget !== undefined ? ` The book may hold at most ${plural(worth.budget, 'position')}.` : '';
  const split = data.clock && data.clock.split;
  const saved = split ? `Of the ${plusMinus(split.gain)} points per 100 games better moves bring ${plusMinus(split.moves)} and saved time ${plusMinus(split.time)} (standard errors, ${plural(split.games, 'game')} of each kind). Scores of single positions are estimates by a search and the clocks.` : '';
  const elo = data.chess && trust.headline.label !== 'model score' ? eloGain(trust.headline.without, trust.headline.score) : null;
  const rating = elo === null ? '' : `In this pairing that is about ${elo < 0 ? '−' : '+'}${Math.abs(elo)} Elo.`;
  const withError = (value, error) => (value === null || value === undefined ? '–' : `${percent(value)}${error > 1e-6 ? ` ± ${points(error, false)}` : ''}`);
  return h('div', { class: 'trust' },
    h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'What the book is worth, side by side' }, h('table', {}, h('caption', {}, `What the book is worth to ${data.sides[data.side - 1]}, found in different ways`),
      h('thead', {}, h('tr', {}, ['', 'without', 'with the book', 'gain per 100'].map((name, k) => (name ? h('th', { scope: 'col', class: k ? 'number' : null }, name) : h('td', {}))))),
      h('tbody', {}, trust.rows.map((row) => h('tr', { 'data-row': row.name }, h('th', { scope: 'row' }, row.title, h('span', { class: 'note' }, row.note)),
        h('td', { class: 'number' }, withError(row.without, row.without_error)), h('td', { class: 'number' }, withError(row.score, row.error)),
        h('td', { class: 'number' }, row.score === null || row.without === null ? '–' : points(row.score - row.without))))))),
    rating && h('p', {}, rating),
    trust.notes.map((note) => h('p', {}, note)),
    h('p', {}, best),
    h('p', { class: 'aside' }, price + limit),
    saved && h('p', { class: 'aside clock-split' }, saved),
    made(data));
}
