// SPDX-License-Identifier: Apache-2.0
// A rule of your own: parameters, a state, and three functions. The same value runs in the loop and in a static_assert.
#include "common/regression.hpp"

#include <spotter/hook.hpp>
#include <spotter/report.hpp>
#include <spotter/stat/delta.hpp>
#include <spotter/stat/summarize.hpp>

namespace sp = spotter;
using namespace sp::literals;

// Finds a weight that has a gradient and yet does not change: the optimizer does not have it.
struct forgotten_weight {
    using kind = sp::rule_kind;
    static constexpr std::string_view name = "forgotten_weight";
    static constexpr std::string_view remedy = "Hand this parameter to the optimizer.";

    std::uint64_t patience = 5;  // observations in a row

    struct state {  // owned by the machine that runs the rule
        sp::slot_array<std::uint64_t> unchanged;
        sp::violation found;
        bool judged = false;
    };

    // What it needs of a tensor; stats_mask::none: the tensor is not watched.
    constexpr sp::stats_mask needs(sp::tensor_info const& tensor) const {
        return tensor.role == sp::role::weight ? sp::stats_mask::change : sp::stats_mask::none;
    }
    // False where memory for the tensor is lacking. The rule then does not see it, and its coverage says so.
    constexpr bool declare(state& seen, sp::tensor_info const& tensor) const {
        return seen.unchanged.grow(tensor.id + std::size_t{1});
    }
    constexpr void observe(state& seen, sp::observation const& it) const {
        if (!it.stats.has_previous) { return; }
        std::uint64_t& count = seen.unchanged[it.tensor.id];
        count = it.stats.changed == 0 ? count + 1 : 0;
        seen.judged = true;
        if (count >= patience) { seen.found.blame(it, static_cast<double>(count)); }
    }
    constexpr sp::truth close(state& seen, sp::step_id, sp::findings& out) const {
        sp::violation const found = std::exchange(seen.found, {});
        if (!std::exchange(seen.judged, false)) { return sp::truth::undecided; }
        if (found.count == 0) { return sp::truth::no; }
        out.push(found.as_finding("observations without a change", sp::relation::greater_equal,
                                  static_cast<double>(patience), sp::severity::error));
        return sp::truth::yes;
    }
};

// Evaluated at compile time: with patience 3 a frozen weight is found at the fourth observation.
constexpr bool finds_a_frozen_weight() {
    sp::machine rule{forgotten_weight{.patience = 3}};
    sp::tensor_info const tensor{.id = 0, .name = "fc/w", .role = sp::role::weight};
    float const numbers[] = {1, 2, 3, 4};
    sp::tensor_ref const values = sp::view_of(numbers, {2, 2});
    (void)rule.declare(tensor);
    sp::findings found;
    for (std::uint64_t i = 0; i < 4; ++i) {
        sp::summary stats = sp::summarize(values, sp::stats_mask::sum);
        if (i > 0) { sp::compare_with_previous(values, values, i - 1, stats); }
        rule.observe({tensor, sp::train(i), stats});
        sp::truth const answer = rule.close(sp::train(i), found);
        if ((answer == sp::truth::yes) != (i == 3)) { return false; }
    }
    return found[0].tensor == "fc/w" && found[0].measured == 3;
}
static_assert(finds_a_frozen_weight());

int main() {
    sp::hook watch{sp::plan{}, forgotten_weight{}};
    example::regression net;
    for (std::uint64_t i = 0; i < 20; ++i) {
        float const loss = net.forward_backward();
        auto const found = watch.step(sp::train(i), "loss"_t = loss, net);
        if (found) {
            fmt::print("{}\n", found);
            return found.front().tensor == "fc1/w" && i == 5 ? 0 : 1;
        }
        auto const frozen = net.w1;
        net.update();
        net.w1 = frozen;  // the mistake
    }
    return 1;
}
