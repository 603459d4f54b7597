// SPDX-License-Identifier: Apache-2.0
// The live page of `spotter serve`: the address says what is shown. The server is asked again and again for what is
// new, and answers with that alone.
'use strict';

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
    const reply = await ask('runs', {since: state.version});
    const changed = new Set();
    const before = Math.max(0, ...[...state.runs.values()].map(it => it.card ? it.card.read : 0));
    for (const it of reply.runs) {
      const known = state.runs.get(it.id);
      state.runs.set(it.id, {...known, ...it});
      changed.add(it.name);
      if (it.card && it.card.read > before && !it.card.over) state.clock = Math.min(Date.now() / 1000 - it.card.read, state.clock || Infinity);
    }
    for (const id of reply.gone) { const it = state.runs.get(id); if (it) changed.add(it.name); state.runs.delete(id); }
    if (reply.version < state.version) { state.version = 0; state.runs.clear(); } else { state.version = reply.version; }
    const news = changed.size > 0 || reply.unread !== state.unread || reply.scanned !== state.scanned;
    state.folder = reply.folder; state.unread = reply.unread; state.scanned = reply.scanned;
    document.getElementById('where').textContent = plain(reply.folder);
    say_trouble(reply.trouble ? `${reply.folder}: ${reply.trouble}` : reply.cut ? 'There are more folders than are looked into.' : '');
    document.getElementById('state').textContent = reply.unread ? `reading ${reply.unread} of ${state.runs.size}` : '';
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
