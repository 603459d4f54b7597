// SPDX-License-Identifier: Apache-2.0
// File (L1): writes a file that atomically replaces another once it is complete.
#pragma once

#include <spotter/file/file_system.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

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
#include <spotter/file/replacing_file.ipp>
#endif
