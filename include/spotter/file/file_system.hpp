// SPDX-License-Identifier: Apache-2.0
// File (L1): the seam under every file operation. Behind it are POSIX, a test that lets the n-th operation fail, or
// others.
#pragma once

#include <spotter/core/result.hpp>

#include <cstring>
#include <span>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// The longest path that is taken, in bytes.
inline constexpr std::size_t longest_path = 4000;

// A path put together from parts; `good()` is false where it is too long.
class path_text {
public:
    path_text() noexcept = default;
    path_text(std::string_view folder, std::string_view name) noexcept;
    // All of it fits.
    [[nodiscard]] bool good() const noexcept { return good_; }
    // `folder/name`; cut where it is too long. Lives with this.
    [[nodiscard]] std::string_view view() const noexcept { return text_.view(); }
    // The same, where a path is asked for.
    [[nodiscard]] operator std::string_view() const noexcept { return view(); }

private:
    text<longest_path> text_{};
    bool good_ = true;
};

// An open file or a lock; worth nothing after `close` or `unlock`. A number, so a test's file system can make its own.
struct opened_file {
    std::int64_t native = -1;  // whatever its file system knows it by; negative: none

    // Whether it is one; `close` does not change that.
    [[nodiscard]] constexpr bool open() const noexcept { return native >= 0; }
};

// A file's bytes in memory, as long as they are mapped. What is appended later is not in it.
struct file_mapping {
    std::span<std::byte const> bytes{};  // the whole file as it was when it was mapped
    bool partial = false;                // its first 4 KiB are there; what else is read must have been asked of `fetch`
};

// Memory that stays when the process that made it ends, however it ends: until it is removed, or the machine goes off.
// Whoever has it mapped holds its lock, which the system gives back as that of a file.
struct shared_memory {
    std::span<std::byte> bytes{};  // to read and to write
    opened_file lock{};            // held as long as the memory is mapped
};

// Which file has a name now. Another file of that name has another `identity`; 0 where a file system cannot tell.
struct file_facts {
    std::uint64_t bytes = 0;     // its size
    std::uint64_t identity = 0;  // the same as long as it is the same file, whatever its name
};

// What stands at a path.
enum class path_kind : std::uint8_t { missing, file, folder, other };

// Takes a name from `list`; `context` is the caller's. False ends the listing.
using name_taker = bool (*)(void* context, std::string_view name);

// Every call may come from any thread; one handle belongs to one thread at a time. No call throws; an error's sentence
// names the path. No call waits for somebody else, whatever stands at a path: a pipe, a device or a folder in the place
// of a file is refused as errc::unwritable. Virtual, as a file operation costs a thousand times the call.
class file_system {
public:
    file_system() noexcept = default;
    file_system(file_system const&) = delete;
    file_system& operator=(file_system const&) = delete;
    virtual ~file_system() = default;

    // A new, empty file to append to; errc::exists where there is one of that name.
    [[nodiscard]] virtual result<opened_file> create(std::string_view path) noexcept = 0;
    // A file to append to, made if it is missing.
    [[nodiscard]] virtual result<opened_file> open_append(std::string_view path) noexcept = 0;
    // All of `bytes` at the end, or an error after any number of them.
    [[nodiscard]] virtual error append(opened_file file, std::span<std::byte const> bytes) noexcept = 0;
    // Down to the disk (fsync): against power loss. What was appended survives the death of the process without it.
    [[nodiscard]] virtual error sync(opened_file file) noexcept = 0;
    // Closed either way. An error means that some of what was appended may be lost: a disk over a network, or one with
    // quotas, may say so here for the first time.
    [[nodiscard]] virtual error close(opened_file file) noexcept = 0;
    // That files were made, renamed or removed in a folder, down to the disk. A file that was synced in a folder that
    // was not may be gone after a power cut. Nothing to do where there are no folders.
    [[nodiscard]] virtual error sync_folder(std::string_view) noexcept { return {}; }
    // Whether an open file is the one that has that name: not where another took its place, or none did.
    [[nodiscard]] virtual result<bool> is_at(opened_file, std::string_view path) noexcept;

    // The same place, whichever folder will be the working one: for whoever keeps a path. A file system without one
    // gives it as it is.
    [[nodiscard]] virtual path_text absolute(std::string_view path) noexcept { return {"", path}; }
    // Below a file everything is missing; a link that leads nowhere is `other`.
    [[nodiscard]] virtual result<path_kind> kind_of(std::string_view path) noexcept = 0;
    // In bytes; an error where there is no file.
    [[nodiscard]] virtual result<std::uint64_t> size_of(std::string_view path) noexcept = 0;
    // Both at once: of the file that has the name at that instant.
    [[nodiscard]] virtual result<file_facts> facts_of(std::string_view path) noexcept;
    // Replaces a file of the new name, in one step.
    [[nodiscard]] virtual error rename(std::string_view from, std::string_view to) noexcept = 0;
    // A file's name; who has it open or mapped keeps it. An error where there is none.
    [[nodiscard]] virtual error remove(std::string_view path) noexcept = 0;
    // With its parents; no error where there is one already.
    [[nodiscard]] virtual error make_folder(std::string_view path) noexcept = 0;
    // The names in a folder, in no order, without `.` and `..`.
    [[nodiscard]] virtual error list(std::string_view path, name_taker take, void* context) noexcept = 0;

    // The bytes of a file from `from` on, as many as fit; how many there were. For what is small, or may be cut off
    // meanwhile: nothing is mapped, so what is gone is missing and no signal. What is no file is refused, as by the
    // others.
    [[nodiscard]] virtual result<std::size_t> read(std::string_view path, std::uint64_t from,
                                                   std::span<std::byte> into) noexcept;
    // To read. An empty file has an empty mapping. Whoever cuts the file off meanwhile takes the bytes away (SIGBUS).
    [[nodiscard]] virtual result<file_mapping> map(std::string_view path) noexcept = 0;
    // Once for each mapping; its bytes are gone then.
    virtual void unmap(file_mapping mapping) noexcept = 0;
    // Parts of partial mappings that are about to be read, brought from far away, where that is where the file is:
    // several at once.
    [[nodiscard]] virtual error fetch(std::span<std::span<std::byte const> const>) noexcept { return {}; }

    // Takes the lock that a file (made if missing) stands for; errc::busy while someone else has it. The system gives
    // it back when the process dies, however that happens.
    [[nodiscard]] virtual result<opened_file> lock(std::string_view path) noexcept = 0;
    // Gives it back. The file stays.
    virtual void unlock(opened_file held) noexcept = 0;
    // Forgets a lock that a forked child shares with its parent, who keeps it. Until then the lock lives as long as the
    // child.
    virtual void leave_lock(opened_file) noexcept {}
    // Whether someone holds it, without taking it for longer than the question lasts.
    [[nodiscard]] virtual result<bool> is_locked(std::string_view path) noexcept = 0;

    // Shared memory of that name (no slash in it): new, all zeros, there to the last page; errc::exists where there is
    // one. It has its name once it is whole: whoever is killed before that leaves nothing. A file system that has none
    // says so.
    [[nodiscard]] virtual result<shared_memory> create_shared(std::string_view, std::uint64_t) noexcept;
    // What was created before; errc::not_a_run where there is none of that name, errc::busy where it is mapped.
    [[nodiscard]] virtual result<shared_memory> open_shared(std::string_view) noexcept { return none(); }
    // In a forked child this leaves the lock to its parent.
    virtual void unmap_shared(shared_memory) noexcept {}
    // Its name; the memory goes when nobody has it mapped any more.
    [[nodiscard]] virtual error remove_shared(std::string_view) noexcept { return none(); }
    // Where a person finds it, to put before its name.
    [[nodiscard]] virtual std::string_view shared_place() const noexcept { return {}; }

private:
    [[nodiscard]] static error none() noexcept { return {errc::unwritable, "this file system has no shared memory"}; }
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/file/file_system.ipp>
#endif
