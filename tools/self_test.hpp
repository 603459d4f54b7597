// SPDX-License-Identifier: Apache-2.0
// Command line: the self-test's results in words, for `check --self-test` and for a page.
#pragma once

#include <spotter/workbench/page.hpp>
#include <spotter/workbench/self_test.hpp>

#include <string>
#include <vector>

namespace spotter_tool {

// Number of passes over a record of one worker.
[[nodiscard]] std::uint64_t passes_of_self_test();
// "noticed", "noted" (as a note), "missed", "unseen": the record cannot show it.
[[nodiscard]] std::string_view self_test_verdict(spotter::self_test_result const& it) noexcept;
// Which rule reported the fault and when, or why none did.
[[nodiscard]] std::string why_text(spotter::self_test_result const& it);
[[nodiscard]] spotter::html::section self_test_section(std::vector<spotter::self_test_result> const& all);

}  // namespace spotter_tool
