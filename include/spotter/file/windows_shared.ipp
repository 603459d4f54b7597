// SPDX-License-Identifier: Apache-2.0
// The bodies of windows.hpp for memory that outlives its process.
#pragma once

#include <spotter/file/windows.hpp>
#include <spotter/file/windows_api.hpp>

namespace spotter::inline SPOTTER_ABI {

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
