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
#include <spotter/export/tensorboard_sink.ipp>
#endif
