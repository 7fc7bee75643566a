// The book as PGN: one game with variations, the likeliest answers first, lines of at most 80 characters.
import { bookMoves } from './cards.js';
import { movesPiece } from './chess.js';
import { often, percent } from './words.js';

const tagText = (text) => String(text).replace(/\s+/g, ' ').slice(0, 255).replace(/\\/g, '\\\\').replace(/"/g, '\\"');
const comment = (text) => `{ ${text.replace(/[{}]/g, '')} }`;

export function writePgn(book, data, number) {
  const [own, other] = data.side === 1 ? ['White', 'Black'] : ['Black', 'White'];
  const tags = {
    Event: `Preparation for ${own}`, Site: '?', Date: (data.created || '????.??.??').slice(0, 10).replace(/-/g, '.'), Round: '-',
    White: '?', Black: '?', Result: '*', [own]: 'Preparation', [other]: data.players[2 - data.side], Annotator: 'preplay',
  };
  if (data.start) Object.assign(tags, { SetUp: '1', FEN: data.start });
  if (data.chess960) tags.Variant = 'Chess960';
  const words = [];
  const sayMove = (k, opening) => {
    const [first, ...rest] = `${number.prefix(book.depth[k], opening).replace('… ', '... ')}${book.say(k).replace(/ \([\d,]+\)$/, '')}`.split(' ');
    words.push(first, ...rest);
  };
  const followUps = (k) => {
    if (book.own(k)) return book.inside(k) ? bookMoves(book, k) : [];
    return book.children(k).filter((c) => movesPiece(book.name(c))).sort((a, b) => book.p[b] - book.p[a]);
  };
  // A line to its end; what leaves it is put in brackets after the move that it replaces.
  function line(k, opening) {
    let fresh = opening;
    for (let at = k; ;) {
      const [main, ...others] = followUps(at);
      if (main === undefined) return;
      sayMove(main, fresh);
      fresh = remark(at, main);
      for (const c of others) {
        words.push('(');
        sayMove(c, true);
        line(c, remark(at, c));
        words.push(')');
        fresh = true;
      }
      at = main;
    }
  }
  // Whether something was said, after which the next move needs its number.
  function remark(at, c) {
    if (book.own(at)) words.push(comment(`met in ${often(book.reach[at])}`));
    else words.push(comment(percent(book.p[c], 0)));
    return true;
  }
  line(0, true);
  words.push('*');
  const head = Object.entries(tags).map(([name, value]) => `[${name} "${tagText(value)}"]`).join('\n');
  return `${head}\n\n${wrap(words)}\n`;
}

function wrap(words) {
  const lines = [''];
  for (const word of words.join(' ').replace(/\( /g, '(').replace(/ \)/g, ')').split(' ')) {
    const last = lines[lines.length - 1];
    if (last && last.length + word.length + 1 > 80) lines.push(word);
    else lines[lines.length - 1] = last ? `${last} ${word}` : word;
  }
  return lines.join('\n');
}
