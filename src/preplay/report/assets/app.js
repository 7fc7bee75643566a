// One current position that all parts follow, its address, and the keys.
import { movesPiece, positionKey, positions } from './chess.js';
import { announce, find, settings } from './dom.js';
import { numbering } from './model.js';
import { END_NAMES, percent } from './words.js';

const QUICK = 350; // milliseconds: faster steps than this make one step for the browser's Back

export function makeApp(data, view, flipped) {
  const app = {
    data,
    view,
    numbers: numbering(data),
    at: 0,
    flipped,
    trainer: null,
    listeners: [],
    visited: new Map(),
    position: data.chess ? positions(view, data.start) : null,
    go(k, options = {}) {
      const before = app.at;
      app.at = k;
      for (let j = k; j > 0; j = view.parent[j]) app.visited.set(view.parent[j], j);
      const animate = options.animate || view.parent[k] === before;
      app.listeners.forEach((listener) => listener(k, { ...options, animate }));
      if (!app.training()) {
        announce(spoken(app, k));
        keepAddress(app, options.restored || before === k);
      }
    },
    refresh() {
      app.listeners.forEach((listener) => listener(app.at, { changed: true }));
    },
    training: () => Boolean(app.trainer && app.trainer.active()),
    setTraining(on) {
      document.body.classList.toggle('training', on);
      app.refresh();
    },
    twins: () => [],
    among: () => [],
  };
  if (data.chess) findTwins(app);
  else document.documentElement.dataset.settled = 'true';
  return app;
}

// Transpositions are looked up a moment after the page is there. Where no piece moves the board is still that of before, which is none.
function findTwins(app) {
  const groups = new Map();
  app.among = (key) => groups.get(key) || [];
  const arrived = (k) => k === 0 || movesPiece(app.view.name(k));
  app.twins = (k) => (arrived(k) ? app.among(positionKey(app.position(k))).filter((j) => j !== k) : []);
  setTimeout(() => {
    for (let j = 0; j < app.view.n; j += 1) {
      if (!arrived(j)) continue;
      const key = positionKey(app.position(j));
      if (groups.has(key)) groups.get(key).push(j);
      else groups.set(key, [j]);
    }
    if (!app.training()) app.refresh();
    document.documentElement.dataset.settled = 'true';
  }, 150);
}

export function byShare(view, k) {
  return view.children(k).sort((a, b) => view.p[b] - view.p[a]);
}

function spoken(app, k) {
  const { view, data, numbers } = app;
  const last = k ? numbers.line(view, [k]) : 'Start';
  if (data.kind !== 'book') return last;
  const end = view.endOf(k);
  if (end !== '-') return `${last}. The book ends here: ${END_NAMES[end]}.`;
  if (view.own(k)) return `${last}. Play ${view.say(view.main(k))}.`;
  return `${last}. Answers: ${byShare(view, k).slice(0, 4).map((c) => `${view.say(c)} ${percent(view.p[c], 0)}`).join(', ')}.`;
}

// The address names the position, so that it can be marked, sent, and walked back to.
function keepAddress(app, replacing) {
  const way = app.view.path(app.at).map((j) => encodeURIComponent(app.view.name(j))).join('/');
  const address = way ? `#/${way}` : '#';
  if ((location.hash || '#') === address) return;
  const now = performance.now();
  const quick = now - (app.moved ?? -QUICK) < QUICK;
  app.moved = now;
  try {
    if (replacing || quick) history.replaceState(null, '', address);
    else history.pushState(null, '', address);
  } catch { /* browsers allow few changes a second; the address is a convenience */ }
}

function addressed(view) {
  if (!location.hash.startsWith('#/')) return 0;
  let k = 0;
  for (const part of location.hash.slice(2).split('/')) {
    let name = part;
    try {
      name = decodeURIComponent(part);
    } catch { /* taken as it is */ }
    const next = view.children(k).find((c) => view.name(c) === name);
    if (next === undefined) return k;
    k = next;
  }
  return k;
}

export function turn(app) {
  app.flipped = !app.flipped;
  app.refresh();
}

export function walk(app, key) {
  if (app.training()) return;
  const { view, at } = app;
  const onward = (k) => (app.visited.has(k) ? app.visited.get(k) : view.main(k));
  if (key === 'ArrowRight' && !view.leaf(at)) app.go(onward(at));
  if (key === 'ArrowLeft' && at) app.go(view.parent[at]);
  if (key === 'Home') app.go(0);
  if (key === 'End') {
    let k = at;
    while (!view.leaf(k)) k = onward(k);
    app.go(k);
  }
  if ((key === 'ArrowUp' || key === 'ArrowDown') && at) {
    const siblings = byShare(view, view.parent[at]);
    const to = siblings.indexOf(at) + (key === 'ArrowUp' ? -1 : 1);
    if (siblings[to] !== undefined) app.go(siblings[to]);
  }
}

export function listenToKeys(app, actions) {
  document.addEventListener('keydown', (event) => {
    if (!settings.get('keys', true)) return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest('input, select, textarea, [role=tab], .chart, dialog, .promotion, pre, .scroll')) return;
    if (/^(Arrow|Home$|End$)/.test(event.key)) walk(app, event.key);
    else if (actions[event.key]) actions[event.key]();
    else return;
    event.preventDefault();
  });
}

export function start(app) {
  const follow = () => {
    if (!app.training()) app.go(addressed(app.view), { restored: true });
  };
  window.addEventListener('hashchange', follow);
  window.addEventListener('popstate', follow);
  app.go(addressed(app.view), { restored: true });
  announce('');
}

// The parts around the board.
export function arrange(stage, pane) {
  const main = find('#main');
  document.body.classList.add('shell');
  main.classList.add('explorer', stage.hasBoard ? 'with-board' : 'no-board');
  main.append(stage.element, pane);
}
