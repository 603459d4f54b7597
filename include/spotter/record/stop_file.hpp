// SPDX-License-Identifier: Apache-2.0
// Record (L4): the file `stop` in a run's folder, by which a request from outside asks the run to stop.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/core/text.hpp>
#include <spotter/file/file_system.hpp>

#include <atomic>

namespace spotter::inline SPOTTER_ABI {

// The writer looks for the file, the training thread reads an atomic. All workers of a run obey one file; what it says
// is the reason.
class stop_file {
public:
    // `folder`: of the worker. A file that is there already was meant for an earlier attempt: worker 0 removes it, the
    // others pass over it until it is gone.
    stop_file(file_system& files, std::string_view folder, std::uint32_t worker) noexcept;
    stop_file(stop_file const&) = delete;
    stop_file& operator=(stop_file const&) = delete;

    // By who writes: costs a look at the disk ten times a second at most. `now` in milliseconds, of a steady clock.
    void look(std::uint64_t now) noexcept;
    // The first thing that went wrong; for who writes.
    [[nodiscard]] error const& trouble() const noexcept { return trouble_; }

    // Any thread; stays so.
    [[nodiscard]] bool asked() const noexcept { return asked_.load(std::memory_order_acquire); }
    // Once asked: the first line of the file as it was then; may be empty.
    [[nodiscard]] std::string_view reason() const noexcept { return reason_.view(); }

private:
    static constexpr std::uint64_t milliseconds_between = 100;
    static constexpr std::size_t longest_reason = 160;

    [[nodiscard]] bool is_there() noexcept;
    void note(error const& why) noexcept;
    // Once only: the other thread may look at the text from then on. False where the file is empty as yet: at the next
    // look it may say why.
    [[nodiscard]] bool read() noexcept;

    file_system& files_;
    path_text path_;
    text<longest_reason> reason_{};
    error trouble_{};
    std::uint64_t last_look_ = 0;
    bool stale_ = false, read_ = false, was_empty_ = false;
    std::atomic<bool> asked_{false};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/record/stop_file.ipp>
#endif
