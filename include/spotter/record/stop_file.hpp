// SPDX-License-Identifier: Apache-2.0
// Record (L4): the file `stop` in a run's folder: a request from outside to stop the run.
#pragma once

#include <spotter/core/result.hpp>
#include <spotter/core/text.hpp>
#include <spotter/file/file_system.hpp>

#include <atomic>

namespace spotter::inline SPOTTER_ABI {

// The writer looks for the file; the training thread reads an atomic. All workers of a run obey the same file. Its text
// is the reason.
class stop_file {
public:
    // `folder`: the worker's. A file that is already there was meant for an earlier attempt: worker 0 removes it, the
    // others ignore it until it is gone.
    stop_file(file_system& files, std::string_view folder, std::uint32_t worker) noexcept;
    stop_file(stop_file const&) = delete;
    stop_file& operator=(stop_file const&) = delete;

    // Called by the writer: looks at the disk at most ten times a second. `now` in milliseconds of a steady clock.
    void look(std::uint64_t now) noexcept;
    // The first error; for the writer.
    [[nodiscard]] error const& trouble() const noexcept { return trouble_; }

    // Any thread; once true, always true.
    [[nodiscard]] bool asked() const noexcept { return asked_.load(std::memory_order_acquire); }
    // Once asked() is true: the first line of the file at that time; may be empty.
    [[nodiscard]] std::string_view reason() const noexcept { return reason_.view(); }

private:
    static constexpr std::uint64_t milliseconds_between = 100;
    static constexpr std::size_t longest_reason = 160;

    [[nodiscard]] bool is_there() noexcept;
    void note(error const& why) noexcept;
    // Reads the reason, once; afterwards the other thread may read it. False if the file is still empty: a later look
    // may find the reason.
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
#include <spotter/format/layout.hpp>
#include <spotter/record/run_folder.hpp>

#include <utility>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_COLD_BODY stop_file::stop_file(file_system& files, std::string_view folder, std::uint32_t worker) noexcept
    : files_{files}, path_{detail::run_folder_of(folder, worker), layout::stop_name} {
    stale_ = is_there();
    if (stale_ && worker == 0) { note(files_.remove(path_)); }
}

SPOTTER_COLD_BODY void stop_file::look(std::uint64_t now) noexcept {
    if (now - last_look_ < milliseconds_between) { return; }
    last_look_ = now;
    bool const there = is_there();
    stale_ = stale_ && there;
    bool const asks = there && !stale_;
    if (asks && !read_ && !read()) { return; }
    asked_.store(asks, std::memory_order_release);
}

SPOTTER_COLD_BODY bool stop_file::is_there() noexcept {
    auto const kind = files_.kind_of(path_);
    if (kind && *kind != path_kind::file && *kind != path_kind::missing) {
        error why{errc::unwritable, "`stop` in the run's folder is no file, and stops nothing: "};
        std::string_view const path = path_.view();
        why.what << path.substr(path.size() > 120 ? path.size() - 120 : 0);
        note(why);
    }
    note(kind.error());
    return kind && *kind == path_kind::file;
}

SPOTTER_COLD_BODY void stop_file::note(error const& why) noexcept {
    if (!trouble_) { trouble_ = why; }
}

SPOTTER_COLD_BODY bool stop_file::read() noexcept {
    char letters[longest_reason];
    auto const size = files_.read(path_, 0, std::as_writable_bytes(std::span{letters}));
    if (size && *size == 0 && !std::exchange(was_empty_, true)) { return false; }
    read_ = true;
    note(size.error());
    std::string_view const all{letters, size ? *size : 0};
    reason_ << all.substr(0, all.find_first_of("\r\n"));
    return true;
}

}  // namespace spotter::inline SPOTTER_ABI

#endif
