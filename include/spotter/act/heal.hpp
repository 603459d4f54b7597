// SPDX-License-Identifier: Apache-2.0
// Act (L6): cures that a loop applies by itself: limited, recorded with their reasons, and judged by their effect.
#pragma once

#include <spotter/act/cures.hpp>
#include <spotter/core/guard.hpp>

#include <memory>
#include <tuple>
#include <utility>

namespace spotter::inline SPOTTER_ABI {

// The effect of an action of a cure, a hundred training steps later.
//   helped      the loss is a tenth lower
//   unchanged   the loss is about the same, or there is none
//   again       the cure had to act again before
//   worse       the loss has more than doubled, half of the losses shown since are not finite, or a weight is not: the
//               cure is stopped, and its treatment ends
enum class cure_effect : std::uint8_t { helped, unchanged, again, worse };
[[nodiscard]] constexpr std::string_view name_of(cure_effect what) noexcept {
    constexpr std::string_view names[] = {"helped", "unchanged", "again", "worse"};
    return names[static_cast<std::size_t>(what)];
}

// The actions of a cure so far.
struct cure_report {
    std::string_view name{};
    std::uint64_t acts = 0;                                         // number of actions
    std::uint64_t helped = 0, unchanged = 0, again = 0, worse = 0;  // number of actions with that effect; the others
                                                                    // are not judged yet
    bool stopped = false;                                           // because it made things worse
};

namespace detail {

inline constexpr std::string_view decision_event = "decision";

// The losses of the last steps.
class recent_losses {
public:
    void add(step_measures const& now) noexcept;
    // The median; unknown if there are none.
    [[nodiscard]] measurement median() const noexcept;
    // The numbers of steps with a finite loss, and with another. Steps that show no loss are in neither.
    [[nodiscard]] std::uint64_t finite() const noexcept { return finite_; }
    [[nodiscard]] std::uint64_t bad() const noexcept { return bad_; }

private:
    static constexpr std::size_t most = 20;
    double last_[most]{};
    std::uint64_t finite_ = 0, bad_ = 0;
};

// The actions of one cure, and their effects.
class cure_log {
public:
    using line = text<400>;

    explicit cure_log(std::string_view name) noexcept : report_{.name = name} {}
    [[nodiscard]] cure_report const& report() const noexcept { return report_; }

    void acted(symptoms const& of, recent_losses const& losses, std::string_view why, bool is_judged,
               line& into) noexcept;
    // Whether its last action is due to be judged.
    [[nodiscard]] bool is_due(symptoms const& of) const noexcept {
        return open_ && of.measured.closes >= since_ + horizon;
    }
    // May stop the cure.
    void judge(symptoms const& of, recent_losses const& losses, line& into) noexcept;

private:
    static constexpr std::uint64_t horizon = 100;  // training steps
    void resolve(cure_effect what) noexcept;

    cure_report report_;
    bool open_ = false;
    step_id at_{};
    std::uint64_t since_ = 0, finite_ = 0, bad_ = 0;  // closes and losses at its last action
    measurement before_{};
};

}  // namespace detail

// The cures of a loop, in order: a later one sees the treatment of the earlier ones. At each training step, after its
// close and before its update, the loop asks for the treatment and applies it:
//     heal cures{skip_batch{}, step_back{}};
//     hook watch{"runs/a", keep, packs::supervised, cures.gauge()};
//     treatment const what = cures.treat(watch, train(i), watch.step(train(i), net));
// Each action is recorded as a text `decision` of the step, with its reason, and after a hundred steps with its effect.
// It does not throw, and only allocates when a tensor is observed for the first time. Use it in one thread; it must
// outlive the hook.
template <class... Cures>
class heal {
public:
    explicit heal(Cures const&... cures) noexcept : kept_{kept<Cures>{cures}...} {
        (void)guarded([&] { measured_ = std::make_unique<detail::loop_measures>(); });
        if (measured_ != nullptr) { measured_->watches_units = (is_one_that_watches<Cures>() || ...); }
    }

    // A rule for a hook that measures what the cures need. Each call is for another hook, and ends the measurements of
    // the previous one.
    [[nodiscard]] heal_gauge gauge() noexcept {
        return measured_ == nullptr ? heal_gauge{} : heal_gauge{measured_.get(), measured_->hook.fetch_add(1) + 1};
    }

    // `found` is the alarm of the training step `id`, which `watch` has just closed. If the hook has no gauge of these
    // cures, or closed no training step since the last call, the cures use the alarm alone.
    template <class Hook>
    [[nodiscard]] treatment treat(Hook& watch, step_id id, step_alarm const& found) noexcept {
        treatment what;
        if (measured_ == nullptr) { return what.stop = found.decision() == decision::stop, what; }
        if (std::exchange(closes_, measured_->closes) == measured_->closes) { measured_->now = {}; }
        symptoms const of{id, found, *measured_, what, last_.restore};
        detail::step_measures const& now = measured_->now;
        bool acted = false;
        std::apply([&](auto&... each) { ((acted = treat(watch, each, of, what) || acted), ...); }, kept_);
        losses_.add(now);
        measured_->restored = measured_->restored || what.restore || what.reinitialise;
        bool const unsound = (now.bad_gradient || now.bad_loss || now.bad_weight) && !what.skip && !what.restore;
        what.stop = !acted && (unsound || found.decision() == decision::stop);
        last_ = what;
        return what;
    }
    // The latest treatment; its loss scale is valid before the first step too.
    [[nodiscard]] treatment now() const noexcept {
        if (closes_ > 0) { return last_; }
        treatment what;
        step_alarm const nothing;
        detail::loop_measures const unmeasured;
        symptoms const of{{}, nothing, unmeasured, what};
        std::apply([&](auto... each) { (each.cure.follow(each.state, of, false, what), ...); }, kept_);
        return what;
    }

    // Calls use(name, unit) for each unit of an activation that was not active in its last 512 outputs; only with
    // `reinitialise_units`.
    template <class Use>
    void each_dead(Use&& use) const {
        if (measured_ == nullptr) { return; }
        measured_->layers.each_named([&](std::string_view name, detail::loop_measures::layer const& it) {
            for (std::size_t unit = 0; unit < it.units; ++unit) {
                if (it.dead[unit]) { use(name, unit); }
            }
        });
    }

    // Calls use(cure_report) for each cure.
    template <class Use>
    void report(Use&& use) const {
        std::apply([&](auto const&... each) { (use(each.log.report()), ...); }, kept_);
    }

private:
    template <class Cure>
    struct kept {
        explicit kept(Cure const& it) noexcept : cure{it} {}
        Cure cure;
        typename Cure::state state{};
        detail::cure_log log{Cure::name};
    };
    template <class Cure>
    [[nodiscard]] static constexpr bool is_one_that_watches() noexcept {
        if constexpr (requires { Cure::watches_units; }) { return Cure::watches_units; }
        return false;
    }
    template <class Cure>
    [[nodiscard]] static constexpr bool is_routine() noexcept {
        if constexpr (requires { Cure::is_routine; }) { return Cure::is_routine; }
        return false;
    }

    // Returns whether it acted.
    template <class Hook, class Cure>
    [[nodiscard]] bool treat(Hook& watch, kept<Cure>& it, symptoms const& of, treatment& what) noexcept {
        if (it.log.report().stopped || (it.log.is_due(of) && !is_judged_well(watch, it, of))) { return false; }
        bool const may = it.log.report().acts < it.cure.times && of.step.index < it.cure.until;
        cure_reason why;
        bool const acted = may && it.cure.acts(it.state, of, why);
        it.cure.follow(it.state, of, acted, what);
        if (acted) {
            detail::cure_log::line did;
            it.log.acted(of, losses_, why.view(), !is_routine<Cure>(), did);
            if (it.log.report().acts == it.cure.times) { did << "; that was the last time"; }
            watch.scalar(detail::decision_event, did.view());
        }
        return acted;
    }
    // Judges a cure's effect. A cure that made things worse is reset and acts no more.
    template <class Hook, class Cure>
    [[nodiscard]] bool is_judged_well(Hook& watch, kept<Cure>& it, symptoms const& of) noexcept {
        detail::cure_log::line line;
        it.log.judge(of, losses_, line);
        watch.scalar(detail::decision_event, line.view());
        if (it.log.report().stopped) { it.state = {}; }
        return !it.log.report().stopped;
    }

    std::tuple<kept<Cures>...> kept_;
    std::unique_ptr<detail::loop_measures> measured_{};
    detail::recent_losses losses_{};
    std::uint64_t closes_ = 0;
    treatment last_{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <algorithm>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY void recent_losses::add(step_measures const& now) noexcept {
    if (now.bad_loss) {
        ++bad_;
    } else if (now.loss.known) {
        last_[finite_++ % most] = now.loss.value;
    }
}
SPOTTER_BODY measurement recent_losses::median() const noexcept {
    std::size_t const count = finite_ < most ? static_cast<std::size_t>(finite_) : most;
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
    std::uint64_t* const each[] = {&report_.helped, &report_.unchanged, &report_.again, &report_.worse};
    ++*each[static_cast<std::size_t>(what)];
    open_ = false;
    report_.stopped = what == cure_effect::worse;
}

SPOTTER_BODY void cure_log::acted(symptoms const& of, recent_losses const& losses, std::string_view why, bool is_judged,
                                  line& into) noexcept {
    if (open_) { resolve(cure_effect::again); }
    ++report_.acts;
    open_ = is_judged, at_ = of.step, since_ = of.measured.closes;
    finite_ = losses.finite(), bad_ = losses.bad(), before_ = losses.median();
    begin_line(into, of.step, report_.name);
    into << ": " << why;
}

SPOTTER_STRICT SPOTTER_BODY void cure_log::judge(symptoms const& of, recent_losses const& losses, line& into) noexcept {
    SPOTTER_STRICT_BODY
    measurement const loss = losses.median();
    std::uint64_t const bad = losses.bad() - bad_, finite = losses.finite() - finite_;
    bool const lost = of.measured.now.bad_weight || (before_.known && bad > 0 && bad >= finite);
    cure_effect what = lost ? cure_effect::worse : cure_effect::unchanged;
    if (!lost && before_.known) {
        double const size = magnitude(before_.value);
        if (loss.value > before_.value + size) { what = cure_effect::worse; }
        if (loss.value < before_.value - 0.1 * size) { what = cure_effect::helped; }
    }
    resolve(what);
    begin_line(into, of.step, report_.name);
    into << ", what it did at " << name_of(at_.mode) << '(' << at_.index << "): " << name_of(what);
    if (lost) {
        into << "; values are NaN or infinite";
    } else if (before_.known) {
        into << "; the loss is " << loss.value << ", it was " << before_.value;
    }
    if (report_.stopped) { into << "; stopped"; }
}

}  // namespace spotter::inline SPOTTER_ABI::detail

#endif
