// SPDX-License-Identifier: Apache-2.0
// What only the POSIX file system does: forks, locks, shared memory between processes.
#include <spotter/file/posix.hpp>

#include <tests/catch.hpp>
#include <tests/file/left_shared.hpp>
#include <tests/temporary_folder.hpp>
#include <tests/words.hpp>

#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>

using namespace spotter;
using spotter_test::bytes_in;
using spotter_test::temporary_folder;

TEST_CASE("a file beyond 4 GiB is measured and read; mapped whole where a program can name so much memory, and refused "
          "by name elsewhere") {
    temporary_folder const folder;
    posix_file_system files;
    std::string const path = folder / "file";
    CHECK_FALSE(files.close(*files.create(path)));
    constexpr std::uint64_t large = 5ULL << 30U;
    std::error_code why;
    std::filesystem::resize_file(path, large, why);  // a hole
    if (why) { SPOTTER_SKIP("this disk takes no file of 5 GiB"); }
    auto const file = files.open_append(path);
    CHECK_FALSE(files.append(*file, bytes_in("end")));
    CHECK_FALSE(files.close(*file));
    CHECK(*files.size_of(path) == large + 3);
    std::byte some[8];
    CHECK(*files.read(path, large - 1, some) == 4);
    CHECK((some[0] == std::byte{0} && some[1] == std::byte{'e'}));
    auto const mapping = files.map(path);
    if constexpr (sizeof(void*) == 8) {
        REQUIRE(mapping);
        CHECK(mapping->bytes[static_cast<std::size_t>(large)] == std::byte{'e'});
        files.unmap(*mapping);
    } else {
        CHECK(mapping.error().code == errc::io_error);
        CHECK(spotter_test::says(mapping.error(), "larger than the memory that a 32-bit program can name"));
    }
}

TEST_CASE("a disk that is full has its name") {
    posix_file_system files;
    auto const full = files.open_append("/dev/full");
    if (!full) { SPOTTER_SKIP("there is no /dev/full here"); }
    CHECK(files.append(*full, bytes_in("x")).code == errc::disk_full);
    CHECK_FALSE(files.close(*full));
}

TEST_CASE("a lock excludes everyone else, also in the same process, until it is given back or its holder dies") {
    temporary_folder const folder;
    posix_file_system files;
    std::string const path = folder / "lock";
    CHECK_FALSE(*files.is_locked(path));
    auto const held = files.lock(path);
    REQUIRE(held);
    CHECK(*files.is_locked(path));
    CHECK(files.lock(path).error().code == errc::busy);
    files.unlock(*held);
    CHECK_FALSE(*files.is_locked(path));

    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    pid_t const child = ::fork();
    if (child == 0) {
        bool const good = files.lock(path).has_value();
        (void)!::write(ready[1], good ? "y" : "n", 1);
        for (;;) { ::pause(); }
    }
    char letter = 0;
    REQUIRE(::read(ready[0], &letter, 1) == 1);
    CHECK(letter == 'y');
    CHECK(*files.is_locked(path));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    CHECK_FALSE(*files.is_locked(path));
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST_CASE("a fork knows that it is one") {
    fork_guard const guard;
    CHECK_FALSE(guard.in_child());
    pid_t const child = ::fork();
    if (child == 0) { ::_exit(guard.in_child() ? 7 : 1); }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WEXITSTATUS(status) == 7);
    CHECK_FALSE(guard.in_child());
}

TEST_CASE("shared memory stays when its process is killed, is busy while it is open, and goes when it is removed") {
    posix_file_system files;
    if (*files.kind_of("/dev/shm") != path_kind::folder) { SPOTTER_SKIP("there is no /dev/shm here"); }
    std::string const name = "spotter-test-" + std::to_string(::getpid());
    CHECK(files.open_shared(name).error().code == errc::not_a_run);
    pid_t const child = ::fork();
    if (child == 0) {
        auto const mine = files.create_shared(name, 8192);
        if (mine && files.create_shared(name, 8192).error().code == errc::exists) {
            mine->bytes[8191] = std::byte{77};
            ::raise(SIGKILL);
        }
        ::_exit(1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK(WIFSIGNALED(status));
    spotter_test::check_left_shared(files, name, std::uint64_t{1} << 45);
}

TEST_CASE("memory that is made ready is as it was, and meets no page fault when it is written to") {
    auto const page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    constexpr std::size_t pages = 64;
    std::size_t const bytes = pages * page;
    auto const mapped = [&](int protection) {
        void* const at = ::mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        REQUIRE(at != MAP_FAILED);
        return std::span{static_cast<std::byte*>(at), bytes};
    };
    std::span<std::byte> const memory = mapped(PROT_READ | PROT_WRITE);
    memory[10] = std::byte{77};
    // From the middle of a page to the middle of another.
    bool const good = make_ready(memory.subspan(8, bytes - page));
    CHECK(memory[10] == std::byte{77});
    std::span<std::byte> const constant = mapped(PROT_READ);
    CHECK_FALSE(make_ready(constant));
    if (good) {
        std::vector<unsigned char> there(pages);
        REQUIRE(::mincore(memory.data(), bytes, there.data()) == 0);
        CHECK(std::count(there.begin(), there.end(), 1) == pages);
    }
    ::munmap(memory.data(), bytes);
    ::munmap(constant.data(), bytes);
    if (!good) { SPOTTER_SKIP("this system makes no pages ready (Linux before 5.14)"); }
}
