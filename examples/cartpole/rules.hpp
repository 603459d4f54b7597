// SPDX-License-Identifier: Apache-2.0
// What cartpole watches for, what it keeps, and one rule of its own.
#pragma once

#include <spotter/spotter.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

namespace cartpole {

namespace sp = spotter;

// A weight keeps every bit while its gradient asks for a change: it was never handed to the optimizer.
struct untrained_weight {
    using kind = sp::rule_kind;
    static constexpr std::string_view name = "untrained_weight";
    static constexpr std::string_view remedy =
        "Hand the named parameter to the optimizer, and check that its step is called.";

    std::uint64_t patience = 10;  // observations in a row

    struct series {
        std::uint64_t unchanged = 0;
        bool pushed = false;  // its gradient at the previous observation was not zero
    };
    struct state {
        sp::slots<series> weights;  // by tensor id
        sp::culprit found;
        bool judged = false;
    };

    // A weight is judged by how it changed; its gradient is only read.
    constexpr sp::terms needs(sp::tensor_info const& tensor) const {
        return sp::select::weights(tensor) ? sp::terms::delta : sp::terms::none;
    }
    constexpr sp::terms context(sp::tensor_info const& tensor) const {
        return sp::select::weight_gradients(tensor) ? sp::terms::sum_abs : sp::terms::none;
    }
    constexpr void declare(state& seen, sp::tensor_info const& tensor) const {
        std::size_t const last = tensor.partner == sp::no_tensor ? tensor.id : (std::max)(tensor.id, tensor.partner);
        seen.weights.grow(last + 1);
    }
    constexpr void observe(state& seen, sp::observation const& it) const {
        if (it.step.mode != sp::mode::train) { return; }
        if (it.tensor.role == sp::role::gradient) {
            if (seen.weights.holds(it.tensor.partner)) {
                seen.weights[it.tensor.partner].pushed = it.stats.sum_abs > 0;
            }
            return;
        }
        series& mine = seen.weights[it.tensor.id];
        if (!it.stats.has_previous || !mine.pushed) { return; }
        seen.judged = true;
        mine.unchanged = it.stats.changed == 0 ? mine.unchanged + 1 : 0;
        if (mine.unchanged >= patience) { seen.found.blame(it, static_cast<double>(mine.unchanged)); }
    }
    constexpr sp::truth close(state& seen, sp::step_id, sp::findings& out) const {
        sp::culprit const found = std::exchange(seen.found, {});
        bool const judged = std::exchange(seen.judged, false);
        if (found.count == 0) { return judged ? sp::truth::no : sp::truth::undecided; }
        sp::finding told = found.as_finding("observations without a change", sp::relation::greater_equal,
                                            static_cast<double>(patience), sp::severity::error);
        told.reason = "a gradient, but no update";
        out.push(told);
        return sp::truth::yes;
    }
};

// Any of these ends the run before the update is applied.
inline constexpr auto broken = sp::on(sp::non_finite{} || sp::exploding_gradient{} || sp::dead_relu{} ||
                                          sp::all_zero{} || sp::update_ratio_band{.low = 0} || untrained_weight{},
                                      sp::stop);

inline constexpr auto gradients_kept = sp::every{10} && sp::during{sp::mode::train};
inline constexpr sp::plan keep{
    sp::collection{"losses", "*loss", sp::always{}, sp::payload},
    sp::collection{"metrics", "metric/*", sp::always{}, sp::payload},
    sp::collection{"weights", sp::role::weight, sp::every{100}, sp::payload},
    sp::collection{"gradients", "grad/*", gradients_kept, sp::stats(sp::l2, sp::mean_abs)},
    sp::collection{"activations", "act/*", sp::every{100}, sp::stats(sp::zero_fraction, sp::mean, sp::stddev)},
};

}  // namespace cartpole
