// SPDX-License-Identifier: Apache-2.0
// The bodies of stop_file.hpp.
#pragma once

#include <spotter/format/layout.hpp>
#include <spotter/record/run_folder.hpp>
#include <spotter/record/stop_file.hpp>

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
