// SPDX-License-Identifier: Apache-2.0
// Export (L5): TensorBoard's files beside a record that is being written, by a thread of their own.
#pragma once

#include <spotter/export/tensorboard.hpp>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace spotter::inline SPOTTER_ABI {

// `tensorboard_sink board{watch.path(), "tb/a"};` behind the hook, and `board.finish()` behind `watch.finish()`. It
// reads the record as it grows and never meets the loop: a sink that the hook fed would have to copy values, take
// memory and write files in the middle of a step, which a hook promises not to do. So it shows what the plan keeps, as
// soon as it is flushed. An empty path (SPOTTER=off) is no run, and nothing to do.
class tensorboard_sink {
public:
    // Looks every `interval`; event files grow as often.
    tensorboard_sink(std::string_view run, std::string_view folder, tensorboard_options options = {},
                     std::chrono::milliseconds interval = std::chrono::milliseconds{500}) noexcept;
    tensorboard_sink(tensorboard_sink const&) = delete;
    tensorboard_sink& operator=(tensorboard_sink const&) = delete;
    ~tensorboard_sink() { (void)finish(); }

    // Takes in what has been flushed so far and ends; afterwards nothing is written. The first error, of any time.
    error finish() noexcept;

private:
    // False once `finish` was called.
    [[nodiscard]] bool nap(std::chrono::milliseconds interval);
    void work(std::string const& path, std::string const& folder, tensorboard_options options,
              std::chrono::milliseconds interval) noexcept;

    std::mutex mutex_{};
    std::condition_variable wake_{};
    bool ended_ = false;
    error why_{};  // the thread's until it is joined
    std::thread thread_{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/export/tensorboard_sink.ipp>
#endif
