// SPDX-License-Identifier: Apache-2.0
// The live page of `spotter serve`: one chart of lines on a canvas: zoom, smoothing, logarithm, all values where one
// points. No library.
'use strict';

const colour_count = 6;
const dashes = [[], [7, 4], [2, 3], [10, 3, 2, 3]];

// Text of a record as it may be shown: what is no letter, or turns the order of letters, stands as its code.
function plain(text) {
  return String(text).replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    it => '\\u' + it.charCodeAt(0).toString(16).padStart(4, '0'));
}

// An element: names beginning with "on" are listeners, others attributes; children are nodes or texts.
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else if (key === 'value' || key === 'checked') made[key] = value;
    else made.setAttribute(key, value === true ? '' : value);
  }
  made.append(...children.flat().filter(it => it !== null && it !== undefined));
  return made;
}

// Four digits, no exponent below a million.
function number_text(value) {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'string') return value === 'nan' ? 'NaN' : value.replace('inf', '∞').replace('-', '−');
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '∞' : '−∞';
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e7 || size < 1e-4)) return value.toExponential(2).replace('e+', 'e').replace(/\.?0+e/, 'e').replace('-', '−');
  if (Number.isInteger(value)) return value.toLocaleString('en').replace(/,/g, '\u202f').replace('-', '−');
  const digits = size >= 1000 ? 0 : Math.max(0, 3 - Math.floor(Math.log10(size)));
  const fixed = value.toFixed(Math.min(digits, 8));
  return (digits > 0 ? fixed.replace(/\.?0+$/, '') : fixed).replace('-', '−');
}

function duration_text(seconds) {
  if (!(seconds >= 0)) return '–';
  if (seconds < 1) return Math.round(seconds * 1000) + ' ms';
  if (seconds < 120) return (seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)) + ' s';
  if (seconds < 7200) return Math.floor(seconds / 60) + ' min';
  if (seconds < 172800) return (seconds / 3600).toFixed(1) + ' h';
  return (seconds / 86400).toFixed(1) + ' d';
}

function step_text(value) {
  if (value >= 1e6) return +(value / 1e6).toFixed(value >= 1e7 ? 1 : 2) + 'M';
  if (value >= 1e4) return +(value / 1e3).toFixed(value >= 1e5 ? 0 : 1) + 'k';
  return String(Math.round(value));
}

// Round numbers between two, at most `most` of them.
function ticks(low, high, most) {
  const span = high - low;
  if (!(span > 0)) return [low];
  const raw = span / Math.max(1, most), power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find(it => it * power >= raw) * power;
  const made = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step) made.push(Math.abs(at) < step * 1e-9 ? 0 : at);
  return made;
}

// The exponential mean that TensorBoard has, without its bias towards the first value.
function smoothed(values, weight) {
  if (!(weight > 0)) return values;
  let sum = 0, weights = 0;
  return values.map(value => {
    if (value === null) return null;
    sum = sum * weight + (1 - weight) * value;
    weights = weights * weight + (1 - weight);
    return sum / weights;
  });
}

// Draws itself when `set` is called, its box changes, or somebody points at it.
//   title      its name
//   settings   () => {smooth, log, time}
//   closer     (from, to) => called when a part of the axis is looked at, with steps; null: all of it
class Chart {
  constructor(title, settings, closer) {
    this.settings = settings;
    this.closer = closer;
    this.lines = [];
    this.marks = [];
    this.zoom = null;
    this.at = null;  // where one points, on the axis
    this.strong = null;  // the line that stands out
    this.canvas = element('canvas', {'aria-hidden': 'true'});
    this.tip = element('div', {class: 'tip', hidden: true});
    this.note = element('span', {class: 'note'});
    this.box = element('div', {class: 'plot', tabindex: '0', role: 'img', 'aria-label': plain(title)}, this.canvas, this.tip);
    this.figure = element('figure', {}, element('figcaption', {}, element('span', {class: 'name'}, plain(title)), ' ', this.note), this.box);
    this.box.addEventListener('pointermove', it => this.point(it));
    this.box.addEventListener('pointerleave', () => { if (!this.from) this.leave(); });
    this.box.addEventListener('pointerdown', it => this.press(it));
    this.box.addEventListener('pointerup', it => this.release(it));
    this.box.addEventListener('pointercancel', () => { this.from = null; this.leave(); });
    this.box.addEventListener('dblclick', () => this.look(null));
    this.box.addEventListener('keydown', it => this.key(it));
    this.box.addEventListener('blur', () => this.leave());
    new ResizeObserver(() => this.soon()).observe(this.box);
  }

  // Lines: {label, colour, dash, x, y, lo, hi, bad, t, last}; marks: {x, severity}.
  set(lines, marks) {
    this.lines = lines;
    this.marks = marks || [];
    this.soon();
  }

  soon() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }

  axis_of(line) { return this.settings().time ? line.t : line.x; }

  // What is seen: the ends of both axes.
  measure() {
    const {log, smooth} = this.settings();
    let left = Infinity, right = -Infinity, low = Infinity, high = -Infinity, least = Infinity;
    for (const line of this.lines) {
      for (const at of this.axis_of(line)) if (at !== null) { left = Math.min(left, at); right = Math.max(right, at); }
    }
    if (!(left <= right)) return null;
    if (left === right) { left -= 0.5; right += 0.5; }
    if (this.zoom) [left, right] = this.zoom;
    this.shown = this.lines.map(line => smoothed(line.y, smooth));
    const values = [];
    this.lines.forEach((line, which) => {
      const axis = this.axis_of(line), band = line.lo && this.lines.length <= 6;
      line.y.forEach((value, i) => {
        if (axis[i] === null || axis[i] < left || axis[i] > right || value === null) return;
        values.push(this.shown[which][i]);
        if (band && !log) values.push(line.lo[i], line.hi[i]);
        if (value > 0) least = Math.min(least, value);
      });
    });
    if (values.length === 0) return {left, right, low: 0, high: 1, log: false};
    const sorted = Float64Array.from(values).sort();
    low = sorted[0]; high = sorted[sorted.length - 1];
    // One spike of a band must not flatten all else.
    if (!log && sorted.length > 40) {
      const some = share => sorted[Math.floor(share * (sorted.length - 1))];
      const span = some(0.98) - some(0.02);
      if (span > 0) { low = Math.max(low, some(0.02) - 2 * span); high = Math.min(high, some(0.98) + 2 * span); }
    }
    const is_log = log && least < Infinity && high > least;
    if (is_log) { low = Math.max(low, least); }
    if (low === high) { const more = Math.abs(low) * 0.1 || 0.5; low -= more; high += more; }
    else if (!is_log) { const more = (high - low) * 0.04; low -= more; high += more; }
    return {left, right, low, high, log: is_log};
  }

  draw() {
    const width = this.box.clientWidth, height = this.box.clientHeight;
    if (width < 40 || height < 40) return;
    const scale = window.devicePixelRatio || 1, canvas = this.canvas;
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    const to = canvas.getContext('2d'), style = getComputedStyle(document.documentElement);
    const ink = name => style.getPropertyValue(name).trim();
    to.setTransform(scale, 0, 0, scale, 0, 0);
    to.clearRect(0, 0, width, height);
    to.font = '12px system-ui, sans-serif';
    const seen = this.measure();
    if (!seen) {
      to.fillStyle = ink('--soft');
      to.fillText('nothing yet', 12, 24);
      this.frame = null;
      return;
    }
    const named = this.names_at_ends(width);
    const y_ticks = seen.log ? this.decades(seen) : ticks(seen.low, seen.high, height / 44);
    const gap = Math.max(...y_ticks.map(it => to.measureText(number_text(it)).width)) + 10;
    const room = named.length ? Math.min(width * 0.3, 8 + Math.max(...named.map(it => to.measureText(this.short_name(it)).width))) : 10;
    const frame = {x: gap, y: 8, width: width - gap - room, height: height - 34, seen};
    this.frame = frame;
    const across = at => frame.x + (at - seen.left) / (seen.right - seen.left) * frame.width;
    const level = value => seen.log ? (Math.log(value) - Math.log(seen.low)) / (Math.log(seen.high) - Math.log(seen.low)) : (value - seen.low) / (seen.high - seen.low);
    const down = value => frame.y + frame.height - level(value) * frame.height;
    to.textBaseline = 'middle';
    to.lineWidth = 1;
    to.strokeStyle = ink('--rule');
    to.fillStyle = ink('--soft');
    to.textAlign = 'right';
    for (const at of y_ticks) {
      const y = Math.round(down(at)) + 0.5;
      to.beginPath(); to.moveTo(frame.x, y); to.lineTo(frame.x + frame.width, y); to.stroke();
      to.fillText(number_text(at), frame.x - 6, y);
    }
    to.textBaseline = 'top';
    to.textAlign = 'center';
    const time = this.settings().time, text = time ? duration_text : step_text;
    const x_ticks = ticks(seen.left, seen.right, frame.width / 80).filter(it => time || Number.isInteger(it));
    for (const at of x_ticks) {
      const x = across(at), half = to.measureText(text(at)).width / 2;
      to.fillText(text(at), Math.min(Math.max(x, half), width - half), frame.y + frame.height + 6);
    }
    to.save();
    to.beginPath(); to.rect(frame.x, frame.y - 4, frame.width + 1, frame.height + 8); to.clip();
    for (const mark of time ? [] : this.marks) {
      to.strokeStyle = ink('--' + mark.severity);
      to.setLineDash([2, 3]);
      const x = across(mark.x);
      to.beginPath(); to.moveTo(x, frame.y); to.lineTo(x, frame.y + frame.height); to.stroke();
    }
    to.setLineDash([]);
    if (this.lines.length <= 6) {
      this.lines.forEach(line => { if (line.lo) this.band(to, line, across, down, ink('--c' + line.colour), seen); });
    }
    this.lines.forEach((line, which) => {
      const faint = this.strong !== null && this.strong !== which;
      to.globalAlpha = faint ? 0.18 : 1;
      to.strokeStyle = ink('--c' + line.colour);
      to.lineWidth = this.strong === which ? 2.6 : this.lines.length > 12 ? 1.2 : 1.7;
      to.setLineDash(dashes[line.dash] || []);
      this.stroke(to, this.axis_of(line), this.shown[which], across, down, seen);
      to.setLineDash([]);
      this.crosses(to, line, across, frame, ink('--bad'));
    });
    to.globalAlpha = 1;
    if (this.at !== null) {
      to.strokeStyle = ink('--soft');
      const x = Math.round(across(this.at)) + 0.5;
      to.beginPath(); to.moveTo(x, frame.y); to.lineTo(x, frame.y + frame.height); to.stroke();
    }
    if (this.from !== null && this.from !== undefined && this.at !== null) {
      to.fillStyle = ink('--soft');
      to.globalAlpha = 0.15;
      to.fillRect(across(this.from), frame.y, across(this.at) - across(this.from), frame.height);
      to.globalAlpha = 1;
    }
    to.restore();
    this.write_names(to, named, across, down, frame, ink);
  }

  decades(seen) {
    const made = [];
    for (let power = Math.floor(Math.log10(seen.low)); power <= Math.ceil(Math.log10(seen.high)); ++power) {
      for (const digit of [1, 2, 5]) {
        const at = digit * 10 ** power;
        if (at >= seen.low && at <= seen.high) made.push(at);
      }
    }
    const tens = made.filter(it => Math.abs(Math.log10(it) - Math.round(Math.log10(it))) < 1e-9);
    const some = made.length > 8 && tens.length >= 2 ? tens : made;
    const few = some.length > 8 ? some.filter((_, i) => i % Math.ceil(some.length / 6) === 0) : some;
    return few.length ? few : [seen.low, seen.high];
  }

  stroke(to, axis, values, across, down, seen) {
    let open = false, alone = null;
    to.beginPath();
    for (let i = 0; i < values.length; ++i) {
      if (values[i] === null || axis[i] === null || (seen.log && values[i] <= 0)) { open = false; continue; }
      const x = across(axis[i]), y = down(values[i]);
      if (open) to.lineTo(x, y); else to.moveTo(x, y);
      const next = values[i + 1];
      if (!open && (next === null || next === undefined)) { to.arc(x, y, 1.5, 0, 7); to.moveTo(x, y); }
      open = true;
    }
    to.stroke();
  }

  band(to, line, across, down, colour, seen) {
    const axis = this.axis_of(line);
    to.fillStyle = colour;
    to.globalAlpha = this.settings().smooth > 0 ? 0.14 : 0.22;
    const clamp = value => Math.min(Math.max(value, seen.low), seen.high);
    let run = [];
    const flush = () => {
      if (run.length > 1) {
        to.beginPath();
        run.forEach((i, k) => { const y = down(clamp(line.hi[i])); if (k) to.lineTo(across(axis[i]), y); else to.moveTo(across(axis[i]), y); });
        run.reverse().forEach(i => to.lineTo(across(axis[i]), down(clamp(line.lo[i]))));
        to.fill();
      }
      run = [];
    };
    line.y.forEach((value, i) => { if (value === null || line.lo[i] === null) flush(); else run.push(i); });
    flush();
    to.globalAlpha = 1;
  }

  // Where values that are no numbers begin.
  crosses(to, line, across, frame, colour) {
    if (!line.bad) return;
    const axis = this.axis_of(line);
    to.strokeStyle = colour;
    to.lineWidth = 2;
    line.bad.forEach((count, i) => {
      if (!count || (i > 0 && line.bad[i - 1])) return;
      const x = across(axis[i]), y = frame.y + 8;
      to.beginPath(); to.moveTo(x - 4, y - 4); to.lineTo(x + 4, y + 4); to.moveTo(x - 4, y + 4); to.lineTo(x + 4, y - 4); to.stroke();
    });
  }

  short_name(which) {
    const label = plain(this.lines[which].label);
    return label.length > 22 ? '…' + label.slice(-21) : label;
  }

  // Lines that are named where they end, so that nobody has to tell colours apart.
  names_at_ends(width) {
    if (width < 420 || this.lines.length < 2) return [];
    if (this.lines.length <= 14) return this.lines.map((_, i) => i);
    const last = i => { const y = this.lines[i].y; for (let k = y.length - 1; k >= 0; --k) if (y[k] !== null) return y[k]; return 0; };
    const order = this.lines.map((_, i) => i).sort((a, b) => last(a) - last(b));
    const some = new Set([...order.slice(0, 5), ...order.slice(-5)]);
    if (this.strong !== null) some.add(this.strong);
    return [...some];
  }

  write_names(to, named, across, down, frame, ink) {
    to.textAlign = 'left';
    to.textBaseline = 'middle';
    const placed = [];
    for (const which of named) {
      const axis = this.axis_of(this.lines[which]), values = this.shown[which];
      let k = values.length - 1;
      while (k >= 0 && (values[k] === null || axis[k] === null || axis[k] > frame.seen.right)) --k;
      if (k < 0) continue;
      const y = down(frame.seen.log ? Math.max(values[k], frame.seen.low) : values[k]);
      placed.push({which, y: Math.min(Math.max(y, frame.y + 6), frame.y + frame.height - 4)});
    }
    placed.sort((a, b) => a.y - b.y);
    for (let i = 1; i < placed.length; ++i) placed[i].y = Math.max(placed[i].y, placed[i - 1].y + 13);
    for (let i = placed.length - 1, floor = frame.y + frame.height + 4; i >= 0; --i) {
      placed[i].y = Math.min(placed[i].y, floor);
      floor = placed[i].y - 13;
    }
    for (const {which, y} of placed) {
      if (y < 4) continue;
      to.fillStyle = ink('--c' + this.lines[which].colour);
      to.globalAlpha = this.strong !== null && this.strong !== which ? 0.35 : 1;
      to.fillText(this.short_name(which), frame.x + frame.width + 5, y);
    }
    to.globalAlpha = 1;
  }

  place_of(event) {
    const box = this.box.getBoundingClientRect(), frame = this.frame;
    if (!frame) return null;
    const share = (event.clientX - box.left - frame.x) / frame.width;
    return frame.seen.left + Math.min(Math.max(share, 0), 1) * (frame.seen.right - frame.seen.left);
  }

  point(event) {
    this.at = this.place_of(event);
    if (this.at === null) return;
    const box = this.box.getBoundingClientRect();
    this.tell(event.clientX - box.left, event.clientY - box.top);
  }

  press(event) {
    if (event.button !== 0) return;
    this.from = this.place_of(event);
    if (event.pointerType === 'mouse') this.box.setPointerCapture(event.pointerId);
    this.point(event);
  }

  release(event) {
    const from = this.from, to = this.place_of(event);
    this.from = null;
    if (from === null || from === undefined || to === null || !this.frame) return;
    const {left, right} = this.frame.seen;
    if (event.pointerType === 'mouse' && Math.abs(to - from) > (right - left) * 0.01) this.look([Math.min(from, to), Math.max(from, to)]);
    else this.soon();
  }

  // A part of the axis, or all of it.
  look(part) {
    this.zoom = part;
    this.note.textContent = part ? 'a part; double click or Esc: all' : '';
    if (this.closer) this.closer(part && !this.settings().time ? part : null);
    this.soon();
  }

  key(event) {
    if (!this.frame) return;
    const {left, right} = this.frame.seen, span = right - left;
    const middle = this.at === null ? (left + right) / 2 : this.at;
    const grow = by => this.look([middle - (middle - left) * by, middle + (right - middle) * by]);
    const moves = {
      ArrowLeft: () => this.step_to(middle, -span / 100), ArrowRight: () => this.step_to(middle, span / 100),
      Home: () => this.step_to(left, 0), End: () => this.step_to(right, 0),
      '+': () => grow(0.5), '=': () => grow(0.5), '-': () => this.zoom && grow(2), Escape: () => { this.leave(); this.look(null); }};
    if (!moves[event.key] || event.ctrlKey || event.altKey || event.metaKey) return;
    moves[event.key]();
    event.preventDefault();
  }

  step_to(from, by) {
    const {left, right} = this.frame.seen;
    this.at = Math.min(Math.max(from + by, left), right);
    this.tell(this.frame.x + (this.at - left) / (right - left) * this.frame.width, this.frame.y + 10);
  }

  leave() {
    this.at = null;
    this.strong = null;
    this.tip.hidden = true;
    this.soon();
  }

  // The value of each line nearest to where one points.
  values_at(at) {
    return this.lines.map((line, which) => {
      const axis = this.axis_of(line);
      let best = -1;
      for (let i = 0; i < axis.length; ++i) {
        if (axis[i] !== null && (line.y[i] !== null || (line.bad && line.bad[i])) && (best < 0 || Math.abs(axis[i] - at) < Math.abs(axis[best] - at))) best = i;
      }
      return best < 0 ? null : {which, line, i: best, axis: axis[best]};
    }).filter(it => it && this.is_near(it, at));
  }

  // A line that ended long before is not reply where it is not.
  is_near(it, at) {
    const axis = this.axis_of(it.line), {left, right} = this.frame.seen;
    const apart = axis.length > 1 ? (axis[axis.length - 1] - axis[0]) / (axis.length - 1) : 0;
    return Math.abs(it.axis - at) <= Math.max(2 * apart, (right - left) * 0.03);
  }

  tell(x, y) {
    const all = this.values_at(this.at), most = 24;
    if (!all.length) { this.tip.hidden = true; this.soon(); return; }
    const value = it => it.line.y[it.i] === null ? NaN : it.line.y[it.i];
    all.sort((a, b) => value(b) - value(a));
    if (this.lines.length > 6 && this.frame) {
      const {seen} = this.frame, share = 1 - (y - this.frame.y) / this.frame.height;
      const level = seen.log ? Math.exp(Math.log(seen.low) + share * (Math.log(seen.high) - Math.log(seen.low))) : seen.low + share * (seen.high - seen.low);
      const off = it => seen.log ? Math.abs(Math.log(value(it) / level)) : Math.abs(value(it) - level);
      this.strong = all.reduce((a, b) => off(b) < off(a) ? b : a).which;
    }
    const time = this.settings().time;
    const first = all.reduce((a, b) => Math.abs(b.axis - this.at) < Math.abs(a.axis - this.at) ? b : a);
    const head = time ? 'after ' + duration_text(this.at) : first.line.width > 1 ? `step ${number_text(Math.round(first.axis))}, mean of ${first.line.width}` : `step ${number_text(Math.round(first.axis))}`;
    let shown = all;
    if (all.length > most) {
      const place = Math.max(0, all.findIndex(it => it.which === this.strong));
      const begin = Math.min(Math.max(0, place - most / 2), all.length - most);
      shown = all.slice(begin, begin + most);
    }
    this.tip.replaceChildren(element('b', {}, head), ...shown.map(it => element('div', {class: it.which === this.strong ? 'strong' : null},
      swatch(it.line), element('span', {class: 'name'}, plain(it.line.label)), element('output', {}, number_text(value(it))))),
      all.length > shown.length ? element('div', {class: 'note'}, `and ${all.length - shown.length} more`) : null || '');
    this.tip.hidden = false;
    const width = this.tip.offsetWidth, room = this.box.clientWidth;
    this.tip.style.left = Math.max(0, x + 14 + width > room ? x - width - 14 : x + 14) + 'px';
    this.tip.style.top = Math.max(0, Math.min(y, this.box.clientHeight - this.tip.offsetHeight)) + 'px';
    this.soon();
  }
}

// A short piece of a line, as in the chart.
function swatch(line) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 22 8');
  svg.setAttribute('class', 'swatch');
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', 'M0 4H22');
  path.setAttribute('class', 'k' + line.colour);
  if (line.dash) path.setAttribute('stroke-dasharray', dashes[line.dash].join(' '));
  svg.append(path);
  return svg;
}

// A history in a cell of a table.
function small_line(values) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 64 18');
  svg.setAttribute('class', 'spark');
  svg.setAttribute('aria-hidden', 'true');
  const known = values.filter(it => it !== null);
  if (known.length > 1) {
    const low = Math.min(...known), span = Math.max(...known) - low || 1;
    let path = '', open = false;
    values.forEach((value, i) => {
      if (value === null) { open = false; return; }
      path += `${open ? 'L' : 'M'}${(1 + i / (values.length - 1) * 62).toFixed(1)} ${(16 - (value - low) / span * 14).toFixed(1)}`;
      open = true;
    });
    const line = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    line.setAttribute('d', path);
    svg.append(line);
  }
  return svg;
}
