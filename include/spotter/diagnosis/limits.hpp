// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): the limits of a diagnosis. Chosen while all families of bench/diagnosis were looked at, on seeds 100
// to 103; `bench_diagnosis --leave-out` chooses them anew for each family without it (docs/diagnosis.md#results).
#pragma once

#include <spotter/core/fwd.hpp>

#include <cstdint>

namespace spotter::inline SPOTTER_ABI::detail {

// When a series of losses says what.
struct progress_limits {
    std::uint64_t earliest = 30;     // samples before anything is said
    double improved = 0.9;           // chance that a block of the last third is below one of the first, and
    double least_fall = 0.01;        // of its size is what the loss fell by, from the median of those to that of these
    std::uint64_t flat_after = 500;  // samples
    double flat_fall = 0.03;    // of the level: what a flat loss has fallen by is below, with two standard errors added
    double fallen = 0.7;        // times the first loss: what has been below that so many times in a row is not flat
    std::uint64_t still = 100;  // samples: in so many in a row
    std::uint64_t young = 1000;  // samples: until then what has fallen below that is on its way
    // Times the first loss: in `lasting` samples in a row, none below. By so much of what it is above the first a loss
    // falls from third to third that is on its way back, and a return that has fallen.
    double worse = 1.1;
    std::uint64_t lasting = 200, lasting_mildly = 5000;
    double stirs = 1e-3;         // times the first loss: what is nearer to it for `still` samples and does not fall
    double stirs_at_all = 1e-6;  // times its value: what changes by less from its first ten samples on, for `earliest`
    double climbs = 1.3;         // times the first loss: the last third of one that has risen from the start
    double part = 0.01;          // times the beginning of the largest loss: what begins below tells nothing
    double explodes = 100;       // times its beginning: the loss of a critic
    double bottomless = 300;     // times the size of the first loss below zero: no objective goes there
    double far_worse = 3;        // times the first loss, where `lasting_far` samples agree within a factor of two
    std::uint64_t lasting_far = 30;
    std::uint64_t runs_away = 10;  // likewise, of a loss that has risen from the start
    // An evaluation that nothing carries over to: so many of them, the latest third within `flat_fall` of where
    // the training began and at so many times their own first; what begins at more than `alike` times that of the
    // training is another loss.
    std::uint64_t evaluations = 10, trained = 50;
    double as_first = 0.85, alike = 1.5;
    double hardly = 0.9;  // or training has fallen to so many times its beginning, and evaluation not by `least_fall`
};

// When findings are outcomes, and what makes a cause.
struct diagnosis_limits {
    progress_limits progress{};
    // Of a learned-by-heart net: an evaluation at so many times the training loss is an outcome, where it is at so many
    // times or more of where training began.
    double overfit = 4, evaluated_badly = 0.15;
    double strong = 3;         // times a rule's limit: what is an alarm where no outcome is known
    double leap = 0.1;         // an update of so many times its weight
    double large_step = 0.5;   // likewise: the rate is too large
    double small_step = 1e-5;  // likewise: it is too small, where the run is ill
    double sure_step = 0.2;    // likewise: a loss that rises from the start under smaller steps has the wrong sign
    double initial_scale = 6;  // root mean square times root of fan-in
    double raw_input = 20;     // a mean; of a standard deviation two and a half times as much
};

}  // namespace spotter::inline SPOTTER_ABI::detail
