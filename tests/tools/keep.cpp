// SPDX-License-Identifier: Apache-2.0
// verify and recover: sound, flipped, cut, torn, missing, renamed and live records.
#include <tests/tools/tool.hpp>

#include <spotter/rule/builtin/non_finite.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

// A run that was killed in the middle of writing: some bytes of a frame at its end.
void record_torn(std::string const& path) {
    in_killed_child([&] {
        hook watch{path, everything};
        for (std::uint64_t i = 0; i < 5; ++i) { (void)watch.step(train(i), "x"_t = weights_at(i)); }
        watch.flush();
        ::raise(SIGKILL);
    });
    std::vector<char> bytes = read_file(path + "/000000.spot");
    std::vector<char> piece(bytes.begin() + 64, bytes.begin() + 64 + 30);
    std::uint64_t const end = bytes.size();  // what it says of its own place, and of the end of the frame before it
    std::memcpy(piece.data() + 8, &end, sizeof end);
    std::memcpy(piece.data() + 16, &end, sizeof end);
    bytes.insert(bytes.end(), piece.begin(), piece.end());
    write_file(path + "/000000.spot", bytes);
}

// Many small segments.
void record_segments(std::string const& path) {
    hook watch{path, everything, options{.segment_bytes = 4096}};
    for (std::uint64_t i = 0; i < 20; ++i) { (void)watch.step(train(i), "x"_t = weights_at(i)); }
}

}  // namespace

TEST_CASE("verify: a sound run ends with 0, in one segment or many, and prints nothing but a line") {
    temporary_folder const folder;
    record_small(folder / "one");
    record_segments(folder / "many");
    REQUIRE(std::filesystem::exists(folder / "many/000001.spot"));
    for (std::string const name : {"one", "many"}) {
        tool_output const it = ask("verify " + folder / name);
        INFO(it.out);
        CHECK(it.code == 0);
        CHECK(it.err.empty());  // no bar where there is no terminal
        CHECK(it.says(": sound\n"));
        CHECK(std::count(it.out.begin(), it.out.end(), '\n') == 1);
        auto const document = ask("verify --json " + folder / name).document();
        CHECK(document.at("sound") == true);
        CHECK(document.at("live") == false);
        CHECK(document.at("damage").empty());
        CHECK(document.at("blocks") > 5);
    }
}

TEST_CASE("verify: any flipped byte of a segment ends with 5, with the file and an offset that is not behind it") {
    temporary_folder const folder;
    record_small(folder / "run");
    std::string const file = folder / "run/000000.spot";
    std::vector<char> const whole = read_file(file);
    std::size_t unseen = 0, tried = 0;
    for (std::size_t place = 3; place < whole.size(); place += whole.size() / 60, ++tried) {
        flip(file, place);
        tool_output const it = ask("verify --json " + folder / "run");
        write_file(file, whole);
        INFO(place);
        if (it.code == 0) {
            ++unseen;  // a bit of padding inside a block of zstd means nothing
            continue;
        }
        if (it.code == 3) {
            CHECK(place < 64);  // the version itself
            continue;
        }
        CHECK(it.code == 5);
        auto const damage = it.document().at("damage");
        REQUIRE(damage.size() >= 1);
        CHECK(damage.at(0).at("file") == file);
        CHECK(damage.at(0).at("offset") <= place);
        CHECK(place < damage.at(0).at("offset").get<std::size_t>() + damage.at(0).at("bytes").get<std::size_t>());
    }
    CHECK(tried > 50);
    CHECK(unseen < 3);
}

TEST_CASE("verify: damaged values are named: the place, the tensor and the step") {
    temporary_folder const folder;
    record_small(folder / "run", non_finite{});
    std::string const file = folder / "run/000000.spot";
    // In the middle of a payload: the largest stretch between two row frames.
    std::vector<char> const whole = read_file(file);
    auto const bytes = std::as_bytes(std::span{whole});
    frame_walker walker{bytes};
    std::uint64_t end = 64, middle = 0;
    for (walked what = walker.next(); what != walked::end; what = walker.next()) {
        if (what != walked::rows) { continue; }
        if (walker.frame().offset - end > 1000) { middle = end + (walker.frame().offset - end) / 2; }
        end = walker.frame().end();
    }
    REQUIRE(middle > 0);
    flip(file, static_cast<std::size_t>(middle));
    tool_output const it = ask("verify " + folder / "run");
    INFO(it.out);
    CHECK(it.code == 5);
    CHECK(it.says(file + ':'));
    CHECK(it.says("cannot be read: \"fc1/w\" at train("));
    CHECK(it.says("1 damaged place\n"));
    CHECK(ask("verify --json " + folder / "run").document().at("unreadable").size() == 1);
    CHECK(ask("info --check " + folder / "run").code == 0);  // info does not decompress
    CHECK(ask("recover " + folder / "run").code == 0);       // and has nothing to say about values either
}

TEST_CASE("verify: an end that a later attempt counted on behind is missing, and is no torn tail; each place once") {
    temporary_folder const folder;
    for (std::uint64_t first : {0U, 5U}) {
        in_killed_child([&] {
            hook watch{folder / "run", everything, options{.existing = existing::resume}};
            for (std::uint64_t i = first; i < first + 5; ++i) {
                (void)watch.step(train(i), "x"_t = weights_at(i));
                watch.flush();
            }
            ::raise(SIGKILL);
        });
    }
    std::string const file = folder / "run/000000.spot";
    CHECK(ask("verify " + folder / "run").code == 0);
    std::filesystem::resize_file(file, std::filesystem::file_size(file) - 20);
    for (std::string const& run : {folder / "run", std::filesystem::relative(folder / "run").string()}) {
        tool_output const it = ask("verify " + run);
        CHECK(it.code == 5);
        CHECK(it.says("the end of this segment is missing, as the next one shows\n"));
        CHECK(it.says("1 damaged place, 1 closed step lost"));
        CHECK(ask("info " + run).code == 5);
        CHECK(ask("show " + run + " x --step 4").code == 5);
    }
}

TEST_CASE("verify: a torn tail is reported with its place, and recover --cut removes it; without --cut it stays") {
    temporary_folder const folder;
    record_torn(folder / "run");
    std::string const file = folder / "run/000000.spot";
    auto const size = std::filesystem::file_size(file);
    tool_output const torn = ask("verify " + folder / "run");
    CHECK(torn.code == 1);
    CHECK(torn.says(file + ':' + std::to_string(size - 30) + ": torn tail of 30 bytes"));

    tool_output const dry = ask("recover --cut --dry-run " + folder / "run");
    CHECK(dry.says("would be cut off: a torn tail of 30 bytes"));
    CHECK(std::filesystem::file_size(file) == size);
    CHECK(ask("recover " + folder / "run").says("--cut cuts it off"));
    CHECK(std::filesystem::file_size(file) == size);
    tool_output const cut = ask("recover --cut " + folder / "run");
    CHECK(cut.code == 0);
    CHECK(cut.says(file + ':' + std::to_string(size - 30) + ": cut off"));
    CHECK(std::filesystem::file_size(file) == size - 30);
    CHECK(ask("verify " + folder / "run").code == 0);
    CHECK(open(folder / "run")["x"].at(train(4)).to<std::vector<float>>().value() == weights_at(4));
    CHECK(ask("recover --cut " + folder / "run").says("nothing to do"));
}

TEST_CASE("recover: a missing, short or damaged sidecar is made again, byte for byte; a sound one is left alone") {
    temporary_folder const folder;
    record_segments(folder / "run");
    std::string const side = folder / "run/000000.spotx";
    std::vector<char> const whole = read_file(side);
    REQUIRE(whole.size() >= 64);
    CHECK(ask("recover " + folder / "run").out == folder / "run: nothing to do\n");

    std::filesystem::remove(side);
    CHECK(ask("verify " + folder / "run").code == 0);  // it is a cache
    CHECK(ask("verify " + folder / "run").says(side + ":0: note: is missing"));
    CHECK(ask("recover --dry-run " + folder / "run").says(side + ": would be rebuilt"));
    CHECK(!std::filesystem::exists(side));
    auto const document = ask("recover --json " + folder / "run").document();
    CHECK(document.at("actions").size() == 1);
    CHECK(document.at("actions").at(0).at("file") == side);
    CHECK(document.at("actions").at(0).at("action") == "rebuilt");
    CHECK(read_file(side) == whole);

    flip(side, 10);
    CHECK(ask("verify " + folder / "run").code == 1);
    CHECK(ask("verify " + folder / "run").says(side + ":0: "));
    CHECK(ask("recover " + folder / "run").code == 0);
    CHECK(read_file(side) == whole);

    write_file(side, {whole.begin(), whole.begin() + 20});
    CHECK(ask("recover " + folder / "run").code == 0);
    CHECK(read_file(side) == whole);
    CHECK(!std::filesystem::exists(side + ".new"));
}

TEST_CASE("recover: what is damaged in the middle stays, is reported, and ends with 5") {
    temporary_folder const folder;
    record_small(folder / "run");
    flip(folder / "run/000000.spot", 70);  // in the first row frame
    tool_output const it = ask("recover --cut " + folder / "run");
    CHECK(it.code == 5);
    CHECK(it.says("cannot be brought back"));
}

TEST_CASE("a live run: verify is content with its end, and recover touches nothing") {
    temporary_folder const folder;
    hook watch{folder / "run", everything};
    (void)watch.step(train(0), "x"_t = weights_at(0));
    watch.begin(train(1));
    watch.observe("x", weights_at(1));
    watch.flush();
    tool_output const checked = ask("verify " + folder / "run");
    CHECK(checked.code == 0);
    CHECK(checked.says("sound, and still being written"));
    std::filesystem::remove(folder / "run/000000.spotx");
    for (std::string const flags : {"", "--cut ", "--cut --dry-run "}) {
        tool_output const it = ask("recover " + flags + folder / "run");
        CHECK(it.code == 4);
        CHECK(it.complains("is being written: nothing was touched"));
    }
    CHECK(!std::filesystem::exists(folder / "run/000000.spotx"));
    (void)watch.end();
    watch.finish();
    CHECK(ask("recover " + folder / "run").code == 0);
}

TEST_CASE("recover: a run of which one worker is live is left alone as a whole") {
    temporary_folder const folder;
    record_small(folder / "run");
    hook watch{folder / "run", everything, options{.existing = existing::resume, .ring_bytes = 1 << 16, .worker = 1}};
    (void)watch.step(train(0), "x"_t = 1.0);
    watch.flush();
    std::filesystem::remove(folder / "run/000000.spotx");
    CHECK(ask("recover " + folder / "run").code == 4);
    CHECK(!std::filesystem::exists(folder / "run/000000.spotx"));
    watch.finish();
    CHECK(ask("recover " + folder / "run").code == 0);
    CHECK(std::filesystem::exists(folder / "run/000000.spotx"));
}

TEST_CASE(
    "recover: what a killed process left in shared memory is brought into the record, and verify finds nothing wrong") {
    if (!std::filesystem::is_directory("/dev/shm")) { SPOTTER_SKIP("there is no /dev/shm here"); }
    temporary_folder const folder;
    in_killed_child([&] {
        options const choices{.drain = drain::poll, .ring_bytes = 1 << 20, .ring_in = ring_in::shared_memory};
        hook watch{folder / "run", everything, choices};
        for (std::uint64_t i = 0; i < 7; ++i) { (void)watch.step(train(i), "x"_t = weights_at(i)); }
        ::raise(SIGKILL);
    });
    CHECK(open(folder / "run").closed_steps() == 0);
    CHECK(ask("recover --dry-run " + folder / "run").says("run/ring: would be drained\n"));
    CHECK(std::filesystem::exists(folder / "run/ring"));
    tool_output const it = ask("recover " + folder / "run");
    CHECK(it.code == 0);
    CHECK(it.says("run/ring: drained, 7 closed steps more\n"));
    CHECK(!std::filesystem::exists(folder / "run/ring"));
    CHECK(open(folder / "run").steps() == trains(0, 7));
    tool_output const checked = ask("verify " + folder / "run");
    INFO(checked.out);
    CHECK(checked.code == 0);
    CHECK(ask("recover " + folder / "run").says("nothing to do"));
}

TEST_CASE("recover: the last steps of a killed process go into the run's flight, whose sidecars are looked at too") {
    if (!std::filesystem::is_directory("/dev/shm")) { SPOTTER_SKIP("there is no /dev/shm here"); }
    temporary_folder const folder;
    in_killed_child([&] {
        hook watch{folder / "run", everything, options{.drain = drain::poll, .flight_bytes = 1 << 20}};
        for (std::uint64_t i = 0; i < 7; ++i) { (void)watch.step(train(i), "x"_t = weights_at(i)); }
        ::raise(SIGKILL);
    });
    CHECK(ask("recover --dry-run " + folder / "run").says("run/flight/ring: would be drained\n"));
    CHECK(std::filesystem::exists(folder / "run/flight/ring"));
    tool_output const it = ask("recover " + folder / "run");
    INFO(it.out << it.err);
    CHECK(it.code == 0);
    CHECK(it.says("run/flight/ring: drained, 7 closed steps more\n"));
    CHECK(!std::filesystem::exists(folder / "run/flight/ring"));
    CHECK(open(folder / "run/flight").steps() == trains(0, 7));
    CHECK(ask("verify " + folder / "run/flight").code == 0);
    CHECK(ask("recover " + folder / "run").says("nothing to do"));
    std::filesystem::remove(folder / "run/flight/000001.spotx");
    CHECK(ask("recover " + folder / "run").says("run/flight/000001.spotx: rebuilt"));
}

TEST_CASE("verify: a segment that is missing, renamed, cut at its end or from another run") {
    temporary_folder const folder;
    record_segments(folder / "run");
    REQUIRE(std::filesystem::exists(folder / "run/000003.spot"));
    std::vector<char> const second = read_file(folder / "run/000002.spot");
    auto const kinds = [&] {
        std::string all;
        auto const document = ask("verify --json " + folder / "run").document();
        for (auto const& each : document.at("damage")) {
            all += each.at("kind").get<std::string>() + ' ' +
                   std::filesystem::path(each.at("file").get<std::string>()).filename().string() + '\n';
        }
        return all;
    };
    CHECK(kinds().empty());
    std::filesystem::remove(folder / "run/000002.spot");
    std::filesystem::remove(folder / "run/000001.spot");
    CHECK(kinds() == "missing 000001.spot\nmissing 000002.spot\n");
    record_segments(folder / "other");
    record_segments(folder / "again");
    std::filesystem::copy(folder / "again/000001.spot", folder / "run/000001.spot");
    write_file(folder / "run/000002.spot", read_file(folder / "run/000003.spot"));
    CHECK(kinds().find("foreign 000001.spot\n") != std::string::npos);
    CHECK(kinds().find("foreign 000002.spot\n") != std::string::npos);

    // Cut between two frames, which no frame shows.
    std::vector<char> bytes = read_file(folder / "other/000001.spot");
    std::uint64_t before_last = 0, end = 0;
    auto const view = std::as_bytes(std::span{bytes});
    frame_walker walker{view};
    for (walked what = walker.next(); what != walked::end; what = walker.next()) {
        before_last = end;
        end = walker.good_end();
    }
    bytes.resize(static_cast<std::size_t>(before_last));
    write_file(folder / "other/000001.spot", bytes);
    auto const cut = ask("verify --json " + folder / "other").document().at("damage");
    REQUIRE(cut.size() >= 1);
    CHECK(cut.at(0).at("kind") == "cut_off");
    CHECK(cut.at(0).at("offset") == before_last);
}

TEST_CASE("verify: a segment that cannot be opened is reported, and the others are checked") {
    temporary_folder const folder;
    record_segments(folder / "run");
    std::string const second = folder / "run/000001.spot", third = folder / "run/000002.spot";
    flip(third, read_file(third).size() / 2);
    std::filesystem::remove(second);
    SECTION("a link that leads nowhere") { std::filesystem::create_symlink("nowhere", second); }
    SECTION("a folder") { std::filesystem::create_directory(second); }
    tool_output const it = ask("verify --json " + folder / "run");
    CHECK(it.code == 5);
    auto const damage = it.document().at("damage");
    REQUIRE(damage.size() >= 2);
    CHECK(damage.at(0).at("kind") == "unreadable");
    CHECK(damage.at(0).at("file") == second);
    CHECK(damage.back().at("file") == third);
}

TEST_CASE("what may not be read is reported as that, not as something that is missing") {
    if (::geteuid() != 0 || std::system("setpriv --version >/dev/null 2>&1") != 0) {
        SPOTTER_SKIP("only root can ask as somebody else");
    }
    temporary_folder const folder;
    for (std::uint32_t worker = 0; worker < 3; ++worker) {
        record_small(folder / "run", options{.worker = worker, .workers = 3});
    }
    record_small(folder / "whole"), record_small(folder / "closed"), record_segments(folder / "one");
    std::filesystem::copy(SPOTTER_TOOL, folder / "spotter");  // where anyone may run it
    REQUIRE(std::system(("chmod -R a+rwX " + folder / "").c_str()) == 0);
    for (char const* const each : {"closed", "run/worker-2", "one/000001.spot"}) {
        std::filesystem::permissions(folder / each, std::filesystem::perms::none);
    }
    auto const ask_as_other = [&](std::string const& words) {
        return run_shell("setpriv --reuid=65534 --regid=65534 --clear-groups " + folder / "spotter " + words + " 2>&1");
    };
    if (ask_as_other("ls " + folder / "whole").code != 0) { SPOTTER_SKIP("this folder is not everybody's"); }
    for (std::string const verb : {"info ", "verify ", "ls ", "recover ", "compact "}) {
        INFO(verb);
        tool_output const it = ask_as_other(verb + folder / "closed");
        CHECK(it.code == 4);
        CHECK(it.says("no permission"));
    }
    tool_output const worker = ask_as_other("verify " + folder / "run");
    CHECK(worker.code == 5);
    CHECK((worker.says("worker-2") && worker.says("no permission") && !worker.says("sound")));
    for (std::string const verb : {"recover ", "compact "}) {
        INFO(verb);
        tool_output const it = ask_as_other(verb + folder / "run");
        CHECK((it.code == 4 && it.says("no permission")));
    }
    tool_output const segment = ask_as_other("verify " + folder / "one");
    CHECK((segment.code == 5 && segment.says("1 damaged place")));
    CHECK((segment.says("000001.spot") && segment.says("no permission")));
    CHECK(ask_as_other("info " + folder / "one").says("no permission"));
}
