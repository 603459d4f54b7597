// SPDX-License-Identifier: Apache-2.0
// Hook (L3): the hook's report about itself.
#pragma once

#include <spotter/core/failures.hpp>
#include <spotter/hook/sink.hpp>

namespace spotter::inline SPOTTER_ABI {

// A name with refused observations.
struct refused_tensor {
    std::string_view name;    // lives as long as the hook
    errc code = errc::none;   // the last reason
    std::string_view why{};   // the reason as a sentence that follows the name, and names the call to use instead
    std::uint64_t times = 0;  // number of refusals
};
// When a run ends, it records one text of this name for each refused tensor.
inline constexpr std::string_view refused_event = "refused";

// The state of a hook. The library never prints it on its own.
struct health_report {
    error first_error{};         // the first failure of a rule, a tensor or the sink
    std::uint64_t steps = 0;     // closed steps
    std::uint64_t observed = 0;  // observations that some rule or collection wanted
    std::uint64_t refused = 0;   // refused observations: no step open, not contiguous, rank too deep
    std::uint64_t declared = 0;  // declarations; only a declaration allocates
    sink_health sink{};          // the sink's part
    bool off = false;            // SPOTTER=off: nothing is watched
    bool dry = false;            // nothing is recorded, on request: SPOTTER=dry, dry_run, or a hook without a path
    // Steps that the loop never ended, for example because it caught an exception outside of the step. The next begin
    // closed them, or the end of the run.
    std::uint64_t left_open = 0;
    // Why nothing was judged so far: no step was closed, no tensor was observed, or no rule judged a step. That is
    // neither failure nor success. Empty once a rule has judged, and where the hook is off.
    std::string_view nothing_judged{};
    failure_list failures{};  // each kind of failure with its count: the hook's, the rules', the sink's

    // No failure so far. Independent of what the rules found.
    [[nodiscard]] bool good() const noexcept { return !first_error; }
    // The text of `nothing_judged` for these counts.
    [[nodiscard]] static constexpr std::string_view missing(std::uint64_t steps, std::uint64_t tensors,
                                                            bool judged) noexcept {
        return steps == 0     ? "no step was closed"
               : tensors == 0 ? "no tensor was observed"
               : !judged      ? "no rule judged any step"
                              : std::string_view{};
    }
};

}  // namespace spotter::inline SPOTTER_ABI
