// SPDX-License-Identifier: Apache-2.0
// The live page of `spotter serve`: what it knows of the runs, how it asks the server, and the words for a run.
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
  let reply = null;
  try { reply = JSON.parse(text); } catch (_) { /* a part of a page */ }
  if (!answer.ok) throw new Error(reply && reply.error ? reply.error : 'the server answers ' + answer.status);
  return reply === null ? text : reply;
}

function say_trouble(text) {
  trouble.textContent = text || '';
  trouble.hidden = !text;
}


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
