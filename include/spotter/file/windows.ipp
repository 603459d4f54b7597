// SPDX-License-Identifier: Apache-2.0
// The bodies of windows.hpp.
#pragma once

#include <spotter/core/clock.hpp>
#include <spotter/file/windows.hpp>
#include <spotter/file/windows_api.hpp>

#include <cstdint>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

inline constexpr unsigned long shared_with_all = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
inline constexpr int attempts_at_names = 10;  // a millisecond apart

[[nodiscard]] SPOTTER_BODY HANDLE handle_of(opened_file file) noexcept {
    return reinterpret_cast<HANDLE>(static_cast<std::intptr_t>(file.native));
}

// Opens an entry only to query it; follows links.
[[nodiscard]] SPOTTER_BODY result<opened_file> look_at(std::string_view path, BY_HANDLE_FILE_INFORMATION& facts,
                                                       bool& is_disk) noexcept {
    wide_path name{path};
    if (!name.good()) { return windows_error(ERROR_FILENAME_EXCED_RANGE, "look at", path); }
    HANDLE const at = ::CreateFileW(name.get(), FILE_READ_ATTRIBUTES, shared_with_all, nullptr, OPEN_EXISTING,
                                    FILE_FLAG_BACKUP_SEMANTICS, nullptr);
    if (at == INVALID_HANDLE_VALUE) { return windows_error(::GetLastError(), "look at", path); }
    is_disk = ::GetFileType(at) == FILE_TYPE_DISK;
    bool const known = !is_disk || ::GetFileInformationByHandle(at, &facts) != 0;
    unsigned long const failed = known ? 0 : ::GetLastError();
    (void)::CloseHandle(at);
    if (failed != 0) { return windows_error(failed, "look at", path); }
    return opened_file{};
}

[[nodiscard]] SPOTTER_BODY error no_file(bool folder, std::string_view doing, std::string_view path) noexcept {
    return windows_error(ERROR_BAD_DEVICE, doing, path, folder ? "it is a folder" : "it is a device, no file");
}

[[nodiscard]] SPOTTER_BODY bool is_folder(BY_HANDLE_FILE_INFORMATION const& facts) noexcept {
    return (facts.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
}

[[nodiscard]] SPOTTER_BODY std::uint64_t joined(unsigned long high, unsigned long low) noexcept {
    return std::uint64_t{high} << 32U | std::uint64_t{low};
}

[[nodiscard]] SPOTTER_BODY bool somebody_has_it(unsigned long why) noexcept {
    return why == ERROR_SHARING_VIOLATION || why == ERROR_ACCESS_DENIED;
}

// The byte whose lock stands for the whole file.
[[nodiscard]] SPOTTER_BODY OVERLAPPED locked_byte() noexcept {
    OVERLAPPED at{};
    at.OffsetHigh = 0x7FFFFFFF;
    return at;
}

}  // namespace detail

SPOTTER_BODY result<opened_file> windows_file_system::create(std::string_view path) noexcept {
    return open_file(path, FILE_APPEND_DATA | SYNCHRONIZE, CREATE_NEW, "create");
}

SPOTTER_BODY result<opened_file> windows_file_system::open_append(std::string_view path) noexcept {
    return open_file(path, FILE_APPEND_DATA | SYNCHRONIZE, OPEN_ALWAYS, "open");
}

SPOTTER_BODY error windows_file_system::append(opened_file file, std::span<std::byte const> bytes) noexcept {
    constexpr std::size_t most = std::size_t{1} << 30U;
    while (!bytes.empty()) {
        unsigned long done = 0;
        auto const wanted = static_cast<unsigned long>(bytes.size() < most ? bytes.size() : most);
        bool const good = ::WriteFile(detail::handle_of(file), bytes.data(), wanted, &done, nullptr) != 0;
        if (!good || done == 0) {
            return detail::windows_error(good ? ERROR_DISK_FULL : ::GetLastError(), "write to", "a segment");
        }
        bytes = bytes.subspan(done);
    }
    return {};
}

SPOTTER_BODY error windows_file_system::sync(opened_file file) noexcept {
    if (::FlushFileBuffers(detail::handle_of(file)) != 0) { return {}; }
    return detail::windows_error(::GetLastError(), "sync", "a segment");
}

SPOTTER_BODY error windows_file_system::close(opened_file file) noexcept {
    if (!file.open() || ::CloseHandle(detail::handle_of(file)) != 0) { return {}; }
    return detail::windows_error(::GetLastError(), "close", "a segment");
}

SPOTTER_BODY result<bool> windows_file_system::is_at(opened_file file, std::string_view path) noexcept {
    BY_HANDLE_FILE_INFORMATION open{}, named{};
    bool is_disk = false;
    if (::GetFileInformationByHandle(detail::handle_of(file), &open) == 0) {
        return detail::windows_error(::GetLastError(), "look at", path);
    }
    auto const there = detail::look_at(path, named, is_disk);
    if (!there && there.error().code == errc::not_a_run) { return false; }
    if (!there) { return there.error(); }
    // wine does not report the volume of an open file that was renamed.
    bool const same_volume = open.dwVolumeSerialNumber == named.dwVolumeSerialNumber || open.dwVolumeSerialNumber == 0;
    return is_disk && same_volume && open.nFileIndexHigh == named.nFileIndexHigh &&
           open.nFileIndexLow == named.nFileIndexLow;
}

SPOTTER_BODY result<path_kind> windows_file_system::kind_of(std::string_view path) noexcept {
    BY_HANDLE_FILE_INFORMATION facts{};
    bool is_disk = false;
    auto const there = detail::look_at(path, facts, is_disk);
    if (!there) {
        if (there.error().code != errc::not_a_run) { return there.error(); }
        detail::wide_path name{path};
        return ::GetFileAttributesW(name.get()) == INVALID_FILE_ATTRIBUTES ? path_kind::missing
                                                                           : path_kind::other;  // a dangling link
    }
    if (!is_disk) { return path_kind::other; }
    return detail::is_folder(facts) ? path_kind::folder : path_kind::file;
}

SPOTTER_BODY path_text windows_file_system::absolute(std::string_view path) noexcept {
    path_text const as_given{"", path};
    auto const slash = [&](std::size_t at) { return path.size() > at && (path[at] == '/' || path[at] == '\\'); };
    bool const on_drive = slash(2) && path[1] == ':', on_network = slash(0) && slash(1);
    if (path.empty() || on_drive || on_network) { return as_given; }
    detail::wide_path name{path};
    wchar_t whole[longest_path];
    unsigned long const size = name.good() ? ::GetFullPathNameW(name.get(), longest_path, whole, nullptr) : 0;
    char letters[longest_path];
    int const bytes = size == 0 || size >= longest_path
                          ? 0
                          : ::WideCharToMultiByte(CP_UTF8, 0, whole, static_cast<int>(size), letters,
                                                  static_cast<int>(sizeof letters), nullptr, nullptr);
    if (bytes <= 0) { return as_given; }
    for (int i = 0; i < bytes; ++i) { letters[i] = letters[i] == '\\' ? '/' : letters[i]; }
    return path_text{"", {letters, static_cast<std::size_t>(bytes)}};
}

SPOTTER_BODY result<std::uint64_t> windows_file_system::size_of(std::string_view path) noexcept {
    auto const facts = facts_of(path);
    if (!facts) { return facts.error(); }
    return facts->bytes;
}

SPOTTER_BODY result<file_facts> windows_file_system::facts_of(std::string_view path) noexcept {
    BY_HANDLE_FILE_INFORMATION facts{};
    bool is_disk = false;
    auto const there = detail::look_at(path, facts, is_disk);
    if (!there) { return there.error(); }
    if (!is_disk || detail::is_folder(facts)) { return detail::no_file(is_disk, "look at", path); }
    // Combines volume and file index in one number, which is never 0.
    std::uint64_t const volume = std::uint64_t{facts.dwVolumeSerialNumber} * 0x9E3779B97F4A7C15ULL;
    std::uint64_t const identity = detail::joined(facts.nFileIndexHigh, facts.nFileIndexLow) ^ volume;
    return file_facts{detail::joined(facts.nFileSizeHigh, facts.nFileSizeLow), identity == 0 ? 1 : identity};
}

SPOTTER_BODY error windows_file_system::rename(std::string_view from, std::string_view to) noexcept {
    detail::wide_path old_name{from}, new_name{to};
    if (!old_name.good() || !new_name.good()) {
        return detail::windows_error(ERROR_FILENAME_EXCED_RANGE, "rename", from);
    }
    for (int attempt = 1;; ++attempt) {
        if (::MoveFileExW(old_name.get(), new_name.get(), MOVEFILE_REPLACE_EXISTING) != 0) { return {}; }
        unsigned long const why = ::GetLastError();
        if (!detail::somebody_has_it(why) || attempt == detail::attempts_at_names) {
            return detail::windows_error(why, "rename", from);
        }
        detail::nap(1000);
    }
}

SPOTTER_BODY error windows_file_system::remove(std::string_view path) noexcept {
    detail::wide_path name{path};
    if (!name.good()) { return detail::windows_error(ERROR_FILENAME_EXCED_RANGE, "remove", path); }
    for (int attempt = 1;; ++attempt) {
        if (::DeleteFileW(name.get()) != 0) { return {}; }
        unsigned long const why = ::GetLastError();
        if (!detail::somebody_has_it(why) || attempt == detail::attempts_at_names) {
            return detail::windows_error(why, "remove", path);
        }
        detail::nap(1000);
    }
}

SPOTTER_BODY error windows_file_system::make_folder(std::string_view path) noexcept {
    detail::wide_path name{path};
    if (!name.good()) { return detail::windows_error(ERROR_FILENAME_EXCED_RANGE, "make the folder", path); }
    wchar_t* const letters = name.get();
    unsigned long failed = 0;
    for (std::size_t at = 1;; ++at) {
        wchar_t const here = letters[at];
        if (here != L'\0' && here != L'/' && here != L'\\') { continue; }
        letters[at] = L'\0';
        // An existing parent may refuse for its own reasons (a drive, a share); only the last folder decides.
        failed = ::CreateDirectoryW(letters, nullptr) != 0 ? 0 : ::GetLastError();
        letters[at] = here;
        if (here == L'\0') { break; }
    }
    if (failed == 0) { return {}; }
    auto const there = kind_of(path);
    if (there && *there == path_kind::folder) { return {}; }
    if (there && *there == path_kind::file) { failed = ERROR_DIRECTORY; }
    // Below a file nothing exists, and nothing can be created.
    return detail::windows_error(failed == ERROR_PATH_NOT_FOUND ? ERROR_DIRECTORY : failed, "make the folder", path);
}

SPOTTER_BODY error windows_file_system::list(std::string_view path, name_taker take, void* context) noexcept {
    detail::wide_path pattern{path, "/*"};
    if (!pattern.good()) { return detail::windows_error(ERROR_FILENAME_EXCED_RANGE, "list", path); }
    WIN32_FIND_DATAW each{};
    HANDLE const folder = ::FindFirstFileW(pattern.get(), &each);
    if (folder == INVALID_HANDLE_VALUE) {
        unsigned long const why = ::GetLastError();
        auto const there = kind_of(path);
        return detail::windows_error(there && *there == path_kind::file ? ERROR_DIRECTORY : why, "list", path);
    }
    unsigned long failed = 0;
    do {
        char letters[3 * MAX_PATH];
        int const size = ::WideCharToMultiByte(CP_UTF8, 0, each.cFileName, -1, letters,
                                               static_cast<int>(sizeof letters), nullptr, nullptr);
        std::string_view const name{letters, size > 0 ? static_cast<std::size_t>(size - 1) : 0};
        if (!name.empty() && name != "." && name != ".." && !take(context, name)) { break; }
        failed = ::FindNextFileW(folder, &each) != 0 ? 0 : ::GetLastError();
    } while (failed == 0);
    (void)::FindClose(folder);
    return failed == 0 || failed == ERROR_NO_MORE_FILES ? error{} : detail::windows_error(failed, "list", path);
}

SPOTTER_BODY result<std::size_t> windows_file_system::read(std::string_view path, std::uint64_t from,
                                                           std::span<std::byte> into) noexcept {
    auto const file = open_file(path, GENERIC_READ, OPEN_EXISTING, "read");
    if (!file) { return file.error(); }
    constexpr std::size_t most = std::size_t{1} << 30U;
    std::size_t done = 0;
    unsigned long failed = 0;
    while (done < into.size() && failed == 0) {
        OVERLAPPED at{};
        at.Offset = static_cast<unsigned long>((from + done) & 0xFFFFFFFFU);
        at.OffsetHigh = static_cast<unsigned long>((from + done) >> 32U);
        std::size_t const left = into.size() - done;
        unsigned long some = 0;
        if (::ReadFile(detail::handle_of(*file), into.data() + done,
                       static_cast<unsigned long>(left < most ? left : most), &some, &at) == 0) {
            failed = ::GetLastError();
        }
        if (failed == ERROR_HANDLE_EOF) { failed = 0, some = 0; }
        if (some == 0) { break; }
        done += some;
    }
    drop(*file);
    if (failed != 0) { return detail::windows_error(failed, "read", path); }
    return done;
}

SPOTTER_BODY result<file_mapping> windows_file_system::map(std::string_view path) noexcept {
    auto const file = open_file(path, GENERIC_READ, OPEN_EXISTING, "open");
    if (!file) { return file.error(); }
    LARGE_INTEGER size{};
    unsigned long failed = ::GetFileSizeEx(detail::handle_of(*file), &size) != 0 ? 0 : ::GetLastError();
    auto const bytes = static_cast<std::uint64_t>(size.QuadPart);
    if (failed == 0 && bytes > SIZE_MAX / 2) { failed = ERROR_FILE_TOO_LARGE; }
    file_mapping mapping{};
    if (failed == 0 && bytes > 0) {
        HANDLE const section = ::CreateFileMappingW(detail::handle_of(*file), nullptr, PAGE_READONLY,
                                                    size.HighPart < 0 ? 0 : static_cast<unsigned long>(size.HighPart),
                                                    size.LowPart, nullptr);
        void const* const at = section == nullptr
                                   ? nullptr
                                   : ::MapViewOfFile(section, FILE_MAP_READ, 0, 0, static_cast<std::size_t>(bytes));
        if (at == nullptr) { failed = ::GetLastError(); }
        if (section != nullptr) { (void)::CloseHandle(section); }
        if (at != nullptr) { mapping.bytes = {static_cast<std::byte const*>(at), static_cast<std::size_t>(bytes)}; }
    }
    drop(*file);
    if (failed != 0) { return detail::windows_error(failed, "map", path); }
    return mapping;
}

SPOTTER_BODY void windows_file_system::unmap(file_mapping mapping) noexcept {
    if (!mapping.bytes.empty()) { (void)::UnmapViewOfFile(mapping.bytes.data()); }
}

SPOTTER_BODY result<opened_file> windows_file_system::lock(std::string_view path) noexcept {
    auto const file = open_file(path, GENERIC_READ | GENERIC_WRITE, OPEN_ALWAYS, "open");
    if (!file) { return file.error(); }
    unsigned long const failed = take_whole_lock(*file);
    if (failed == 0) { return opened_file{*file}; }
    drop(*file);
    return detail::windows_error(failed, "lock", path);
}

SPOTTER_BODY void windows_file_system::unlock(opened_file held) noexcept {
    if (!held.open()) { return; }
    OVERLAPPED at = detail::locked_byte();
    (void)::UnlockFileEx(detail::handle_of(held), 0, 1, 0, &at);
    drop(held);
}

SPOTTER_BODY result<bool> windows_file_system::is_locked(std::string_view path) noexcept {
    auto const file = open_file(path, GENERIC_READ, OPEN_EXISTING, "open");
    if (!file) {
        if (file.error().code == errc::not_a_run) { return false; }
        return file.error();
    }
    unsigned long const failed = take_lock(*file, 0);
    if (failed == 0) {
        OVERLAPPED at = detail::locked_byte();
        (void)::UnlockFileEx(detail::handle_of(*file), 0, 1, 0, &at);
    }
    drop(*file);
    if (failed != 0 && failed != ERROR_LOCK_VIOLATION) {
        return detail::windows_error(failed, "ask for the lock", path);
    }
    return failed != 0;
}

SPOTTER_BODY unsigned long windows_file_system::take_lock(opened_file file, unsigned long how) noexcept {
    OVERLAPPED at = detail::locked_byte();
    bool const good = ::LockFileEx(detail::handle_of(file), how | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at) != 0;
    unsigned long const failed = good ? 0 : ::GetLastError();
    return failed == ERROR_IO_PENDING ? ERROR_LOCK_VIOLATION : failed;
}

SPOTTER_BODY unsigned long windows_file_system::take_whole_lock(opened_file file) noexcept {
    // A reader that only checks holds it for microseconds; a writer holds it for good.
    unsigned long failed = take_lock(file, LOCKFILE_EXCLUSIVE_LOCK);
    for (int attempt = 0; failed == ERROR_LOCK_VIOLATION && attempt < detail::attempts_at_names; ++attempt) {
        detail::nap(1000);
        failed = take_lock(file, LOCKFILE_EXCLUSIVE_LOCK);
    }
    return failed;
}

SPOTTER_BODY void windows_file_system::drop(opened_file file) noexcept {
    if (file.open()) { (void)::CloseHandle(detail::handle_of(file)); }
}

SPOTTER_BODY result<opened_file> windows_file_system::open_file(std::string_view path, unsigned long access,
                                                                unsigned long creation, std::string_view doing,
                                                                unsigned long kind) noexcept {
    detail::wide_path name{path};
    if (!name.good()) { return detail::windows_error(ERROR_FILENAME_EXCED_RANGE, doing, path); }
    HANDLE const at = ::CreateFileW(name.get(), access, detail::shared_with_all, nullptr, creation,
                                    kind != 0 ? kind : FILE_ATTRIBUTE_NORMAL, nullptr);
    if (at == INVALID_HANDLE_VALUE) {
        unsigned long const why = ::GetLastError();
        BY_HANDLE_FILE_INFORMATION facts{};
        bool is_disk = false;
        bool const folder =
            why == ERROR_ACCESS_DENIED && detail::look_at(path, facts, is_disk) && is_disk && detail::is_folder(facts);
        return folder ? detail::no_file(true, doing, path) : detail::windows_error(why, doing, path);
    }
    opened_file const file{static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(at))};
    if (::GetFileType(at) == FILE_TYPE_DISK) { return file; }
    drop(file);
    return detail::no_file(false, doing, path);
}

// Memory that outlives its process.

namespace detail {

// By the clock. If the clock is set forward after a start, files from before that look older than they are, and count
// as gone by mistake.
[[nodiscard]] SPOTTER_BODY bool made_before_start(FILETIME made) noexcept {
    FILETIME now{};
    ::GetSystemTimeAsFileTime(&now);
    constexpr std::uint64_t ticks_per_millisecond = 10'000;
    std::uint64_t const running = ::GetTickCount64() * ticks_per_millisecond;
    return joined(made.dwHighDateTime, made.dwLowDateTime) + running < joined(now.dwHighDateTime, now.dwLowDateTime);
}

}  // namespace detail

SPOTTER_BODY result<shared_memory> windows_file_system::create_shared(std::string_view name,
                                                                      std::uint64_t bytes) noexcept {
    path_text folder;
    error why = find_shared_folder(folder);
    if (!why) { why = make_folder(folder); }
    if (why) { return why; }
    path_text const path{folder, name};
    constexpr unsigned long kind = FILE_ATTRIBUTE_TEMPORARY | FILE_ATTRIBUTE_NOT_CONTENT_INDEXED;
    auto const file = open_file(path, GENERIC_READ | GENERIC_WRITE, CREATE_NEW, "create", kind);
    if (!file) { return file.error(); }
    auto memory = map_shared(*file, bytes, path);
    if (!memory) { (void)remove(path); }
    return memory;
}

SPOTTER_BODY result<shared_memory> windows_file_system::open_shared(std::string_view name) noexcept {
    path_text folder;
    if (error const why = find_shared_folder(folder)) { return why; }
    path_text const path{folder, name};
    auto const file = open_file(path, GENERIC_READ | GENERIC_WRITE, OPEN_EXISTING, "open");
    if (!file) { return file.error(); }
    BY_HANDLE_FILE_INFORMATION facts{};
    unsigned long const failed =
        ::GetFileInformationByHandle(detail::handle_of(*file), &facts) != 0 ? 0 : ::GetLastError();
    if (failed == 0 && !detail::made_before_start(facts.ftCreationTime)) {
        return map_shared(*file, detail::joined(facts.nFileSizeHigh, facts.nFileSizeLow), path);
    }
    drop(*file);
    if (failed != 0) { return detail::windows_error(failed, "look at", path); }
    return detail::windows_error(ERROR_FILE_NOT_FOUND, "open", path, "it is older than the machine's last start");
}

SPOTTER_BODY void windows_file_system::unmap_shared(shared_memory memory) noexcept {
    if (!memory.bytes.empty()) { (void)::UnmapViewOfFile(memory.bytes.data()); }
    unlock(memory.lock);
}

SPOTTER_BODY error windows_file_system::remove_shared(std::string_view name) noexcept {
    path_text folder;
    error const why = find_shared_folder(folder);
    return why ? why : remove(path_text{folder, name});
}

SPOTTER_BODY error windows_file_system::find_shared_folder(path_text& folder) noexcept {
    wchar_t place[MAX_PATH];
    char letters[3 * MAX_PATH];
    unsigned long const size = ::GetEnvironmentVariableW(L"LOCALAPPDATA", place, MAX_PATH);
    int const made = size == 0 || size >= MAX_PATH
                         ? 0
                         : ::WideCharToMultiByte(CP_UTF8, 0, place, static_cast<int>(size), letters,
                                                 static_cast<int>(sizeof letters), nullptr, nullptr);
    if (made <= 0) {
        return {errc::unwritable, "there is no place for shared memory: the variable LOCALAPPDATA names no folder"};
    }
    folder = path_text{std::string_view{letters, static_cast<std::size_t>(made)}, "Temp"};
    return {};
}

SPOTTER_BODY result<shared_memory> windows_file_system::map_shared(opened_file file, std::uint64_t bytes,
                                                                   std::string_view path) noexcept {
    shared_memory memory{{}, file};
    unsigned long failed = take_whole_lock(file);
    if (failed == 0 && bytes > SIZE_MAX / 2) { failed = ERROR_FILE_TOO_LARGE; }
    if (failed == 0 && bytes > 0) {
        // Sets the file's length and allocates it on the disk: a full disk is an error here.
        HANDLE const section = ::CreateFileMappingW(detail::handle_of(file), nullptr, PAGE_READWRITE,
                                                    static_cast<unsigned long>(bytes >> 32U),
                                                    static_cast<unsigned long>(bytes & 0xFFFFFFFFU), nullptr);
        void* const at = section == nullptr
                             ? nullptr
                             : ::MapViewOfFile(section, FILE_MAP_WRITE, 0, 0, static_cast<std::size_t>(bytes));
        if (at == nullptr) { failed = ::GetLastError(); }
        if (section != nullptr) { (void)::CloseHandle(section); }
        if (at != nullptr) { memory.bytes = {static_cast<std::byte*>(at), static_cast<std::size_t>(bytes)}; }
    }
    if (failed == 0) { return memory; }
    drop(file);
    return detail::windows_error(failed, "map", path);
}

}  // namespace spotter::inline SPOTTER_ABI
