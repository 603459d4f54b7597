// SPDX-License-Identifier: Apache-2.0
// File (L1): the file system of POSIX, by its system calls. Only this file and posix_error.hpp use POSIX's file calls.
// Include system.hpp instead.
#pragma once

#include <spotter/file/posix_error.hpp>

#include <sys/types.h>
#include <unistd.h>

namespace spotter::inline SPOTTER_ABI {

// Files by POSIX calls; errors contain the system's error text. Has no state.
class posix_file_system final : public file_system {
public:
    [[nodiscard]] result<opened_file> create(std::string_view path) noexcept override;
    [[nodiscard]] result<opened_file> open_append(std::string_view path) noexcept override;
    [[nodiscard]] error append(opened_file file, std::span<std::byte const> bytes) noexcept override;
    [[nodiscard]] error sync(opened_file file) noexcept override;
    [[nodiscard]] error close(opened_file file) noexcept override;
    [[nodiscard]] error sync_folder(std::string_view path) noexcept override;
    [[nodiscard]] result<bool> is_at(opened_file file, std::string_view path) noexcept override;

    // Returns the path unchanged if the working directory was removed, or its name leads elsewhere.
    [[nodiscard]] path_text absolute(std::string_view path) noexcept override;
    [[nodiscard]] result<path_kind> kind_of(std::string_view path) noexcept override;
    [[nodiscard]] result<std::uint64_t> size_of(std::string_view path) noexcept override;
    [[nodiscard]] result<file_facts> facts_of(std::string_view path) noexcept override;
    [[nodiscard]] error rename(std::string_view from, std::string_view to) noexcept override;
    [[nodiscard]] error remove(std::string_view path) noexcept override;
    [[nodiscard]] error make_folder(std::string_view path) noexcept override;
    [[nodiscard]] error list(std::string_view path, name_taker take, void* context) noexcept override;

    [[nodiscard]] result<std::size_t> read(std::string_view path, std::uint64_t from,
                                           std::span<std::byte> into) noexcept override;
    [[nodiscard]] result<file_mapping> map(std::string_view path) noexcept override;
    void unmap(file_mapping mapping) noexcept override;

    // flock, not fcntl: it also excludes another recorder of the same process. A forked child shares the lock, so the
    // file stays locked until the child leaves it or ends, too. Created only if nothing is there, so that a dangling
    // link is not followed.
    [[nodiscard]] result<opened_file> lock(std::string_view path) noexcept override;
    void unlock(opened_file held) noexcept override;
    void leave_lock(opened_file held) noexcept override { drop(held); }
    [[nodiscard]] result<bool> is_locked(std::string_view path) noexcept override;

    // Files in /dev/shm, which every user can list: they are private, and links are not followed. A file gets its name
    // when it has its memory and its lock; if the system has no nameless files there, it has a temporary name until
    // then.
    [[nodiscard]] result<shared_memory> create_shared(std::string_view name, std::uint64_t bytes) noexcept override;
    [[nodiscard]] result<shared_memory> open_shared(std::string_view name) noexcept override;
    void unmap_shared(shared_memory memory) noexcept override;
    [[nodiscard]] error remove_shared(std::string_view name) noexcept override;
    [[nodiscard]] std::string_view shared_place() const noexcept override { return shared_folder; }

private:
    static constexpr std::string_view shared_folder = "/dev/shm";
    static constexpr std::string_view part_suffix = "-part";  // the temporary name of an incomplete file

    [[nodiscard]] result<shared_memory> make_shared(std::string_view name, std::uint64_t bytes, bool named) noexcept;

    // A reader that only checks holds the lock for microseconds; a writer holds it for good. Returns the error number,
    // or 0.
    [[nodiscard]] static int take_lock(opened_file file) noexcept;

    // Takes ownership of `file`; closes it on an error.
    [[nodiscard]] result<shared_memory> map_shared(opened_file file, std::uint64_t bytes,
                                                   std::string_view path) noexcept;

    [[nodiscard]] static int number_of(opened_file file) noexcept { return static_cast<int>(file.native); }
    // For files without appended data.
    static void drop(opened_file file) noexcept;

    [[nodiscard]] static error no_file(mode_t mode, std::string_view doing, std::string_view path) noexcept;
    // Never waits for the other end of a pipe; refuses anything but files.
    [[nodiscard]] static result<opened_file> open_regular(std::string_view path, int flags,
                                                          std::string_view doing) noexcept;

    [[nodiscard]] static result<opened_file> open_file(std::string_view path, int flags, std::string_view doing,
                                                       mode_t rights = 0666) noexcept;
};

// Detects whether this process is a fork of the one that made it, without a system call: by a page that the kernel
// clears in a child (Linux 4.14; elsewhere the process id is compared).
class fork_guard {
public:
    fork_guard() noexcept;
    fork_guard(fork_guard const&) = delete;
    fork_guard& operator=(fork_guard const&) = delete;
    ~fork_guard();
    // Costs a memory access, or getpid().
    [[nodiscard]] bool in_child() const noexcept { return mark_ != nullptr ? *mark_ == 0 : ::getpid() != made_in_; }

private:
    static constexpr std::size_t page_bytes = 4096;

    pid_t made_in_;
    unsigned char volatile* mark_ = nullptr;
};

// Populates pages of memory that will be written, so that no page fault comes later. Does not read or change their
// content, so any thread may call it while others write. False if the system cannot (Linux before 5.14), or memory is
// exhausted.
[[nodiscard]] bool make_ready(std::span<std::byte> memory) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/file/posix.ipp>
#endif
