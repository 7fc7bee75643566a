// Taking the book along: files for other programs, and a sheet to print.
import { copyText, download, h } from './dom.js';
import { writePgn } from './pgn.js';
import { makeSheet } from './sheet.js';

const bytes = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
const fileName = (data, ending) => `${data.sides[data.side - 1]}-${data.rival}`.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '').slice(0, 60) + ending;

export function makeTake(app) {
  const { data, view: book, numbers } = app;
  const button = (text, action, kind = 'plain') => h('button', { type: 'button', class: kind, click: action }, text);
  const part = (title, text, ...actions) => h('div', { class: 'take-part' }, h('h2', {}, title), h('p', { class: 'aside' }, text), h('div', { class: 'actions' }, actions));
  const pgn = () => writePgn(book, data, numbers);
  const { polyglot, anki } = data.files ?? {};
  const print = () => {
    makeSheet(app);
    window.print();
  };
  window.addEventListener('beforeprint', () => makeSheet(app));
  return h('div', { class: 'take' },
    part('On paper', 'The lines in the order worth learning, with a diagram where each ends.', button('Print the lines', print, 'primary')),
    data.chess && part('PGN', 'All lines with variations, for any chess program. A smaller book that you chose is exported as chosen.',
      button('Copy PGN', () => copyText(pgn(), 'PGN')), button('Save PGN', () => download(fileName(data, '.pgn'), pgn(), 'application/x-chess-pgn'))),
    polyglot && part('Polyglot', 'A .bin book for engines and graphical programs: the whole book.', button('Save Polyglot book', () => download(fileName(data, '.bin'), bytes(polyglot), 'application/octet-stream'))),
    anki && part('Anki', 'A deck with a card for each position: the whole book.', button('Save Anki deck', () => download(fileName(data, '.apkg'), bytes(anki), 'application/octet-stream'))),
    part('On the phone', ['Send this file to the phone and open it there: it needs no network. ', h('code', {}, 'preplay report RUN -o FOLDER/'), ' writes a folder that a phone can install as an app from any web space.']),
    part('This position', 'A link that opens this file at the position on the board.', button('Copy link', () => copyText(location.href, 'link'))));
}
