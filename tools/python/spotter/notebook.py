# SPDX-License-Identifier: Apache-2.0
"""What a notebook shows of a run, a tensor and a finding: HTML that needs nothing else. Texts and lines have the page's own colour, and
those of curves can be distinguished on white as on black."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Dict, List, Optional, Tuple

import numpy as np

from .errors import SpotterError
from .model import MODES, Finding
from .reader.statistics import formula_of

if TYPE_CHECKING:
    from .run import Trial
    from .track import Track

_COLOURS = {"train": "#3b82f6", "eval": "#ea580c", "predict": "#059669"}
_SEVERITIES = {"error": "#dc2626", "warning": "#d97706", "note": "#6b7280"}  # the gravest first
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 420, 110, 64, 16
_DRAWN = ("mean", "l2", "mean_abs", "maximum_abs", "maximum", "minimum", "sum", "zero_fraction", "nonfinite")
_MOST_POINTS, _MOST_ROWS, _MOST_ELEMENTS = 400, 20, 1 << 22

Series = Tuple[str, np.ndarray, np.ndarray]


def _table(head: Tuple[str, ...], rows: list) -> str:
    cells = "".join(f"<th style='text-align:left'>{escape(each)}</th>" for each in head)
    lines = "".join("<tr>" + "".join(f"<td style='text-align:left'>{escape(str(each))}</td>" for each in row) + "</tr>" for row in rows)
    return f"<table style='color:inherit'><thead><tr>{cells}</tr></thead><tbody>{lines}</tbody></table>"


def _drawn_of(track: "Track") -> str:
    """The statistic that is drawn: the first of those that was kept, or else follows from the values."""
    steps = track.steps()
    mask = track.summary(steps[-1])["mask"] if steps and not track.payload_steps() else ~0
    return next((name for name in _DRAWN if formula_of(name)[0] & ~mask == 0), _DRAWN[0])


def _of(track: "Track", stat: str, mode: str) -> Tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Step indices, ordinals and a statistic over time where it is known, and at which of them some elements, not all, are no number.
    Where it would have to be computed from many values only at some of the steps."""
    steps, kept = track.steps(mode), track.payload_steps(mode)
    if not steps or not kept or formula_of(stat)[0] & ~track.summary(kept[0])["mask"] == 0:
        for part in track._parts():
            _, indices, values = part.history(stat, MODES.index(mode))
            if not len(indices):
                continue
            ordinals = part.rows().ordinal[part.observations(MODES.index(mode))].astype(np.int64)
            broken = part.history("nonfinite", MODES.index(mode))[2] > 0
            known = broken | ~np.isnan(values)  # else not kept at that step
            return indices[known], ordinals[known], values[known], (broken & np.isfinite(values))[known]
        return np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0), np.empty(0, bool)
    most = max(2, min(_MOST_POINTS, _MOST_ELEMENTS // max(1, int(np.prod(track.shape(kept[0]))))))
    chosen = [kept[at] for at in np.unique(np.linspace(0, len(kept) - 1, most).astype(int))]
    found = []
    for step in chosen:
        try:
            found.append((track.stat(step, stat), track.stat(step, "nonfinite") > 0))
        except SpotterError:
            found.append((np.nan, False))
    return (np.array([step.index for step in chosen], np.uint64), np.array([track._run.ordinal(step) for step in chosen]),
            np.array([value for value, _ in found]), np.array([broken for _, broken in found]))


def _thinned(steps: np.ndarray, values: np.ndarray) -> Tuple[np.ndarray, np.ndarray]:
    """At most some hundred points: of each stretch its least and largest, and one that is no number, so that no spike is lost."""
    if len(steps) <= _MOST_POINTS:
        return steps, values
    chosen: List[int] = []
    for part in np.array_split(np.arange(len(steps)), _MOST_POINTS // 3):
        finite = part[np.isfinite(values[part])]
        if len(finite):
            chosen += [int(finite[values[finite].argmin()]), int(finite[values[finite].argmax()])]
        chosen += part[~np.isfinite(values[part])][:1].tolist()
    at = np.unique(chosen)
    return steps[at], values[at]


def curve(series: List[Series], label: str, broken: Optional[Dict[str, np.ndarray]] = None) -> str:
    """Curves of some modes as SVG; where a value is no number there is a gap, and a mark at the foot. broken: by mode the steps at which
    elements were no number, of which the value does not speak: the mark, and no gap."""
    finite = [values[np.isfinite(values)] for _, _, values in series]
    all_finite = np.concatenate(finite) if finite else np.empty(0)
    if not sum(len(steps) for _, steps, _ in series):
        return ""
    low, high = (float(all_finite.min()), float(all_finite.max())) if len(all_finite) else (0.0, 0.0)
    first = min(int(steps[0]) for _, steps, _ in series if len(steps))
    last = max(int(steps.max()) for _, steps, _ in series if len(steps))
    wide, tall = _WIDTH - _LEFT - 6, _HEIGHT - _BOTTOM - 6
    halved = high / 2 - low / 2  # of what is half as wide: the whole may be beyond any double

    def x(step) -> str:
        return f"{_LEFT + wide * (int(step) - first) / max(last - first, 1):.1f}"

    def y(value) -> str:
        return f"{6 + tall * (1 - ((value / 2 - low / 2) / halved if halved > 0 else 0.5)):.1f}"

    parts = [f"<path d='M{_LEFT} 6V{_HEIGHT - _BOTTOM}H{_WIDTH - 6}' fill='none' stroke='currentColor' stroke-opacity='.4'/>"]
    for mode, steps, values in series:
        places = dict.fromkeys(x(step) for step in (broken or {}).get(mode, ()))  # each once, however many steps share it
        parts += [f"<path d='M{place} {_HEIGHT - _BOTTOM}v-5' stroke='{_SEVERITIES['error']}' stroke-width='2'/>" for place in places]
        path, pen_is_down = [], False
        for step, value in zip(*_thinned(steps, values)):
            if np.isfinite(value):
                path.append(f"{'L' if pen_is_down else 'M'}{x(step)} {y(value)}")
                if not pen_is_down:
                    path.append("h.01")  # so that a single point is seen
            else:
                parts.append(f"<path d='M{x(step)} {_HEIGHT - _BOTTOM}v-5' stroke='{_SEVERITIES['error']}' stroke-width='2'/>")
            pen_is_down = bool(np.isfinite(value))
        parts.append(f"<path d='{''.join(path)}' fill='none' stroke='{_COLOURS[mode]}' stroke-width='1.5' stroke-linecap='round'>"
                     f"<title>{escape(mode)}</title></path>")
    texts = [(f"{high:.4g}", _LEFT - 4, 14, "end"), (f"{low:.4g}", _LEFT - 4, _HEIGHT - _BOTTOM, "end"),
             (str(first), _LEFT, _HEIGHT - 3, "start"), (str(last), _WIDTH - 6, _HEIGHT - 3, "end")]
    if len(all_finite) == 0:
        texts = [("no number", _LEFT - 4, 14, "end")] + texts[2:]
    parts += [f"<text x='{left}' y='{top}' text-anchor='{anchor}' font-size='11' fill='currentColor'>{escape(text)}</text>"
              for text, left, top, anchor in texts]
    names = " ".join(f"<span style='color:{_COLOURS[mode]}'>&#9632;</span> {escape(mode)}" for mode, _, _ in series)
    return (f"<div>{escape(label)} {names}</div><svg xmlns='http://www.w3.org/2000/svg' width='{_WIDTH}' height='{_HEIGHT}' "
            f"viewBox='0 0 {_WIDTH} {_HEIGHT}' role='img' aria-label='{escape(label, quote=True)}'>{''.join(parts)}</svg>")


def _curve_of(track: "Track") -> str:
    """Of one mode over its steps; of several over their ordinals, so that what happened together stands together."""
    stat = _drawn_of(track)
    found = [(mode, each) for mode, each in ((mode, _of(track, stat, mode)) for mode in MODES) if len(each[0])]
    label = track.name if track.info.shape == () else f"{stat} of {track.name}"
    series, broken = [], {}
    for mode, (steps, ordinals, values, where) in found:
        at = ordinals if len(found) > 1 else steps
        series.append((mode, at, values))
        broken[mode] = at[where]
    return curve(series, f"{label}, over all closed steps" if len(found) > 1 else label, broken)


def of_track(track: "Track") -> str:
    info, steps = track.info, track.steps()
    row = (info.role, f"{info.dtype} {list(info.shape)}", len(steps), len(track.payload_steps()), info.partner or "",
           ", ".join(info.collections))
    drawn = "" if info.dtype == "text" else _curve_of(track)
    return (f"<div><b>{escape(info.name)}</b>"
            f"{_table(('role', 'type', 'steps', 'with values', 'belongs to', 'collections'), [row])}{drawn}</div>")


def of_finding(it: Finding) -> str:
    colour = _SEVERITIES[it.severity]
    measured = f"{it.measure} {it.measured:.6g}" + (f" {it.how} {it.threshold:.6g}" if it.how else "") if it.measure else ""
    rows = [("tensor", it.tensor), ("measured", measured), ("decision", it.decision), ("detail", it.detail), ("remedy", it.remedy),
            ("others", it.others or ""), ("worker", it.worker or "")]
    lines = "".join(f"<tr><th style='text-align:left'>{name}</th><td style='text-align:left'>{escape(str(said))}</td></tr>"
                    for name, said in rows if said)
    return (f"<div style='border-left:4px solid {colour};padding-left:8px;margin:4px 0'>"
            f"<b style='color:{colour}'>{escape(it.severity)}</b> <b>{escape(it.rule)}</b> "
            f"at {escape(str(it.step))}: {escape(it.reason)}<table style='color:inherit'>{lines}</table></div>")


def of_run(run: "Trial") -> str:
    names, findings = run.names(), sorted(run.findings(), key=lambda it: list(_SEVERITIES).index(it.severity))
    loss: Optional[str] = next((name for name in names if run[name].info.role == "loss" and run[name].steps()), None)
    said = f"{run.status()}, {run.closed_steps()} steps, {len(names)} names" + \
        (f", {len(run.workers())} workers" if len(run.workers()) > 1 else "") + (f": {run.why_ended()}" if run.why_ended() else "")
    parts = [f"<div><b>{escape(run.path)}</b>: {escape(said)}</div>"]
    parts += [of_finding(each) for each in findings[:3]]
    if len(findings) > 3:
        parts.append(_table(("severity", "rule", "step", "tensor", "reason"),
                            [(it.severity, it.rule, it.step, it.tensor, it.reason) for it in findings[3:_MOST_ROWS]]))
    if len(findings) > _MOST_ROWS:
        parts.append(f"<div>and {len(findings) - _MOST_ROWS} more: findings()</div>")
    if loss is not None:
        parts.append(_curve_of(run[loss]))
    infos = [run[name].info for name in names[:_MOST_ROWS]]
    parts.append(_table(("name", "role", "type", "collections"),
                        [(it.name, it.role, f"{it.dtype} {list(it.shape)}", ", ".join(it.collections)) for it in infos]))
    if len(names) > _MOST_ROWS:
        parts.append(f"<div>and {len(names) - _MOST_ROWS} more: names()</div>")
    return "<div>" + "".join(parts) + "</div>"
