// SPDX-License-Identifier: Apache-2.0
// An optional member of a rule, with a signature that would never be called.
// expect at once: `silence` of this rule is not
#include <spotter/hook.hpp>

struct too_high {
    using kind = spotter::rule_kind;
    static constexpr std::string_view name = "too_high";
    struct state {};
    constexpr spotter::stats_mask needs(spotter::tensor_info const&) const { return spotter::stats(spotter::l2); }
    constexpr void observe(state&, spotter::observation const&) const {}
    constexpr spotter::truth close(state&, spotter::step_id, spotter::findings&) const { return spotter::truth::no; }
#ifdef SPOTTER_CONTROL
    constexpr std::string_view silence(state const&) const { return "nothing was high"; }
#else
    constexpr std::string_view silence() const { return "nothing was high"; }
#endif
};

int main() {
    spotter::hook watch{spotter::plan{}, too_high{}};
    (void)watch.step(spotter::train(0));
}
