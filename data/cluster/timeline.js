'use strict';
// Draws the output of `slipway timeline --output json`, which this page contains. All times are milliseconds since the beginning.
(() => {
  const data = JSON.parse(document.getElementById('timeline').textContent);
  const items = data.items, whole = Math.max(data.took_ms, 1);
  const at = id => document.getElementById(id);
  const seconds = (ms, digits = 2) => (ms / 1000).toFixed(digits);

  function element(tag, properties = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(properties)) {
      if (name.startsWith('--')) made.style.setProperty(name, value);
      else if (name === 'class') made.className = value;
      else made.setAttribute(name, value);
    }
    made.append(...children);
    return made;
  }

  // Until free_ms the item waited for another one; added_ms is the time after that.
  items.forEach((item, index) => {
    item.index = index;
    item.before = item.waited_for === undefined ? null : items[item.waited_for];
    item.free_ms = Math.min(item.before ? Math.max(item.before.end_ms, 0) : 0, item.end_ms);
    item.added_ms = item.end_ms - item.free_ms;
    item.followers = [];
  });
  for (const item of items) if (item.before) item.before.followers.push(item);
  const path = data.critical_path.map(index => items[index]);
  const groups = [...new Set([...items].sort((a, b) => a.begin_ms - b.begin_ms).map(item => item.group))];
  const hues = [215, 150, 38, 275, 188, 95, 305, 240, 65, 168];  // no red: that is for failures
  const hue = item => hues[groups.indexOf(item.group) % hues.length];

  function remarks(item) {
    const words = [];
    if (item.failed) words.push('failed');
    if (item.open) words.push('not finished');
    if (item.further_revision) words.push('a further revision');
    return words;
  }

  // ---- The head
  at('title').textContent = `${data.cluster ? 'Cluster ' + data.cluster : 'An installation'}: ${data.is_complete ? '' : 'not complete, '}${seconds(whole, 1)} s`;
  document.title = at('title').textContent;
  at('when').textContent = `start: ${data.start.replace('T', ', ').replace(/(\.\d+)?Z$/, ' UTC')}`;
  const failures = items.filter(item => item.failed), again = items.filter(item => item.further_revision);
  const longest = path.reduce((most, item) => item.added_ms > most.added_ms ? item : most, {added_ms: -1});
  function fact(name, value, bad = false) {
    at('facts').append(element('div', bad ? {class: 'bad'} : {}, element('dt', {}, name), element('dd', {}, value)));
  }
  fact('total', `${seconds(whole, 1)} s`);
  if (path.length) fact('longest on the critical path', `${seconds(longest.added_ms, 1)} s: ${longest.label}`);
  fact('failures', String(failures.length), failures.length > 0);
  fact('further revisions', String(again.length), again.length > 0);

  // ---- The view: two variables of the page
  const view = {from: 0, span: whole};
  function look(from, span) {
    view.span = Math.min(Math.max(span, Math.min(50, whole)), whole);
    view.from = Math.min(Math.max(from, 0), whole - view.span);
    at('main').style.setProperty('--from', view.from);
    at('main').style.setProperty('--span', view.span);
    draw_ruler();
  }
  const zoom = (factor, centre = view.from + view.span / 2) => look(centre - (centre - view.from) * factor, view.span * factor);

  function draw_ruler() {
    const steps = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 30000, 60000, 120000, 300000, 600000, 1800000, 3600000];
    const step = steps.find(each => view.span / each <= 14) || steps.at(-1);
    const marks = [];
    for (let ms = Math.ceil(view.from / step) * step; ms <= view.from + view.span; ms += step) {
      marks.push(element('span', {'--b': ms}, seconds(ms, step < 100 ? 2 : step < 1000 ? 1 : 0) + ' s'));
    }
    at('ruler').replaceChildren(...marks);
    for (const chart of [at('path'), at('all')]) {
      const grid = chart.querySelector('.grid') || chart.appendChild(element('div', {class: 'grid', 'aria-hidden': 'true'}));
      grid.replaceChildren(...marks.map(mark => element('b', {'--b': mark.style.getPropertyValue('--b')})));
    }
  }

  // ---- Rows
  function row(item, with_links) {
    const track = element('span', {class: 'track'});
    const bar = (kind, begin, end) => track.append(element('i', {class: kind, '--b': begin, '--e': end}));
    const begin = Math.min(item.begin_ms, item.end_ms);
    if (item.end_ms > begin) {
      const own = Math.max(begin, item.free_ms);
      if (item.before && item.free_ms < begin) bar('lead', item.free_ms, begin);
      if (own > begin) bar('wait', begin, own);
      bar('work', own, item.end_ms);
    } else {
      if (item.before) bar('lead', item.free_ms, item.end_ms);
      bar('moment', item.end_ms, item.end_ms);
    }
    const marks = ['row', item.critical && !with_links ? 'critical' : '', item.failed ? 'failed' : '', item.further_revision ? 'again' : '', item.open ? 'open' : ''];
    const said = `${item.label}, ended at ${seconds(item.end_ms)} s, took ${seconds(item.end_ms - begin)} s` +
      (item.before ? `, after ${item.before.label}` : '') + remarks(item).map(word => ', ' + word).join('');
    const made = element('div', {class: marks.filter(Boolean).join(' '), role: 'button', tabindex: '0', 'aria-label': said, '--hue': hue(item), 'data-index': item.index},
      element('span', {class: 'name', title: item.label}, item.label), track,
      element('span', {class: 'number'}, with_links ? '+' + seconds(item.added_ms) : item.end_ms > begin ? seconds(item.end_ms - begin) : ''));
    return made;
  }

  const path_rows = path.map(item => row(item, true));
  at('path').append(...path_rows);
  for (const group of groups) {
    const own = items.filter(item => item.group === group);
    at('all').append(element('h3', {}, `${group} (${own.length})`), ...own.map(item => row(item, false)));
  }

  // A line from the end of an item down to the item that waited for it.
  function link(chart, upper, lower, item, kind) {
    const layer = chart.querySelector('.links') || chart.appendChild(element('div', {class: 'links', 'aria-hidden': 'true'}));
    const [first, last] = upper.offsetTop <= lower.offsetTop ? [upper, lower] : [lower, upper];
    const top = first.offsetTop + first.offsetHeight / 2;
    layer.append(element('b', {class: kind, '--b': item.free_ms, '--top': top + 'px', '--height': last.offsetTop + last.offsetHeight / 2 - top + 'px'}));
  }
  function draw_path_links() {
    at('path').querySelector('.links')?.remove();
    for (let i = 1; i < path.length; ++i) link(at('path'), path_rows[i - 1], path_rows[i], path[i], 'link');
  }

  // ---- What is looked at
  let chosen = null;
  function choose(item) {
    if (item === chosen) return;
    chosen = item;
    for (const other of document.querySelectorAll('.chosen')) other.classList.remove('chosen');
    at('all').querySelector('.links')?.remove();
    if (!item) return at('detail').replaceChildren();
    for (const own of document.querySelectorAll(`[data-index="${item.index}"]`)) own.classList.add('chosen');
    const find = index => at('all').querySelector(`[data-index="${index}"]`);
    for (let each = item; each.before; each = each.before) link(at('all'), find(each.before.index), find(each.index), each, 'chosen');
    const begin = Math.min(item.begin_ms, item.end_ms);
    const lines = [element('strong', {}, item.label),
      `${item.open ? 'from' : 'ended at'} ${seconds(item.open ? begin : item.end_ms)} s` + (item.end_ms > begin ? `, took ${seconds(item.end_ms - begin)} s` : '') +
      (item.before ? `; waited for: ${item.before.label} (${seconds(item.before.end_ms)} s), and ended ${seconds(item.added_ms)} s later` : '')];
    if (item.followers.length) {
      const more = item.followers.length > 3 ? ` and ${item.followers.length - 3} more` : '';
      lines.push(`. Items that waited for it: ${item.followers.slice(0, 3).map(each => each.label).join('; ')}${more}`);
    }
    if (item.critical) lines.push('. On the critical path.');
    if (item.detail) lines.push(element('p', {}, item.detail));
    if (remarks(item).length) lines.push(element('p', {class: 'bad'}, remarks(item).join(', ')));
    at('detail').replaceChildren(...lines);
  }
  const item_of = target => {
    const own = target.closest?.('[data-index]');
    return own ? items[own.dataset.index] : null;
  };
  at('main').addEventListener('pointerover', event => { const item = item_of(event.target); if (item) choose(item); });
  at('main').addEventListener('focusin', event => choose(item_of(event.target)));

  // ---- The ribbon
  for (const item of path) {
    const part = element('button', {type: 'button', '--hue': hue(item), 'data-index': item.index, 'aria-label': `${item.label}, ${seconds(item.added_ms)} s`}, item.label);
    part.style.flexGrow = Math.max(item.added_ms, 1);
    if (item.added_ms / whole < .05) part.classList.add('narrow');
    part.addEventListener('click', () => {
      const room = Math.max(item.added_ms, 100);
      look(item.free_ms - room / 4, room * 1.5);
      path_rows[path.indexOf(item)].focus();
    });
    at('ribbon').append(part);
  }

  // ---- The table
  for (const item of items) {
    at('table').append(element('tr', item.critical ? {class: 'critical'} : {},
      ...[seconds(item.end_ms), seconds(item.end_ms - Math.min(item.begin_ms, item.end_ms)), seconds(item.added_ms), item.label, item.group, item.before ? item.before.label : '',
        [...(item.critical ? ['critical path'] : []), ...remarks(item), ...(item.detail ? [item.detail] : [])].join('; ')].map(text => element('td', {}, text))));
  }

  // ---- Keys
  function step(from, by) {
    const rows = [...document.querySelectorAll('.row')];
    rows[Math.min(Math.max(rows.indexOf(from) + by, 0), rows.length - 1)]?.focus();
  }
  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const focused = event.target.closest?.('.row');
    const actions = {
      '+': () => zoom(.6), '=': () => zoom(.6), '-': () => zoom(1 / .6), '0': () => look(0, whole),
      Escape: () => choose(null),
      ArrowLeft: () => look(view.from - view.span / 5, view.span), ArrowRight: () => look(view.from + view.span / 5, view.span),
    };
    if (focused) {
      const before = item_of(focused).before;
      Object.assign(actions, {
        ArrowUp: () => step(focused, -1), ArrowDown: () => step(focused, 1),
        Enter: () => before && focused.parentElement.querySelector(`[data-index="${before.index}"]`)?.focus(),
      });
    }
    const action = actions[event.key];
    if (!action) return;
    action();
    event.preventDefault();
  });

  // ---- Pointer: drag over a time, wheel
  at('zoom-in').addEventListener('click', () => zoom(.6));
  at('zoom-out').addEventListener('click', () => zoom(1 / .6));
  at('zoom-all').addEventListener('click', () => look(0, whole));
  function time_at(event) {
    const box = at('ruler').getBoundingClientRect();
    return view.from + Math.min(Math.max((event.clientX - box.left) / Math.max(box.width, 1), 0), 1) * view.span;
  }
  const is_over_time = target => target.closest?.('#ruler, .track') !== null;
  at('main').addEventListener('wheel', event => {
    if (!is_over_time(event.target) || !(event.ctrlKey || event.target.closest('#ruler'))) return;
    zoom(event.deltaY > 0 ? 1.25 : .8, time_at(event));
    event.preventDefault();
  }, {passive: false});
  let drag = null;
  at('main').addEventListener('pointerdown', event => {
    if (event.button !== 0 || !is_over_time(event.target)) return;
    const place = event.target.closest('#ruler') || event.target.closest('.chart');
    drag = {start: time_at(event), x: event.clientX, brush: null, place};
  });
  document.addEventListener('pointermove', event => {
    if (!drag || Math.abs(event.clientX - drag.x) < 4) return;
    if (!drag.brush) drag.brush = drag.place.appendChild(element('div', {class: 'brush'}));
    const box = drag.place.getBoundingClientRect();
    drag.brush.style.left = Math.min(drag.x, event.clientX) - box.left + 'px';
    drag.brush.style.width = Math.abs(event.clientX - drag.x) + 'px';
    event.preventDefault();
  });
  document.addEventListener('pointerup', event => {
    if (!drag) return;
    const {start, brush} = drag;
    drag = null;
    if (!brush) return;
    brush.remove();
    const end = time_at(event);
    look(Math.min(start, end), Math.abs(end - start));
  });
  document.addEventListener('pointercancel', () => { drag?.brush?.remove(); drag = null; });
  at('main').addEventListener('dblclick', event => { if (is_over_time(event.target)) look(0, whole); });
  window.addEventListener('resize', draw_path_links);

  look(0, whole);
  draw_path_links();
})();
