// SPDX-License-Identifier: Apache-2.0
// Export (L5): TensorBoard's files for a record that is being written, by a thread of their own.
#pragma once

#include <spotter/export/tensorboard.hpp>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace spotter::inline SPOTTER_ABI {

// Use: `tensorboard_sink board{watch.path(), "tb/a"};` after the hook, and `board.finish()` after `watch.finish()`. It
// reads the record as it grows and does not touch the loop. (A sink inside the hook would copy values, allocate and
// write files within a step, which a hook must not do.) So it shows what the plan keeps, once that is flushed. With an
// empty path (SPOTTER=off) it does nothing.
class tensorboard_sink {
public:
    // Checks the record every `interval`, and writes as often.
    tensorboard_sink(std::string_view run, std::string_view folder, tensorboard_options options = {},
                     std::chrono::milliseconds interval = std::chrono::milliseconds{500}) noexcept;
    tensorboard_sink(tensorboard_sink const&) = delete;
    tensorboard_sink& operator=(tensorboard_sink const&) = delete;
    ~tensorboard_sink() { (void)finish(); }

    // Writes everything flushed so far, and ends the thread. Returns the first error since the start.
    error finish() noexcept;

private:
    // False once `finish` was called.
    [[nodiscard]] bool nap(std::chrono::milliseconds interval);
    void work(std::string const& path, std::string const& folder, tensorboard_options options,
              std::chrono::milliseconds interval) noexcept;

    std::mutex mutex_{};
    std::condition_variable wake_{};
    bool ended_ = false;
    error why_{};  // written by the thread until it is joined
    std::thread thread_{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/guard.hpp>
#include <spotter/export/follow_run.hpp>
#include <spotter/file/deadline.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY tensorboard_sink::tensorboard_sink(std::string_view run, std::string_view folder,
                                                tensorboard_options options,
                                                std::chrono::milliseconds interval) noexcept {
    if (run.empty()) { return; }
    bool const made = guarded([&] {
        thread_ = std::thread{[this, path = std::string{run}, into = std::string{folder}, options = std::move(options),
                               interval]() mutable { work(path, into, std::move(options), interval); }};
    });
    if (!made) { why_ = {errc::out_of_memory, "no thread for the TensorBoard files"}; }
}

SPOTTER_BODY error tensorboard_sink::finish() noexcept {
    {
        std::lock_guard const held{mutex_};
        ended_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) { thread_.join(); }
    return why_;
}

SPOTTER_BODY bool tensorboard_sink::nap(std::chrono::milliseconds interval) {
    std::unique_lock held{mutex_};
    return !wake_.wait_until(held, detail::deadline_in(interval), [&] { return ended_; });
}

SPOTTER_BODY void tensorboard_sink::work(std::string const& path, std::string const& folder,
                                         tensorboard_options options, std::chrono::milliseconds interval) noexcept {
    bool const whole = guarded([&] {
        tensorboard_writer writer{folder, std::move(options)};
        result<trial> run = open_trial(path);
        while (!run && nap(interval)) { run = open_trial(path); }  // its first segment may not exist yet
        why_ =
            run ? follow_run(*run, [&] { return writer.advance(*run); }, [&] { return nap(interval); }) : run.error();
    });
    if (!whole) { why_ = {errc::out_of_memory, "no memory for the TensorBoard files"}; }
}

}  // namespace spotter::inline SPOTTER_ABI

#endif
