// SPDX-License-Identifier: Apache-2.0
// File (L1): the file system of Windows by its system calls. Paths are UTF-8. Include system.hpp instead.
#pragma once

#include <spotter/file/windows_error.hpp>

namespace spotter::inline SPOTTER_ABI {

// Other processes may rename and remove files that are open here, as far as Windows allows it: not while they are
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
    // On the drive in the path, or else that of the working directory.
    [[nodiscard]] path_text absolute(std::string_view path) noexcept override;
    [[nodiscard]] result<std::uint64_t> size_of(std::string_view path) noexcept override;
    [[nodiscard]] result<file_facts> facts_of(std::string_view path) noexcept override;
    // Waits at most ten milliseconds for a process that has the file open.
    [[nodiscard]] error rename(std::string_view from, std::string_view to) noexcept override;
    [[nodiscard]] error remove(std::string_view path) noexcept override;
    [[nodiscard]] error make_folder(std::string_view path) noexcept override;
    [[nodiscard]] error list(std::string_view path, name_taker take, void* context) noexcept override;

    [[nodiscard]] result<std::size_t> read(std::string_view path, std::uint64_t from,
                                           std::span<std::byte> into) noexcept override;
    [[nodiscard]] result<file_mapping> map(std::string_view path) noexcept override;
    void unmap(file_mapping mapping) noexcept override;

    // Locks a byte far behind the end, so that the file can be read meanwhile. Also excludes another recorder of the
    // same process.
    [[nodiscard]] result<opened_file> lock(std::string_view path) noexcept override;
    void unlock(opened_file held) noexcept override;
    [[nodiscard]] result<bool> is_locked(std::string_view path) noexcept override;

    // Files in the user's folder for temporary files. Windows writes them to the disk only when it needs the memory. A
    // file from before the machine's last start counts as gone: only a part of it may be on the disk. A process that is
    // killed while it creates one may leave it empty, or all zeros.
    [[nodiscard]] result<shared_memory> create_shared(std::string_view name, std::uint64_t bytes) noexcept override;
    [[nodiscard]] result<shared_memory> open_shared(std::string_view name) noexcept override;
    void unmap_shared(shared_memory memory) noexcept override;
    [[nodiscard]] error remove_shared(std::string_view name) noexcept override;
    [[nodiscard]] std::string_view shared_place() const noexcept override { return "%LOCALAPPDATA%/Temp"; }

private:
    [[nodiscard]] static error find_shared_folder(path_text& folder) noexcept;
    // Takes the file's lock and maps `bytes` of it; closes it on an error.
    [[nodiscard]] static result<shared_memory> map_shared(opened_file file, std::uint64_t bytes,
                                                          std::string_view path) noexcept;

    // Returns the error number, or 0.
    [[nodiscard]] static unsigned long take_lock(opened_file file, unsigned long how) noexcept;
    [[nodiscard]] static unsigned long take_whole_lock(opened_file file) noexcept;
    static void drop(opened_file file) noexcept;

    // Refuses anything but files.
    [[nodiscard]] static result<opened_file> open_file(std::string_view path, unsigned long access,
                                                       unsigned long creation, std::string_view doing,
                                                       unsigned long kind = 0) noexcept;
};

// Windows has no fork.
class fork_guard {
public:
    [[nodiscard]] bool in_child() const noexcept { return false; }
};

// Windows has no such call that leaves the content unchanged.
[[nodiscard]] inline bool make_ready(std::span<std::byte>) noexcept { return false; }

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/file/windows.ipp>
#endif
