// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): the numeric limits of a diagnosis. They were chosen on all families of bench/diagnosis, with seeds
// 100 to 103. `bench_diagnosis --leave-out` chooses them again for each family with that family left out
// (docs/internals/diagnosis.md#how-limits-were-chosen).
#pragma once

#include <spotter/core/fwd.hpp>

#include <cstdint>

namespace spotter::inline SPOTTER_ABI::detail {

// When a loss improves, is flat, or worsens.
struct progress_limits {
    std::uint64_t earliest = 30;     // samples before a loss is judged
    double improved = 0.9;           // least chance that a block of the last third is below one of the first; and
    double least_fall = 0.01;        // least fall between the medians of these thirds, relative to the first
    std::uint64_t flat_after = 500;  // samples before a loss can be flat
    double flat_fall = 0.03;         // of the level: a loss is flat if its fall plus two standard errors is below
    double fallen = 0.7;             // times the first loss: below this for `still` samples in a row, it is not flat
    std::uint64_t still = 100;       // samples in a row
    double hardly = 0.9;             // times its beginning: above this a training loss has hardly fallen
    // Samples: until then a loss below `hardly` is still on its way, and returns that have fallen may be exploration.
    std::uint64_t young = 1000;
    // Times the first loss: a loss above this for `lasting` samples in a row is worse (for `lasting_mildly` where its
    // level is below `climbs`). `worse` - 1 is also the least relative change of a loss that comes back, and of a
    // return that has fallen.
    double worse = 1.1;
    std::uint64_t lasting = 200, lasting_mildly = 5000;
    double stirs = 1e-3;  // times the first loss: within this for `still` samples, and not falling, it stands still
    double stirs_at_all = 1e-6;  // times its value: changes by less, for `earliest` samples from the start, are rest
    double climbs = 1.3;         // times the first loss: the last third of a loss that climbs
    double part = 0.01;          // times the beginning of the largest loss: a loss that begins below this is ignored
    double explodes = 100;       // times its beginning: a loss of a critic or a rival that explodes
    double bottomless = 300;     // times |first loss|, below zero: no objective falls that far
    double far_worse = 3;  // times the first loss: `lasting_far` samples above this, within a factor of two, are worse
    std::uint64_t lasting_far = 30;
    std::uint64_t runs_away = 10;  // samples above `far_worse`, of a loss that has risen from the start
    // Returns of a policy that moves in small steps from batch to batch of experience (PPO): after `batches` of them,
    // and `earliest` samples, they have fallen by `sunk`. (Not chosen by --leave-out.)
    std::uint64_t batches = 10;
    double sunk = 0.25;
    // What was learned does not carry over, after `evaluations` evaluations and `trained` training samples: the level
    // of evaluation is at least 1 - `flat_fall` times the beginning of training, and at least `as_first` times its own
    // first. A first evaluation above `alike` times the beginning of training is another loss, and is not compared.
    std::uint64_t evaluations = 10, trained = 50;
    // Or training has hardly fallen, and evaluation neither.
    double as_first = 0.85, alike = 1.5;
};

// When a finding is an outcome, and when weights or inputs are a cause.
struct diagnosis_limits {
    progress_limits progress{};
    // Rule overfit is an outcome where the relative gap of the losses is at least `overfit`, and evaluation at least
    // `evaluated_badly` times the beginning of training. (That was lowered later, for a program of other people.)
    double overfit = 4, evaluated_badly = 0.1;
    // The same gap while evaluation is at its best. (Chosen by programs of other people, not by --leave-out.)
    double overfit_at_best = 20;
    double strong = 3;        // times a rule's limit: such a symptom is an alarm where no outcome is known
    double leap = 0.1;        // update ratio (update / weight): an update leaps
    double large_step = 0.5;  // update ratio: the rate is too large
    // Update ratio: the rate is too small where the run makes no progress; as a mean, where it makes little.
    double small_step = 1e-5;
    // Likewise as a mean of 800, where a loss that has gained little falls as slowly as ever. The usual mean is
    // 1e-3. (Not chosen by --leave-out.)
    double slow_step = 3e-4;
    double sure_step = 0.2;    // update ratio: a loss that rises from the start under smaller steps has the wrong sign
    double initial_scale = 6;  // root mean square times root of the fan-in: initial weights are too large
    double raw_input = 20;     // the mean of an input; for a standard deviation two and a half times this
};

}  // namespace spotter::inline SPOTTER_ABI::detail
