// SPDX-License-Identifier: Apache-2.0
// The ring in shared memory. A process is killed at any of its file operations: once the ring is drained, the record
// holds all that was committed, without duplicates.
#include <tests/record/killed.hpp>

using namespace spotter;
using namespace spotter_test;

TEST_CASE("killed at its n-th file operation, for every n: recover brings in what was committed, once [T13][D09]") {
    if (!has_shared_memory()) { SPOTTER_SKIP("there is no /dev/shm here"); }
    for (drain how : {drain::poll, drain::thread}) {
        for (std::uint64_t segment_bytes : {std::uint64_t{1} << 28, std::uint64_t{1} << 17}) {
            bool dead = true;
            for (std::uint64_t n = 1; dead; n += n < 30 ? 1 : 5) {
                INFO("operation " << n << (how == drain::poll ? " poll" : " thread") << " segments " << segment_bytes);
                temporary_folder const folder;
                shared_tally const done;
                std::string const path = folder / "run";
                dead = killed([&] {
                    deadly_files files{n};
                    recorder sink{path, shared(how, segment_bytes), files};
                    declare(sink);
                    train_steps(sink, 0, 17, *done);
                    sink.finish({});
                });
                auto const recovery = recover(path);
                REQUIRE(recovery);
                CHECK_FALSE(recovery->first_error);
                CHECK(ring_of(path).empty());
                check_record(read_run(path), *done);
            }
        }
    }
}

TEST_CASE("a recovery that is killed at its n-th operation, for every n, and again: the next one brings in the rest") {
    if (!has_shared_memory()) { SPOTTER_SKIP("there is no /dev/shm here"); }
    for (std::uint64_t n : {14U, 17U, 20U, 26U, 33U}) {
        bool dead = true;
        for (std::uint64_t m = 1; dead; ++m) {
            INFO("recorder " << n << " recovery " << m);
            temporary_folder const folder;
            shared_tally const done;
            std::string const path = folder / "run";
            CHECK(killed([&] {
                deadly_files files{n};
                recorder sink{path, shared(), files};
                declare(sink);
                train_steps(sink, 0, 25, *done);
                sink.finish({});
            }));
            std::string const ring = ring_of(path);
            for (std::uint64_t each : {m, m > 3 ? m - 3 : m, m + 1}) {
                dead = killed([&] {
                    deadly_files files{each};
                    (void)recover(path, files);
                });
            }
            auto const recovery = recover(path);
            REQUIRE(recovery);
            CHECK_FALSE(recovery->first_error);
            CHECK_FALSE(in_memory(ring));
            check_record(read_run(path), *done);
            CHECK(recover(path)->rings == 0);
        }
    }
}

TEST_CASE("the next run into the folder drains the ring first: ordinals go on, and an open step keeps its own") {
    if (!has_shared_memory()) { SPOTTER_SKIP("there is no /dev/shm here"); }
    temporary_folder const folder;
    std::string const path = folder / "run";
    double const before = seconds_since_epoch();
    record_and_die(path, 0, 100);
    double const died = seconds_since_epoch();
    CHECK(read_run(path).closes.empty());  // a reader sees only the file, and leaves the ring alone
    std::string const ring = ring_of(path);
    CHECK(in_memory(ring));
    ::usleep(50'000);
    {
        recorder sink{path, shared()};
        CHECK_FALSE(sink.health().first_error);
        CHECK_FALSE(in_memory(ring));
        CHECK(ring_of(path) != ring);
        declare(sink);
        scalar(sink, 101, 3.0);
        sink.close(train(101), {});
        sink.finish({});
    }
    CHECK(ring_of(path).empty());
    run_on_disk const run = read_run(path);
    REQUIRE(run.closes.size() == 101);
    for (std::size_t i = 0; i < 100; ++i) {
        CHECK(run.closes[i].ordinal == i);
        CHECK((run.closes[i].time >= before && run.closes[i].time <= died));  // the time of death, not of the recovery
    }
    CHECK(run.closes[100].ordinal == 101);  // 100 belongs to the step that was never closed
    REQUIRE(run.scalars.size() == 102);
    CHECK(run.scalars[100].row.step == train(100));
    CHECK(run.attempts == std::vector<std::uint32_t>{0, 0, 1});
    CHECK((run.ended && run.names.at(0) == "s" && run.names.at(1) == "t"));
}

TEST_CASE("an open step that was in the file already, and only its tensors' names behind it, keeps its ordinal too") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    CHECK(killed([&] {
        recorder sink{path, shared()};
        declare(sink);
        scalar(sink, 0, 1.0);
        sink.flush();
        sink.declare(tensor_named(2, "late"));
        ::raise(SIGKILL);
    }));
    REQUIRE(recover(path));
    {
        recorder sink{path, shared()};
        declare(sink);
        sink.close(train(1), {});
        sink.finish({});
    }
    CHECK(read_run(path).closes.at(0).ordinal == 1);
}

TEST_CASE("two workers that were killed are both recovered; one that is alive is left alone") {
    if (!has_shared_memory()) { SPOTTER_SKIP("there is no /dev/shm here"); }
    temporary_folder const folder;
    std::string const path = folder / "run";
    options one = shared(), live = shared();
    one.worker = 1, live.worker = 2;
    record_and_die(path, 0, 10);
    record_and_die(path, 0, 20, one);
    recorder sink{path, live};
    declare(sink);
    auto const recovery = recover(path + "/");
    REQUIRE(recovery);
    CHECK((recovery->rings == 2 && recovery->closes == 30 && recovery->live == 1 && recovery->entries == 66));
    CHECK(read_run(path).closes.size() == 10);
    CHECK(read_run(path + "/worker-1").closes.size() == 20);
    CHECK(in_memory(ring_of(path + "/worker-2")));
    sink.finish({});
    CHECK_FALSE(sink.health().first_error);
}

TEST_CASE("a run that finishes, fails or is never begun leaves no ring; a process forked off takes none away") {
    if (!has_shared_memory()) { SPOTTER_SKIP("there is no /dev/shm here"); }
    temporary_folder const folder;
    std::string const path = folder / "run";
    std::string ring;
    {
        recorder sink{path, shared()};
        ring = ring_of(path);
        CHECK(in_memory(ring));
        declare(sink);
        pid_t const child = ::fork();
        if (child == 0) {
            { recorder mine{std::move(sink)}; }
            ::_exit(0);
        }
        ::waitpid(child, nullptr, 0);
        CHECK(in_memory(ring));
        tally done;
        train_steps(sink, 0, 50, done);
        sink.finish({});
        CHECK_FALSE(sink.health().first_error);
        CHECK_FALSE(in_memory(ring));
        check_record(read_run(path), done);
    }
    {
        recorder sink{folder / "failed", shared()};
        ring = ring_of(folder / "failed");
        declare(sink);
    }
    CHECK_FALSE(in_memory(ring));
    {
        recorder const sink{folder / "never", shared()};
        ring = ring_of(folder / "never");
        CHECK(in_memory(ring));
    }
    CHECK_FALSE(in_memory(ring));
    CHECK(ring_of(folder / "never").empty());
}

TEST_CASE("replace takes away what the killed run left; its ring is not drained") {
    if (!has_shared_memory()) { SPOTTER_SKIP("there is no /dev/shm here"); }
    temporary_folder const folder;
    std::string const path = folder / "run";
    record_and_die(path, 0, 10);
    std::string const ring = ring_of(path);
    options choices = shared();
    choices.existing = existing::replace;
    choices.ring_in = ring_in::memory;
    recorder sink{path, choices};
    CHECK_FALSE(sink.health().first_error);
    CHECK_FALSE(in_memory(ring));
    CHECK(ring_of(path).empty());
    declare(sink);
    sink.finish({});
    CHECK(read_run(path).closes.empty());
}

TEST_CASE("no shared memory to be had: the ring is in plain memory, health says so, and the run is whole") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    tally done;
    faulty_file_system files{~std::uint64_t{0}};
    files.no_shared = true;
    recorder sink{path, shared(), files};
    CHECK(sink.health().first_error.code == errc::disk_full);
    CHECK(sink.health().first_error.what.view().find("plain memory") != std::string_view::npos);
    declare(sink);
    train_steps(sink, 0, 30, done);
    sink.finish({});
    check_record(read_run(path), done);
    CHECK((sink.health().dropped == 0 && ring_of(path).empty()));

    // Whichever operation fails at the start, the training continues, and no ring is left at the end.
    for (std::uint64_t n = 1; n < 16; ++n) {
        INFO(n);
        faulty_file_system failing{n};
        {
            recorder other{folder / ("failing-" + std::to_string(n)), shared(), failing};
            declare(other);
            tally ignored;
            train_steps(other, 0, 3, ignored);
            other.finish({});
            CHECK(other.health().stored + other.health().dropped == 6);
        }
        (void)recover(folder / ("failing-" + std::to_string(n)));
        CHECK(ring_of(folder / ("failing-" + std::to_string(n))).empty());
    }
}

TEST_CASE("a file operation that fails while the ring is drained: nothing is lost, the next try has it all") {
    if (!has_shared_memory()) { SPOTTER_SKIP("there is no /dev/shm here"); }
    std::size_t failures = 0;
    for (bool for_good : {false, true}) {
        for (std::uint64_t n = 1; n < 30; ++n) {
            INFO("operation " << n << (for_good ? " and all after it" : ""));
            temporary_folder const folder;
            std::string const path = folder / "run";
            record_and_die(path, 0, 500);
            std::string const ring = ring_of(path);
            faulty_file_system files{n, for_good};
            if (auto const recovery = recover(path, files); !recovery) {
                ++failures;
                CHECK(recovery.error().code == errc::disk_full);
            }
            if (!for_good) { CHECK(read_run(path).segments <= 2); }  // a failed one is not left behind
            CHECK_FALSE(recover(path)->first_error);
            run_on_disk const run = read_run(path);
            CHECK((run.closes.size() == 500 && run.scalars.size() == 501 && run.damaged == 0));
            CHECK((ring_of(path).empty() && !in_memory(ring)));
        }
    }
    CHECK(failures > 10);
}

TEST_CASE("a ring that is damaged, not begun, gone, or no ring of spotter's: a name for it, no harm, and the next run "
          "records") {
    if (!has_shared_memory()) { SPOTTER_SKIP("there is no /dev/shm here"); }
    temporary_folder const folder;
    machine_file_system files;
    std::string const path = folder / "run";
    auto const with_ring = [&](auto&& change) {
        record_and_die(path, 0, 10);
        std::string const ring = ring_of(path);
        auto const memory = files.open_shared(ring);
        REQUIRE(memory);
        CHECK(files.open_shared(ring).error().code == errc::busy);
        change(memory->bytes);
        files.unmap_shared(*memory);
        return ring;
    };
    auto const goes_on = [&](errc first) {
        recorder sink{path, shared()};
        CHECK(sink.health().first_error.code == first);
        declare(sink);
        scalar(sink, 50, 1.0);
        sink.close(train(50), {});
        sink.finish({});
        CHECK(sink.health().stored == 1);
        CHECK(read_run(path).ended);
    };
    auto const start_again = [&] { (void)!std::system(("rm -rf '" + path + "'").c_str()); };

    SECTION("garbage in the header") {
        auto const ring = with_ring([](std::span<std::byte> bytes) {
            for (std::byte& each : bytes.first(4096)) { each = std::byte{0xA5}; }
        });
        CHECK(recover(path)->first_error.code == errc::corrupt);
        CHECK(in_memory(ring));  // its owner is unknown
        goes_on(errc::corrupt);
        CHECK(in_memory(ring));
        CHECK_FALSE(files.remove_shared(ring));
        CHECK(recover(path)->rings == 0);
        CHECK(ring_of(path).empty());
    }
    SECTION("garbage among the entries: what is before it is kept") {
        auto const ring = with_ring([](std::span<std::byte> bytes) {
            auto const header = ring_header::open(bytes);
            REQUIRE(header);
            std::uint64_t position = 0;
            for (int i = 0; i < 8; ++i) {  // skips two declarations and three steps
                std::uint32_t size = 0;
                std::memcpy(&size, (*header)->memory() + position, sizeof size);
                position += 8 + ((size + 7) & ~7U);
            }
            std::uint32_t const wrong = 0x7FFFFFF0U;
            std::memcpy((*header)->memory() + position, &wrong, sizeof wrong);
        });
        auto const recovery = recover(path);
        REQUIRE(recovery);
        CHECK(recovery->first_error.code == errc::corrupt);
        CHECK(recovery->closes == 3);
        CHECK_FALSE(in_memory(ring));
        CHECK(read_run(path).closes.size() == 3);
        goes_on(errc::none);
    }
    SECTION("made, and its process killed before it had a header") {
        auto const ring = with_ring([](std::span<std::byte> bytes) {
            for (std::byte& each : bytes.first(4096)) { each = std::byte{0}; }
        });
        CHECK_FALSE(recover(path)->first_error);
        CHECK_FALSE(in_memory(ring));
        goes_on(errc::none);
    }
    SECTION("the machine was switched off: the name leads nowhere") {
        auto const ring = with_ring([](std::span<std::byte>) {});
        CHECK_FALSE(files.remove_shared(ring));
        goes_on(errc::none);
    }
    SECTION("a name that is none") {
        for (char const* const name : {"../../tmp/x", "spotter-0123456789abcdeg", "spotter-0123456789abcdef0", " "}) {
            record_and_die(path, 0, 10);
            std::string const ring = ring_of(path);
            { std::ofstream{path + "/ring"} << name; }
            CHECK(recover(path)->first_error.code == errc::corrupt);
            goes_on(errc::corrupt);
            CHECK_FALSE(files.remove_shared(ring));
            start_again();
        }
    }
    SECTION("of another run: it is left alone") {
        auto const ring = with_ring([](std::span<std::byte>) {});
        (void)!std::system(("rm '" + path + "'/0*").c_str());
        auto const recovery = recover(path);
        REQUIRE(recovery);
        CHECK(recovery->first_error.code == errc::corrupt);
        CHECK(in_memory(ring));
        CHECK_FALSE(files.remove_shared(ring));
    }
}

TEST_CASE("a copy of the folder of a run that is being written cannot take its ring away") {
    if (!has_shared_memory()) { SPOTTER_SKIP("there is no /dev/shm here"); }
    temporary_folder const folder;
    std::string const path = folder / "run";
    recorder sink{path, shared()};
    declare(sink);
    (void)!std::system(("cp -r '" + path + "' '" + path + "-copy'").c_str());
    CHECK(recover(path + "-copy")->first_error.code == errc::busy);
    {
        recorder other{path + "-copy", shared()};
        CHECK(other.health().first_error.code == errc::busy);
        declare(other);
        other.finish({});
    }
    CHECK(in_memory(ring_of(path)));
    tally done;
    train_steps(sink, 0, 20, done);
    sink.finish({});
    CHECK_FALSE(sink.health().first_error);
    check_record(read_run(path), done);
}
