// The top of the page in one line, the keys, and how it was made.
import { find, h, s, settings, announce } from './dom.js';
import { compact, percent, plural, points } from './words.js';

export function tile(name, value, ...notes) {
  return h('div', { class: 'tile' }, h('dt', {}, name), h('dd', {}, h('span', { class: 'figure' }, value), notes.filter(Boolean).map((note) => h('span', { class: 'note' }, note))));
}

// figures: [[value, what]], the few that fit into a line.
export function makeTop(data, title, figures) {
  const theme = h('button', { type: 'button', class: 'plain theme', click: toggleTheme, 'aria-label': 'Light or dark', title: 'Light or dark' },
    s('svg', { viewBox: '0 0 20 20', width: 18, height: 18, 'aria-hidden': 'true' }, s('path', { d: 'M10 2a8 8 0 1 0 0 16a8 8 0 1 0 0-16zM10 4v12a6 6 0 0 0 0-12z', fill: 'currentColor', 'fill-rule': 'evenodd' })));
  find('#top').replaceChildren(
    h('h1', { title }, title),
    h('ul', { class: 'figures', 'aria-label': 'In short' }, figures.map(([value, what, kind]) => h('li', { class: kind ?? null }, h('strong', {}, value), ` ${what}`))),
    h('span', { class: 'spring' }), ...(['book', 'mixed', 'match', 'policy'].includes(data.kind) ? makeHelp(data) : []), theme);
}

function toggleTheme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
  announce(`${dark ? 'Light' : 'Dark'} colours`);
  settings.set('theme', root.dataset.theme);
}

export function restoreTheme() {
  const kept = settings.get('theme', null);
  if (kept === 'dark' || kept === 'light') document.documentElement.dataset.theme = kept;
}

function makeHelp(data) {
  const rows = [['→', 'next move'], ['←', 'back'], ['↑ ↓', 'other answers'], ['Home, End', 'start, end of the line'], ['/', 'find a position']];
  if (data.chess) rows.push(['f', 'turn the board']);
  if (data.kind === 'book') rows.push(['l', 'learn']);
  const box = h('input', { type: 'checkbox', id: 'use-keys', checked: settings.get('keys', true), change: () => settings.set('keys', box.checked) });
  const dialog = h('dialog', { class: 'card', 'aria-labelledby': 'title-keys' }, h('h2', { id: 'title-keys' }, 'Keys'),
    h('dl', { class: 'keys' }, rows.map(([key, what]) => h('div', {}, h('dt', {}, h('kbd', {}, key)), h('dd', {}, what)))),
    h('label', { class: 'check' }, box, 'Use these keys'),
    h('form', { method: 'dialog' }, h('button', { class: 'primary' }, 'Close')));
  const button = h('button', { type: 'button', class: 'plain', id: 'help', click: () => dialog.showModal() }, 'Keys');
  return [button, dialog];
}

export function bookTop(book, data) {
  const { worth, trust } = data;
  const { label, score, without, row } = trust.headline;
  const figures = [[percent(score), label], [points(score - without), `per 100 games${row === 'fresh' ? ', checked afresh' : ''}`, 'wide'],
    book.whole > 0 ? [book.whole.toLocaleString('en'), book.whole === 1 ? 'position' : 'positions'] : ['Nothing', 'is worth its price']];
  if (worth.ending !== 'complete') figures.push(['stopped early', '', 'wide']);
  makeTop(data, `${data.sides[data.side - 1]} against ${data.rival}`, figures);
}

const rows = (pairs) => h('dl', { class: 'facts' }, pairs.map(([name, value]) => h('div', {}, h('dt', {}, name), h('dd', {}, String(value)))));

// How it was made, folded away.
export function made(data) {
  const { worth = {} } = data;
  const effort = [];
  if (worth.cost > 0) effort.push(['Price of a position', `${points(worth.cost, false)} points per 100 games (cost ${compact(worth.cost)})`]);
  if (worth.histories) effort.push(['Looked at', `${plural(worth.histories, 'line')}, ${plural(worth.questions, 'question')} to the players`]);
  return [
    h('details', { class: 'card made' }, h('summary', {}, 'How this was computed'),
      rows([...data.facts, ...effort, ['Command', `preplay ${data.command}`], ['Matchup', data.matchup], ['Made', data.created.replace('T', ' ')]]),
      h('h2', {}, 'Versions'), rows(Object.entries(data.versions)),
      h('h2', {}, 'Configuration'), h('pre', { tabindex: 0, role: 'region', 'aria-label': 'Configuration as JSON' }, JSON.stringify(data.config, null, 2))),
    h('p', { class: 'credits' }, 'Made by preplay. This file is complete: it loads nothing from anywhere.',
      (data.chess || data.pieces) && ' Chess pieces by Colin M.L. Burnett (GFDL, BSD and GPL), by way of python-chess.'),
  ];
}

export function makeFoot(data) {
  find('#foot').replaceChildren(...made(data));
}
