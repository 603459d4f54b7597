// SPDX-License-Identifier: Apache-2.0
// The bodies of tensorboard_sink.hpp.
#pragma once

#include <spotter/core/guard.hpp>
#include <spotter/export/follow_run.hpp>
#include <spotter/export/tensorboard_sink.hpp>

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
    return !wake_.wait_for(held, interval, [&] { return ended_; });
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
