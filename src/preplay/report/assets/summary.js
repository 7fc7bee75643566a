// The top of the page: what the preparation is worth, in words; and how it was made, folded away.

function tile(name, value, ...notes) {
  return h('div', { class: 'tile' }, h('dt', {}, name), h('dd', {}, h('span', { class: 'figure' }, value), notes.filter(Boolean).map((note) => h('span', { class: 'note' }, note))));
}

function makeTop(data, title, subtitle, tiles, notes) {
  const theme = h('button', { type: 'button', class: 'plain theme', click: toggleTheme },
    s('svg', { viewBox: '0 0 20 20', width: 18, height: 18, 'aria-hidden': 'true' }, s('path', { d: 'M10 2a8 8 0 1 0 0 16a8 8 0 1 0 0-16zM10 4v12a6 6 0 0 0 0-12z', fill: 'currentColor', 'fill-rule': 'evenodd' })),
    h('span', {}, 'Light / dark'));
  find('#top').replaceChildren(
    h('div', { class: 'bar-top' }, h('p', { class: 'brand' }, 'preplay'), h('span', { class: 'spring' }), data.kind === 'curves' ? '' : makeHelp(data), theme),
    h('h1', {}, title), h('p', { class: 'subtitle' }, subtitle),
    h('dl', { class: 'tiles' }, tiles), ...notes);
}

function toggleTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
  announce(`${dark ? 'Light' : 'Dark'} colours`);
  try {
    localStorage.setItem('preplay-theme', root.dataset.theme);
  } catch { /* some browsers keep nothing for files */ }
}

function restoreTheme() {
  try {
    const kept = localStorage.getItem('preplay-theme');
    if (kept === 'dark' || kept === 'light') document.documentElement.dataset.theme = kept;
  } catch { /* as above */ }
}

function makeHelp(data) {
  const rows = [['→', 'next move'], ['←', 'back'], ['↑ ↓', 'other answers'], ['Home, End', 'start, end of the line'], ['/', 'find a position']];
  if (data.chess) rows.push(['f', 'turn the board']);
  if (data.kind === 'book') rows.push(['q', 'quiz']);
  const dialog = h('dialog', { class: 'card', 'aria-labelledby': 'title-keys' }, h('h2', { id: 'title-keys' }, 'Keys'),
    h('dl', { class: 'keys' }, rows.map(([key, what]) => h('div', {}, h('dt', {}, h('kbd', {}, key)), h('dd', {}, what)))),
    h('form', { method: 'dialog' }, h('button', { class: 'primary' }, 'Close')));
  const button = h('button', { type: 'button', class: 'plain', id: 'help', click: () => dialog.showModal() }, 'Keys');
  return [button, dialog];
}

function bookTop(book, data) {
  const { worth } = data;
  const name = data.sides[data.side - 1];
  const gained = worth.value - worth.unprepared;
  const rating = eloGain(worth.unprepared, worth.value);
  const apart = worth.upper - worth.net;
  const tiles = [
    tile('Expected score', percent(worth.value), `${percent(worth.unprepared)} without preparation`, worth.error > 1e-6 && `± ${points(worth.error, false)} points per 100`),
    tile('Worth', points(gained), 'points per 100 games', data.chess && book.whole > 0 && (rating === null ? 'off the Elo scale' : `about ${rating < 0 ? '−' : '+'}${Math.abs(rating)} Elo in this pairing`)),
    book.whole > 0
      ? tile('To learn', plural(book.whole, 'position'), `${plural(book.lines, 'line')}, up to ${plural(book.deepest, 'move')} deep`)
      : tile('To learn', 'Nothing', 'no position is worth its price'),
    apart <= 1e-9
      ? tile('Certified', 'Best possible', 'no other book is worth more at this price')
      : tile('Certified', `≤ ${points(apart, false)} short`, 'points per 100 games below the best possible', worth.ending !== 'complete' && 'stopped before all was looked at'),
  ];
  const price = worth.cost > 0 ? `A position is worth learning here when it earns at least ${points(worth.cost, false)} points per 100 games (cost ${compact(worth.cost)}).` : '';
  const limit = worth.budget !== null && worth.budget !== undefined ? ` The book may hold at most ${plural(worth.budget, 'position')}.` : '';
  const split = data.clock && data.clock.split;
  const plusMinus = ({ mean, error }) => `${points(mean)} ± ${points(error, false)}`;
  const saved = split ? ` Of the ${plusMinus(split.gain)} points per 100 games better moves bring ${plusMinus(split.moves)} and saved time ${plusMinus(split.time)} (standard errors, ${plural(split.games, 'game')} of each kind). Scores of single positions are estimates by a search and the clocks.` : '';
  const model = data.chess && !data.clock && data.facts.find(([label]) => label === 'Value of a position');
  makeTop(data, `${name}’s preparation`, `against ${data.sides[2 - data.side]}: ${data.players[2 - data.side]}`, tiles,
    [h('p', { class: 'aside' }, price + limit + saved, model ? ` Scores measure a position by the engine: ${model[1]}.` : '')]);
}

function makeFoot(data) {
  const rows = (pairs) => h('dl', { class: 'facts' }, pairs.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, String(value)))));
  const { worth = {} } = data;
  const effort = [];
  if (worth.cost > 0) effort.push(['Price of a position', `${compact(worth.cost)} (${points(worth.cost, false)} points per 100 games)`]);
  if (worth.histories) effort.push(['Looked at', `${plural(worth.histories, 'history', 'histories')}, ${plural(worth.questions, 'question')}`]);
  find('#foot').replaceChildren(
    h('details', { class: 'card made' }, h('summary', {}, 'How this was computed'),
      rows([...data.facts, ...effort, ['Command', `preplay ${data.command}`], ['Matchup', data.matchup], ['Made', data.created.replace('T', ' ')]]),
      h('h3', {}, 'Versions'), rows(Object.entries(data.versions)),
      h('h3', {}, 'Configuration'), h('pre', { tabindex: 0, 'aria-label': 'Configuration as JSON' }, JSON.stringify(data.config, null, 2))),
    h('p', { class: 'credits' }, 'Made by preplay. This file is complete: it loads nothing from anywhere.',
      data.chess && ' Chess pieces by Colin M.L. Burnett (GFDL, BSD and GPL), by way of python-chess.'));
}
