// SPDX-License-Identifier: Apache-2.0
// The live page of `spotter serve`: the list of runs.
'use strict';

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
    this.all = element('button', {type: 'button', onclick: () => this.choose_all()}, 'Select shown');
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
    for (const run of runs) { const key = setting_of(run, by) ?? 'not reply'; if (!made.has(key)) made.set(key, []); made.get(key).push(run); }
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
    const box = element('input', {type: 'checkbox', 'data-key': 'choose ' + run.id, 'aria-label': 'Select ' + plain(run.name), checked: state.chosen.has(run.name), onchange: it => { if (it.target.checked) state.chosen.add(run.name); else state.chosen.delete(run.name); this.choose(); }});
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
