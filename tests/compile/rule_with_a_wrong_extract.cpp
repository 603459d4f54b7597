// SPDX-License-Identifier: Apache-2.0
// expect at once: `extract` of this rule that reads values is missing or is not
#include <spotter/hook.hpp>

struct too_high {
    using kind = spotter::rule_kind;
    static constexpr std::string_view name = "too_high";
    struct state {};
    constexpr spotter::stats_mask needs(spotter::tensor_info const&) const { return spotter::stats(spotter::l2); }
    constexpr void observe(state&, spotter::observation const&, std::span<double const>) const {}
    constexpr spotter::truth close(state&, spotter::step_id, spotter::findings&) const { return spotter::truth::no; }
    constexpr std::uint64_t feature_key() const { return 1; }
#ifdef SPOTTER_CONTROL
    constexpr void extract(state&, spotter::observation const&, spotter::tensor_ref const&, spotter::feature&) const {}
#else
    constexpr void extract(state&, spotter::observation const&, spotter::feature&) const {}
#endif
};

int main() {
    spotter::hook watch{spotter::plan{}, too_high{}};
    (void)watch.step(spotter::train(0));
}
