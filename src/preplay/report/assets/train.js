// Learning: the page asks for the book's moves, the most needed first, and keeps what was learned.
import { explain, judgeMove, purpose } from './answers.js';
import { bookMoves, answered, makeCards } from './cards.js';
import { writeFen } from './chess.js';
import { announce, factList, find, h } from './dom.js';
import { makeDesk } from './desk.js';
import { makeProgress } from './progress.js';
import { readMove, writeSan } from './rules.js';
import { makeSession } from './session.js';
import { plural } from './words.js';

const dayName = (time) => new Date(time - new Date(time).getTimezoneOffset() * 60_000).toISOString().slice(0, 10);

export function makeTrainer(app) {
  const { view: book, data, numbers } = app;
  const keyOf = data.chess ? (k) => writeFen(app.position(k)).split(' ').slice(0, 4).join(' ') : (k) => `${data.game}: ${book.path(k).map(book.name).join(' ')}`;
  let deck = null; // made when first needed: a large book opens faster without it
  const cardsNow = () => (deck ??= makeCards(book, keyOf));
  const progress = makeProgress(localStorageOrNone());
  const state = { session: null, goal: null, phase: 'idle', since: 0, first: true, timer: 0, clock: 0, misses: [] };

  const question = h('p', { class: 'question', tabindex: -1 });
  const feedback = h('div', { class: 'feedback', role: 'status' });
  const bar = h('div', { class: 'session-bar' });
  const score = h('div', {});
  const field = h('input', { type: 'text', id: 'answer', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false', placeholder: 'e.g. Nf3 or g1f3' });
  const form = h('form', { class: 'answer', submit: (event) => {
    event.preventDefault();
    typed(field.value);
  } }, h('label', { for: 'answer' }, 'Your move, on the board or here'), h('div', { class: 'with-button' }, field, h('button', { type: 'submit' }, 'Check')));
  const choices = h('div', { class: 'choices', role: 'group', 'aria-label': 'Your move' });
  const reveal = h('button', { type: 'button', class: 'plain', click: giveUp }, 'Show me');
  const next = h('button', { type: 'button', class: 'primary', click: goOn }, 'Next');
  const stopButton = h('button', { type: 'button', class: 'plain', click: () => finish() }, 'Stop');
  const game = h('div', { class: 'game', hidden: true }, bar, question, data.chess ? form : choices, feedback, h('div', { class: 'actions' }, reveal, next, stopButton), score);
  const desk = makeDesk(app, { progress, cardsNow, begin });
  const element = h('div', { class: 'learn' }, desk.element, game);

  const calm = () => matchMedia('(prefers-reduced-motion: reduce)').matches;
  function later(what, wait) {
    clearTimeout(state.timer);
    state.timer = setTimeout(what, calm() ? 0 : wait);
  }

  function begin(options) {
    const { cards, ofNode } = cardsNow();
    state.session = makeSession({ book, cards, ofNode, memories: progress.cards, now: Date.now, options });
    state.options = options;
    state.misses = [];
    desk.element.hidden = true;
    game.hidden = false;
    app.setTraining(true);
    state.clock = setInterval(drawBar, 1000);
    ask();
  }

  function finish() {
    if (!state.session) return;
    clearTimeout(state.timer);
    clearInterval(state.clock);
    const { asked, right, shown } = state.session.state;
    const spent = state.session.seconds();
    state.session = null;
    state.phase = 'idle';
    desk.element.hidden = false;
    game.hidden = true;
    app.setTraining(false);
    desk.report({ asked, right, shown, spent, misses: state.misses });
  }

  function ask() {
    const goal = state.session.next();
    state.goal = goal;
    if (goal.kind === 'done') {
      finish();
      return;
    }
    state.phase = 'moving';
    draw();
    walkTo(goal.node, () => pose(goal));
  }

  // Play the moves up to a position, from where the board stands if that is on the way.
  function walkTo(k, then) {
    const path = [0, ...book.path(k)];
    const at = path.indexOf(app.at);
    const rest = state.options.by === 'line' && !calm() ? (at >= 0 ? path.slice(at + 1) : path.slice(-3)) : [k];
    const step = () => {
      if (!state.session) return;
      const j = rest.shift();
      if (j !== undefined) app.go(j, { animate: true });
      if (rest.length) later(step, 380);
      else then();
    };
    if (!rest.length) {
      app.go(k);
      then();
    } else later(step, goalPause());
  }
  const goalPause = () => (state.session.state.turns ? 250 : 0);

  function pose(goal) {
    const k = goal.node;
    state.first = true;
    state.since = Date.now();
    feedback.className = 'feedback';
    feedback.replaceChildren();
    const before = book.path(k);
    const last = before.length ? `after ${numbers.line(book, before.slice(-1))}` : 'at the start';
    if (goal.kind === 'teach') {
      state.phase = 'teach';
      question.textContent = `New: play ${moveText(bookMoves(book, k)[0])}`;
      feedback.append(h('p', {}, purpose(app, k)));
    } else {
      state.phase = 'ask';
      question.textContent = `${goal.again ? 'Once more: your' : 'Your'} move ${last}?`;
    }
    app.go(k, { reveal: goal.kind === 'teach' });
    if (!data.chess) drawChoices(k);
    draw();
    announce(question.textContent);
    if (data.chess && !matchMedia('(pointer: coarse)').matches) field.focus({ preventScroll: true });
    else if (!data.chess) find('button', choices)?.focus({ preventScroll: true });
  }

  const moveText = (c) => numbers.prefix(book.depth[c], true) + book.say(c);

  // Every move that this side makes somewhere: in the book, or studied where it ends.
  const ownMoves = new Set();
  if (!data.chess) {
    for (let k = 0; k < book.n; k += 1) {
      if (k > 0 && book.own(book.parent[k])) ownMoves.add(book.say(k));
      if (book.own(k) && data.tree.beyond[k]) ownMoves.add(data.tree.beyond[k][0]);
    }
  }

  // In games without a board: the right moves among others of the same side.
  function drawChoices(k) {
    const names = new Set(bookMoves(book, k).map((c) => book.say(c)));
    const pool = [...ownMoves].filter((name) => !names.has(name)).sort(() => Math.random() - 0.5);
    const offered = [...names, ...pool.slice(0, Math.max(2, 5 - names.size))].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
    choices.replaceChildren(...offered.map((name) => h('button', { type: 'button', class: 'choice', click: () => moved(name) }, name)));
  }

  function say(kind, ...lines) {
    feedback.className = `feedback ${kind}`;
    feedback.replaceChildren(...lines.filter(Boolean).map((text) => h('p', {}, text)));
  }

  function typed(text) {
    if (!['ask', 'teach', 'missed'].includes(state.phase)) return;
    const position = app.position(state.goal.node);
    const { move, several, illegal } = readMove(position, text, data.chess960);
    if (move) moved(move);
    else if (several) say('', `Which one: ${several.map((uci) => writeSan(position, uci)).join(' or ')}?`);
    else if (illegal) say('', `${text.trim()} is not a legal move here.`);
    else say('', 'Write a move such as Nf3, exd5, O-O or g1f3.');
    if (move) field.value = '';
    else field.select();
  }

  // A legal move was made, by its name.
  function moved(uci) {
    if (!['ask', 'teach', 'missed'].includes(state.phase)) return false;
    const { card, node: k } = state.goal;
    const verdict = judgeMove(app, k, uci);
    if (verdict.kind === 'book') {
      if (state.phase === 'teach') state.session.taught(card);
      else if (state.phase === 'ask') settle(card, true);
      say('right', `Yes: ${moveText(verdict.node)}.`);
      state.phase = 'moving';
      app.go(verdict.node, { animate: true });
      draw();
      later(ask, 700);
    } else if (state.phase === 'teach' || state.phase === 'missed') {
      say('', `Make the book’s move: ${moveText(bookMoves(book, k)[0])}.`);
      app.go(k, { reveal: true });
    } else if (verdict.kind === 'into') say('', `${verdict.say} gets to the book’s ${numbers.line(book, book.path(verdict.node)) || 'start'} as well. Here the book plays another move: which?`);
    else if (verdict.kind === 'equal') say('', `${verdict.say} is about as good against ${data.rival}. The book goes on after another move: which?`);
    else miss(`Not ${verdict.say}: ${moveText(bookMoves(book, k)[0])}.`, ...explain(app, k, verdict));
    return true;
  }

  function giveUp() {
    if (state.phase === 'ask') miss(`The book plays ${bookMoves(book, state.goal.node).map(moveText).join(' or ')}.`);
  }

  // A miss: say why, show the move, and have it made.
  function miss(...lines) {
    const { card, node: k } = state.goal;
    settle(card, false);
    state.misses.push(k);
    state.phase = 'missed';
    say('wrong', ...lines, purpose(app, k), 'Make the move to go on; it will come again.');
    app.go(k, { reveal: true });
    draw();
    if (matchMedia('(pointer: coarse)').matches || !data.chess) next.focus({ preventScroll: true });
  }

  function settle(card, right) {
    const now = Date.now();
    const seconds = (now - state.since) / 1000;
    progress.remember(card.id, answered(progress.cards[card.id] ?? null, now, right, seconds), dayName(now), right, seconds);
    state.session.answer(card, right);
  }

  function goOn() {
    if (state.phase !== 'missed' && state.phase !== 'teach') return;
    if (state.phase === 'teach') state.session.taught(state.goal.card);
    const best = bookMoves(book, state.goal.node)[0];
    state.phase = 'moving';
    app.go(best, { animate: true });
    draw();
    later(ask, 300);
  }

  function drawBar() {
    if (!state.session) return;
    const { asked, right, shown } = state.session.state;
    const { seconds = 0 } = state.options;
    const left = Math.max(0, seconds - state.session.seconds());
    const time = seconds ? `${Math.floor(left / 60)}:${String(Math.floor(left % 60)).padStart(2, '0')} left` : '';
    bar.replaceChildren(...[time, `${plural(state.session.left(), 'position')} to go`, `${right} of ${asked} right`, shown ? `${shown} shown` : ''].filter(Boolean).map((text) => h('span', {}, text)));
  }

  function draw() {
    next.hidden = state.phase !== 'missed' && state.phase !== 'teach';
    next.textContent = state.phase === 'teach' ? 'I have it' : 'Go on';
    reveal.hidden = state.phase !== 'ask';
    (data.chess ? form : choices).hidden = state.phase === 'moving';
    game.dataset.phase = state.phase;
    game.dataset.node = state.goal?.node ?? '';
    drawBar();
    const memory = state.goal?.card && progress.cards[state.goal.card.id];
    score.replaceChildren(state.phase === 'moving' || !memory ? '' : factList([['Asked before', plural(memory.n, 'time'), memory.m ? `(missed ${plural(memory.m, 'time')})` : '']]));
  }

  return {
    element,
    progress,
    active: () => state.session !== null,
    moved,
    stop: () => finish(),
    refresh: () => desk.refresh(),
  };
}

function localStorageOrNone() {
  try {
    return localStorage;
  } catch {
    return { getItem: () => null, setItem() { throw new Error('no storage'); } };
  }
}

