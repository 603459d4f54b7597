// SPDX-License-Identifier: Apache-2.0
// Act (L6): computes a step with an alarm again, to distinguish a bug or bad data from a hardware fault.
#pragma once

#include <spotter/act/step_image.hpp>
#include <spotter/core/guard.hpp>
#include <spotter/core/pattern.hpp>
#include <spotter/core/text.hpp>
#include <spotter/rule/finding.hpp>

#include <concepts>
#include <memory>
#include <utility>

namespace spotter::inline SPOTTER_ABI {

//   not_asked     no finding requires it
//   reproducible  the same bits again: a bug, or the data
//   transient     other bits, and twice the same ones then: a fault of the machine the first time
//   unsteady      other bits each time: the program is not deterministic, and nothing can be concluded
//   here_only     the same bits again, and others elsewhere: this machine is wrong each time, or the other one rounds
//                 differently
//   failed        it could not be computed again: `restore` returned false, or memory was lacking
enum class rerun_verdict : std::uint8_t { not_asked, reproducible, transient, unsteady, failed, here_only };
[[nodiscard]] constexpr std::string_view name_of(rerun_verdict what) noexcept {
    constexpr std::string_view names[] = {"not_asked", "reproducible", "transient", "unsteady", "failed", "here_only"};
    return names[static_cast<std::size_t>(what)];
}

// Options of computing again.
struct rerun_options {
    // A warning or an error of these rules requires it.
    glob rules = "{non_finite,loss_spike,gradient_spike,exploding_gradient,replica_divergence}";
    // Limit of the copies of tensors for comparing a step with itself. Tensors beyond it are hashed: then differing
    // tensors are known, but not the number of bits.
    std::uint64_t most_bytes = 1ULL << 30;
};

// The result of a step.
struct rerun_result {
    step_alarm alarm{};                                // of the last computation, to which the loop's tensors now
                                                       // belong
    rerun_verdict verdict = rerun_verdict::not_asked;  // how far to trust the alarm
    // Between the first and the second computation; for here_only between both and the one elsewhere.
    image_difference apart{};
    std::uint64_t input = 0;  // hash of the first input; 0 where none was observed
};

// How many steps were computed again, and with which results.
struct rerun_counts {
    std::uint64_t steps = 0;                                                                 // steps computed again
    std::uint64_t reproducible = 0, transient = 0, unsteady = 0, failed = 0, here_only = 0;  // those steps by verdict
};

namespace detail {
struct nowhere {
    void operator()() const noexcept {}
};
}  // namespace detail

// A loop computes its steps through it:
//     save()        copies what computing a step changes and does not recompute: the state of random numbers, running
//                   means, the position in the data
//     restore()     restores that copy, as often as called; may return false where it cannot
//     compute()     forward and backward, without the update
//     show(see)     observes the step's tensors, in program order: see.observe("fc1/w", w), as with a hook
//     elsewhere()   optional: as compute, on another core or card that rounds alike, into the same tensors. A step with
//                   two equal results is computed there too, without judging it, and then here again, so that the
//                   tensors are those of the alarm
// It stores nothing in the loop, and without an alarm costs only `save`. Results are recorded as the text `rerun` of
// the step.
template <class Save, class Restore, class Compute, class Show, class Elsewhere = detail::nowhere>
class rerun {
public:
    rerun(Save save, Restore restore, Compute compute, Show show, rerun_options const& choices = {})
        : save_{std::move(save)}, restore_{std::move(restore)}, compute_{std::move(compute)}, show_{std::move(show)},
          choices_{choices} {}
    rerun(Save save, Restore restore, Compute compute, Show show, Elsewhere elsewhere,
          rerun_options const& choices = {})
        requires std::invocable<Elsewhere&>
        : save_{std::move(save)}, restore_{std::move(restore)}, compute_{std::move(compute)}, show_{std::move(show)},
          elsewhere_{std::move(elsewhere)}, choices_{choices} {}

    // Opens the step, computes, observes and closes it; repeats that where an alarm requires it. Exceptions of the
    // functions reach the caller.
    template <class Hook>
    [[nodiscard]] rerun_result step(Hook& watch, step_id id) {
        rerun_result made;
        save_();
        made.alarm = judge(watch, id);
        if (!asks(made.alarm)) { return made; }
        ++counts_.steps;
        made.verdict = compare(watch, id, made);
        count(made.verdict);
        tell(watch, id, made);
        return made;
    }
    // Since the beginning.
    [[nodiscard]] rerun_counts const& counts() const noexcept { return counts_; }

private:
    using image_of = std::unique_ptr<detail::step_image>;

    template <class Hook>
    [[nodiscard]] rerun_verdict compare(Hook& watch, step_id id, rerun_result& made) {
        image_of const first = image();
        if (first == nullptr) { return rerun_verdict::failed; }
        made.input = first->input_hash();
        image_of const second = again(watch, id, made);
        if (second == nullptr || !subtract(*first, *second, made.apart)) { return rerun_verdict::failed; }
        if (!made.apart.any()) { return compare_elsewhere(watch, id, *second, made); }
        image_of const third = again(watch, id, made);
        image_difference later;
        if (third == nullptr || !subtract(*second, *third, later)) { return rerun_verdict::failed; }
        return later.any() ? rerun_verdict::unsteady : rerun_verdict::transient;
    }
    // For a step with two equal results.
    template <class Hook>
    [[nodiscard]] rerun_verdict compare_elsewhere([[maybe_unused]] Hook& watch, [[maybe_unused]] step_id id,
                                                  [[maybe_unused]] detail::step_image const& here,
                                                  [[maybe_unused]] rerun_result& made) {
        if constexpr (std::same_as<Elsewhere, detail::nowhere>) {
            return rerun_verdict::reproducible;
        } else {
            if (!restored()) { return rerun_verdict::failed; }
            elsewhere_();
            image_of const there = image();
            bool const fine = there != nullptr && subtract(here, *there, made.apart);
            bool const back = again(watch, id, made) != nullptr;
            if (!fine || !back) { return rerun_verdict::failed; }
            return made.apart.any() ? rerun_verdict::here_only : rerun_verdict::reproducible;
        }
    }
    // False where memory for a name is lacking.
    [[nodiscard]] static bool subtract(detail::step_image const& one, detail::step_image const& other,
                                       image_difference& into) noexcept {
        return guarded([&] { into = one - other; });
    }
    template <class Hook>
    [[nodiscard]] step_alarm judge(Hook& watch, step_id id) {
        watch.begin(id);
        compute_();
        show_(watch);
        return watch.end();
    }
    template <class Hook>
    [[nodiscard]] image_of again(Hook& watch, step_id id, rerun_result& made) {
        if (!restored()) { return nullptr; }
        made.alarm = judge(watch, id);
        return image();
    }
    [[nodiscard]] bool restored() {
        if constexpr (std::same_as<decltype(restore_()), bool>) {
            return restore_();
        } else {
            restore_();
            return true;
        }
    }
    [[nodiscard]] image_of image() {
        image_of made;
        bool const fine = guarded([&] {
            made = std::make_unique<detail::step_image>(choices_.most_bytes);
            show_(*made);
        });
        return fine ? std::move(made) : nullptr;
    }
    [[nodiscard]] bool asks(step_alarm const& found) const noexcept {
        for (finding const& each : found) {
            if (each.severity >= severity::warning && choices_.rules(each.rule)) { return true; }
        }
        return false;
    }
    void count(rerun_verdict what) noexcept {
        std::uint64_t* const each[] = {nullptr,           &counts_.reproducible, &counts_.transient,
                                       &counts_.unsteady, &counts_.failed,       &counts_.here_only};
        ++*each[static_cast<std::size_t>(what)];
    }
    template <class Hook>
    static void tell(Hook& watch, step_id id, rerun_result const& made) noexcept {
        text<400> line;
        line << name_of(id.mode) << '(' << id.index << ") " << name_of(made.verdict);
        if (made.apart.any()) {
            line << ": " << std::string_view{made.apart.tensor}.substr(0, 120) << ", " << made.apart.bits << " bits in "
                 << made.apart.elements << " elements from " << made.apart.first << " on, the first of "
                 << made.apart.tensors << " tensors";
        }
        if (made.input != 0) { line << "; input " << made.input; }
        watch.scalar("rerun", line.view());
    }

    Save save_;
    Restore restore_;
    Compute compute_;
    Show show_;
    [[no_unique_address]] Elsewhere elsewhere_{};
    rerun_options choices_;
    rerun_counts counts_{};
};

}  // namespace spotter::inline SPOTTER_ABI
