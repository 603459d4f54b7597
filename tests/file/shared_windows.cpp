// SPDX-License-Identifier: Apache-2.0
// Windows: shared memory that outlives its process.
#if defined(_WIN32)

#include <spotter/file/system.hpp>

#include <tests/catch.hpp>
#include <tests/file/left_shared.hpp>
#include <tests/this_program.hpp>

#include <cstdint>

using namespace spotter;
using namespace spotter_test;

namespace {

// A free name: memory that an earlier process with this number left is removed.
std::string a_name() {
    std::string const name = "spotter-test-" + std::to_string(::GetCurrentProcessId());
    (void)windows_file_system{}.remove_shared(name);
    return name;
}

}  // namespace

TEST_CASE("a process that dies with shared memory", "[.]") {
    windows_file_system files;
    auto const mine = files.create_shared(reported(), 8192);
    REQUIRE(mine);
    REQUIRE(files.create_shared(reported(), 8192).error().code == errc::exists);
    mine->bytes[8191] = std::byte{77};
    die();
}

TEST_CASE("shared memory stays when its process is killed, is busy while it is open, and goes when it is removed") {
    windows_file_system files;
    std::string const name = a_name();
    CHECK(files.open_shared(name).error().code == errc::not_a_run);
    this_program_again child{"a process that dies with shared memory", name};
    REQUIRE(child.started());
    CHECK(child.wait() == this_program_again::killed_with);
    check_left_shared(files, name, std::uint64_t{1} << 62);
}

TEST_CASE("shared memory that its maker left empty is opened as such, and what is older than the machine's last start "
          "is gone") {
    windows_file_system files;
    std::string const name = a_name(), path = std::string{std::getenv("LOCALAPPDATA")} + "/Temp/" + name;
    auto const made = files.create_shared(name, 0);
    REQUIRE(made);
    files.unmap_shared(*made);
    auto const empty = files.open_shared(name);
    REQUIRE(empty);
    CHECK(empty->bytes.empty());
    files.unmap_shared(*empty);

    HANDLE const file = ::CreateFileA(path.c_str(), FILE_WRITE_ATTRIBUTES, 0, nullptr, OPEN_EXISTING, 0, nullptr);
    REQUIRE(file != INVALID_HANDLE_VALUE);
    FILETIME now{};
    ::GetSystemTimeAsFileTime(&now);
    std::uint64_t const hour = 36'000'000'000ULL;
    auto const set_age = [&](std::uint64_t age) {
        std::uint64_t const at = (std::uint64_t{now.dwHighDateTime} << 32U | now.dwLowDateTime) - age;
        FILETIME const time{static_cast<DWORD>(at & 0xFFFFFFFFU), static_cast<DWORD>(at >> 32U)};
        REQUIRE(::SetFileTime(file, &time, &time, &time) != 0);
    };
    std::uint64_t const running = ::GetTickCount64() * 10'000;
    set_age(running + hour);
    CHECK(files.open_shared(name).error().code == errc::not_a_run);
    set_age(running / 2);
    auto const again = files.open_shared(name);
    CHECK(again);
    if (again) { files.unmap_shared(*again); }
    CHECK(::CloseHandle(file) != 0);
    CHECK_FALSE(files.remove_shared(name));
}

#endif
