// SPDX-License-Identifier: Apache-2.0
// A rule that finds nothing, and makes the hook compute statistics of every tensor.
#pragma once

#include <spotter/rule/machine.hpp>

namespace spotter_test {

template <spotter::stats_mask What>
struct asks_for {
    using kind = spotter::rule_kind;
    static constexpr std::string_view name = "asks_for";
    struct state {};
    [[nodiscard]] constexpr spotter::stats_mask needs(spotter::tensor_info const&) const noexcept { return What; }
    constexpr void observe(state&, spotter::observation const&) const noexcept {}
    [[nodiscard]] constexpr spotter::truth close(state&, spotter::step_id, spotter::findings&) const noexcept {
        return spotter::truth::no;
    }
};

}  // namespace spotter_test
