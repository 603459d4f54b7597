// SPDX-License-Identifier: Apache-2.0
// The POSIX file system: what it does, and the name of what goes wrong.
#include <spotter/file/posix.hpp>

#include <tests/catch.hpp>
#include <tests/temporary_folder.hpp>
#include <tests/words.hpp>

#include <algorithm>
#include <set>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>

using namespace spotter;
using spotter_test::temporary_folder;

namespace {}  // namespace

TEST_CASE("a file is created once, appended to, sized, mapped, renamed and removed") {
    temporary_folder const folder;
    posix_file_system files;
    std::string const path = folder / "a/b/c/file";
    REQUIRE_FALSE(files.make_folder(folder / "a/b/c"));
    REQUIRE_FALSE(files.make_folder(folder / "a/b/c"));
    auto const file = files.create(path);
    REQUIRE(file);
    CHECK(files.create(path).error().code == errc::exists);
    CHECK(files.map(path)->bytes.empty());
    CHECK_FALSE(files.append(*file, bytes_in("hello ")));
    CHECK_FALSE(files.append(*file, {}));
    CHECK_FALSE(files.append(*file, bytes_in("world")));
    CHECK_FALSE(files.sync(*file));
    CHECK_FALSE(files.close(*file));
    auto const again = files.open_append(path);
    REQUIRE(again);
    CHECK_FALSE(files.append(*again, bytes_in("!")));
    CHECK_FALSE(files.close(*again));
    CHECK(*files.size_of(path) == 12);
    CHECK(files.facts_of(path)->bytes == 12);
    auto const mapping = files.map(path);
    REQUIRE(mapping);
    CHECK(std::memcmp(mapping->bytes.data(), "hello world!", 12) == 0);
    files.unmap(*mapping);
    CHECK(*files.kind_of(path) == path_kind::file);
    CHECK(*files.kind_of(folder / "a") == path_kind::folder);
    CHECK_FALSE(files.rename(path, folder / "a/other"));
    CHECK(*files.kind_of(path) == path_kind::missing);
    CHECK_FALSE(files.remove(folder / "a/other"));
    CHECK(files.remove(folder / "a/other").code == errc::not_a_run);
}

TEST_CASE("a folder lists every name once, and stops when told to") {
    temporary_folder const folder;
    posix_file_system files;
    REQUIRE_FALSE(files.make_folder(folder / "d"));
    for (char const* name : {"d/one", "d/two", "d/three"}) { CHECK_FALSE(files.close(*files.create(folder / name))); }
    std::set<std::string> names;
    auto const take = [](void* context, std::string_view name) {
        static_cast<std::set<std::string>*>(context)->insert(std::string{name});
        return true;
    };
    CHECK_FALSE(files.list(folder / "d", take, &names));
    CHECK(names == std::set<std::string>{"one", "two", "three"});
    int count = 0;
    CHECK_FALSE(files.list(
        folder / "d",
        [](void* context, std::string_view) {
            ++*static_cast<int*>(context);
            return false;
        },
        &count));
    CHECK(count == 1);
    CHECK(files.list(folder / "none", take, &names).code == errc::not_a_run);
}

TEST_CASE("what cannot be has a name and a sentence with the path") {
    temporary_folder const folder;
    posix_file_system files;
    CHECK_FALSE(files.close(*files.create(folder / "file")));
    error const why = files.make_folder(folder / "file/below");
    CHECK(why.code == errc::unwritable);
    CHECK(why.what.view().find("file/below") != std::string_view::npos);
    CHECK(files.make_folder(folder / "file").code == errc::unwritable);
    CHECK(*files.kind_of(folder / "file/below") == path_kind::missing);
    CHECK(files.create(folder / "missing/file").error().code == errc::not_a_run);
    CHECK(files.map(folder / "").error().code == errc::unwritable);
    std::string const deep(5000, 'x');
    CHECK(files.create(deep).error().code == errc::unwritable);
    CHECK(files.kind_of(deep).error().code == errc::unwritable);
    CHECK(files.create(std::string_view{"a\0b", 3}).error().code == errc::unwritable);
    auto const full = files.open_append("/dev/full");
    if (full) {
        CHECK(files.append(*full, bytes_in("x")).code == errc::disk_full);
        CHECK_FALSE(files.close(*full));
    }
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

TEST_CASE(
    "shared memory stays when its process is killed, is busy while somebody has it, and goes when it is removed") {
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
    auto const found = files.open_shared(name);
    REQUIRE(found);
    CHECK((found->bytes.size() == 8192 && found->bytes[0] == std::byte{0} && found->bytes[8191] == std::byte{77}));
    CHECK(files.open_shared(name).error().code == errc::busy);
    files.unmap_shared(*found);
    CHECK_FALSE(files.remove_shared(name));
    CHECK(files.remove_shared(name).code == errc::not_a_run);
    // More than there is: an error now, no signal later.
    CHECK(files.create_shared(name, std::uint64_t{1} << 45).error().code != errc::none);
    CHECK(files.open_shared(name).error().code == errc::not_a_run);
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
    // From amid a page to amid another.
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
