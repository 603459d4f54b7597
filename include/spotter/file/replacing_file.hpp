// SPDX-License-Identifier: Apache-2.0
// File (L1): writes a file that atomically replaces another once it is complete.
#pragma once

#include <spotter/file/file_system.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// `Bytes`: a std::string, or a vector of bytes; throws if memory is exhausted.
template <class Bytes>
[[nodiscard]] error read_all(file_system& files, std::string_view path, Bytes& into) {
    auto const size = files.size_of(path);
    if (!size) { return size.error(); }
    into.resize(static_cast<std::size_t>(*size));
    auto const read = files.read(path, 0, std::as_writable_bytes(std::span{into}));
    into.resize(read ? *read : 0);
    return read.error();
}

// Creates a new file beside `path`: `x.part`, or `x.part1` and so on if that exists, from another or a killed writer or
// a user. Nothing is removed, so two writers never have the same one. Sets `part` to its path.
[[nodiscard]] result<opened_file> create_beside(file_system& files, std::string_view path,
                                                text<longest_path>& part) noexcept;

// At any time either the old file or the complete new one exists. A killed writer leaves its part.
class replacing_file {
public:
    replacing_file(file_system& files, std::string_view path) noexcept;
    replacing_file(replacing_file const&) = delete;
    replacing_file& operator=(replacing_file const&) = delete;
    ~replacing_file() { drop(); }

    // The first error; after it every call does nothing.
    [[nodiscard]] error const& trouble() const noexcept { return why_; }
    void append(std::span<std::byte const> bytes) noexcept;
    [[nodiscard]] std::string_view part() const noexcept { return part_.view(); }  // its path until finish()
    // `to_disk`: syncs it before it is renamed.
    [[nodiscard]] error finish(bool to_disk) noexcept;

private:
    void close() noexcept;
    void drop() noexcept;

    file_system& files_;
    text<longest_path> path_, part_{};
    opened_file file_{};
    bool made_ = false;
    error why_{};
};

// Replaces a file in one call.
[[nodiscard]] error replace_file(file_system& files, std::string_view path, std::span<std::byte const> bytes,
                                 bool to_disk) noexcept;

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
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
#endif
