// SPDX-License-Identifier: Apache-2.0
// Hook (L3): what the thread that writes a run does beside writing it: a sampler of the machine (ext/system.hpp).
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/rule/finding.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI {

struct options;

// How far the loop is, as the writer knows it.
struct loop_progress {
    std::uint64_t closes = 0;  // steps of it that were taken from the ring
    double closed_at = 0;      // when the last of them was closed, by the loop's clock
};

// Given to a hook that records as `options::beside`, and must outlive it. One hook at a time. Nothing of it throws.
class writer_task {
public:
    // The first call: where the run is, and how it is recorded. `now` in milliseconds, of a steady clock.
    virtual void begin(std::string_view folder, options const& choices, std::uint64_t now) noexcept = 0;
    // Again and again. Returns when it wants to be called next; that may be later by as long as the writer writes.
    [[nodiscard]] virtual std::uint64_t work(std::uint64_t now, loop_progress const& loop) noexcept = 0;
    // Whether there is something to tell to the loop.
    [[nodiscard]] virtual bool has_news() const noexcept = 0;
    // By the loop's thread where a step is closed, once there was news. May run while the writer does `work`.
    virtual void tell(step_id step, step_alarm& into) noexcept = 0;
    // The run ends: no call comes after it.
    virtual void end() noexcept = 0;
    // The first thing that went wrong; by who writes, and after the end.
    [[nodiscard]] virtual error trouble() const noexcept = 0;

protected:
    writer_task() noexcept = default;
    writer_task(writer_task const&) = default;
    writer_task& operator=(writer_task const&) = default;
    ~writer_task() = default;
};

}  // namespace spotter::inline SPOTTER_ABI
