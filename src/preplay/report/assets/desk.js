// Before and after a sitting: what is due, the day of the game, the plan, and the progress as a file.
import { standing } from './cards.js';
import { download, h, settings, toast } from './dom.js';
import { PACE, makePlan, startOfDay } from './plan.js';
import { percent, plural } from './words.js';

const PLAN_ROWS = 7;
const dayWords = (time) => new Date(time).toLocaleDateString('en', { weekday: 'short', day: 'numeric', month: 'short' });

export function makeDesk(app, { progress, cardsNow, begin }) {
  const { view: book, data, numbers } = app;
  const kept = { minutes: 10, by: 'line', teach: true, ...settings.get('learning', {}) };
  const head = h('p', { class: 'big standing' });
  const meter = h('div', { class: 'meter', role: 'img' });
  const report = h('div', { class: 'report', role: 'status', hidden: true });
  const plan = h('div', { class: 'plan' });
  const trouble = h('p', { class: 'aside trouble', role: 'status' });
  const here = h('input', { type: 'checkbox', id: 'from-here', change: refresh });
  const startButton = h('button', { type: 'button', class: 'primary big-button', click: () => go() }, 'Learn');
  const aheadButton = h('button', { type: 'button', class: 'plain', click: () => go(true) }, 'Go through all of it');

  const save = () => {
    settings.set('learning', kept);
    refresh();
  };
  const pick = (id, label, options, key, read = (x) => x) => {
    const select = h('select', { id, change: () => {
      kept[key] = read(select.value);
      save();
    } }, options.map(([value, text]) => h('option', { value, selected: String(kept[key]) === String(value) }, text)));
    return h('label', { class: 'pick', for: id }, h('span', {}, label), select);
  };
  const day = h('input', { type: 'date', id: 'game-day', value: progress.gameDay(data.rival) ?? '', change: () => {
    progress.setGameDay(data.rival, day.value || null);
    refresh();
  } });
  const file = h('input', { type: 'file', id: 'progress-file', accept: '.json,application/json', class: 'unseen', tabindex: -1, 'aria-label': 'A file with progress', change: async () => {
    const [chosen] = file.files;
    if (!chosen) return;
    try {
      toast(`${plural(progress.take(await chosen.text()), 'position')} taken over from ${chosen.name}`);
    } catch (error) {
      toast(`${chosen.name}: ${error.message}`);
    }
    file.value = '';
    refresh();
  } });

  function gameDay() {
    const text = progress.gameDay(data.rival);
    if (!text) return null;
    const [y, m, d] = text.split('-').map(Number);
    const time = new Date(y, m - 1, d).getTime();
    return time >= startOfDay(Date.now()) ? time : null;
  }

  function wanted() {
    const { cards } = cardsNow();
    const below = here.checked ? app.at : 0;
    const inside = (k) => book.inside(k) && (!below || k === below || book.path(k).includes(below));
    return cards.filter((card) => card.nodes.some(inside));
  }

  function go(ahead = false) {
    if (!book.size) {
      toast('The chosen book is empty: there is nothing to learn.');
      return;
    }
    begin({ by: kept.by, from: here.checked ? app.at : 0, seconds: 60 * kept.minutes, teach: kept.teach, ahead, gameDay: gameDay() });
  }

  function refresh() {
    const now = Date.now();
    const cards = wanted();
    const { due, unseen, known, all } = standing(cards, progress.cards, now, gameDay());
    head.textContent = all ? `${due} due, ${unseen} new, ${known} known` : 'Nothing to learn here';
    meter.replaceChildren(...[['known', known], ['due', due]].map(([kind, count]) => {
      const part = h('span', { class: kind });
      part.style.setProperty('--part', `${all ? (100 * count) / all : 0}%`);
      return part;
    }));
    meter.setAttribute('aria-label', `${known} of ${all} known, ${due} due`);
    const some = due + unseen > 0;
    startButton.hidden = !some;
    startButton.textContent = kept.minutes ? `Learn for ${kept.minutes} minutes` : 'Learn';
    aheadButton.textContent = some ? 'Go through all of it' : 'Nothing is due: go through all of it';
    aheadButton.hidden = !all;
    trouble.textContent = progress.trouble;
    trouble.hidden = !progress.trouble;
    drawPlan(cards, now);
  }

  function drawPlan(cards, now) {
    const { days, sure, missing } = makePlan({ cards, memories: progress.cards, now, gameDay: gameDay(), minutes: kept.minutes || 10, pace: Math.max(3, progress.pace ?? PACE) });
    const busy = days.filter((row) => row.fresh + row.again > 0);
    const until = gameDay() === null ? 'in two weeks' : 'on the day of the game';
    const row = ({ day: at, fresh, again, minutes }) => h('tr', {}, h('td', {}, dayWords(at)), h('td', { class: 'number' }, fresh), h('td', { class: 'number' }, again), h('td', { class: 'number' }, `${minutes} min`));
    plan.replaceChildren(...(cards.length ? [
      h('p', {}, `With ${plural(kept.minutes || 10, 'minute')} a day you will know about ${Math.round(sure)} of ${plural(cards.length, 'position')} ${until} (${percent(sure / cards.length, 0)})${missing ? `; ${missing} will not be reached: the least valuable ones` : ''}.`),
      busy.length ? h('table', {}, h('caption', {}, 'The plan'), h('thead', {}, h('tr', {}, ['day', 'new', 'again', 'time'].map((name, k) => h('th', { scope: 'col', class: k ? 'number' : null }, name)))), h('tbody', {}, busy.slice(0, PLAN_ROWS).map(row))) : '',
      busy.length > PLAN_ROWS ? h('p', { class: 'aside' }, `and ${plural(busy.length - PLAN_ROWS, 'more day')}`) : '',
    ] : []));
  }

  const element = h('div', { class: 'desk' },
    report, head, meter,
    h('div', { class: 'actions' }, startButton, aheadButton),
    h('div', { class: 'picks' },
      h('label', { class: 'pick', for: 'game-day' }, h('span', {}, `The game against ${data.rival} is on`), day),
      pick('minutes', 'A sitting takes', [[5, '5 minutes'], [10, '10 minutes'], [20, '20 minutes'], [0, 'until all is asked']], 'minutes', Number),
      pick('learn-by', 'Ask', [['line', 'line by line'], ['position', 'position by position']], 'by'),
      pick('learn-new', 'What is new', [[true, 'show it first'], [false, 'ask at once']], 'teach', (text) => text === 'true'),
      h('label', { class: 'check', for: 'from-here' }, here, 'Only from the position on the board')),
    plan, trouble,
    h('div', { class: 'actions' },
      h('button', { type: 'button', class: 'plain', click: () => download('preplay-progress.json', progress.text(), 'application/json') }, 'Save progress'),
      h('button', { type: 'button', class: 'plain', click: () => file.click() }, 'Load progress'), file,
      h('button', { type: 'button', class: 'plain', click: () => {
        if (!confirm('Forget what you learned of this book?')) return;
        progress.forget(cardsNow().cards.map((card) => card.id));
        refresh();
      } }, 'Forget')),
    h('p', { class: 'aside' }, 'Progress is kept by this browser. When to ask again is found by FSRS-6, a published model of memory; a position counts as due when you would recall it less than nine times in ten.'));

  return {
    element,
    refresh,
    report({ asked, right, shown, spent, misses }) {
      refresh();
      report.hidden = asked + shown === 0;
      report.replaceChildren(
        h('p', { class: 'big' }, `${plural(asked, 'question')}, ${right} right`, shown ? `, ${shown} shown for the first time` : '', ` in ${Math.max(1, Math.round(spent / 60))} min.`),
        misses.length ? h('p', {}, 'Missed: ', [...new Set(misses)].map((k, at) => [at ? ', ' : '', h('button', { type: 'button', class: 'move', click: () => app.go(k) }, numbers.line(book, book.path(k)) || 'the start')])) : '');
    },
  };
}
