// SPDX-License-Identifier: Apache-2.0
// A program that closed its standard streams, as a daemon does, and still prints: no output gets into a run's files.
#include <spotter/export/tensorboard.hpp>
#include <spotter/ext/system.hpp>
#include <spotter/response.hpp>

#include <tests/catch.hpp>
#include <tests/record/killed.hpp>
#include <tests/trial/runs.hpp>

#include <csignal>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr std::string_view printed = "printed by the program\n";

// Closes the streams, prints from another thread, and watches for a regular file under one of their descriptors. (A
// pipe is allowed: sanitizers use one to test whether memory can be read.)
class printing {
public:
    printing() {
        for (int const each : {0, 1, 2}) { ::close(each); }
        thread_ = std::thread{[this] {
            while (!over_.load()) {
                for (int const each : {0, 1, 2}) {
                    int const how = ::fcntl(each, F_GETFL);
                    struct stat what{};
                    bool const file = ::fstat(each, &what) == 0 && S_ISREG(what.st_mode);
                    found_ = found_ || (file && how >= 0 && (how & O_ACCMODE) != O_RDONLY);
                    (void)!::write(each, printed.data(), printed.size());
                }
            }
        }};
    }
    // True if no file was found, and the three descriptors are still closed.
    [[nodiscard]] bool end() {
        over_ = true;
        thread_.join();
        bool all_free = true;
        for (int const each : {0, 1, 2}) { all_free = all_free && ::fcntl(each, F_GETFD) < 0; }
        return all_free && !found_;
    }

private:
    std::atomic<bool> over_{false};
    bool found_ = false;
    std::thread thread_;
};

// Runs `work` in a process that prints so.
template <class Work>
[[nodiscard]] bool in_daemon(Work&& work) {
    pid_t const child = ::fork();
    if (child == 0) {
        std::signal(SIGPIPE, SIG_IGN);  // for a sanitizer's pipe without a reader
        printing program;
        bool const good = work();
        ::_exit(program.end() && good ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

[[nodiscard]] bool says(std::string const& path) {
    std::ifstream file{path, std::ios::binary};
    std::string const all{std::istreambuf_iterator<char>{file}, {}};
    return all.find(printed.substr(0, printed.size() - 1)) != all.npos;
}
// True if no file below the folder holds printed text.
[[nodiscard]] bool unwritten(std::string const& folder) {
    for (auto const& each : std::filesystem::recursive_directory_iterator{folder}) {
        if (each.is_regular_file() && says(each.path())) { return false; }
    }
    return true;
}

constexpr std::uint64_t stream_steps = 300;

[[nodiscard]] bool record_all(std::string const& path, options const& choices) {
    hook watch{path, everything, choices};
    for (std::uint64_t i = 0; i < stream_steps; ++i) {
        (void)watch.step(train(i), "loss"_t = 1.0, "w"_t = values_of(i, 700));
    }
    watch.finish();
    return watch.health().good();
}
void check_all(std::string const& path) {
    trial const run = open(path);
    CHECK(run.status() == run_status::finished);
    CHECK(run.damage().empty());
    CHECK(run.steps() == trains(0, stream_steps));
    CHECK(run["w"].at(train(stream_steps - 1)).to<std::vector<float>>().value() == values_of(stream_steps - 1, 700));
}

}  // namespace

TEST_CASE("whatever is printed on standard streams that are closed, a run's files are as they were written [D09]") {
    temporary_folder const folder;
    SECTION("segments that are begun all the time, brought to the disk and thinned") {
        options choices{.disk_sync = disk_sync::flushes, .segment_bytes = 16 << 10, .flush_milliseconds = 1};
        SECTION("all kept") {}
        SECTION("thinned") { choices.run_bytes = 200 << 10; }
        CHECK(in_daemon([&] { return record_all(folder / "run", choices); }));
        if (choices.run_bytes == 0) { check_all(folder / "run"); }
        CHECK(open(folder / "run").steps() == trains(0, stream_steps));
    }
    SECTION("with drain::poll, on the loop's own thread") {
        CHECK(in_daemon([&] { return record_all(folder / "run", {.drain = drain::poll, .segment_bytes = 16 << 10}); }));
        check_all(folder / "run");
    }
    SECTION("a ring in shared memory, and a flight recorder") {
        if (!has_shared_memory()) { SPOTTER_SKIP("there is no /dev/shm here"); }
        options choices{.segment_bytes = 16 << 10, .flight_bytes = 1 << 20, .ring_in = ring_in::shared_memory};
        choices.ring_bytes = 1 << 20;
        CHECK(in_daemon([&] { return record_all(folder / "run", choices); }));
        check_all(folder / "run");
    }
    SECTION("several hooks at once, each with a writer of its own") {
        CHECK(in_daemon([&] {
            std::atomic<bool> good{true};
            std::vector<std::thread> all;
            for (char const* const name : {"a", "b", "c"}) {
                all.emplace_back([&, name] { good = record_all(folder / name, {.segment_bytes = 4 << 10}) && good; });
            }
            for (std::thread& each : all) { each.join(); }
            return good.load();
        }));
        for (char const* const name : {"a", "b", "c"}) { check_all(folder / name); }
    }
    CHECK(unwritten(folder / ""));
}

TEST_CASE("threads that open files at the same time share what occupies the closed streams [D09]") {
    temporary_folder const folder;
    CHECK(in_daemon([&] {
        std::atomic<bool> good{true};
        std::vector<std::thread> all;
        for (char const* const name : {"a", "b", "c", "d"}) {
            all.emplace_back([&, name] {
                std::string const path = folder / name;
                for (int i = 0; i < 4000; ++i) {
                    auto const file = system_files().open_append(path);
                    if (!file || file->native <= 2 || system_files().close(*file)) { good = false; }
                }
            });
        }
        for (std::thread& each : all) { each.join(); }
        return good.load();
    }));
    CHECK(unwritten(folder / ""));
}

TEST_CASE("nor into what reads, samples, exports and responds beside it [D09]") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    SECTION("a sampler of the machine, whose files stay open") {
        CHECK(in_daemon([&] {
            system_sampler machine{system_options{.seconds = 0.002}};
            hook watch{path, everything, options{.beside = &machine}};
            for (std::uint64_t i = 0; i < 50; ++i) {
                (void)watch.step(train(i), "loss"_t = 1.0);
                ::usleep(500);
            }
            watch.finish();
            return watch.health().good();
        }));
        CHECK(open(path).steps() == trains(0, 50));
    }
    SECTION("a folder that is taken: who has it is looked for in /proc") {
        // No writer thread: it could hold a sanitizer's lock during the fork.
        hook holds{path, everything, options{.drain = drain::poll}};
        CHECK(in_daemon([&] { return hook{path, everything}.health().first_error.code == errc::busy; }));
    }
    SECTION("responses: lines of a file, and commands with a finding in their pipe") {
        std::string const lines = folder / "lines", command = "cat > " + (folder / "reported");
        CHECK(in_daemon([&] {
            hook watch{path, everything, on(any("loss", mean > 0), append_lines{lines}, run_command{command})};
            for (std::uint64_t i = 0; i < 5; ++i) { (void)watch.step(train(i), "loss"_t = 1.0); }
            watch.finish();
            return watch.health().good();
        }));
        CHECK(open(path).steps() == trains(0, 5));
        std::ifstream file{lines};
        CHECK(std::count(std::istreambuf_iterator<char>{file}, {}, '\n') == 5);
    }
    SECTION("a reader in the same program, and files of TensorBoard") {
        CHECK(record_all(path, {}));
        CHECK(in_daemon([&] {
            auto const run = open_trial(path);
            tensorboard_writer board{folder / "board"};
            return run && !board.advance(*run) && board.counts().steps > 0;
        }));
    }
    CHECK(unwritten(folder / ""));
}

TEST_CASE("numbers of standard streams that are closed are free again after each file operation, and those that are "
          "open are left alone [D09]") {
    temporary_folder const folder;
    CHECK(in_daemon([&] {
        std::vector<std::string> names;
        auto const take = [](void* into, std::string_view name) {
            return static_cast<std::vector<std::string>*>(into)->emplace_back(name), true;
        };
        file_system& files = system_files();
        auto const file = files.create(folder / "file");
        bool good = file && file->native > 2 && !files.close(*file);
        auto const lock = files.lock(folder / "lock");
        good = good && lock && lock->native > 2 && !files.list(folder / "", take, &names) && names.size() == 2;
        for (int const each : {0, 1, 2}) { good = good && ::fcntl(each, F_GETFD) < 0; }
        return good;
    }));
    pid_t const child = ::fork();
    if (child == 0) {  // a file that the program itself opens there stays open
        for (int const each : {0, 1, 2}) { ::close(each); }
        bool const mine = ::open("/dev/null", O_RDWR) == 0;
        auto const file = system_files().create(folder / "another");
        bool const above = file && file->native > 2;
        ::_exit(mine && above && ::open("/dev/null", O_RDWR) == 1 ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}
