// SPDX-License-Identifier: Apache-2.0
// File (L1): a file that takes the place of another in one step, once it is whole.
#pragma once

#include <spotter/file/file_system.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// A new file beside `path`, `x.part`, or `x.part1` and so on where there is one already: of another writer, of one that
// was killed, or somebody's own. Nothing is removed for it, so no two writers ever have the same one. `part` becomes
// its path.
[[nodiscard]] result<opened_file> create_beside(file_system& files, std::string_view path,
                                                text<longest_path>& part) noexcept;

// Either the old file or the whole new one is there, whatever happens. A writer that is killed leaves its part.
class replacing_file {
public:
    replacing_file(file_system& files, std::string_view path) noexcept;
    replacing_file(replacing_file const&) = delete;
    replacing_file& operator=(replacing_file const&) = delete;
    ~replacing_file() { drop(); }

    // The first thing that went wrong; after it the rest does nothing.
    [[nodiscard]] error const& trouble() const noexcept { return why_; }
    void append(std::span<std::byte const> bytes) noexcept;
    [[nodiscard]] std::string_view part() const noexcept { return part_.view(); }  // where it is until then
    // `to_disk`: before it has its name.
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

// All of it at once.
[[nodiscard]] error replace_file(file_system& files, std::string_view path, std::span<std::byte const> bytes,
                                 bool to_disk) noexcept;

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/file/replacing_file.ipp>
#endif
