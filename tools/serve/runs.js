// SPDX-License-Identifier: Apache-2.0
// The live page of `spotter serve`: the runs that are looked at.
'use strict';

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
        const reply = await ask('run', {run: run.id, since: before && before.id === run.id ? before.version : 0});
        if (!reply.same) this.details.set(run.name, reply);
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
    this.head.replaceChildren(...gone, element('h1', {}, `${this.names.length} runs`, words ? element('span', {class: 'note'}, ' ' + words) : ''), element('details', {open}, element('summary', {}, 'Legend'), element('ul', {class: 'legend'}, rows)));
    if (focus) { const again = [...this.head.querySelectorAll('[data-key]')].find(it => it.dataset.key === focus); if (again) again.focus({preventScroll: true}); }
  }
}

// What all charts of a page share.
const settings = recall('settings', {smooth: 0, log: false, time: false});
function settings_bar(redraw, ...more) {
  const change = (name, value) => { settings[name] = value; remember('settings', settings); redraw(); };
  const reply = element('output', {}, settings.smooth ? String(settings.smooth) : 'off');
  return element('form', {class: 'bar', onsubmit: it => it.preventDefault()},
    element('label', {}, 'smoothing ', element('input', {type: 'range', min: 0, max: 0.99, step: 0.01, value: settings.smooth, oninput: it => { reply.textContent = +it.target.value ? it.target.value : 'off'; change('smooth', +it.target.value); }}), reply),
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
      const reply = await ask('curves', asked);
      if (part !== this.part) { this.again = true; return; }
      if (part) this.lines.clear();
      for (const line of reply.lines) this.lines.set([line.run, line.worker, line.mode].join(' '), line);
      for (const it of reply.runs) if (!part && it.version) this.versions.set(it.run, it.version);
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
    const reply = this.of.details.get(this.of.names[0]);
    return reply && reply.findings ? strongest_of(reply.findings, 12).filter(it => it.step.mode === 'train').map(it => ({x: it.step.index, severity: it.severity})) : [];
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
    for (const reply of this.of.details.values()) for (const tag of reply.tags || []) if (!made.has(tag.name)) made.set(tag.name, tag);
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
    this.note.textContent = !read ? 'Reading…' : count === 0 ? words ? 'No curve has such a name.' : 'No numbers were recorded yet.' : 'A point of several steps is their mean; the band is their minimum to maximum. Drag to zoom, double-click to reset. Keyboard: arrows move, + and − zoom, Esc resets.';
  }

  redraw() { for (const each of this.charts.values()) { each.draw(); each.redraw(); } }
}

// So many of them, in the order of time.
function strongest_of(findings, most) {
  const level = it => ['note', 'warning', 'error'].indexOf(it.severity);
  const chosen = new Set([...findings].sort((a, b) => level(b) - level(a)).slice(0, most));
  return findings.filter(it => chosen.has(it));
}

// What is folded stays as it was left when the list is made anew.
function fold(unfolded, key, title, inside) {
  const toggle = event => { if (event.target.open) unfolded.add(key); else unfolded.delete(key); };
  return element('details', {open: unfolded.has(key), ontoggle: toggle}, element('summary', {}, title), ...inside);
}

// A card of the static page: a cause, and folded behind it what it explains.
function finding_card(it, unfolded) {
  const when = ` ${it.step.mode} ${number_text(it.step.index)}${it.times > 1 ? ', ' + number_text(it.times) + ' times' : ''}`;
  const made = element('article', {class: 'finding ' + it.severity}, element('h3', {}, element('span', {class: 'tag-word'}, it.severity), ' ', plain(it.rule), element('span', {class: 'note'}, when)),
    element('p', {}, plain(it.text)), it.remedy ? element('p', {class: 'remedy'}, plain(it.remedy)) : '');
  const behind = it.behind || [];
  if (!behind.length) return made;
  const rules = [...new Set(behind.map(each => each.rule))];
  const names = rules.slice(0, 4).map(plain).join(', ') + (rules.length > 4 ? ` and ${plural(rules.length - 4, 'more rule')}` : '');
  made.append(fold(unfolded, JSON.stringify([it.rule, it.reason, it.tensor]), `${plural(behind.length, 'further finding')} with it: ${names}`, behind.map(each => finding_card(each, unfolded))));
  return made;
}

class FindingsTab {
  constructor(of) {
    this.of = of;
    this.list = element('div', {});
    this.more = element('div', {});
    this.unfolded = new Set();
    this.seen = new Set();
    of.body.replaceChildren(this.list, this.more);
  }
  update() {
    const made = [];
    for (const name of this.of.names) {
      const reply = this.of.details.get(name);
      if (!reply) continue;
      if (this.of.several) made.push(element('h2', {}, element('a', {href: address_of([name], 'findings')}, name_element(name))));
      if (reply.trouble) made.push(element('p', {class: 'notice'}, plain(reply.trouble)));
      const shown = strongest_of(reply.findings || [], this.of.several ? 3 : 200);
      if (shown.length > 1 && !this.of.several) made.push(element('p', {class: 'note'}, 'In the order of time: the first finding is the likeliest cause of what follows.'));
      for (const it of shown) made.push(finding_card(it, this.unfolded));
      if (!shown.length) made.push(element('p', {}, reply.rules ? 'Nothing was found.' : 'Nothing was found so far. How much each rule could judge is known when the run ends.'));
      const silent = reply.could_not_run || [];
      if (silent.length) {
        const key = 'silent ' + name;
        if (silent.length <= 6 && !this.seen.has(key)) this.unfolded.add(key);
        this.seen.add(key);
        made.push(fold(this.unfolded, key, `${plural(silent.length, 'rule')} could not run, or not on all that they should`, [element('ul', {}, silent.map(([rule, why]) => element('li', {}, element('b', {}, plain(rule)), `: ${plain(why)}`)))]));
      }
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
    of.body.replaceChildren(settings_bar(() => this.draw(), element('label', {}, 'of ', this.tag)), this.table, this.grid, fragment_button(of, 'workers', 'Show who is slow'));
    this.lines = new Map();
    this.charts = new Map();
    this.versions = new Map();
  }
  choose() { this.lines.clear(); this.versions.clear(); this.charts.clear(); this.grid.replaceChildren(); this.update(); }
  async update() {
    const reply = this.of.details.get(this.of.names[0]), run = this.of.runs[0];
    if (!reply || !run) return;
    if (!this.tag.options.length) this.tag.replaceChildren(...(reply.tags || []).map(it => element('option', {value: it.name}, plain(it.name))));
    const most = Math.max(...(reply.workers || []).map(it => it.steps));
    this.table.replaceChildren(element('p', {class: 'note'}, (reply.workers || []).filter(it => it.steps < most * 0.9 || it.status !== 'finished').slice(0, 20).map(it => `worker ${it.worker}: ${it.status}, ${number_text(it.steps)} of ${number_text(most)} steps`).join('; ')));
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
      const reply = await ask('tensors', {run: this.chosen.id, filter: this.search.value.trim(), first: this.first, count: 100});
      this.table.replaceChildren(element('table', {class: 'plain'}, element('thead', {}, element('tr', {}, ['name', 'role', 'type', 'shape', 'observations'].map(it => element('th', {scope: 'col', class: it === 'observations' ? null : 'text'}, it)))),
        element('tbody', {}, reply.tensors.map(it => element('tr', {}, element('th', {scope: 'row', class: 'text'}, element('button', {type: 'button', class: 'link', onclick: () => this.open(it)}, name_element(it.name))),
          element('td', {class: 'text'}, it.role), element('td', {class: 'text'}, it.type), element('td', {class: 'text'}, it.shape.length ? it.shape.join(' × ') : 'number'), element('td', {}, number_text(it.observations)))))));
      const turn = by => () => { this.first = Math.max(0, this.first + by); this.list(); };
      this.pages.replaceChildren(reply.all > 100 ? element('button', {type: 'button', disabled: this.first === 0, onclick: turn(-100)}, 'before') : '', ` ${number_text(reply.all)} tensors `, reply.all > 100 ? element('button', {type: 'button', disabled: this.first + 100 >= reply.all, onclick: turn(100)}, 'next') : '');
    } catch (why) { this.table.replaceChildren(element('p', {class: 'notice'}, why.message)); }
  }
  async open(tensor) {
    if (this.curve) this.curve.close();
    try {
      const run = this.chosen, reply = await ask('tensor', {run: run.id, tag: tensor.name});
      const stat = element('select', {'aria-label': 'Statistic', onchange: () => draw()}, reply.statistics.map(it => element('option', {value: it, selected: it === (reply.statistics.includes('l2') && reply.shape !== 'scalar' ? 'l2' : 'mean')}, it)));
      const plot = element('div', {});
      const draw = () => { if (this.curve) this.curve.close(); this.curve = new TagCharts(this.of, tensor.name, {stat: stat.value}); plot.replaceChildren(this.curve.box); };
      const slider = new StepSlider(run, tensor.name, reply);
      this.detail.replaceChildren(element('h2', {}, name_element(tensor.name)), element('p', {class: 'note'}, `${reply.role}, ${reply.type}, ${reply.shape}; ${reply.count ? `recorded at ${plural(reply.count, 'step')}, with values at ${number_text(reply.kept)}` : 'recorded between steps'}`),
        reply.statistics.length ? element('p', {}, 'over the steps: ', stat) : '', element('div', {class: 'grid'}, reply.statistics.length ? plot : null, slider.steps.length ? slider.box : null));
      if (reply.statistics.length) draw();
      this.detail.scrollIntoView({block: 'start'});
    } catch (why) { this.detail.replaceChildren(element('p', {class: 'notice'}, why.message)); }
  }
}

// One tensor at one step: its histogram, pictures and first values, by a slider.
class StepSlider {
  constructor(run, tag, reply) {
    this.run = run;
    this.tag = tag;
    this.reply = reply;
    this.steps = reply.value_steps.length ? reply.value_steps : reply.steps;
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
      const reply = await ask('values', {run: this.run.id, tag: this.tag, step});
      if (step !== this.steps[+this.range.value]) return;
      this.draw(reply);
      const address = n => '/api/picture?' + new URLSearchParams({run: this.run.id, tag: this.tag, step, n});
      const count = this.reply.value_steps.includes(step) ? this.reply.pictures : 0;
      this.pictures.replaceChildren(...Array.from({length: count}, (_, n) => element('img', {src: address(n), alt: `picture ${n} at ${step}`})));
      this.facts.replaceChildren(reply.text !== undefined ? element('pre', {}, reply.text) : '', element('dl', {}, reply.statistics.map(([name, value]) => element('div', {}, element('dt', {}, name), element('dd', {}, number_text(value))))),
        reply.values ? element('details', {}, element('summary', {}, `values (${reply.shape}${reply.values.length < reply.count ? ', the first ' + reply.values.length : ''})`), element('code', {}, reply.values.map(it => typeof it === 'number' ? +it.toPrecision(6) : String(it)).join('  '))) : '');
    } catch (why) { this.facts.replaceChildren(element('p', {class: 'notice'}, why.message)); }
  }
  draw(reply) {
    this.bars.hidden = this.ends.hidden = !reply.bins;
    if (!reply.bins) return;
    const scale = window.devicePixelRatio || 1, width = this.bars.clientWidth || 400, height = 140;
    this.bars.width = width * scale; this.bars.height = height * scale;
    const to = this.bars.getContext('2d'), most = Math.max(...reply.bins);
    to.setTransform(scale, 0, 0, scale, 0, 0);
    to.fillStyle = getComputedStyle(document.documentElement).getPropertyValue('--c0').trim();
    reply.bins.forEach((count, i) => { const tall = count / most * (height - 4); to.fillRect(i * width / reply.bins.length, height - tall, width / reply.bins.length - 1, count ? Math.max(1, tall) : 0); });
    this.ends.replaceChildren(element('span', {}, number_text(reply.low)), element('span', {}, number_text(reply.high)));
  }
}
