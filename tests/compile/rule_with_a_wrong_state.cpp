// SPDX-License-Identifier: Apache-2.0
// expect at once: a rule needs its memory
#include <spotter/hook.hpp>

struct too_high {
    using kind = spotter::rule_kind;
    static constexpr std::string_view name = "too_high";
#ifdef SPOTTER_CONTROL
    struct state {};
#else
    struct state {
        explicit constexpr state(int) {}
    };
#endif
    constexpr spotter::stats_mask needs(spotter::tensor_info const&) const { return spotter::stats(spotter::l2); }
    constexpr void observe(state&, spotter::observation const&) const {}
    constexpr spotter::truth close(state&, spotter::step_id, spotter::findings&) const { return spotter::truth::no; }
};

int main() {
    spotter::hook watch{spotter::plan{}, too_high{}};
    (void)watch.step(spotter::train(0));
}
