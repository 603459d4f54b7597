// SPDX-License-Identifier: Apache-2.0
// Hook (L3): how the watching itself goes.
#pragma once

#include <spotter/core/failures.hpp>
#include <spotter/hook/sink.hpp>

namespace spotter::inline SPOTTER_ABI {

// A name of which something was not taken.
struct refused_tensor {
    std::string_view name;    // lives as long as the hook
    errc code = errc::none;   // why, the last time
    std::string_view why{};   // the same as a sentence behind the name, with the call that takes it
    std::uint64_t times = 0;  // that it was refused
};
// The text that a run keeps one of for each such name, when it ends.
inline constexpr std::string_view refused_event = "refused";

// How a hook is doing. Nothing here is ever printed unasked.
struct health_report {
    error first_error{};         // the first failure: of a rule, of a tensor, or of the sink
    std::uint64_t steps = 0;     // closed
    std::uint64_t observed = 0;  // observations that some rule or collection wanted
    std::uint64_t refused = 0;   // tensors not taken: no step open, not contiguous, rank too deep
    std::uint64_t declared = 0;  // declarations; each may have allocated, nothing else does
    sink_health sink{};          // of what was recorded
    bool off = false;            // SPOTTER=off: nothing is watched
    bool dry = false;  // rules judge and nothing is recorded, as was asked: SPOTTER=dry, dry_run, a hook without a path
    // Steps that nobody ended, as when an exception was caught outside of one: the next begin closed them, or the end
    // of the run did.
    std::uint64_t left_open = 0;
    // Where nothing could be judged so far: that no step was closed, no tensor observed, or no rule of those there are
    // judged any step. Not a failure, and not success. Empty otherwise, and where the hook is off.
    std::string_view nothing_judged{};
    failure_list failures{};  // all kinds that there were, with how often: the hook's, the rules', then the sink's

    // Nothing has failed so far. Says nothing of what rules found.
    [[nodiscard]] bool good() const noexcept { return !first_error; }
    // What `nothing_judged` says, by these counts.
    [[nodiscard]] static constexpr std::string_view missing(std::uint64_t steps, std::uint64_t tensors,
                                                            bool judged) noexcept {
        return steps == 0     ? "no step was closed"
               : tensors == 0 ? "no tensor was observed"
               : !judged      ? "no rule judged any step"
                              : std::string_view{};
    }
};

}  // namespace spotter::inline SPOTTER_ABI
