// SPDX-License-Identifier: Apache-2.0
// Report (L5): the same finding at step after step, in worker after worker, as one, which is as strong as the strongest
// of them.
#pragma once

#include <spotter/report/describe.hpp>

#include <array>
#include <span>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI::detail {

// What a rule said of a tensor for one reason. Texts are those of the findings.
struct repeated_finding {
    finding first{}, last{};  // in time
    finding strongest{};      // by severity, then by decision, then the first; its decision is the strongest of all
    std::uint64_t times = 0;  // in all
    std::array<std::uint64_t, 3> by_severity{};
    std::uint32_t workers = 1;  // that have it

    void add(finding const& it);

private:
    decision asked_ = decision::proceed;  // by `strongest` itself
};

enum class workers_are : std::uint8_t { together, apart };

// In the order of their first.
[[nodiscard]] std::vector<repeated_finding> gather_findings(std::span<finding const> all,
                                                            workers_are how = workers_are::together);

// "11 times in all, last at train(19)", or where they are not all as strong "39 times in all (37 errors, 2 notes),
// first at train(1), last at train(40)"; empty of one.
[[nodiscard]] std::string describe_times(repeated_finding const& it, std::string_view in_all = " in all");

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/report/gathered.ipp>
#endif
