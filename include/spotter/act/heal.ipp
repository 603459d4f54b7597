// SPDX-License-Identifier: Apache-2.0
// The bodies of heal.hpp.
#pragma once

#include <spotter/act/heal.hpp>

#include <algorithm>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY void recent_losses::add(measurement loss) noexcept {
    if (loss.known) { last_[count_++ % most] = loss.value; }
}
SPOTTER_BODY measurement recent_losses::median() const noexcept {
    std::size_t const count = count_ < most ? static_cast<std::size_t>(count_) : most;
    if (count == 0) { return {}; }
    double sorted[most];
    std::copy_n(last_, count, sorted);
    std::nth_element(sorted, sorted + count / 2, sorted + count);
    return {sorted[count / 2], true};
}

inline void begin_line(cure_log::line& into, step_id at, std::string_view name) noexcept {
    into << name_of(at.mode) << '(' << at.index << ") " << name;
}

SPOTTER_BODY void cure_log::resolve(cure_effect what) noexcept {
    std::uint64_t* const each[] = {&told_.helped, &told_.unchanged, &told_.again, &told_.worse};
    ++*each[static_cast<std::size_t>(what)];
    open_ = false;
    told_.stopped = what == cure_effect::worse;
}

SPOTTER_BODY void cure_log::acted(symptoms const& of, recent_losses const& losses, std::string_view why, bool is_judged,
                                  line& into) noexcept {
    if (open_) { resolve(cure_effect::again); }
    ++told_.acts;
    open_ = is_judged, at_ = of.step, since_ = of.measured.closes, losses_ = losses.count(), before_ = losses.median();
    begin_line(into, of.step, told_.name);
    into << ": " << why;
}

SPOTTER_STRICT SPOTTER_BODY void cure_log::judge(symptoms const& of, recent_losses const& losses, line& into) noexcept {
    SPOTTER_STRICT_BODY
    measurement const loss = losses.median();
    bool const lost = of.measured.now.bad_weight || (before_.known && losses.count() - losses_ < horizon / 2);
    cure_effect what = lost ? cure_effect::worse : cure_effect::unchanged;
    if (!lost && before_.known) {
        double const size = magnitude(before_.value);
        if (loss.value > before_.value + size) { what = cure_effect::worse; }
        if (loss.value < before_.value - 0.1 * size) { what = cure_effect::helped; }
    }
    resolve(what);
    begin_line(into, of.step, told_.name);
    into << ", what it did at " << name_of(at_.mode) << '(' << at_.index << "): " << name_of(what);
    if (lost) {
        into << "; values are NaN or infinite";
    } else if (before_.known) {
        into << "; the loss is " << loss.value << ", it was " << before_.value;
    }
    if (told_.stopped) { into << "; stopped"; }
}

}  // namespace spotter::inline SPOTTER_ABI::detail
