// SPDX-License-Identifier: Apache-2.0
// Command line, `serve`: the answers that the page asks for. Knows no network.
#pragma once

#include "run_list.hpp"

#include <map>
#include <string>

namespace spotter_tool::live {

// What stands behind the question mark, as many times as it is given.
using query = std::multimap<std::string, std::string>;

struct answer {
    int status = 200;
    std::string body{};
    std::string type = "application/json";
};

// GET /api/...: what each takes and gives is on docs/serve.md.
[[nodiscard]] answer runs_answer(run_list& runs, query const& asked);
[[nodiscard]] answer run_answer(run_list& runs, query const& asked);
[[nodiscard]] answer curves_answer(run_list& runs, query const& asked);
[[nodiscard]] answer tensors_answer(run_list& runs, query const& asked);
[[nodiscard]] answer tensor_answer(run_list& runs, query const& asked);
[[nodiscard]] answer values_answer(run_list& runs, query const& asked);
[[nodiscard]] answer picture_answer(run_list& runs, query const& asked);
[[nodiscard]] answer section_answer(run_list& runs, query const& asked);

// By the path behind /api/; 404 where there is none of that name.
[[nodiscard]] answer answer_to(run_list& runs, std::string_view what, query const& asked);
[[nodiscard]] answer refusal(int status, std::string_view why);

}  // namespace spotter_tool::live
