// SPDX-License-Identifier: Apache-2.0
// Hook (L3): a task that the writer thread runs beside writing: a sampler of the machine (ext/system.hpp).
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/rule/finding.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI {

struct options;

// The loop's progress, as far as the writer knows it.
struct loop_progress {
    std::uint64_t closes = 0;  // closed steps that the writer took from the ring
    double closed_at = 0;      // when the last of them was closed, by the loop's clock
};

// Passed to a recording hook as `options::beside`; must outlive it. For one hook at a time. No call throws.
class writer_task {
public:
    // The first call: the run's folder and options. `now`: milliseconds of a steady clock.
    virtual void begin(std::string_view folder, options const& choices, std::uint64_t now) noexcept = 0;
    // Called repeatedly. Returns the time of its next call; writing may delay that call.
    [[nodiscard]] virtual std::uint64_t work(std::uint64_t now, loop_progress const& loop) noexcept = 0;
    // Whether there is news for the loop.
    [[nodiscard]] virtual bool has_news() const noexcept = 0;
    // Called by the loop's thread when a step is closed, once there was news; possibly during `work` in the writer
    // thread.
    virtual void tell(step_id step, step_alarm& into) noexcept = 0;
    // The last call, when the run ends.
    virtual void end() noexcept = 0;
    // The first error. Called by the writer thread, also after the end.
    [[nodiscard]] virtual error trouble() const noexcept = 0;

protected:
    writer_task() noexcept = default;
    writer_task(writer_task const&) = default;
    writer_task& operator=(writer_task const&) = default;
    ~writer_task() = default;
};

}  // namespace spotter::inline SPOTTER_ABI
