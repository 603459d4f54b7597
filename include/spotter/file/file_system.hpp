// SPDX-License-Identifier: Apache-2.0
// File (L1): the interface of every file operation. Implemented by POSIX, Windows, memory, and a test that lets the
// n-th operation fail.
#pragma once

#include <spotter/core/result.hpp>

#include <cstring>
#include <span>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// In bytes.
inline constexpr std::size_t longest_path = 4000;

// A path from a folder and a name; `good()` is false if it is too long.
class path_text {
public:
    path_text() noexcept = default;
    path_text(std::string_view folder, std::string_view name) noexcept;
    // Not too long.
    [[nodiscard]] bool good() const noexcept { return good_; }
    // `folder/name`; cut if it is too long. Valid as long as this object.
    [[nodiscard]] std::string_view view() const noexcept { return text_.view(); }
    // Converts to view().
    [[nodiscard]] operator std::string_view() const noexcept { return view(); }

private:
    text<longest_path> text_{};
    bool good_ = true;
};

// An open file or a lock; invalid after `close` or `unlock`. A number, so that any file system can make its own.
struct opened_file {
    std::int64_t native = -1;  // known to its file system; negative: none

    // Whether there is one; `close` does not change that.
    [[nodiscard]] constexpr bool open() const noexcept { return native >= 0; }
};

// A file's bytes in memory, valid while mapped. Bytes appended later are not included.
struct file_mapping {
    std::span<std::byte const> bytes{};  // the whole file at the time of mapping
    bool partial = false;                // only its first 4 KiB are there; call `fetch` before reading the rest
};

// Memory that survives its process, however that ends, until it is removed or the machine is switched off. The process
// that maps it holds its lock, which the system releases like that of a file.
struct shared_memory {
    std::span<std::byte> bytes{};  // readable and writable
    opened_file lock{};            // held while the memory is mapped
};

// Identifies the file that has a name now. Another file has another `identity`; 0 if the file system cannot tell.
struct file_facts {
    std::uint64_t bytes = 0;     // size of the file
    std::uint64_t identity = 0;  // constant for a file, also when it is renamed
};

// The kind of entry at a path.
enum class path_kind : std::uint8_t { missing, file, folder, other };

// Receives a name from `list`; `context` is the caller's. Returning false ends the listing.
using name_taker = bool (*)(void* context, std::string_view name);

// Any thread may make any call; one handle belongs to one thread at a time. No call throws; an error's sentence names
// the path. No call waits for another process: a pipe, a device or a folder in place of a file is refused as
// errc::unwritable. Virtual calls, because a file operation takes a thousand times as long.
class file_system {
public:
    file_system() noexcept = default;
    file_system(file_system const&) = delete;
    file_system& operator=(file_system const&) = delete;
    virtual ~file_system() = default;

    // A new, empty file to append to; errc::exists if the name exists.
    [[nodiscard]] virtual result<opened_file> create(std::string_view path) noexcept = 0;
    // A file to append to, created if it is missing.
    [[nodiscard]] virtual result<opened_file> open_append(std::string_view path) noexcept = 0;
    // Appends all of `bytes`; after an error any number of them may have been appended.
    [[nodiscard]] virtual error append(opened_file file, std::span<std::byte const> bytes) noexcept = 0;
    // Waits until the data is on the disk (fsync): protects against power loss. Appended data survives the process
    // anyway.
    [[nodiscard]] virtual error sync(opened_file file) noexcept = 0;
    // The file is closed in any case. Error: some appended data may be lost; a network disk, or one with quotas, may
    // report that only here.
    [[nodiscard]] virtual error close(opened_file file) noexcept = 0;
    // Waits until creations, renames and removals in a folder are on the disk. A synced file in a folder that was not
    // synced may be gone after a power cut. Does nothing without folders.
    [[nodiscard]] virtual error sync_folder(std::string_view) noexcept { return {}; }
    // Whether an open file still has that name; false if another file has it, or none.
    [[nodiscard]] virtual result<bool> is_at(opened_file, std::string_view path) noexcept;

    // The absolute path, which does not depend on later changes of the working directory. A file system without one
    // returns the path unchanged.
    [[nodiscard]] virtual path_text absolute(std::string_view path) noexcept { return {"", path}; }
    // Anything below a file is missing; a dangling link is `other`.
    [[nodiscard]] virtual result<path_kind> kind_of(std::string_view path) noexcept = 0;
    // In bytes; an error if there is no file.
    [[nodiscard]] virtual result<std::uint64_t> size_of(std::string_view path) noexcept = 0;
    // Size and identity of the file that has the name at that moment.
    [[nodiscard]] virtual result<file_facts> facts_of(std::string_view path) noexcept;
    // Atomically replaces a file of the new name.
    [[nodiscard]] virtual error rename(std::string_view from, std::string_view to) noexcept = 0;
    // Removes the name; open and mapped files stay usable. An error if there is no file.
    [[nodiscard]] virtual error remove(std::string_view path) noexcept = 0;
    // Creates parents, too; no error if it exists.
    [[nodiscard]] virtual error make_folder(std::string_view path) noexcept = 0;
    // The names in a folder, unordered, without `.` and `..`.
    [[nodiscard]] virtual error list(std::string_view path, name_taker take, void* context) noexcept = 0;

    // Reads a file from offset `from` on, at most into.size() bytes; returns their number. For small files, and for
    // those that may be truncated meanwhile: nothing is mapped, so truncation leads to fewer bytes, not to a signal.
    // Refuses anything but files.
    [[nodiscard]] virtual result<std::size_t> read(std::string_view path, std::uint64_t from,
                                                   std::span<std::byte> into) noexcept;
    // Maps a file for reading. An empty file has an empty mapping. If the file is truncated, access raises SIGBUS.
    [[nodiscard]] virtual result<file_mapping> map(std::string_view path) noexcept = 0;
    // Call it once for each mapping; its bytes become invalid.
    virtual void unmap(file_mapping mapping) noexcept = 0;
    // Downloads parts of partial mappings of remote files before they are read, several at once.
    [[nodiscard]] virtual error fetch(std::span<std::span<std::byte const> const>) noexcept { return {}; }

    // Takes the lock on a file, which is created if missing; errc::busy while someone else has it. The system releases
    // it when the process dies.
    [[nodiscard]] virtual result<opened_file> lock(std::string_view path) noexcept = 0;
    // Releases the lock; the file stays.
    virtual void unlock(opened_file held) noexcept = 0;
    // In a forked child: leaves a shared lock to the parent. Otherwise the lock would be held as long as the child
    // lives.
    virtual void leave_lock(opened_file) noexcept {}
    // Whether the lock is held; takes it at most for the duration of the call.
    [[nodiscard]] virtual result<bool> is_locked(std::string_view path) noexcept = 0;

    // Creates shared memory of that name (without a slash): zeros, with all pages allocated; errc::exists if the name
    // exists. It gets its name when it is complete, so that a killed process leaves nothing. A file system may not
    // support it.
    [[nodiscard]] virtual result<shared_memory> create_shared(std::string_view, std::uint64_t) noexcept;
    // Opens existing shared memory; errc::not_a_run if there is none, errc::busy if it is mapped.
    [[nodiscard]] virtual result<shared_memory> open_shared(std::string_view) noexcept { return none(); }
    // In a forked child it leaves the lock to the parent.
    virtual void unmap_shared(shared_memory) noexcept {}
    // Removes the name; the memory is freed when it is no longer mapped.
    [[nodiscard]] virtual error remove_shared(std::string_view) noexcept { return none(); }
    // The place of shared memory for people, to be put before its name.
    [[nodiscard]] virtual std::string_view shared_place() const noexcept { return {}; }

private:
    [[nodiscard]] static error none() noexcept { return {errc::unwritable, "this file system has no shared memory"}; }
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/casts.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_COLD_BODY result<bool> file_system::is_at(opened_file, std::string_view path) noexcept {
    auto const kind = kind_of(path);
    if (!kind) { return kind.error(); }
    return *kind == path_kind::file;
}

SPOTTER_COLD_BODY result<file_facts> file_system::facts_of(std::string_view path) noexcept {
    auto const bytes = size_of(path);
    return bytes ? result<file_facts>{file_facts{*bytes, 0}} : bytes.error();
}

SPOTTER_COLD_BODY result<std::size_t> file_system::read(std::string_view path, std::uint64_t from,
                                                        std::span<std::byte> into) noexcept {
    auto const whole = map(path);
    if (!whole) { return whole.error(); }
    std::size_t const size = whole->bytes.size();
    std::size_t const at = from < size ? as_size(from) : size;
    std::size_t const count = size - at < into.size() ? size - at : into.size();
    if (count > 0) { std::memcpy(into.data(), whole->bytes.data() + at, count); }
    unmap(*whole);
    return count;
}

SPOTTER_COLD_BODY result<shared_memory> file_system::create_shared(std::string_view, std::uint64_t) noexcept {
    return none();
}

SPOTTER_COLD_BODY path_text::path_text(std::string_view folder, std::string_view name) noexcept {
    text_ << folder;
    if (!folder.empty() && folder.back() != '/') { text_ << '/'; }
    text_ << name;
    good_ = folder.size() + name.size() < longest_path;
}

}  // namespace spotter::inline SPOTTER_ABI

#endif
