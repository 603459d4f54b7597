// SPDX-License-Identifier: Apache-2.0
// The live page of `spotter serve`: the list of runs, and the runs that are looked at. It asks the server again and
// again for what is new, and is answered with that alone.
'use strict';

const asks_each = 400;  // milliseconds
const view = document.getElementById('view'), trouble = document.getElementById('trouble');
const state = {runs: new Map(), version: 0, folder: '', unread: 0, scanned: false, clock: 0, chosen: new Set()};
let shown = null;  // what is on the screen: {update(changed)}

function remember(name, value) { try { localStorage.setItem('spotter ' + name, JSON.stringify(value)); } catch (_) { /* private */ } }
function recall(name, usual) { try { return JSON.parse(localStorage.getItem('spotter ' + name)) ?? usual; } catch (_) { return usual; } }

async function ask(what, parameters) {
  const answer = await fetch('/api/' + what + '?' + new URLSearchParams(parameters), {credentials: 'same-origin'});
  const text = await answer.text();
  let told = null;
  try { told = JSON.parse(text); } catch (_) { /* a part of a page */ }
  if (!answer.ok) throw new Error(told && told.error ? told.error : 'the server answers ' + answer.status);
  return told === null ? text : told;
}

function say_trouble(text) {
  trouble.textContent = text || '';
  trouble.hidden = !text;
}

// --- words

const order_of_status = {running: 0, died: 1, failed: 2, unreadable: 3, stopped: 4, finished: 5, reading: 6};
function status_of(run) { return run.card ? run.card.status : 'reading'; }
function is_silent(run) { return status_of(run) === 'running' && silence_of(run) > 60; }
function silence_of(run) { return run.card.age + (Date.now() / 1000 - state.clock - run.card.read); }
function seconds_of(run) {
  const card = run.card;
  if (!card || !card.began) return NaN;
  const end = card.status === 'running' ? Date.now() / 1000 - state.clock : card.last;
  return Math.max(0, end - card.began);
}
function status_mark(run) {
  const status = status_of(run);
  const words = is_silent(run) ? 'silent for ' + duration_text(silence_of(run)) : status;
  return element('span', {class: 'status ' + (is_silent(run) ? 'silent' : status)}, words);
}
function counts_of(card) {
  const made = [];
  if (card.errors) made.push(element('span', {class: 'count error'}, plural(card.errors, 'error')));
  if (card.warnings) made.push(element('span', {class: 'count warning'}, plural(card.warnings, 'warning')));
  if (card.notes) made.push(element('span', {class: 'count info'}, plural(card.notes, 'note')));
  return made;
}
function plural(count, what) { return `${number_text(count)} ${what}${count === 1 ? '' : 's'}`; }
function name_element(text) { return element('bdi', {class: 'name', title: plain(text)}, plain(text)); }
function setting_of(run, name) { const it = run.card && run.card.settings.find(each => each[0] === name); return it ? it[1] : undefined; }
function outcome_of(run, key) { return run.card && run.card.outcomes.find(it => it.name + ', ' + it.mode === key); }
function address_of(names, tab) { return '#/view/' + names.map(encodeURIComponent).join(',') + (tab ? '/' + tab : ''); }

// --- the list

class ListView {
  constructor() {
    this.sort = recall('sort', {by: 'changed', down: true});
    this.most = 200;
    this.rows = new Map();
    this.closed = new Set();
    this.search = element('input', {type: 'search', id: 'search', placeholder: 'name, or lr=0.1', 'aria-label': 'Filter by name or setting', value: recall('search', ''), oninput: () => { remember('search', this.search.value); this.update(); }});
    this.status = element('select', {'aria-label': 'Status', onchange: () => this.update()}, ['any status', 'running', 'finished', 'stopped', 'failed', 'died', 'unreadable'].map(it => element('option', {value: it}, it)));
    this.group = element('select', {'aria-label': 'Group by', onchange: () => { remember('group', this.group.value); this.update(); }});
    this.compare = element('a', {class: 'button', id: 'compare'}, 'Compare');
    this.all = element('button', {type: 'button', onclick: () => this.choose_all()}, 'Choose shown');
    this.count = element('span', {class: 'note', id: 'count'});
    this.table = element('table', {class: 'runs'});
    this.more = element('button', {type: 'button', hidden: true, onclick: () => { this.most += 400; this.update(); }}, 'Show more');
    this.empty = element('p', {class: 'empty', hidden: true});
    view.replaceChildren(element('form', {class: 'bar', onsubmit: it => it.preventDefault()}, this.search, this.status, this.group, this.all, this.compare, this.count),
      this.empty, element('div', {class: 'wide'}, this.table), this.more);
    this.update();
  }

  // Settings in which runs differ, and outcomes; the first few of each have columns.
  columns(runs) {
    const values = new Map(), outcomes = new Map();
    for (const run of runs) {
      if (!run.card) continue;
      for (const [name, value] of run.card.settings) { if (!values.has(name)) values.set(name, new Set()); values.get(name).add(value); }
      for (const it of run.card.outcomes) outcomes.set(it.name + ', ' + it.mode, (outcomes.get(it.name + ', ' + it.mode) || 0) + 1);
    }
    const read = runs.filter(it => it.card).length;
    const has = name => runs.filter(it => setting_of(it, name) !== undefined).length;
    this.all_settings = [...values.keys()];
    const differing = this.all_settings.filter(name => values.get(name).size > 1 || has(name) < read);
    return {settings: (runs.length > 1 ? differing : this.all_settings).slice(0, 8), outcomes: [...outcomes.keys()].slice(0, 4)};
  }

  matches(run) {
    if (this.status.value !== 'any status' && status_of(run) !== this.status.value) return false;
    return this.search.value.trim().toLowerCase().split(/\s+/).every(word => {
      const cut = word.indexOf('=');
      if (cut > 0) return (run.card ? run.card.settings : []).some(([name, value]) => name.toLowerCase().includes(word.slice(0, cut)) && value.toLowerCase() === word.slice(cut + 1));
      return run.name.toLowerCase().includes(word);
    });
  }

  value_of(run, by) {
    if (by === 'name') return run.name;
    if (by === 'status') return order_of_status[status_of(run)];
    if (by === 'changed') return run.changed;
    if (!run.card) return null;
    if (by === 'steps') return run.card.steps;
    if (by === 'time') return seconds_of(run);
    if (by === 'findings') return run.card.errors * 1e6 + run.card.warnings * 1e3 + run.card.notes;
    const outcome = outcome_of(run, by);
    if (outcome) return typeof outcome.value === 'number' ? outcome.value : Infinity;
    const setting = by.startsWith('setting ') ? setting_of(run, by.slice(8)) : undefined;
    return setting === undefined ? null : setting !== '' && Number.isFinite(+setting) ? +setting : setting;
  }

  update() {
    const runs = [...state.runs.values()];
    const columns = this.columns(runs);
    this.fill_groups();
    const matching = runs.filter(it => this.matches(it));
    const {by, down} = this.sort, keys = new Map(matching.map(it => [it, this.value_of(it, by)]));
    const natural = new Intl.Collator('en', {numeric: true});
    matching.sort((a, b) => {
      const x = keys.get(a), y = keys.get(b);
      if (x === null || y === null) return (x === null) - (y === null) || natural.compare(a.name, b.name);
      const sign = typeof x === 'number' && typeof y === 'number' ? x - y : natural.compare(x, y);
      return (down ? -sign : sign) || natural.compare(a.name, b.name);
    });
    this.matching = matching;
    const head = this.head(columns), body = element('tbody');
    const width = head.rows[0].cells.length;
    let drawn = 0;
    for (const [label, members] of this.groups(matching)) {
      if (label !== null) body.append(this.group_row(label, members, width, columns));
      if (label !== null && this.closed.has(label)) continue;
      for (const run of members) { if (drawn++ >= this.most) break; body.append(this.row(run, columns)); }
    }
    const focus = document.activeElement && this.table.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    this.table.replaceChildren(head, body);
    if (focus) { const again = [...this.table.querySelectorAll('[data-key]')].find(it => it.dataset.key === focus); if (again) again.focus({preventScroll: true}); }
    this.more.hidden = drawn <= this.most;
    this.count.textContent = `${number_text(matching.length)} of ${plural(runs.length, 'run')}` + (state.unread ? `, ${number_text(state.unread)} still to be read` : '');
    this.empty.hidden = runs.length > 0 || !state.scanned;
    this.empty.replaceChildren('There is no run in ', element('code', {}, plain(state.folder)), ' yet. A run appears here as soon as a program records into this folder.');
    this.table.hidden = runs.length === 0;
    this.choose();
  }

  fill_groups() {
    const wanted = this.group.value || recall('group', ''), names = ['', ...(this.all_settings || [])];
    if (this.group.options.length === names.length && names.every((it, i) => this.group.options[i].value === it)) return;
    this.group.replaceChildren(...names.map(it => element('option', {value: it}, it ? 'by ' + plain(it) : 'not grouped')));
    this.group.value = names.includes(wanted) ? wanted : '';
  }

  groups(runs) {
    const by = this.group.value;
    if (!by) return [[null, runs]];
    const made = new Map();
    for (const run of runs) { const key = setting_of(run, by) ?? 'not told'; if (!made.has(key)) made.set(key, []); made.get(key).push(run); }
    return [...made].sort((a, b) => new Intl.Collator('en', {numeric: true}).compare(a[0], b[0]));
  }

  head(columns) {
    const cell = (by, text, kind) => {
      const on = this.sort.by === by;
      return element('th', {scope: 'col', class: kind, 'aria-sort': on ? this.sort.down ? 'descending' : 'ascending' : null},
        element('button', {type: 'button', 'data-key': 'sort ' + by, title: plain(text), onclick: () => { this.sort = {by, down: on ? !this.sort.down : by !== 'name' && by !== 'status'}; remember('sort', this.sort); this.update(); }},
          plain(text), element('i', {'aria-hidden': 'true'}, on ? this.sort.down ? '▾' : '▴' : '')));
    };
    return element('thead', {}, element('tr', {}, element('td', {}), cell('name', 'run', 'text'), cell('status', 'status', 'text'), cell('findings', 'findings', 'text'),
      cell('steps', 'steps'), cell('time', 'time'), columns.outcomes.map(it => cell(it, it)), columns.settings.map(it => cell('setting ' + it, it, 'set')), cell('changed', 'last change')));
  }

  group_row(label, members, width, columns) {
    const by = columns.outcomes[0], values = members.map(it => outcome_of(it, by)).filter(it => it && typeof it.value === 'number').map(it => it.value).sort((a, b) => a - b);
    const words = values.length ? `, ${plain(by)}: median ${number_text(values[Math.floor(values.length / 2)])}, from ${number_text(values[0])} to ${number_text(values[values.length - 1])}` : '';
    const is_closed = this.closed.has(label);
    return element('tr', {class: 'group'}, element('th', {colspan: width, scope: 'rowgroup'}, element('button', {type: 'button', 'data-key': 'group ' + label, 'aria-expanded': String(!is_closed), onclick: () => { if (is_closed) this.closed.delete(label); else this.closed.add(label); this.update(); }},
      is_closed ? '▸ ' : '▾ ', `${plain(this.group.value)} = ${plain(label)}`), element('span', {class: 'note'}, ` ${plural(members.length, 'run')}${words}`)));
  }

  row(run, columns) {
    const box = element('input', {type: 'checkbox', 'data-key': 'choose ' + run.id, 'aria-label': 'Choose ' + plain(run.name), checked: state.chosen.has(run.name), onchange: it => { if (it.target.checked) state.chosen.add(run.name); else state.chosen.delete(run.name); this.choose(); }});
    const link = element('a', {href: address_of([run.name]), 'data-key': 'open ' + run.id}, name_element(run.name));
    const card = run.card;
    if (!card) return element('tr', {}, element('td', {}, box), element('th', {scope: 'row'}, link), element('td', {class: 'text note', colspan: 99}, 'not read yet'));
    const seconds = seconds_of(run);
    return element('tr', {}, element('td', {}, box), element('th', {scope: 'row'}, link),
      element('td', {class: 'text', 'data-label': 'status'}, status_mark(run), card.lost ? element('span', {class: 'count warning', title: plain(card.lost)}, 'damaged') : null, card.why && card.status !== 'finished' ? element('div', {class: 'note why', title: plain(card.why)}, plain(card.why)) : null),
      element('td', {class: 'text', 'data-label': 'findings', title: plain(card.worst)}, counts_of(card)),
      element('td', {'data-label': 'steps'}, number_text(card.steps)), element('td', {'data-label': 'time'}, duration_text(seconds)),
      columns.outcomes.map(key => { const it = outcome_of(run, key); return element('td', {'data-label': plain(key), class: it && it.value === 'nan' ? 'bad' : null}, it ? small_line(it.line) : null, it ? ' ' + number_text(it.value) : '–'); }),
      columns.settings.map(key => element('td', {'data-label': plain(key), class: 'set', title: plain(setting_of(run, key) ?? '')}, plain(setting_of(run, key) ?? '–').slice(0, 40))),
      element('td', {'data-label': 'last change'}, ago(run.changed)));
  }

  choose_all() {
    const some = this.matching.slice(0, 50), all = some.every(it => state.chosen.has(it.name));
    for (const it of some) { if (all) state.chosen.delete(it.name); else state.chosen.add(it.name); }
    this.update();
  }

  choose() {
    for (const name of state.chosen) if (![...state.runs.values()].some(it => it.name === name)) state.chosen.delete(name);
    const names = [...state.chosen].slice(0, 50);
    this.compare.textContent = names.length ? `Compare ${names.length}` : 'Compare';
    if (names.length) this.compare.href = address_of(names); else this.compare.removeAttribute('href');
    this.compare.setAttribute('aria-disabled', String(names.length === 0));
  }
}

function ago(when) {
  if (!when) return '–';
  const seconds = Date.now() / 1000 - state.clock - when;
  return seconds < 2 ? 'now' : duration_text(seconds) + ' ago';
}

// --- runs that are looked at

const tabs = [['curves', 'Curves'], ['findings', 'Findings'], ['tensors', 'Tensors'], ['workers', 'Workers'], ['times', 'Time'], ['more', 'More']];
const parts = [['layers', 'Layers'], ['histograms', 'Histograms over time'], ['activations', 'Activations'], ['classes', 'Classes and mistakes'], ['residuals', 'Residuals'], ['saliency', 'Saliency'], ['attention', 'Attention'], ['embeddings', 'Embeddings'], ['trees', 'Trees'], ['hyperparameters', 'Hyperparameters']];

class RunsView {
  constructor(names, tab) {
    this.names = names;
    this.details = new Map();  // by name: what /api/run says
    this.tab = tab || 'curves';
    this.hidden = new Set();
    this.head = element('section', {class: 'heads', 'aria-label': 'Runs'});
    this.nav = element('nav', {class: 'tabs', 'aria-label': 'Parts'});
    this.body = element('div', {class: 'body'});
    view.replaceChildren(this.head, this.nav, this.body);
    this.open();
    this.update(new Set(names));
  }

  get runs() { return this.names.map(name => [...state.runs.values()].find(it => it.name === name)).filter(it => it); }
  get several() { return this.names.length > 1; }
  index_of(id) { const run = state.runs.get(id); return run ? this.names.indexOf(run.name) : -1; }
  look_of(which) { return {colour: which % colour_count, dash: Math.floor(which / colour_count) % dashes.length}; }

  open() {
    const workers = this.runs.some(it => it.card && it.card.workers > 1);
    this.nav.replaceChildren(...tabs.filter(([id]) => id !== 'workers' || workers || this.tab === 'workers').map(([id, title]) =>
      element('a', {href: address_of(this.names, id), 'aria-current': id === this.tab ? 'page' : null}, title)));
    const make = {curves: CurvesTab, findings: FindingsTab, tensors: TensorsTab, workers: WorkersTab, times: TimesTab, more: MoreTab}[this.tab] || CurvesTab;
    this.part = new make(this);
  }

  async update(changed) {
    const runs = this.runs, missing = this.names.filter(name => !runs.some(it => it.name === name));
    this.draw_head(runs, missing);
    const wanted = runs.filter(it => changed.has(it.name) || !this.details.has(it.name));
    // Of many runs that go on a few a time, the others with the next look.
    await Promise.all(wanted.slice(0, this.several ? 50 : 1).map(async run => {
      try {
        const before = this.details.get(run.name);
        const told = await ask('run', {run: run.id, since: before && before.id === run.id ? before.version : 0});
        if (!told.same) this.details.set(run.name, told);
      } catch (why) { if (!missing.includes(run.name)) this.details.set(run.name, {id: run.id, version: 0, trouble: why.message, tags: [], findings: [], workers: []}); }
    }));
    if (shown !== this) return;
    const workers = [...this.details.values()].some(it => it.workers && it.workers.length > 1);
    if (workers && !this.nav.querySelector('[href$="/workers"]')) this.rebuild_nav();
    this.part.update(changed);
  }

  rebuild_nav() {
    this.nav.replaceChildren(...tabs.map(([id, title]) => element('a', {href: address_of(this.names, id), 'aria-current': id === this.tab ? 'page' : null}, title)));
  }

  draw_head(runs, missing) {
    const gone = missing.map(name => element('p', {class: 'notice'}, name_element(name), state.scanned ? ' is not there any more: it was deleted or renamed. What is drawn below was read before.' : ' is looked for.'));
    if (!this.several) {
      const run = runs[0];
      if (!run) { this.head.replaceChildren(...gone); return; }
      const card = run.card, facts = [];
      const fact = (name, value) => facts.push(element('div', {}, element('dt', {}, plain(name)), element('dd', {}, value)));
      if (card) {
        fact('steps', number_text(card.steps));
        fact('time', duration_text(seconds_of(run)));
        if (card.workers > 1) fact('workers', number_text(card.workers));
        if (card.attempts > 1) fact('attempts', number_text(card.attempts));
        for (const it of card.outcomes.slice(0, 6)) fact(it.name + (it.mode === 'train' ? '' : ', ' + it.mode), number_text(it.value));
        for (const [name, value] of card.settings.slice(0, 12)) fact(name, plain(value).slice(0, 60));
      }
      this.head.replaceChildren(...gone, element('h1', {}, name_element(run.name), ' ', status_mark(run)),
        card && card.why && card.status !== 'finished' ? element('p', {class: 'notice'}, plain(card.why)) : '',
        card && card.lost ? element('p', {class: 'notice'}, 'The record is not whole: ' + plain(card.lost)) : '',
        card && card.worst ? element('p', {class: 'verdict ' + (card.errors ? 'error' : card.warnings ? 'warning' : 'info')}, plain(card.worst)) : '',
        element('dl', {}, facts));
      return;
    }
    const rows = this.names.map((name, which) => {
      const run = runs.find(it => it.name === name), look = this.look_of(which);
      const box = element('input', {type: 'checkbox', checked: !this.hidden.has(name), 'data-key': name, onchange: it => { if (it.target.checked) this.hidden.delete(name); else this.hidden.add(name); this.part.update(new Set()); }});
      return element('li', {}, element('label', {}, box, swatch(look), name_element(name)), run ? [' ', status_mark(run), ' ', ...(run.card ? counts_of(run.card) : [])] : ' gone');
    });
    const focus = this.head.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    const before = this.head.querySelector('details'), open = before ? before.open : this.names.length <= 12;
    const words = ['died', 'failed', 'stopped', 'running', 'unreadable'].map(it => [it, runs.filter(run => status_of(run) === it).length]).filter(it => it[1] > 0).map(it => `${it[1]} ${it[0]}`).join(', ');
    this.head.replaceChildren(...gone, element('h1', {}, `${this.names.length} runs`, words ? element('span', {class: 'note'}, ' ' + words) : ''), element('details', {open}, element('summary', {}, 'Which line is which'), element('ul', {class: 'legend'}, rows)));
    if (focus) { const again = [...this.head.querySelectorAll('[data-key]')].find(it => it.dataset.key === focus); if (again) again.focus({preventScroll: true}); }
  }
}

// What all charts of a page share.
const settings = recall('settings', {smooth: 0, log: false, time: false});
function settings_bar(redraw, ...more) {
  const change = (name, value) => { settings[name] = value; remember('settings', settings); redraw(); };
  const told = element('output', {}, settings.smooth ? String(settings.smooth) : 'off');
  return element('form', {class: 'bar', onsubmit: it => it.preventDefault()},
    element('label', {}, 'smoothing ', element('input', {type: 'range', min: 0, max: 0.99, step: 0.01, value: settings.smooth, oninput: it => { told.textContent = +it.target.value ? it.target.value : 'off'; change('smooth', +it.target.value); }}), told),
    element('label', {}, element('input', {type: 'checkbox', checked: settings.log, onchange: it => change('log', it.target.checked)}), ' logarithmic'),
    element('label', {}, 'x: ', element('select', {onchange: it => change('time', it.target.value === 'time'), value: settings.time ? 'time' : 'step'}, element('option', {value: 'step', selected: !settings.time}, 'step'), element('option', {value: 'time', selected: settings.time}, 'time since its beginning'))), ...more);
}

// One tag of all runs that are looked at: a chart, or of many runs one for each mode. Asked for while it is on the screen.
class TagCharts {
  constructor(of, tag, choice) {
    this.of = of;
    this.tag = tag;
    this.choice = choice || {};  // {stat, workers}
    this.lines = new Map();
    this.versions = new Map();
    this.charts = new Map();  // by mode, or 'all'
    this.box = element('div', {class: 'tag'});
    this.box.style.minHeight = '220px';
    this.seen = false;
    this.watch = new IntersectionObserver(all => { this.seen = all[all.length - 1].isIntersecting; if (this.seen) this.refresh(); }, {rootMargin: '300px'});
    this.watch.observe(this.box);
  }

  async refresh() {
    if (!this.seen || this.busy) { this.again = this.busy; return; }
    this.busy = true;
    try {
      const runs = this.of.runs;
      if (runs.length === 0) return;
      const asked = [['tag', this.tag], ...runs.map(it => ['run', this.part ? it.id : it.id + ':' + (this.versions.get(it.id) || 0)])];
      if (this.choice.stat) asked.push(['stat', this.choice.stat]);
      if (this.choice.workers) asked.push(['workers', 'all']);
      if (this.part) asked.push(['from', Math.max(1, Math.floor(this.part[0]))], ['to', Math.max(0, Math.ceil(this.part[1]))]);
      const part = this.part;
      const told = await ask('curves', asked);
      if (part !== this.part) { this.again = true; return; }
      if (part) this.lines.clear();
      for (const line of told.lines) this.lines.set([line.run, line.worker, line.mode].join(' '), line);
      for (const it of told.runs) if (!part && it.version) this.versions.set(it.run, it.version);
      this.draw();
    } catch (why) { say_trouble(why.message); } finally {
      this.busy = false;
      if (this.again) { this.again = false; setTimeout(() => this.refresh(), 50); }
    }
  }

  closer(part) {
    this.part = part;
    this.lines.clear();
    this.versions.clear();
    this.refresh();
  }

  draw() {
    const modes = [...new Set([...this.lines.values()].map(it => it.mode))].sort((a, b) => ['train', 'eval', 'predict'].indexOf(a) - ['train', 'eval', 'predict'].indexOf(b));
    const apart = this.of.names.length > 6 || this.choice.workers;
    const wanted = apart ? modes : ['all'];
    for (const key of wanted) {
      if (!this.charts.has(key)) {
        const title = this.tag + (this.choice.stat && this.choice.stat !== 'mean' ? ' · ' + this.choice.stat : '') + (apart && (modes.length > 1 || key !== 'train') ? ' · ' + key : '');
        const chart = new Chart(title, () => settings, it => this.closer(it));
        this.charts.set(key, chart);
        this.box.append(chart.figure);
        this.box.style.minHeight = '';
      }
      const lines = [...this.lines.values()].filter(it => !apart || it.mode === key).map(it => this.look(it, modes)).filter(it => it);
      lines.sort((a, b) => a.order - b.order);
      this.charts.get(key).set(lines, this.of.several ? [] : this.marks());
    }
  }

  look(line, modes) {
    const which = this.of.index_of(line.run);
    if (which < 0 || this.of.hidden.has(this.of.names[which])) return null;
    const mode = ['train', 'eval', 'predict'].indexOf(line.mode);
    const name = this.of.names[which];
    if (this.choice.workers) return {...line, colour: line.worker % colour_count, dash: Math.floor(line.worker / colour_count) % dashes.length, label: 'worker ' + line.worker, order: line.worker};
    if (!this.of.several) return {...line, colour: mode, dash: 0, label: modes.length > 1 || line.mode !== 'train' ? line.mode : this.tag, order: mode};
    const look = this.of.look_of(which);
    return {...line, ...look, dash: this.of.names.length <= 6 ? mode : look.dash, label: modes.length > 1 && this.of.names.length <= 6 ? `${name}, ${line.mode}` : name, order: which * 3 + mode};
  }

  marks() {
    const told = this.of.details.get(this.of.names[0]);
    return told && told.findings ? told.findings.slice(0, 12).filter(it => it.step.mode === 'train').map(it => ({x: it.step.index, severity: it.severity})) : [];
  }

  redraw() { for (const chart of this.charts.values()) chart.soon(); }
  close() { this.watch.disconnect(); }
}

class CurvesTab {
  constructor(of) {
    this.of = of;
    this.charts = new Map();
    this.groups = new Map();
    this.search = element('input', {type: 'search', placeholder: 'names', 'aria-label': 'Filter curves by name', oninput: () => this.arrange()});
    this.note = element('p', {class: 'note'}, '');
    this.box = element('div', {});
    of.body.replaceChildren(settings_bar(() => this.redraw(), this.search), this.box, this.note);
  }

  tags() {
    const made = new Map();
    for (const told of this.of.details.values()) for (const tag of told.tags || []) if (!made.has(tag.name)) made.set(tag.name, tag);
    return [...made.values()].sort((a, b) => a.kind - b.kind);
  }

  update() {
    this.arrange();
    for (const each of this.charts.values()) each.refresh();
  }

  arrange() {
    const words = this.search.value.trim().toLowerCase();
    let count = 0;
    for (const tag of this.tags()) {
      const fits = tag.name.toLowerCase().includes(words);
      if (!this.charts.has(tag.name)) {
        const cut = tag.name.indexOf('/'), group = tag.kind < 2 ? 'losses and metrics' : cut > 0 ? tag.name.slice(0, cut) : 'other numbers';
        if (!this.groups.has(group)) {
          const grid = element('div', {class: 'grid'});
          const box = element('details', {open: this.groups.size < 3}, element('summary', {}, plain(group)), grid);
          this.groups.set(group, {box, grid});
          this.box.append(box);
        }
        const chart = new TagCharts(this.of, tag.name);
        this.charts.set(tag.name, chart);
        this.groups.get(group).grid.append(chart.box);
      }
      this.charts.get(tag.name).box.hidden = !fits;
      count += fits ? 1 : 0;
    }
    for (const {box, grid} of this.groups.values()) box.hidden = [...grid.children].every(it => it.hidden);
    const read = [...this.of.details.values()].length > 0;
    this.note.textContent = !read ? 'Reading…' : count === 0 ? words ? 'No curve has such a name.' : 'No numbers were recorded yet.' : 'Where several steps share a point it is their mean, and the band reaches from the smallest to the largest. Drag to zoom; with the keyboard the arrows move, + and − zoom, Esc shows all.';
  }

  redraw() { for (const each of this.charts.values()) { each.draw(); each.redraw(); } }
}

class FindingsTab {
  constructor(of) {
    this.of = of;
    this.list = element('div', {});
    this.more = element('div', {});
    of.body.replaceChildren(this.list, this.more);
  }
  update() {
    const made = [];
    for (const name of this.of.names) {
      const told = this.of.details.get(name);
      if (!told) continue;
      if (this.of.several) made.push(element('h2', {}, element('a', {href: address_of([name], 'findings')}, name_element(name))));
      if (told.trouble) made.push(element('p', {class: 'notice'}, plain(told.trouble)));
      for (const it of (told.findings || []).slice(0, this.of.several ? 3 : 200)) {
        made.push(element('article', {class: 'finding ' + it.severity}, element('h3', {}, element('span', {class: 'tag-word'}, it.severity), ' ', plain(it.rule), element('span', {class: 'note'}, ` ${it.step.mode} ${number_text(it.step.index)}${it.times > 1 ? ', ' + number_text(it.times) + ' times' : ''}`)),
          element('p', {}, plain(it.text)), it.remedy ? element('p', {class: 'remedy'}, plain(it.remedy)) : ''));
      }
      if (!(told.findings || []).length) made.push(element('p', {}, told.rules ? 'Nothing was found.' : 'Nothing was found so far. How much each rule could judge is known when the run ends.'));
      for (const [rule, why] of (told.could_not_run || []).slice(0, 40)) made.push(element('p', {class: 'note'}, `${plain(rule)} could not run: ${plain(why)}`));
    }
    this.list.replaceChildren(...made);
    if (!this.of.several && !this.more.firstChild && this.of.details.size) this.more.replaceChildren(fragment_button(this.of, 'findings', 'Show the evidence as charts'));
  }
}

// A part of the static page, which the server made and escaped; in a tree of its own, so that styles stay apart.
function put_fragment(into, html) {
  const root = into.shadowRoot || into.attachShadow({mode: 'open'});
  const style = element('link', {rel: 'stylesheet', href: '/report.css'});
  const box = element('main', {});
  box.innerHTML = html;
  root.replaceChildren(style, box);
}

function fragment_button(of, id, title) {
  const box = element('div', {class: 'fragment'}), note = element('span', {class: 'note'});
  const load = async () => {
    note.textContent = 'reading…';
    try {
      put_fragment(box, await ask('section', {run: of.runs[0].id, id}));
      note.textContent = 'as of now; again: the button';
    } catch (why) { note.textContent = why.message.includes('no section') ? 'nothing of it was recorded' : why.message; }
  };
  return element('section', {class: 'part'}, element('button', {type: 'button', onclick: load}, title), ' ', note, box);
}

class TimesTab {
  constructor(of) {
    this.of = of;
    this.box = element('div', {class: 'fragment'});
    this.note = element('p', {class: 'note'});
    of.body.replaceChildren(this.note, this.box);
    this.due = 0;
  }
  async update() {
    if (this.of.several) { this.note.textContent = 'Open one run to see where its time went.'; return; }
    if (!this.of.runs[0] || performance.now() < this.due) return;
    this.due = performance.now() + 5000;
    try {
      put_fragment(this.box, await ask('section', {run: this.of.runs[0].id, id: 'times'}));
      this.note.textContent = status_of(this.of.runs[0]) === 'running' ? 'Made anew each five seconds while the run goes on.' : '';
    } catch (why) { this.note.textContent = why.message.includes('no section') ? 'Nothing is known of its times yet.' : why.message; }
  }
}

class MoreTab {
  constructor(of) {
    this.of = of;
    of.body.replaceChildren(...(of.several ? [element('p', {class: 'note'}, 'Open one run to see these.')] : parts.map(([id, title]) => fragment_button(of, id, title))));
  }
  update() { /* by its buttons */ }
}

class WorkersTab {
  constructor(of) {
    this.of = of;
    this.tag = element('select', {'aria-label': 'Of which number', onchange: () => this.choose()});
    this.table = element('div', {});
    this.grid = element('div', {class: 'grid small'});
    of.body.replaceChildren(settings_bar(() => this.draw(), element('label', {}, 'of ', this.tag)), this.table, this.grid);
    this.lines = new Map();
    this.charts = new Map();
    this.versions = new Map();
  }
  choose() { this.lines.clear(); this.versions.clear(); this.charts.clear(); this.grid.replaceChildren(); this.update(); }
  async update() {
    const told = this.of.details.get(this.of.names[0]), run = this.of.runs[0];
    if (!told || !run) return;
    if (!this.tag.options.length) this.tag.replaceChildren(...(told.tags || []).map(it => element('option', {value: it.name}, plain(it.name))));
    const most = Math.max(...(told.workers || []).map(it => it.steps));
    this.table.replaceChildren(element('p', {class: 'note'}, (told.workers || []).filter(it => it.steps < most * 0.9 || it.status !== 'finished').slice(0, 20).map(it => `worker ${it.worker}: ${it.status}, ${number_text(it.steps)} of ${number_text(most)} steps`).join('; ')));
    if (!this.tag.value || this.busy) return;
    this.busy = true;
    try {
      const answer = await ask('curves', {tag: this.tag.value, workers: 'all', run: `${run.id}:${this.versions.get(run.id) || 0}`});
      for (const it of answer.runs) this.versions.set(it.run, it.version);
      for (const line of answer.lines) this.lines.set(line.worker + ' ' + line.mode, line);
      this.draw();
    } catch (why) { say_trouble(why.message); } finally { this.busy = false; }
  }
  draw() {
    const workers = [...new Set([...this.lines.values()].map(it => it.worker))].sort((a, b) => a - b);
    for (const worker of workers) {
      if (!this.charts.has(worker)) {
        const chart = new Chart('worker ' + worker, () => settings);
        this.charts.set(worker, chart);
        this.grid.append(chart.figure);
      }
      // The others stand faint behind it: what is different is seen.
      const own = [...this.lines.values()].filter(it => it.worker === worker).map(it => ({...it, colour: ['train', 'eval', 'predict'].indexOf(it.mode), dash: 0, label: it.mode}));
      this.charts.get(worker).set(own, []);
    }
  }
}

class TensorsTab {
  constructor(of) {
    this.of = of;
    this.first = 0;
    this.search = element('input', {type: 'search', placeholder: 'part of a name', 'aria-label': 'Filter tensors by name', oninput: () => { this.first = 0; this.list(); }});
    this.run = element('select', {'aria-label': 'Of which run', onchange: () => this.list()}, of.names.map(it => element('option', {value: it}, plain(it))));
    this.table = element('div', {class: 'wide'});
    this.pages = element('p', {});
    this.detail = element('section', {class: 'tensor'});
    of.body.replaceChildren(element('form', {class: 'bar', onsubmit: it => it.preventDefault()}, this.search, of.several ? this.run : null), this.detail, this.table, this.pages);
  }
  get chosen() { return this.of.runs.find(it => it.name === this.run.value) || this.of.runs[0]; }
  update() { if (!this.listed) this.list(); if (this.curve) this.curve.refresh(); }
  async list() {
    if (!this.chosen) return;
    this.listed = true;
    try {
      const told = await ask('tensors', {run: this.chosen.id, filter: this.search.value.trim(), first: this.first, count: 100});
      this.table.replaceChildren(element('table', {class: 'plain'}, element('thead', {}, element('tr', {}, ['name', 'role', 'type', 'shape', 'observations'].map(it => element('th', {scope: 'col', class: it === 'observations' ? null : 'text'}, it)))),
        element('tbody', {}, told.tensors.map(it => element('tr', {}, element('th', {scope: 'row', class: 'text'}, element('button', {type: 'button', class: 'link', onclick: () => this.open(it)}, name_element(it.name))),
          element('td', {class: 'text'}, it.role), element('td', {class: 'text'}, it.type), element('td', {class: 'text'}, it.shape.length ? it.shape.join(' × ') : 'number'), element('td', {}, number_text(it.observations)))))));
      const turn = by => () => { this.first = Math.max(0, this.first + by); this.list(); };
      this.pages.replaceChildren(told.all > 100 ? element('button', {type: 'button', disabled: this.first === 0, onclick: turn(-100)}, 'before') : '', ` ${number_text(told.all)} tensors `, told.all > 100 ? element('button', {type: 'button', disabled: this.first + 100 >= told.all, onclick: turn(100)}, 'next') : '');
    } catch (why) { this.table.replaceChildren(element('p', {class: 'notice'}, why.message)); }
  }
  async open(tensor) {
    if (this.curve) this.curve.close();
    try {
      const run = this.chosen, told = await ask('tensor', {run: run.id, tag: tensor.name});
      const stat = element('select', {'aria-label': 'Statistic', onchange: () => draw()}, told.statistics.map(it => element('option', {value: it, selected: it === (told.statistics.includes('l2') && told.shape !== 'scalar' ? 'l2' : 'mean')}, it)));
      const plot = element('div', {});
      const draw = () => { if (this.curve) this.curve.close(); this.curve = new TagCharts(this.of, tensor.name, {stat: stat.value}); plot.replaceChildren(this.curve.box); };
      const slider = new StepSlider(run, tensor.name, told);
      this.detail.replaceChildren(element('h2', {}, name_element(tensor.name)), element('p', {class: 'note'}, `${told.role}, ${told.type}, ${told.shape}; ${told.count ? `kept at ${plural(told.count, 'step')}, values at ${number_text(told.kept)}` : 'told between steps'}`),
        told.statistics.length ? element('p', {}, 'over the steps: ', stat) : '', element('div', {class: 'grid'}, told.statistics.length ? plot : null, slider.steps.length ? slider.box : null));
      if (told.statistics.length) draw();
      this.detail.scrollIntoView({block: 'start'});
    } catch (why) { this.detail.replaceChildren(element('p', {class: 'notice'}, why.message)); }
  }
}

// One tensor at one step: its histogram, pictures and first values, by a slider.
class StepSlider {
  constructor(run, tag, told) {
    this.run = run;
    this.tag = tag;
    this.told = told;
    this.steps = told.value_steps.length ? told.value_steps : told.steps;
    this.word = element('output', {});
    this.range = element('input', {type: 'range', min: 0, max: Math.max(0, this.steps.length - 1), value: this.steps.length - 1, 'aria-label': 'Step', oninput: () => this.soon()});
    this.bars = element('canvas', {class: 'bars', role: 'img', 'aria-label': 'Histogram'});
    this.ends = element('div', {class: 'ends note'});
    this.pictures = element('div', {class: 'gallery'});
    this.facts = element('div', {});
    this.box = element('div', {class: 'slider'}, element('label', {}, 'at ', this.word, this.range), this.bars, this.ends, this.pictures, this.facts);
    if (this.steps.length) this.read();
  }
  soon() { this.word.textContent = this.steps[+this.range.value]; clearTimeout(this.timer); this.timer = setTimeout(() => this.read(), 60); }
  async read() {
    const step = this.steps[+this.range.value];
    this.word.textContent = step;
    try {
      const told = await ask('values', {run: this.run.id, tag: this.tag, step});
      if (step !== this.steps[+this.range.value]) return;
      this.draw(told);
      const address = n => '/api/picture?' + new URLSearchParams({run: this.run.id, tag: this.tag, step, n});
      const count = this.told.value_steps.includes(step) ? this.told.pictures : 0;
      this.pictures.replaceChildren(...Array.from({length: count}, (_, n) => element('img', {src: address(n), alt: `picture ${n} at ${step}`})));
      this.facts.replaceChildren(told.text !== undefined ? element('pre', {}, told.text) : '', element('dl', {}, told.statistics.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, number_text(value))))),
        told.values ? element('details', {}, element('summary', {}, `values (${told.shape}${told.values.length < told.count ? ', the first ' + told.values.length : ''})`), element('code', {}, told.values.map(it => typeof it === 'number' ? +it.toPrecision(6) : String(it)).join('  '))) : '');
    } catch (why) { this.facts.replaceChildren(element('p', {class: 'notice'}, why.message)); }
  }
  draw(told) {
    this.bars.hidden = this.ends.hidden = !told.bins;
    if (!told.bins) return;
    const scale = window.devicePixelRatio || 1, width = this.bars.clientWidth || 400, height = 140;
    this.bars.width = width * scale; this.bars.height = height * scale;
    const to = this.bars.getContext('2d'), most = Math.max(...told.bins);
    to.setTransform(scale, 0, 0, scale, 0, 0);
    to.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--c0').trim();
    told.bins.forEach((count, i) => { const tall = count / most * (height - 4); to.fillRect(i * width / told.bins.length, height - tall, width / told.bins.length - 1, count ? Math.max(1, tall) : 0); });
    this.ends.replaceChildren(element('span', {}, number_text(told.low)), element('span', {}, number_text(told.high)));
  }
}

// --- the address says what is shown

function route() {
  const [, place, names, tab] = location.hash.split('/');
  say_trouble('');
  if (shown && shown.part && shown.part.charts) for (const it of shown.part.charts.values()) if (it.close) it.close();
  document.getElementById('where').replaceChildren();
  if (place === 'view' && names) {
    let wanted = [];
    try { wanted = names.split(',').map(decodeURIComponent); } catch (_) { /* no address of ours */ }
    shown = null;
    const made = new RunsView(wanted, tab);
    shown = made;
    document.title = (wanted.length === 1 ? plain(wanted[0]) : wanted.length + ' runs') + ' · spotter';
    made.update(new Set(wanted));
  } else {
    shown = new ListView();
    document.title = 'spotter';
  }
}

async function look() {
  try {
    const told = await ask('runs', {since: state.version});
    const changed = new Set();
    const before = Math.max(0, ...[...state.runs.values()].map(it => it.card ? it.card.read : 0));
    for (const it of told.runs) {
      const known = state.runs.get(it.id);
      state.runs.set(it.id, {...known, ...it});
      changed.add(it.name);
      if (it.card && it.card.read > before && !it.card.over) state.clock = Math.min(Date.now() / 1000 - it.card.read, state.clock || Infinity);
    }
    for (const id of told.gone) { const it = state.runs.get(id); if (it) changed.add(it.name); state.runs.delete(id); }
    if (told.version < state.version) { state.version = 0; state.runs.clear(); } else { state.version = told.version; }
    const news = changed.size > 0 || told.unread !== state.unread || told.scanned !== state.scanned;
    state.folder = told.folder; state.unread = told.unread; state.scanned = told.scanned;
    document.getElementById('where').textContent = plain(told.folder);
    say_trouble(told.trouble ? `${told.folder}: ${told.trouble}` : told.cut ? 'There are more folders than are looked into.' : '');
    document.getElementById('state').textContent = told.unread ? `reading ${told.unread} of ${state.runs.size}` : '';
    if (news && shown) shown.update(changed);
  } catch (why) {
    say_trouble('The server does not answer: ' + why.message + '. What is shown is what it said last.');
  }
  setTimeout(look, document.hidden ? 5000 : asks_each);
}

addEventListener('hashchange', route);
document.addEventListener('visibilitychange', () => { if (!document.hidden && shown) shown.update(new Set()); });
route();
look();
