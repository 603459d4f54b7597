// SPDX-License-Identifier: Apache-2.0
// Act (L6): cures: small values that decide, from measurements of a step, what to do about its update.
#pragma once

#include <spotter/act/heal_gauge.hpp>
#include <spotter/core/pattern.hpp>
#include <spotter/core/text.hpp>
#include <spotter/rule/finding.hpp>

namespace spotter::inline SPOTTER_ABI {

// What the loop should do with the current update. The first that is set counts:
struct treatment {
    bool stop = false;     // a rule requests a stop, or the update is not finite, and no cure acts against it
    bool restore = false;  // return to the last good checkpoint, with its optimizer state and step; to the beginning
                           // where there is none
    bool skip = false;     // skip this update
    bool reinitialise = false;  // reinitialise the weights of dead units (heal::each_dead lists them), then update
    double rate = 1;            // multiply the learning rate by this
    double largest_norm = 0;    // scale all gradients together so that their l2 norm is at most this; 0: no clipping
    double loss_scale = 1;  // multiply the next loss by this before the backward pass, and divide its gradients by it
};

// The input of a cure's decision.
struct symptoms {
    step_id step{};                         // the training step that was closed
    step_alarm const& found;                // the findings of rules
    detail::loop_measures const& measured;  // the measurements of the cures' gauge
    treatment const& so_far;                // the result of the cures before it
    bool anew = false;                      // the loop was restored after the previous step
};
// Why a cure acts, for the record.
using cure_reason = text<160>;

// As a limit of steps: no limit.
inline constexpr std::uint64_t always_allowed = ~std::uint64_t{0};

// A cure is a value with
//     static constexpr std::string_view name;
//     std::uint64_t times, until;       how often it may act, and before which step
//     struct state { ... };             default-constructed; reset if the cure has made things worse
//     bool acts(state&, symptoms const&, cure_reason& why) const;
//         whether there is a reason to act at this step
//     void follow(state&, symptoms const&, bool acted, treatment&) const;
//         called at every step: adds what follows from its actions so far
// and optionally
//     static constexpr bool watches_units = true;   it needs to know which units are dead
//     static constexpr bool is_routine = true;      its actions can neither help nor harm; not judged
// It must not throw.

// Skips updates whose gradient or loss is not finite while the weights still are finite, and those that a rule reports
// as a spike. Five in a row are not due to single batches: then the next cures act.
struct skip_batch {
    static constexpr std::string_view name = "skip_batch";
    std::uint64_t times = 20, until = always_allowed;
    std::uint64_t in_a_row = 5;                  // from this many on, it does not act
    glob rules = "{gradient_spike,loss_spike}";  // a warning or an error of these rules is a reason

    struct state {
        std::uint64_t row = 0;
    };
    [[nodiscard]] bool acts(state& seen, symptoms const& of, cure_reason& why) const noexcept;
    void follow(state& seen, symptoms const& of, bool acted, treatment& what) const noexcept;
};

// Returns to the last good checkpoint and lowers the rate by the factor by which updates were too large. It uses the
// first update since the beginning or since the last restore: its largest ratio to a weight, divided by `target`. If
// that is below 2, it uses the largest recent ratio, but at most a factor of 10, since a diverging training amplifies
// itself. If that is below 2 or unknown too, it halves the rate. The rate stays lowered.
struct step_back {
    static constexpr std::string_view name = "step_back";
    std::uint64_t times = 6, until = always_allowed;
    double target = 0.01;  // the ratio of an update to its weights: large, but healthy
    // An error of these rules is a reason; for the first rule a warning is too.
    glob rules = "{learning_rate_too_large,exploding_gradient,exploding_tensor,loss_not_decreasing,loss_spike}";

    struct state {
        double rate = 1;
    };
    [[nodiscard]] bool acts(state& seen, symptoms const& of, cure_reason& why) const noexcept;
    void follow(state& seen, symptoms const& of, bool acted, treatment& what) const noexcept;
};

// Returns to the last checkpoint and lets the rate grow back over `steps` updates: for a rate that is too large only
// for new weights or for new optimizer moments (Goyal et al. 2017). It also warms up after an earlier cure that
// restores.
struct warm_up_again {
    static constexpr std::string_view name = "warm_up_again";
    std::uint64_t times = 3, until = always_allowed;
    std::uint64_t steps = 100;               // updates until the rate is back
    glob rules = "learning_rate_too_large";  // a warning or an error of these rules is a reason

    struct state {
        std::uint64_t done = 0, over = 0;  // updates of the current warm-up; 0 of 0: none
    };
    [[nodiscard]] bool acts(state& seen, symptoms const& of, cure_reason& why) const noexcept;
    void follow(state& seen, symptoms const& of, bool acted, treatment& what) const noexcept;
};

// Once gradients have jumped, clips them for a while at a quantile of their earlier norms (Seetharaman et al. 2020 clip
// at a quantile of all norms).
struct clip_gradients {
    static constexpr std::string_view name = "clip_gradients";
    std::uint64_t times = 20, until = always_allowed;
    double quantile = 0.9;       // of the earlier norms, 0 to 1
    double jump = 10;            // times that quantile; a larger norm is a reason by itself
    std::uint64_t window = 128;  // norms in memory; judged once a quarter of them are known
    std::uint64_t steps = 200;   // of clipping, from the last reason on
    glob rules = "{gradient_spike,exploding_gradient,loss_spike}";  // a warning or an error of these rules is a reason

    struct state {
        slot_array<double> norms{}, sorted{};
        std::uint64_t seen = 0, left = 0;
        double limit = 0;    // of the current clipping
        double guessed = 0;  // the quantile as of a few norms ago
    };
    [[nodiscard]] bool acts(state& seen, symptoms const& of, cure_reason& why) const noexcept;
    void follow(state& seen, symptoms const& of, bool acted, treatment& what) const noexcept;

private:
    [[nodiscard]] double limit_of(state& seen) const noexcept;
};

// Requests to reinitialise the weights of dead units (Sokar et al. 2023: incoming weights as at the beginning, outgoing
// weights zero).
struct reinitialise_units {
    static constexpr std::string_view name = "reinitialise_units";
    static constexpr bool watches_units = true;
    std::uint64_t times = 3, until = always_allowed;
    glob rules = "{dead_relu,dormant_units,all_zero,dead_update_path}";  // a warning or an error of these rules is a
                                                                         // reason

    struct state {};
    [[nodiscard]] bool acts(state& seen, symptoms const& of, cure_reason& why) const noexcept;
    void follow(state& seen, symptoms const& of, bool acted, treatment& what) const noexcept;
};

// Dynamic loss scaling (Micikevicius et al. 2018): a non-finite gradient with a finite loss halves the scale and skips
// the update; `interval` finite gradients in a row double the scale.
struct adjust_loss_scale {
    static constexpr std::string_view name = "adjust_loss_scale";
    static constexpr bool is_routine = true;
    std::uint64_t times = always_allowed, until = always_allowed;
    double start = 65536, smallest = 1, largest = 16777216;  // the initial scale, and its limits
    double growth = 2, backoff = 0.5;  // factors after `interval` finite gradients, and after a non-finite one
    std::uint64_t interval = 2000;     // training steps

    struct state {
        double scale = 0;  // 0: not started
        std::uint64_t fine = 0;
    };
    [[nodiscard]] bool acts(state& seen, symptoms const& of, cure_reason& why) const noexcept;
    void follow(state& seen, symptoms const& of, bool acted, treatment& what) const noexcept;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/act/cures.ipp>
#endif
