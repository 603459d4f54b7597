// SPDX-License-Identifier: Apache-2.0
// The bodies of replacing_file.hpp.
#pragma once

#include <spotter/file/replacing_file.hpp>

#include <utility>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_COLD_BODY result<opened_file> create_beside(file_system& files, std::string_view path,
                                                    text<longest_path>& part) noexcept {
    constexpr unsigned most = 100;
    for (unsigned i = 0; i < most; ++i) {
        part = text<longest_path>{path};
        part << ".part";
        if (i > 0) { part << i; }
        auto file = files.create(part.view());
        if (file || file.error().code != errc::exists) { return file; }
    }
    error why{errc::exists, "a hundred files of writers that were killed lie there, move them away: "};
    std::string_view const last = part.view();
    why.what << last.substr(last.size() > 120 ? last.size() - 120 : 0);
    return why;
}

SPOTTER_COLD_BODY replacing_file::replacing_file(file_system& files, std::string_view path) noexcept
    : files_{files}, path_{path} {
    auto const file = create_beside(files, path, part_);
    if (!file) {
        why_ = file.error();
        return;
    }
    file_ = *file;
    made_ = true;
}

SPOTTER_COLD_BODY void replacing_file::append(std::span<std::byte const> bytes) noexcept {
    if (!why_) { why_ = files_.append(file_, bytes); }
}

SPOTTER_COLD_BODY error replacing_file::finish(bool to_disk) noexcept {
    if (!why_ && to_disk) { why_ = files_.sync(file_); }
    close();
    if (!why_) { why_ = files_.rename(part_.view(), path_.view()); }
    if (!why_) { made_ = false; }
    drop();
    return why_;
}

SPOTTER_COLD_BODY void replacing_file::close() noexcept {
    if (!file_.open()) { return; }
    error const closed = files_.close(std::exchange(file_, opened_file{}));
    if (!why_) { why_ = closed; }
}

SPOTTER_COLD_BODY void replacing_file::drop() noexcept {
    close();
    if (std::exchange(made_, false)) { (void)files_.remove(part_.view()); }
}

SPOTTER_COLD_BODY error replace_file(file_system& files, std::string_view path, std::span<std::byte const> bytes,
                                     bool to_disk) noexcept {
    replacing_file fresh{files, path};
    fresh.append(bytes);
    return fresh.finish(to_disk);
}

}  // namespace spotter::inline SPOTTER_ABI::detail
