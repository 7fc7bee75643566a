// The quiz: the page plays the opponent by its probabilities and asks for the book's moves.
// What was missed comes again until it is known.

const REPEAT_AFTER = 1; // lines between a miss and its return

function makeQuiz(app) {
  const { view: book, data, numbers } = app;
  const state = { active: false, at: 0, phase: 'idle', line: 0, again: [], asked: 0, right: 0, fresh: true, known: new Set(), timer: 0 };
  const question = h('p', { class: 'question', tabindex: -1 });
  const feedback = h('p', { class: 'feedback', role: 'status' });
  const score = factList([]);
  const field = h('input', { type: 'text', id: 'answer', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false', placeholder: 'e.g. Nf3 or g1f3' });
  const form = h('form', { class: 'answer', submit: (event) => {
    event.preventDefault();
    typed(field.value.trim());
  } }, h('label', { for: 'answer' }, 'Your move'), h('div', { class: 'with-button' }, field, h('button', { type: 'submit' }, 'Check')));
  const choices = h('div', { class: 'choices', role: 'group', 'aria-label': 'Your move' });
  const reveal = h('button', { type: 'button', class: 'plain', click: showAnswer }, 'Show me');
  const next = h('button', { type: 'button', class: 'primary', click: goOn }, 'Next');
  const begin = h('button', { type: 'button', class: 'primary', click: start }, 'Start the quiz');
  const stopButton = h('button', { type: 'button', class: 'plain', click: stop }, 'Stop');
  const intro = h('div', { class: 'intro' },
    h('p', {}, `The page plays ${data.sides[2 - data.side]} with the probabilities of this preparation; you find the book’s moves${data.chess ? ' on the board or by typing' : ''}. What you miss comes again.`), begin);
  const game = h('div', { class: 'game', hidden: true }, question, data.chess ? form : choices, feedback, h('div', { class: 'actions' }, reveal, next, stopButton), score);
  const element = h('div', { class: 'quiz' }, intro, game);

  const rightMoves = (k) => {
    const moves = byShare(book, k);
    return moves.filter((c) => book.p[c] >= 0.25 * book.p[moves[0]]);
  };

  function later(what, wait) {
    clearTimeout(state.timer);
    state.timer = setTimeout(what, matchMedia('(prefers-reduced-motion: reduce)').matches ? 0 : wait);
  }

  function start() {
    if (!book.size) {
      announce('The chosen book is empty.');
      return;
    }
    Object.assign(state, { active: true, line: 0, again: [], asked: 0, right: 0 });
    state.known.clear();
    intro.hidden = true;
    game.hidden = false;
    app.setQuiz(true);
    nextLine();
  }

  function stop() {
    if (!state.active) return;
    clearTimeout(state.timer);
    Object.assign(state, { active: false, phase: 'idle' });
    intro.hidden = false;
    game.hidden = true;
    app.setQuiz(false);
  }

  function nextLine() {
    state.line += 1;
    feedback.className = 'feedback';
    const due = state.again.find((miss) => miss.due <= state.line && book.inside(miss.k));
    if (due) ask(due.k);
    else advance(0);
  }

  // Let the opponent move until it is our turn, or the book ends.
  function advance(k) {
    state.at = k;
    state.phase = 'moving';
    app.go(k, { animate: true });
    draw();
    if (book.endOf(k) !== '-') finish(k);
    else if (book.own(k)) ask(k);
    else later(() => advance(pickReply(k)), 420);
  }

  function pickReply(k) {
    let left = Math.random();
    const replies = book.children(k);
    for (const c of replies) {
      left -= book.p[c];
      if (left < 0) return c;
    }
    return replies[replies.length - 1];
  }

  function ask(k) {
    Object.assign(state, { at: k, phase: 'ask', fresh: true });
    state.asked += 1;
    app.go(k);
    if (!feedback.classList.contains('right')) feedback.textContent = '';
    const repeat = state.again.some((miss) => miss.k === k);
    const before = book.path(k);
    const last = before.length ? `after ${numbers.line(book, before.slice(-1))}` : 'at the start';
    question.textContent = `${repeat ? 'Once more: ' : ''}your move ${last}?`.replace(/^y/, 'Y');
    if (!data.chess) drawChoices(k);
    draw();
    announce(question.textContent);
    if (data.chess && !matchMedia('(pointer: coarse)').matches) field.focus({ preventScroll: true });
    else if (!data.chess) find('button', choices).focus({ preventScroll: true });
  }

  // Every move that this side makes somewhere: in the book, or studied where it ends.
  const ownMoves = new Set();
  for (let k = 0; k < book.n; k += 1) {
    if (k > 0 && book.own(book.parent[k])) ownMoves.add(book.say(k));
    if (book.own(k) && data.tree.beyond[k]) ownMoves.add(data.tree.beyond[k][0]);
  }

  // In games without a board: the right moves among others of the same side.
  function drawChoices(k) {
    const names = new Set(rightMoves(k).map((c) => book.say(c)));
    const pool = [...ownMoves].filter((name) => !names.has(name)).sort(() => Math.random() - 0.5);
    const offered = [...names, ...pool.slice(0, Math.max(2, 5 - names.size))].sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
    choices.replaceChildren(...offered.map((name) => h('button', { type: 'button', class: 'choice', click: () => typed(name) }, name)));
  }

  function typed(text) {
    if (state.phase !== 'ask' || !text) return;
    if (data.chess && !/^(?:[a-h][1-8][a-h][1-8][qrbn]?|[KQRBN]?[a-h]?[1-8]?x?[a-h][1-8](?:=?[QRBN])?[+#]?|[O0o]-[O0o](?:-[O0o])?[+#]?|[kqrn][a-h1-8x]+)$/.test(text)) {
      feedback.className = 'feedback';
      feedback.textContent = 'Write a move such as Nf3, exd5, O-O or g1f3.';
      field.select();
      return;
    }
    const neat = data.chess ? plainMove(text.replace(/o/g, 'O').replace('=', '')).replace(/^[kqrn](?=[a-h1-8x])/, (letter) => letter.toUpperCase()) : text;
    judge((c) => [text, neat].some((word) => sameMove(book, c, word, data.chess)) || plainMove(book.say(c)).replace('=', '') === neat, text);
    field.value = '';
  }

  function moved(from, to) {
    if (state.phase !== 'ask') return false;
    const piece = app.position(state.at).board[from];
    if (!piece || isWhite(piece) !== app.position(state.at).white) return false;
    judge((c) => {
      const name = book.name(c);
      const target = castleTarget(app.position(state.at), from, to);
      return name.slice(0, 4) === squareName(from) + squareName(to) || name.slice(0, 4) === squareName(from) + squareName(target);
    }, `${squareName(from)}${squareName(to)}`);
    return true;
  }

  function judge(matches, said) {
    const k = state.at;
    const hit = rightMoves(k).find(matches);
    if (hit === undefined) {
      if (state.fresh) remember(k);
      state.fresh = false;
      feedback.className = 'feedback wrong';
      feedback.textContent = `Not ${said}. Try again, or let me show it; it will come again.`;
      draw();
      return;
    }
    if (state.fresh) {
      state.right += 1;
      state.known.add(k);
      state.again = state.again.filter((miss) => miss.k !== k);
    }
    feedback.className = 'feedback right';
    feedback.textContent = `Yes: ${numbers.prefix(book.depth[hit], true)}${book.say(hit)}.`;
    state.phase = 'moving';
    app.go(hit, { animate: true });
    draw();
    later(() => advance(hit), 650);
  }

  function remember(k) {
    state.known.delete(k);
    state.again = [...state.again.filter((miss) => miss.k !== k), { k, due: state.line + 1 + REPEAT_AFTER }];
  }

  function showAnswer() {
    if (state.phase !== 'ask') return;
    if (state.fresh) remember(state.at);
    state.fresh = false;
    state.phase = 'shown';
    const moves = rightMoves(state.at);
    feedback.className = 'feedback';
    feedback.textContent = `The book plays ${moves.map((c) => numbers.prefix(book.depth[c], true) + book.say(c)).join(' or ')}.`;
    app.go(state.at, { reveal: true });
    draw();
    next.focus({ preventScroll: true });
  }

  function finish(k) {
    state.phase = 'end';
    const end = book.endOf(k);
    if (end === 's' || end === 'o') question.textContent = 'The book ends here: play on yourself.';
    else question.textContent = end === 'g' ? 'The game is over.' : `The book ends here (${END_NAMES[end]}): play on yourself.`;
    feedback.className = 'feedback';
    // With nothing left to ask but what was missed, it comes at once.
    if (state.again.length) feedback.textContent = `${plural(state.again.length, 'position')} to come again.`;
    else feedback.textContent = state.known.size >= book.size ? 'You know the whole book.' : '';
    for (const miss of state.again) miss.due = Math.min(miss.due, state.line + 1);
    draw();
    announce(question.textContent);
    next.focus({ preventScroll: true });
  }

  function goOn() {
    if (state.phase === 'shown') {
      const best = rightMoves(state.at)[0];
      app.go(best, { animate: true });
      later(() => advance(best), 300);
    } else if (state.phase === 'end') nextLine();
  }

  function draw() {
    const waits = state.phase === 'shown' || state.phase === 'end';
    next.hidden = !waits;
    next.textContent = state.phase === 'end' ? 'Next line' : 'Go on';
    reveal.hidden = state.phase !== 'ask';
    (data.chess ? form : choices).hidden = state.phase !== 'ask';
    if (state.phase === 'moving') question.textContent = '…';
    game.dataset.phase = state.phase;
    game.dataset.node = state.at;
    score.replaceChildren(...factList([
      ['Right at once', `${state.right} of ${state.asked - (state.phase === 'ask' && state.fresh ? 1 : 0)}`],
      ['Known', `${state.known.size.toLocaleString('en')} of ${plural(book.size, 'position')}`],
      ['To come again', String(state.again.length)],
    ]).children);
  }

  return { element, start, stop, moved, active: () => state.active };
}

// A king that moves two squares castles with its rook: the square that Chess960 notation names.
function castleTarget(position, from, to) {
  const king = position.board[from];
  if (king.toLowerCase() !== 'k') return to;
  const right = to > from;
  const rook = position.rooks.find((square) => Math.floor(square / 8) === Math.floor(from / 8) && square > from === right);
  if (position.rooks.includes(to)) return 8 * Math.floor(from / 8) + (right ? 6 : 2);
  return Math.abs(from - to) === 2 && rook !== undefined ? rook : to;
}
