// SPDX-License-Identifier: Apache-2.0
// Act (L6): cures: each a small value that says from what is measured of a step what to do about its update.
#pragma once

#include <spotter/act/heal_gauge.hpp>
#include <spotter/core/pattern.hpp>
#include <spotter/core/text.hpp>
#include <spotter/rule/finding.hpp>

namespace spotter::inline SPOTTER_ABI {

// What a loop is to do with the update at hand, the first that holds:
struct treatment {
    bool stop = false;     // a rule asks to stop, or the update is no number, and no cure has anything against it
    bool restore = false;  // go back to the last good checkpoint, its optimizer's state and its step with it; to the
                           // beginning where there is none
    bool skip = false;     // leave this update out
    bool reinitialise = false;  // draw the weights of dead units anew (heal::each_dead says which), then update
    double rate = 1;            // the learning rate times this
    double largest_norm = 0;    // scale all gradients together so that their l2 is this at most; 0: as they are
    double loss_scale = 1;  // multiply the next loss by this before the backward pass, and divide its gradients by it
};

// What a cure decides by.
struct symptoms {
    step_id step{};                         // the training step that was closed
    step_alarm const& found;                // what rules told of it
    detail::loop_measures const& measured;  // what the gauge of the cures saw
    treatment const& so_far;                // of the cures before it
    bool anew = false;                      // the loop went back at the step before
};
// Why a cure acts, for the record.
using cure_reason = text<160>;

// Before no step: a cure may act to the end.
inline constexpr std::uint64_t always_allowed = ~std::uint64_t{0};

// A cure is a value with
//     static constexpr std::string_view name;
//     std::uint64_t times, until;       how often it may act, and before which step
//     struct state { ... };             default-constructed; begun anew where the cure has made things worse
//     bool acts(state&, symptoms const&, cure_reason& why) const;           is there a reason to act at this step? And
//     which void follow(state&, symptoms const&, bool acted, treatment&) const;   at every step: what follows from what
//     was done so far
// and, where it is so,
//     static constexpr bool watches_units = true;   it needs to know which units are dead
//     static constexpr bool is_routine = true;      what it does is no cure that could help or harm, and is not judged
//     afterwards
// Nothing is thrown.

// Leaves out updates whose gradient or loss is no number while the weights still are numbers, and those that a rule
// calls a spike. Five in a row are no accident of a batch: the cures behind it have their turn.
struct skip_batch {
    static constexpr std::string_view name = "skip_batch";
    std::uint64_t times = 20, until = always_allowed;
    std::uint64_t in_a_row = 5;                  // so many are no accident
    glob rules = "{gradient_spike,loss_spike}";  // of which a warning or an error is a reason

    struct state {
        std::uint64_t row = 0;
    };
    [[nodiscard]] bool acts(state& seen, symptoms const& of, cure_reason& why) const noexcept;
    void follow(state& seen, symptoms const& of, bool acted, treatment& what) const noexcept;
};

// Goes back to the last good checkpoint and lowers the rate by what updates were too large: the first one from the
// beginning, or from there on, was so many times `target` of its weight, the largest. Where it was not, by what a later
// one was, to a tenth at most, as what diverges grows by itself; where that is not known, to half. From then on the
// rate stays lowered.
struct step_back {
    static constexpr std::string_view name = "step_back";
    std::uint64_t times = 6, until = always_allowed;
    double target = 0.01;  // an update of a hundredth of the weights: large, and healthy
    // Of which an error is a reason, and a warning of the first.
    glob rules = "{learning_rate_too_large,exploding_gradient,exploding_tensor,loss_not_decreasing,loss_spike}";

    struct state {
        double rate = 1;
    };
    [[nodiscard]] bool acts(state& seen, symptoms const& of, cure_reason& why) const noexcept;
    void follow(state& seen, symptoms const& of, bool acted, treatment& what) const noexcept;
};

// Goes back, and lets the rate grow to where it is over so many updates: for a rate that is too large only for weights
// that are new, or for moments of an optimizer that are (Goyal et al. 2017). It also follows each cure before it that
// goes back.
struct warm_up_again {
    static constexpr std::string_view name = "warm_up_again";
    std::uint64_t times = 3, until = always_allowed;
    std::uint64_t steps = 100;               // updates until the rate is whole again
    glob rules = "learning_rate_too_large";  // of which a warning or an error is a reason

    struct state {
        std::uint64_t done = 0, over = 0;  // updates of the warm-up at hand; 0 of 0: there is none
    };
    [[nodiscard]] bool acts(state& seen, symptoms const& of, cure_reason& why) const noexcept;
    void follow(state& seen, symptoms const& of, bool acted, treatment& what) const noexcept;
};

// Once gradients have jumped, clips them for a while at a quantile of their norms before (Seetharaman et al. 2020 clip
// at a quantile of all there were).
struct clip_gradients {
    static constexpr std::string_view name = "clip_gradients";
    std::uint64_t times = 20, until = always_allowed;
    double quantile = 0.9;       // of the norms before, 0 to 1
    double jump = 10;            // so many times that quantile is a reason by itself
    std::uint64_t window = 128;  // norms that are remembered; with fewer than a quarter of them nothing is judged
    std::uint64_t steps = 200;   // from the last reason on
    glob rules = "{gradient_spike,exploding_gradient,loss_spike}";  // of which a warning or an error is a reason

    struct state {
        slot_array<double> norms{}, sorted{};
        std::uint64_t seen = 0, left = 0;
        double limit = 0;    // of the clipping at hand
        double guessed = 0;  // the quantile as it was a few norms ago
    };
    [[nodiscard]] bool acts(state& seen, symptoms const& of, cure_reason& why) const noexcept;
    void follow(state& seen, symptoms const& of, bool acted, treatment& what) const noexcept;

private:
    [[nodiscard]] double limit_of(state& seen) const noexcept;
};

// Asks to draw the weights of dead units anew (Sokar et al. 2023: those that lead to it as at the beginning, those from
// it on to zero).
struct reinitialise_units {
    static constexpr std::string_view name = "reinitialise_units";
    static constexpr bool watches_units = true;
    std::uint64_t times = 3, until = always_allowed;
    glob rules = "{dead_relu,dormant_units,all_zero,dead_update_path}";  // of which a warning or an error is a reason

    struct state {};
    [[nodiscard]] bool acts(state& seen, symptoms const& of, cure_reason& why) const noexcept;
    void follow(state& seen, symptoms const& of, bool acted, treatment& what) const noexcept;
};

// Dynamic loss scaling (Micikevicius et al. 2018): a gradient that is no number under a finite loss halves the scale
// and leaves the update out; `interval` finite ones in a row double it.
struct adjust_loss_scale {
    static constexpr std::string_view name = "adjust_loss_scale";
    static constexpr bool is_routine = true;
    std::uint64_t times = always_allowed, until = always_allowed;
    double start = 65536, smallest = 1, largest = 16777216;  // the scale in the beginning, and its limits
    double growth = 2, backoff = 0.5;  // it is multiplied by, after `interval` sound steps and after one that is not
    std::uint64_t interval = 2000;     // training steps

    struct state {
        double scale = 0;  // 0: as it starts
        std::uint64_t fine = 0;
    };
    [[nodiscard]] bool acts(state& seen, symptoms const& of, cure_reason& why) const noexcept;
    void follow(state& seen, symptoms const& of, bool acted, treatment& what) const noexcept;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/act/cures.ipp>
#endif
