// SPDX-License-Identifier: Apache-2.0
// Other things than files in a file's place: pipes, devices, folders, sockets and links are refused without waiting,
// and named.
#include <spotter/file/memory.hpp>
#include <spotter/file/system.hpp>

#include <tests/catch.hpp>
#include <tests/temporary_folder.hpp>
#include <tests/words.hpp>

#include <atomic>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__linux__)
#include <sched.h>
#include <sys/mount.h>
#endif

using namespace spotter;
using spotter_test::bytes_in;
using spotter_test::says;
using spotter_test::temporary_folder;

namespace {

void make_socket(std::string const& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    int const one = ::socket(AF_UNIX, SOCK_STREAM, 0);
    REQUIRE(::bind(one, reinterpret_cast<sockaddr const*>(&address), sizeof address) == 0);
    ::close(one);
}

// Ends the process after 20 s, if a call waits after all.
class time_limit {
public:
    time_limit() { ::alarm(20); }
    time_limit(time_limit const&) = delete;
    time_limit& operator=(time_limit const&) = delete;
    ~time_limit() { ::alarm(0); }
};

}  // namespace

TEST_CASE("what is no file is refused by name and at once, whichever call meets it") {
    time_limit const limit;
    temporary_folder const folder;
    posix_file_system files;
    REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
    REQUIRE_FALSE(files.make_folder(folder / "folder"));
    std::filesystem::create_symlink("/dev/zero", folder / "device");
    std::filesystem::create_symlink(folder / "nowhere", folder / "dangling");
    std::filesystem::create_symlink(folder / "round", folder / "round");
    make_socket(folder / "socket");
    struct expected {
        char const* name;
        path_kind kind;
        char const* word;
    };
    for (auto const& [name, kind, word] :
         {expected{"pipe", path_kind::other, "pipe"}, expected{"folder", path_kind::folder, "folder"},
          expected{"device", path_kind::other, "device"}, expected{"socket", path_kind::other, "no file"}}) {
        INFO(name);
        std::string const path = folder / name;
        CHECK(files.kind_of(path).value() == kind);
        std::byte some[8];
        for (error const& why : {files.map(path).error(), files.read(path, 0, some).error(), files.lock(path).error(),
                                 files.is_locked(path).error()}) {
            CHECK(why.code == errc::unwritable);
            CHECK((says(why, name) && says(why, word)));
        }
        CHECK(files.size_of(path).error().code == errc::unwritable);
        CHECK(files.facts_of(path).error().code == errc::unwritable);
        CHECK(files.create(path).error().code == errc::exists);
    }
    CHECK(files.open_append(folder / "pipe").error().code == errc::unwritable);  // without a reader
    CHECK(files.open_append(folder / "folder").error().code == errc::unwritable);
    for (char const* name : {"dangling", "round"}) {
        INFO(name);
        CHECK(files.kind_of(folder / name).value() == path_kind::other);
        error const why = files.lock(folder / name).error();
        CHECK((why.code == errc::unwritable && says(why, "link")));
        CHECK(files.create(folder / name).error().code == errc::exists);
        CHECK(files.map(folder / name).error().code != errc::none);
    }
    CHECK(files.kind_of(folder / "nowhere").value() == path_kind::missing);  // the link did not create its target
    CHECK_FALSE(files.remove(folder / "dangling"));
}

TEST_CASE("a link to a file is that file: it is read, and it is locked") {
    temporary_folder const folder;
    posix_file_system files;
    auto const held = files.lock(folder / "lock");
    REQUIRE(held);
    std::filesystem::create_symlink(folder / "lock", folder / "link");
    CHECK(files.kind_of(folder / "link").value() == path_kind::file);
    CHECK(files.is_locked(folder / "link").value());
    CHECK(files.lock(folder / "link").error().code == errc::busy);
    CHECK(files.is_at(*held, folder / "link").value());
    files.unlock(*held);
}

TEST_CASE("some bytes of a file are read, and no more than there are") {
    temporary_folder const folder;
    posix_file_system real;
    memory_file_system memory;
    REQUIRE_FALSE(memory.make_folder(folder / ""));
    for (file_system* const files : {static_cast<file_system*>(&real), static_cast<file_system*>(&memory)}) {
        std::string const path = folder / "file";
        auto const file = files->create(path);
        REQUIRE(file);
        REQUIRE_FALSE(files->append(*file, bytes_in("0123456789")));
        char some[4];
        auto const into = std::as_writable_bytes(std::span{some});
        CHECK(files->read(path, 0, into).value() == 4);
        CHECK(std::string_view{some, 4} == "0123");
        CHECK(files->read(path, 8, into).value() == 2);
        CHECK(std::string_view{some, 2} == "89");
        CHECK(files->read(path, 10, into).value() == 0);
        CHECK(files->read(path, 1ULL << 40, into).value() == 0);
        CHECK(files->read(path, 0, {}).value() == 0);
        CHECK(files->read(folder / "none", 0, into).error().code == errc::not_a_run);
        CHECK_FALSE(files->close(*file));
    }
}

TEST_CASE("an open file knows whether it still has its name") {
    temporary_folder const folder;
    posix_file_system real;
    memory_file_system memory;
    REQUIRE_FALSE(memory.make_folder(folder / ""));
    for (file_system* const files : {static_cast<file_system*>(&real), static_cast<file_system*>(&memory)}) {
        std::string const path = folder / "file";
        auto const file = files->create(path);
        REQUIRE(file);
        REQUIRE_FALSE(files->append(*file, bytes_in("old")));
        CHECK(files->is_at(*file, path).value());
        CHECK_FALSE(files->is_at(*file, folder / "none").value());
        auto const other = files->create(folder / "other");
        REQUIRE(other);
        CHECK_FALSE(files->close(*other));
        REQUIRE_FALSE(files->rename(folder / "other", path));
        CHECK_FALSE(files->is_at(*file, path).value());
        REQUIRE_FALSE(files->remove(path));
        CHECK_FALSE(files->is_at(*file, path).value());
        CHECK_FALSE(files->close(*file));
    }
}

TEST_CASE("closing says what went wrong, and a folder can be brought to the disk") {
    temporary_folder const folder;
    posix_file_system files;
    CHECK_FALSE(files.sync_folder(folder / ""));
    CHECK(files.sync_folder(folder / "none").code == errc::not_a_run);
    CHECK_FALSE(files.close({}));
    auto const file = files.create(folder / "file");
    REQUIRE(file);
    CHECK_FALSE(files.close(*file));
    error const twice = files.close(*file);  // no other thread has opened a file since
    CHECK((twice.code == errc::io_error && says(twice, "close")));
}

TEST_CASE("the owner of a lock is named: this process, or another with its number") {
    temporary_folder const folder;
    posix_file_system files;
    if (*files.kind_of("/proc/self/fd") != path_kind::folder) { SPOTTER_SKIP("there is no /proc here"); }
    std::string const path = folder / "lock";
    auto const held = files.lock(path);
    REQUIRE(held);
    CHECK(says(files.lock(path).error(), "this process"));
    pid_t const child = ::fork();  // it inherits the lock's file and lives until it is killed
    if (child == 0) {
        for (;;) { ::pause(); }
    }
    files.leave_lock(*held);  // closes the file without unlocking, as the end of this process does
    error const why = files.lock(path).error();
    CHECK(why.code == errc::busy);
    CHECK(says(why, "process " + std::to_string(child) + " has it locked"));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    CHECK_FALSE(files.is_locked(path).value());
}

TEST_CASE("a forked child leaves a lock to its parent, who keeps it; the parent's end frees it") {
    temporary_folder const folder;
    posix_file_system files;
    std::string const path = folder / "lock";
    int go[2], done[2];
    REQUIRE((::pipe(go) == 0 && ::pipe(done) == 0));
    char letter = 0;
    auto const held = files.lock(path);
    REQUIRE(held);
    pid_t const child = ::fork();
    if (child == 0) {
        files.leave_lock(*held);
        (void)!::write(done[1], "x", 1);
        (void)!::read(go[0], &letter, 1);
        ::_exit(0);
    }
    REQUIRE(::read(done[0], &letter, 1) == 1);
    CHECK(files.is_locked(path).value());  // the parent still holds it
    files.leave_lock(*held);               // as its end would
    CHECK_FALSE(files.is_locked(path).value());
    (void)!::write(go[1], "x", 1);
    ::waitpid(child, nullptr, 0);
    for (int each : {go[0], go[1], done[0], done[1]}) { ::close(each); }
}

TEST_CASE(
    "shared memory has its name only once it is whole: killed at any moment, its maker leaves all of it or nothing") {
    posix_file_system files;
    if (*files.kind_of("/dev/shm") != path_kind::folder) { SPOTTER_SKIP("there is no /dev/shm here"); }
    constexpr std::uint64_t bytes = 64ULL << 20;
    std::string const name = "spotter-test-kill-" + std::to_string(::getpid());
    int whole = 0, none = 0;
    for (int round = 0; round < 60; ++round) {
        pid_t const child = ::fork();
        if (child == 0) {
            (void)files.create_shared(name, bytes);
            for (;;) { ::pause(); }
        }
        ::usleep(static_cast<useconds_t>(200 * round));
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        auto const found = files.open_shared(name);
        if (found) {
            CHECK(found->bytes.size() == bytes);
            files.unmap_shared(*found);
            CHECK_FALSE(files.remove_shared(name));
            ++whole;
        } else {
            CHECK(found.error().code == errc::not_a_run);
            ++none;
        }
    }
    CHECK(whole + none == 60);
}

TEST_CASE("where the system has no files without a name, shared memory has one of its own until it is whole") {
    posix_file_system files;
    if (*files.kind_of("/dev/shm") != path_kind::folder) { SPOTTER_SKIP("there is no /dev/shm here"); }
#if !defined(__linux__)
    SPOTTER_SKIP("it is so here anyway");
#else
    std::string const name = "spotter-test-named-" + std::to_string(::getpid());
    pid_t const child = ::fork();
    if (child == 0) {
        // Without /proc a nameless file cannot be linked to a name.
        bool const gone = ::unshare(CLONE_NEWNS) == 0 &&
                          ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                          ::umount2("/proc", MNT_DETACH) == 0;
        if (!gone) { ::_exit(2); }
        auto const mine = files.create_shared(name, 8192);
        bool const busy = mine && files.open_shared(name).error().code == errc::busy;
        bool const there = busy && files.create_shared(name, 8192).error().code == errc::exists;
        bool const clean = *files.kind_of("/dev/shm/" + name + "-part") == path_kind::missing;
        ::_exit(there && clean ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    (void)files.remove_shared(name);
    if (WEXITSTATUS(status) == 2) { SPOTTER_SKIP("this process may not do without /proc"); }
    CHECK(status == 0);
    // A partial file of a killed process belongs to nobody, and is removed with the name.
    CHECK_FALSE(files.close(*files.create("/dev/shm/" + name + "-part")));
    CHECK(files.remove_shared(name).code == errc::not_a_run);
    CHECK(*files.kind_of("/dev/shm/" + name + "-part") == path_kind::missing);
#endif
}

TEST_CASE("ranks that begin together: a folder being created is missing or a folder, and nothing else") {
    time_limit const limit;
    temporary_folder const folder;
    std::string const name = folder / "made";
    std::atomic<bool> over{false};
    std::thread maker{[&] {
        while (!over) {
            (void)::mkdir(name.c_str(), 0777);
            (void)::rmdir(name.c_str());
        }
    }};
    std::size_t others = 0, folders = 0;
    for (int i = 0; i < 200'000 || folders < 1000; ++i) {  // until the other thread got its turns
        auto const kind = system_files().kind_of(name);
        others += !kind || (*kind != path_kind::missing && *kind != path_kind::folder) ? 1 : 0;
        folders += kind && *kind == path_kind::folder ? 1 : 0;
    }
    over = true;
    maker.join();
    CHECK(others == 0);
}
