// SPDX-License-Identifier: Apache-2.0
// expect at once: `observe` of this rule is missing or is not
#include <spotter/hook.hpp>

struct too_high {
    using kind = spotter::rule_kind;
    static constexpr std::string_view name = "too_high";
    struct state {};
    constexpr spotter::stats_mask needs(spotter::tensor_info const&) const { return spotter::stats(spotter::l2); }
#ifdef SPOTTER_CONTROL
    constexpr void observe(state&, spotter::observation const&) const {}
#else
    constexpr void observe(state&, spotter::observation&) const {}
#endif
    constexpr spotter::truth close(state&, spotter::step_id, spotter::findings&) const { return spotter::truth::no; }
};

int main() {
    spotter::hook watch{spotter::plan{}, too_high{}};
    (void)watch.step(spotter::train(0));
}
