// SPDX-License-Identifier: Apache-2.0
// Act (L6): asks something of a run that goes on in another process, or here.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/hook/control.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// What is asked of a run that goes on: docs/act.md#control-while-it-runs.
struct run_request {
    control_verb what = control_verb::flush;
    std::string names{};        // of a capture: a glob of names of tensors
    std::uint64_t steps = 100;  // of a capture: from the next one on
    std::string document{};     // of plan and rules: what load_plan and load_rules read, as text
    std::string by{};           // who asks, for the record; empty: the user whom the environment names
};

//   done      what it said it did, and the record says at which step
//   refused   why
//   taken     its writer knows; the loop has closed no step since, and does it when it closes one
//   silent    it did not answer: its writer is stuck, or of a version without control
enum class answer_state : std::uint8_t { done, refused, taken, silent };
// As the file has it.
[[nodiscard]] constexpr std::string_view name_of(answer_state what) noexcept {
    constexpr std::string_view names[] = {"done", "refused", "taken", "silent"};
    return names[static_cast<std::size_t>(what)];
}
// What a worker answered.
struct run_answer {
    std::uint32_t worker = 0;  // its number
    answer_state state = answer_state::silent;
    std::string what{};  // in words
};

// Asks every worker that records into the run's folder now, and waits for their answers, for so long at most. One who
// asks waits for another. Whoever may write the folder may ask. errc::not_a_run; errc::no_more_data where nobody
// records there; errc::busy where somebody else asks all the time; errc::bad_config where a name holds a line break;
// errc::unwritable and others of the file system.
[[nodiscard]] result<std::vector<run_answer>> ask_run(std::string const& path, run_request const& request,
                                                      std::chrono::milliseconds patience = std::chrono::seconds{10});

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/act/ask_run.ipp>
#endif
