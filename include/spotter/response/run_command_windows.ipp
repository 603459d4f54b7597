// SPDX-License-Identifier: Apache-2.0
// The bodies of run_command.hpp for Windows: runs cmd.exe without waiting. Its handle gives the exit status.
#pragma once

#include <spotter/file/windows_api.hpp>
#include <spotter/file/windows_process.hpp>
#include <spotter/response/run_command.hpp>

#include <cstdint>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Only 32 bits of a handle are significant, also where pointers have 64.
[[nodiscard]] SPOTTER_BODY HANDLE handle_of_number(int number) noexcept {
    return reinterpret_cast<HANDLE>(static_cast<std::intptr_t>(number));
}

}  // namespace detail

SPOTTER_BODY error run_command::operator()(finding const& found, finding_origin const& from) const noexcept {
    int status = -1;
    error const why = start(found, from, status);
    if (!why) { (void)::CloseHandle(detail::handle_of_number(status)); }
    return why;
}

SPOTTER_BODY error run_command::start(finding const& found, finding_origin const& from, int& status) const noexcept {
    if (error const why = unfit()) { return why; }
    std::string_view const one = command.substr(0, command.find_last_not_of(" \t\r\n") + 1);
    if (one.find_first_of("\r\n") != one.npos) {
        return {errc::bad_config, "the command has several lines, and cmd.exe would run only the first: join them with "
                                  "&, or put them into a script"};
    }
    // cmd.exe removes the outer quotes (/s) and keeps the text between them.
    constexpr std::wstring_view before = L"cmd.exe /d /s /c \"";
    wchar_t line[before.size() + longest + 2];
    before.copy(line, before.size());
    int const made = ::MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, one.data(), static_cast<int>(one.size()),
                                           line + before.size(), static_cast<int>(longest));
    if (made <= 0) { return {errc::bad_config, "the command is no UTF-8"}; }
    std::size_t const end = before.size() + static_cast<std::size_t>(made);
    line[end] = L'"', line[end + 1] = L'\0';
    constexpr std::wstring_view shell = L"\\cmd.exe";
    wchar_t program[MAX_PATH + shell.size() + 1];
    std::size_t const folder = ::GetSystemDirectoryW(program, MAX_PATH);
    if (folder == 0 || folder > MAX_PATH) { return refused("find cmd.exe for", ERROR_PATH_NOT_FOUND); }
    shell.copy(program + folder, shell.size());
    program[folder + shell.size()] = L'\0';

    // Writes the finding before anyone reads: a pipe holds far more than a line.
    constexpr unsigned long pipe_bytes = 64U << 10U;
    static_assert(sizeof(finding_line) < pipe_bytes);
    detail::windows_handle read, write, process, thread;
    if (::CreatePipe(read.put(), write.put(), nullptr, pipe_bytes) == 0) {
        return refused("open a pipe for", ::GetLastError());
    }
    finding_line const json = json_of(found, from);
    auto const size = static_cast<unsigned long>(json.view().size());
    unsigned long written = 0;
    if (::WriteFile(write.get(), json.view().data(), size, &written, nullptr) == 0 || written != size) {
        return refused("write to", ::GetLastError());
    }
    write.close();
    detail::windows_start asked{};
    asked.line = line, asked.program = program;
    asked.input = read.get(), asked.output = detail::own_standard_handle(STD_OUTPUT_HANDLE);
    if (unsigned long const failed = detail::start_process(asked, process, thread); failed != 0) {
        return refused("start", failed);
    }
    status = static_cast<int>(reinterpret_cast<std::intptr_t>(process.release()));
    return {};
}

SPOTTER_BODY bool run_command::has_ended(pending_response const& it, bool last, error& why) noexcept {
    HANDLE const process = detail::handle_of_number(it.descriptor);
    bool const ended = ::WaitForSingleObject(process, 0) == WAIT_OBJECT_0;
    unsigned long code = 0;
    if (ended && ::GetExitCodeProcess(process, &code) != 0) { tell(code, it.what, why); }
    if (ended || last) { (void)::CloseHandle(process); }
    return ended;
}

SPOTTER_BODY void run_command::tell(unsigned long code, std::string_view command_line, error& why) noexcept {
    if (code == 0) { return; }
    why.code = errc::io_error;
    why.what << '"' << command_line.substr(0, 80) << "\" ";
    why.what << "ended with " << static_cast<std::int32_t>(code);
    if (std::string_view const crash = detail::crash_of(code); !crash.empty()) { why.what << ": " << crash; }
    if (code == 9009) { why.what << ": there is no such command"; }
}

SPOTTER_BODY error run_command::refused(std::string_view what, unsigned long why) const noexcept {
    error failure{errc::io_error, "could not "};
    failure.what << what << " \"" << command.substr(0, 80) << "\": error " << why << " of Windows";
    return failure;
}

}  // namespace spotter::inline SPOTTER_ABI
