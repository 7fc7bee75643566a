// The field to find a position.
import { h } from './dom.js';
import { searchTree } from './search.js';
import { often } from './words.js';

export function makeFinder(app) {
  const results = h('ul', { class: 'found' });
  const message = h('p', { class: 'aside', role: 'status' });
  const field = h('input', {
    type: 'search',
    id: 'find',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: app.data.chess ? 'Moves or FEN, e.g. 1. e4 e5' : 'Moves, separated by spaces',
  });
  function clear() {
    results.replaceChildren();
    message.textContent = '';
  }
  function run() {
    const { nodes, message: said } = searchTree(app, field.value);
    message.textContent = said;
    results.replaceChildren(...(nodes.length > 1 ? nodes.slice(0, 12) : []).map((k) => h('li', {},
      h('button', { type: 'button', class: 'move', click: () => app.go(k) }, app.numbers.line(app.view, app.view.path(k)) || 'Start'),
      h('span', { class: 'note' }, ` ${often(app.view.reach[k])}`))));
    if (nodes.length > 12) results.append(h('li', { class: 'note' }, `and ${nodes.length - 12} more`));
    if (nodes.length) app.go(nodes[0]);
  }
  const form = h('form', { class: 'finder', role: 'search', submit: (event) => {
    event.preventDefault();
    run();
  } }, h('label', { for: 'find', class: 'unseen' }, 'Find a position'), h('div', { class: 'with-button' }, field, h('button', { type: 'submit' }, 'Find')), message, results);
  field.addEventListener('input', () => {
    if (!field.value) clear();
  });
  return { element: form, focus: () => field.focus() };
}
