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
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

// An SVG element.
export function s(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG_SPACE, tag), attributes, children);
}

export function find(selector, inside = document) {
  return inside.querySelector(selector);
}

// Say something to people who listen to the page.
export function announce(text) {
  find('#live').textContent = text;
}

// Say something that everybody sees for a moment.
export function toast(text) {
  const box = find('#toast');
  box.textContent = text;
  box.hidden = false;
  clearTimeout(box.timer);
  box.timer = setTimeout(() => { box.hidden = true; }, 4500);
}

export function icon(path, size = 22) {
  return s('svg', { viewBox: '0 0 24 24', width: size, height: size, 'aria-hidden': 'true' },
    s('path', { d: path, fill: 'none', stroke: 'currentColor', 'stroke-width': 2.2, 'stroke-linecap': 'round', 'stroke-linejoin': 'round' }));
}

// A heading with a section around it, so that every part has a name.
export function section(name, title, ...children) {
  const id = `title-${name}`;
  return h('section', { class: `card ${name}`, 'aria-labelledby': id }, h('h2', { id }, title), ...children);
}

export function factList(rows) {
  return h('dl', { class: 'facts' }, rows.filter(Boolean).map(([name, value, note]) =>
    h('div', {}, h('dt', {}, name), h('dd', {}, value, note && h('span', { class: 'note' }, ` ${note}`)))));
}

// A small thing kept by the browser; some keep nothing for files.
export const settings = {
  get(name, otherwise) {
    try {
      return JSON.parse(localStorage.getItem(`preplay-${name}`)) ?? otherwise;
    } catch {
      return otherwise;
    }
  },
  set(name, value) {
    try {
      localStorage.setItem(`preplay-${name}`, JSON.stringify(value));
    } catch { /* it lasts as long as the page */ }
  },
};

export function download(name, content, type) {
  const address = URL.createObjectURL(new Blob([content], { type }));
  const link = h('a', { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
  toast(`Saved as ${name}`);
}

export async function copyText(text, what) {
  let done;
  try {
    await navigator.clipboard.writeText(text);
    done = true;
  } catch {
    const field = h('textarea', { class: 'unseen', 'aria-label': what });
    field.value = text;
    document.body.append(field);
    field.select();
    done = document.execCommand('copy');
    field.remove();
  }
  toast(done ? `Copied: ${what}` : `This browser does not let the page copy; mark the ${what} and copy it yourself.`);
}

// Tabs after the ARIA pattern: arrow keys walk, one panel shows.
export function tabs(label, panels, onShow = () => {}) {
  const buttons = [];
  function show(name, focus = false) {
    panels.forEach((panel, k) => {
      const chosen = panel.name === name;
      buttons[k].setAttribute('aria-selected', chosen);
      buttons[k].tabIndex = chosen ? 0 : -1;
      panel.body.hidden = !chosen;
      if (chosen && focus) buttons[k].focus();
      if (chosen) buttons[k].scrollIntoView({ block: 'nearest', inline: 'nearest' });
    });
    onShow(name);
  }
  panels.forEach((panel, k) => {
    panel.body.id = `panel-${panel.name}`;
    panel.body.setAttribute('role', 'tabpanel');
    panel.body.setAttribute('aria-labelledby', `tab-${panel.name}`);
    panel.body.tabIndex = 0;
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
