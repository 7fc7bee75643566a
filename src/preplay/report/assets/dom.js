'use strict';
// Building the page: every text goes in as text, never as markup.

const SVG_SPACE = 'http://www.w3.org/2000/svg';

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// An HTML element: h('button', {class: 'move', click: go}, 'e4'). Functions are listeners.
function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

// An SVG element.
function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG_SPACE, tag), attributes, children);
}

function find(selector, inside = document) {
  return inside.querySelector(selector);
}

// Say something to people who listen to the page.
function announce(text) {
  find('#live').textContent = text;
}

// A heading with a section around it, so that every part has a name.
function section(name, title, ...children) {
  const id = `title-${name}`;
  return h('section', { class: `card ${name}`, 'aria-labelledby': id }, h('h2', { id }, title), ...children);
}

// Tabs after the ARIA pattern: arrow keys walk, one panel shows.
function tabs(label, panels, onShow = () => {}) {
  const buttons = [];
  function show(name, focus = false) {
    panels.forEach((panel, k) => {
      const chosen = panel.name === name;
      buttons[k].setAttribute('aria-selected', chosen);
      buttons[k].tabIndex = chosen ? 0 : -1;
      panel.body.hidden = !chosen;
      if (chosen && focus) buttons[k].focus();
    });
    onShow(name);
  }
  panels.forEach((panel, k) => {
    panel.body.id = `panel-${panel.name}`;
    panel.body.setAttribute('role', 'tabpanel');
    panel.body.setAttribute('aria-labelledby', `tab-${panel.name}`);
    buttons.push(
      h('button', {
        type: 'button',
        role: 'tab',
        id: `tab-${panel.name}`,
        'aria-controls': `panel-${panel.name}`,
        click: () => show(panel.name),
        keydown: (event) => {
          const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
          const to = event.key === 'Home' ? 0 : event.key === 'End' ? panels.length - 1 : step ? k + step : null;
          if (to === null) return;
          event.preventDefault();
          event.stopPropagation();
          show(panels[(to + panels.length) % panels.length].name, true);
        },
      }, panel.title),
    );
  });
  const element = h('div', { class: 'tabbed' },
    h('div', { class: 'tabs', role: 'tablist', 'aria-label': label }, buttons),
    panels.map((panel) => panel.body));
  return { element, show };
}
