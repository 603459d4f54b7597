// SPDX-License-Identifier: Apache-2.0
// Command line, `serve`: the answers to the page's requests. Independent of the network.
#pragma once

#include "run_list.hpp"

#include <map>
#include <string>

namespace spotter_tool::live {

// The parameters after the question mark; keys may be repeated.
using query = std::multimap<std::string, std::string>;

struct answer {
    int status = 200;
    std::string body{};
    std::string type = "application/json";
};

// GET /api/...: docs/serve.md documents parameters and answers.
[[nodiscard]] answer runs_answer(run_list& runs, query const& asked);
[[nodiscard]] answer run_answer(run_list& runs, query const& asked);
[[nodiscard]] answer curves_answer(run_list& runs, query const& asked);
[[nodiscard]] answer tensors_answer(run_list& runs, query const& asked);
[[nodiscard]] answer tensor_answer(run_list& runs, query const& asked);
[[nodiscard]] answer values_answer(run_list& runs, query const& asked);
[[nodiscard]] answer picture_answer(run_list& runs, query const& asked);
[[nodiscard]] answer section_answer(run_list& runs, query const& asked);

// By the path after /api/; 404 for an unknown one.
[[nodiscard]] answer answer_to(run_list& runs, std::string_view what, query const& asked);
[[nodiscard]] answer refusal(int status, std::string_view why);

}  // namespace spotter_tool::live
