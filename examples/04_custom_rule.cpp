// SPDX-License-Identifier: Apache-2.0
// A rule of your own: parameters, a state, and three functions. The same value runs in the loop and in a static_assert.
#include "common/regression.hpp"

#include <spotter/hook.hpp>
#include <spotter/report.hpp>

using namespace spotter;

// Some weight got a gradient and yet did not change: nobody gave it to the optimizer.
struct forgotten_weight {
    using kind = rule_kind;
    static constexpr std::string_view name = "forgotten_weight";
    static constexpr std::string_view remedy = "Hand this parameter to the optimizer.";

    std::uint64_t patience = 5;  // observations in a row

    struct state {  // owned by whoever runs the rule
        slots<std::uint64_t> unchanged;
        culprit found;
        bool judged = false;
    };

    // What it wants of a tensor; terms::none means that it is not watched.
    constexpr terms needs(tensor_info const& tensor) const {
        return tensor.role == role::weight ? terms::delta : terms::none;
    }
    // False where there is no memory for one more tensor, which the rule does not get then; its coverage says so.
    constexpr bool declare(state& seen, tensor_info const& tensor) const {
        return seen.unchanged.grow(tensor.id + std::size_t{1});
    }
    constexpr void observe(state& seen, observation const& it) const {
        if (!it.stats.has_previous) { return; }
        std::uint64_t& count = seen.unchanged[it.tensor.id];
        count = it.stats.changed == 0 ? count + 1 : 0;
        seen.judged = true;
        if (count >= patience) { seen.found.blame(it, static_cast<double>(count)); }
    }
    constexpr truth close(state& seen, step_id, findings& out) const {
        culprit const found = std::exchange(seen.found, {});
        if (!std::exchange(seen.judged, false)) { return truth::undecided; }
        if (found.count == 0) { return truth::no; }
        out.push(found.as_finding("observations without a change", relation::greater_equal,
                                  static_cast<double>(patience), severity::error));
        return truth::yes;
    }
};

// The compiler runs it: a weight that never moves is found at the fourth observation with patience 3.
constexpr bool finds_a_frozen_weight() {
    machine rule{forgotten_weight{.patience = 3}};
    tensor_info const tensor{.id = 0, .name = "fc/w", .role = role::weight};
    float const numbers[] = {1, 2, 3, 4};
    tensor_ref const values = view_of(numbers, {2, 2});
    (void)rule.declare(tensor);
    findings found;
    for (std::uint64_t i = 0; i < 4; ++i) {
        summary stats = summarize(values, terms::sum);
        if (i > 0) { compare_with_previous(values, values, i - 1, stats); }
        rule.observe({tensor, train(i), stats});
        truth const answer = rule.close(train(i), found);
        if ((answer == truth::yes) != (i == 3)) { return false; }
    }
    return found[0].tensor == "fc/w" && found[0].measured == 3;
}
static_assert(finds_a_frozen_weight());

int main() {
    hook watch{plan{}, forgotten_weight{}};
    example::regression net;
    for (std::uint64_t i = 0; i < 20; ++i) {
        float const loss = net.forward_backward();
        auto const found = watch.step(train(i), "loss"_t = loss, net);
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
