// SPDX-License-Identifier: Apache-2.0
// Command line: which faults the rules would have noticed in a run, in words: for `check --self-test` and for a page.
#pragma once

#include <spotter/workbench/page.hpp>
#include <spotter/workbench/self_test.hpp>

#include <string>
#include <vector>

namespace spotter_tool {

// How often it goes over a record of one worker.
[[nodiscard]] std::uint64_t passes_of_self_test();
// "noticed", "noted" (as a note), "missed", "unseen": not shown by the record.
[[nodiscard]] std::string_view self_test_verdict(spotter::self_test_result const& it) noexcept;
// What told of it and when, or why nothing did.
[[nodiscard]] std::string why_text(spotter::self_test_result const& it);
[[nodiscard]] spotter::html::section self_test_section(std::vector<spotter::self_test_result> const& all);

}  // namespace spotter_tool
