// SPDX-License-Identifier: Apache-2.0
// Act (L6): sends a request to a running training, in another process or in this one.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/hook/control.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// A request to a running training: docs/act.md#control-while-it-runs.
struct run_request {
    control_verb what = control_verb::flush;
    std::string names{};        // for capture: a glob of tensor names
    std::uint64_t steps = 100;  // for capture: number of steps, from the next one on
    std::string document{};     // for plan and rules: the text that load_plan and load_rules read
    std::string by{};           // the requester, for the record; empty: the user in the environment
};

//   done      it was carried out; the text says how, and the record has the step
//   refused   the text says why
//   taken     the writer received it; the loop carries it out when it closes the next step
//   silent    no answer: the writer is blocked, or of a version without control
enum class answer_state : std::uint8_t { done, refused, taken, silent };
// As in the file.
[[nodiscard]] constexpr std::string_view name_of(answer_state what) noexcept {
    constexpr std::string_view names[] = {"done", "refused", "taken", "silent"};
    return names[static_cast<std::size_t>(what)];
}
// A worker's answer.
struct run_answer {
    std::uint32_t worker = 0;  // its number
    answer_state state = answer_state::silent;
    std::string what{};  // in words
};

// Sends the request to every worker that currently records into the run's folder, and waits for the answers for at most
// `patience`. Concurrent requests wait for each other. Write permission in the folder suffices. errc::not_a_run;
// errc::no_more_data where no worker records there; errc::busy where other requests block the folder all the time;
// errc::bad_config where a name contains a line break; errc::unwritable and others of the file system.
[[nodiscard]] result<std::vector<run_answer>> ask_run(std::string const& path, run_request const& request,
                                                      std::chrono::milliseconds patience = std::chrono::seconds{10});

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/act/ask_run.ipp>
#endif
