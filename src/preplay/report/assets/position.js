// One position: the move to play or the answers to expect, what else there is, why the book ends.
import { explain, judgeMove, studied } from './answers.js';
import { byShare } from './app.js';
import { bookMoves } from './cards.js';
import { writeFen } from './chess.js';
import { copyText, factList, find, h, section } from './dom.js';
import { END_NAMES, endReason, often, optionWorth, pawns, percent, plural, points, whyChosen } from './words.js';

// Moves to choose from, as rows with a bar for their probability.
export function moveRows(app, nodes, hint, kind) {
  const { view, numbers } = app;
  return h('ul', { class: `replies ${kind}` }, nodes.map((c) => {
    const bar = h('span', { class: 'bar', 'aria-hidden': 'true' }, h('span', {}));
    bar.firstChild.style.setProperty('--share', `${Math.max(0.5, 100 * view.p[c])}%`);
    return h('li', {}, h('button', { type: 'button', class: 'reply', 'data-node': c, click: () => app.go(c) },
      h('span', { class: 'name' }, numbers.prefix(view.depth[c], true) + view.say(c)), bar,
      h('span', { class: 'share' }, percent(view.p[c], view.p[c] < 0.1 ? 1 : 0)),
      h('span', { class: 'hint' }, hint(c))));
  }));
}

function valueText(value, data) {
  if (value === null || value === undefined) return ['not analysed', ''];
  const score = data.chess ? pawns(data.side === 1 ? value : 1 - value, data.model) : null;
  return [percent(value), score ? `(eval ${score})` : ''];
}

// What both sides have left, in games with a clock.
function clockFact(data, k) {
  if (!data.clock) return null;
  const unit = data.clock.unit === 'milliseconds' ? 'ms' : data.clock.unit;
  const [white, black] = data.clock.left[k].map((left) => Math.max(0, left).toLocaleString('en'));
  return ['Clocks', `${white} : ${black}`, unit];
}

// Where the book had a choice: what the first choice would have earned, and what the chosen move hopes for.
function choice(app, k) {
  const told = app.data.tree.choice?.[k];
  if (!told) return null;
  const { options, played, hoped } = told;
  const why = whyChosen(options, played, app.data.lines);
  return h('div', { class: 'choice-told' }, h('p', {}, why), hoped ? h('p', {}, `It hopes for ${hoped[0]} (${percent(hoped[1], 0)}), which brings ${percent(hoped[2], 2)}.`) : '',
    options.length > 1 ? factList(options.map((option, j) => [option[1], optionWorth(option), [j === played ? 'the book’s move' : '', option[4] === null ? 'not among the moves that the engine scored' : ''].filter(Boolean).join(', ')])) : '');
}

// The engine's alternatives with what they are worth against this opponent, the answer hoped for, and the line.
function alternatives(app, k) {
  const { view: book } = app;
  const options = app.data.tree.others?.[k] ? studied(app, k) : [];
  if (!options.length) return null;
  const mine = new Set(bookMoves(book, k).map((c) => book.name(c)));
  return h('details', { class: 'alternatives', open: true }, h('summary', {}, 'Other moves, against this opponent'),
    h('ul', {}, options.map(({ move, say, score, worth, replies, line }) => {
      const hoped = replies.length ? replies.reduce((a, b) => (b[2] > a[2] ? b : a)) : null;
      return h('li', { class: mine.has(move) ? 'mine' : null },
        h('span', { class: 'name' }, say), h('span', { class: 'worth' }, percent(worth), h('span', { class: 'note' }, ` ${score >= 0 ? '+' : '−'}${Math.abs(score / 100).toFixed(2)} pawns`)),
        h('span', { class: 'hint' }, mine.has(move) ? 'the book’s move. ' : '', replies.length ? `Expect ${replies.slice(0, 2).map(([said, p]) => `${said} ${percent(p, 0)}`).join(', ')}. ` : '',
          hoped && replies.length > 1 && hoped[2] > worth + 0.002 ? `Hope for ${hoped[0]} (${percent(hoped[2])}). ` : '', line ? h('span', { class: 'variation' }, line) : ''));
    })),
    h('p', { class: 'aside' }, 'Each is valued one answer deep: the opponent’s moves by their probabilities, the positions after them as at the board.'));
}

// How often a rival had the position, what was played, in which games.
function rivalGames(app, k) {
  const met = app.data.tree.games?.[k];
  if (!met) return null;
  const [count, moves, named] = met;
  return h('details', { class: 'games' }, h('summary', {}, `${app.data.rival} had this position in ${plural(count, 'game')}`),
    h('p', {}, moves.map(([say, times]) => `${say} ${times}×`).join(', ')),
    h('ul', {}, named.map((name) => h('li', {}, name))));
}

export function bookCard(app, k) {
  const { view: book, data, numbers } = app;
  const { cost, budget } = data.worth;
  const reach = book.reach[k];
  const met = ['Met in', often(reach), reach < 0.995 ? `(${percent(reach)})` : ''];
  const end = book.endOf(k);
  const parts = [book.followed(k) ? null : h('p', { class: 'aside' }, 'Beyond the smaller book that you chose.')];
  if (end !== '-') {
    const [value, score] = valueText(book.value[k], data);
    parts.push(
      h('p', { class: 'verdict' }, 'The book ends here', h('span', { class: `pill end-${end}` }, END_NAMES[end])),
      h('p', {}, endReason(end, { reach, value: book.value[k], cost, budget, other: data.rival, beyond: data.tree.beyond[k] })));
    if (end === 's') parts.push(h('p', { class: 'label' }, 'The whole book goes on with'), moveRows(app, byShare(book, k), () => '', 'mine'));
    parts.push(factList([met, end === 'g' ? null : [`Your ${data.trust.scores}`, value, score], clockFact(data, k)]));
    return parts;
  }
  if (book.own(k)) {
    const moves = byShare(book, k);
    const [alone, score] = valueText(book.value[k], data);
    const better = book.worth[k] - (book.value[k] ?? 0.5);
    parts.push(h('p', { class: 'label' }, moves.length > 1 ? 'Play one of' : 'Play'));
    if (moves.length > 1) parts.push(moveRows(app, moves, () => '', 'mine'));
    else {
      parts.push(h('button', { type: 'button', class: 'play', 'data-node': moves[0], click: () => app.go(moves[0]) },
        numbers.prefix(book.depth[moves[0]], true) + book.say(moves[0])));
    }
    parts.push(factList([
      met,
      ['On your own from here', alone, score],
      ['With the book', percent(book.worth[k]), `(${points(better)})`],
      ['This position adds', points(book.gain[k]), 'per 100 games'],
      ['In the order to learn', `no. ${(data.tree.rank[k] + 1).toLocaleString('en')}`, `of ${book.whole.toLocaleString('en')}`],
      clockFact(data, k),
    ]));
    if (book.gain[k] < 0) parts.push(h('p', { class: 'aside' }, 'By itself this move costs a little; it pays through the positions after it.'));
    parts.push(choice(app, k), alternatives(app, k));
    return parts;
  }
  const replies = byShare(book, k);
  const chance = book.player[k] === 'c';
  const known = chance && data.repairs; // what a book extends is no decision
  parts.push(h('p', { class: 'label' }, known ? 'You know already' : chance ? 'Chance decides' : `${data.rival} answers`),
    moveRows(app, replies, (c) => {
      const stop = book.endOf(c);
      if (stop !== '-') return h('span', { class: `pill end-${stop}` }, END_NAMES[stop]);
      if (!book.own(c)) return '';
      const next = book.main(c);
      return [h('span', { class: 'then' }, 'then '), h('strong', {}, book.say(next))];
    }, known ? 'mine' : 'theirs'),
    rivalGames(app, k),
    factList([met, [`Your ${data.trust.scores}`, percent(book.worth[k]), 'with the book'], clockFact(data, k)]));
  return parts;
}

// The position's FEN to copy, and other ways into the same position.
function chessExtras(app, k) {
  const fen = writeFen(app.position(k));
  const field = h('input', { type: 'text', readonly: true, value: fen, 'aria-label': 'FEN of this position', focus: (event) => event.target.select() });
  const others = app.twins(k);
  return [
    others.length > 0 && h('p', { class: 'aside' }, 'Also reached by ', others.slice(0, 3).map((j, at) => [at ? ' or ' : '',
      h('button', { type: 'button', class: 'move', click: () => app.go(j) }, app.numbers.line(app.view, app.view.path(j)) || 'the start')]), '.'),
    h('div', { class: 'fen' }, h('span', { class: 'label' }, 'FEN'), field, h('button', { type: 'button', class: 'plain', click: () => copyText(fen, 'FEN') }, 'Copy')),
  ];
}

export function makePositionCard(app, card) {
  const body = h('div', { class: 'position-body', tabindex: -1 });
  const said = h('div', { class: 'said', role: 'status', hidden: true });
  const element = section('position', 'This position', said, body);
  return {
    element,
    show(k, changed) {
      const focused = element.contains(document.activeElement);
      if (!changed) said.hidden = true;
      body.replaceChildren(...card(app, k).filter(Boolean), ...(app.data.chess ? chessExtras(app, k).filter(Boolean) : []));
      if (focused) (find('.play, .reply', body) ?? body).focus({ preventScroll: true });
    },
    say(...parts) {
      said.replaceChildren(...parts);
      said.hidden = false;
      element.scrollIntoView({ block: 'nearest' });
      said.scrollIntoView({ block: 'nearest' });
    },
  };
}

// Any move made on the board outside the trainer: walk there, or say what is known of it.
export function tryMove(app, card, uci) {
  const { view, data } = app;
  const k = app.at;
  const c = view.children(k).filter((j) => view.name(j) === uci).sort((a, b) => view.p[b] - view.p[a])[0];
  if (c !== undefined) {
    app.go(c);
    return;
  }
  const verdict = judgeMove(app, k, uci);
  const line = (text) => h('p', {}, text);
  const goThere = (j, text) => h('button', { type: 'button', class: 'move', click: () => app.go(j) }, text);
  const name = h('strong', {}, app.numbers.prefix(view.depth[k] + 1, true) + verdict.say);
  if (verdict.kind === 'into') card.say(h('p', {}, name, ' leads to a position of the book by another order of moves: ', goThere(verdict.node, app.numbers.line(view, view.path(verdict.node)) || 'the start'), '.'));
  else if (data.kind === 'book' && view.own(k) && view.endOf(k) === '-') {
    if (verdict.kind === 'equal') card.say(h('p', {}, name, ` is about as good against this opponent (${percent(verdict.option.worth)}); the book knows how to go on after ${view.say(view.main(k))}.`), verdict.option.line ? line(verdict.option.line) : '');
    else card.say(h('p', {}, name, verdict.kind === 'worse' ? ' is a known alternative.' : ' is not in the book.'), ...explain(app, k, verdict).map(line));
  } else if (view.own(k)) card.say(h('p', {}, name, ': the book has ended here, so this is your own choice.'));
  else card.say(h('p', {}, name, ` is not among the answers that were expected of ${data.rival ?? 'the other side'}: from there you are on your own.`));
}
