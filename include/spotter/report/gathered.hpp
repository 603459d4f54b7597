// SPDX-License-Identifier: Apache-2.0
// Report (L5): merges equal findings of several steps and workers into one, which has the strongest severity and
// decision among them.
#pragma once

#include <spotter/report/describe.hpp>

#include <array>
#include <span>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI::detail {

// All findings of a rule for one tensor and reason. Texts belong to the findings.
struct repeated_finding {
    finding first{}, last{};  // by time
    finding strongest{};      // by severity, then by decision, then by time; its decision is the strongest of all
    std::uint64_t times = 0;  // number of findings
    std::array<std::uint64_t, 3> by_severity{};
    std::uint32_t workers = 1;  // number of workers with it

    void add(finding const& it);

private:
    decision asked_ = decision::proceed;  // of `strongest` itself
};

enum class workers_are : std::uint8_t { together, apart };

// In the order of their first findings.
[[nodiscard]] std::vector<repeated_finding> gather_findings(std::span<finding const> all,
                                                            workers_are how = workers_are::together);

// "11 times in all, last at train(19)", or with different severities "39 times in all (37 errors, 2 notes), first at
// train(1), last at train(40)"; empty for a single finding.
[[nodiscard]] std::string describe_times(repeated_finding const& it, std::string_view in_all = " in all");

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/report/gathered.ipp>
#endif
