// SPDX-License-Identifier: Apache-2.0
// File (L1): the file system of Windows by its raw calls. Paths are UTF-8. Others include system.hpp.
#pragma once

#include <spotter/file/windows_error.hpp>

namespace spotter::inline SPOTTER_ABI {

// What is opened here may be renamed and removed by others meanwhile, as far as Windows lets them: not while it is
// mapped.
class windows_file_system final : public file_system {
public:
    [[nodiscard]] result<opened_file> create(std::string_view path) noexcept override;
    [[nodiscard]] result<opened_file> open_append(std::string_view path) noexcept override;
    [[nodiscard]] error append(opened_file file, std::span<std::byte const> bytes) noexcept override;
    [[nodiscard]] error sync(opened_file file) noexcept override;
    [[nodiscard]] error close(opened_file file) noexcept override;
    [[nodiscard]] result<bool> is_at(opened_file file, std::string_view path) noexcept override;

    [[nodiscard]] result<path_kind> kind_of(std::string_view path) noexcept override;
    // On the drive that it names, else on the one of the working folder.
    [[nodiscard]] path_text absolute(std::string_view path) noexcept override;
    [[nodiscard]] result<std::uint64_t> size_of(std::string_view path) noexcept override;
    [[nodiscard]] result<file_facts> facts_of(std::string_view path) noexcept override;
    // Whoever has the file open for a moment is waited for, ten milliseconds at most.
    [[nodiscard]] error rename(std::string_view from, std::string_view to) noexcept override;
    [[nodiscard]] error remove(std::string_view path) noexcept override;
    [[nodiscard]] error make_folder(std::string_view path) noexcept override;
    [[nodiscard]] error list(std::string_view path, name_taker take, void* context) noexcept override;

    [[nodiscard]] result<std::size_t> read(std::string_view path, std::uint64_t from,
                                           std::span<std::byte> into) noexcept override;
    [[nodiscard]] result<file_mapping> map(std::string_view path) noexcept override;
    void unmap(file_mapping mapping) noexcept override;

    // Of a byte far behind everything, so that the file can be read meanwhile. It also excludes another recorder of the
    // same process.
    [[nodiscard]] result<opened_file> lock(std::string_view path) noexcept override;
    void unlock(opened_file held) noexcept override;
    [[nodiscard]] result<bool> is_locked(std::string_view path) noexcept override;

    // Files in the user's own folder for temporary ones, which Windows writes to the disk when it wants the memory and
    // not before. What is older than the machine's last start counts as gone: of a file that was being written to then,
    // any part may be on the disk. Whoever is killed while it makes one may leave it empty, or all zeros.
    [[nodiscard]] result<shared_memory> create_shared(std::string_view name, std::uint64_t bytes) noexcept override;
    [[nodiscard]] result<shared_memory> open_shared(std::string_view name) noexcept override;
    void unmap_shared(shared_memory memory) noexcept override;
    [[nodiscard]] error remove_shared(std::string_view name) noexcept override;
    [[nodiscard]] std::string_view shared_place() const noexcept override { return "%LOCALAPPDATA%/Temp"; }

private:
    [[nodiscard]] static error find_shared_folder(path_text& folder) noexcept;
    // The file's lock and its bytes, of which it gets as many as are wanted; closes it where there is an error.
    [[nodiscard]] static result<shared_memory> map_shared(opened_file file, std::uint64_t bytes,
                                                          std::string_view path) noexcept;

    // The error's number, or 0.
    [[nodiscard]] static unsigned long take_lock(opened_file file, unsigned long how) noexcept;
    [[nodiscard]] static unsigned long take_whole_lock(opened_file file) noexcept;
    static void drop(opened_file file) noexcept;

    // Takes nothing but files.
    [[nodiscard]] static result<opened_file> open_file(std::string_view path, unsigned long access,
                                                       unsigned long creation, std::string_view doing,
                                                       unsigned long kind = 0) noexcept;
};

// Nothing forks here.
class fork_guard {
public:
    [[nodiscard]] bool in_child() const noexcept { return false; }
};

// Windows has no call that does so without a change to what is in the memory.
[[nodiscard]] inline bool make_ready(std::span<std::byte>) noexcept { return false; }

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/file/windows.ipp>
#include <spotter/file/windows_shared.ipp>
#endif
