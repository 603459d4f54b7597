// SPDX-License-Identifier: Apache-2.0
// Runs sent to a store and fetched from it while another program changes them: files cut or replaced during sending,
// folders that are recorded into, and files longer than the store's, or different.
#include <tests/ext/s3/plain_store.hpp>
#include <tests/ext/s3/store.hpp>

#include <sys/wait.h>

using namespace spotter_test;
using namespace std::chrono_literals;

namespace {

std::string first_of(std::string const& bytes, std::size_t count) { return bytes.substr(0, count); }
void write_whole(std::string const& path, std::string const& bytes) { std::ofstream{path, std::ios::binary} << bytes; }
// What another program does: a file that others have open becomes shorter.
void cut(std::string const& path, std::size_t bytes) { std::filesystem::resize_file(path, bytes); }

}  // namespace

TEST_CASE(
    "s3 sync: a segment that is cut, changed or replaced while it is sent kills no process, and no mixture arrives") {
    temporary_folder const folder;
    std::string const path = folder / "run", file = path + "/000000.spot";
    {
        hook watch{path, keep};
        record_steps(watch, 0, 400);  // eight megabytes: more than a socket buffers
    }
    std::string const whole = bytes_of(file);
    REQUIRE(whole.size() > 6'000'000);
    std::string other = whole;
    other[other.size() - 100] = static_cast<char>(other[other.size() - 100] ^ 1);
    std::string const how =
        GENERATE("nothing", "cut to half", "cut to nothing", "another in its place", "changed in place", "removed");
    INFO(how);
    std::atomic<bool> done{false};
    plain_store store{[&](std::size_t came) {
        if (came < 1'000'000 || done.exchange(true) || how == "nothing") { return; }
        if (how == "cut to half") { cut(file, whole.size() / 2); }
        if (how == "cut to nothing") { cut(file, 0); }
        if (how == "removed") { std::filesystem::remove(file); }
        if (how == "changed in place") {
            std::fstream changed{file, std::ios::in | std::ios::out | std::ios::binary};
            changed << other;
        }
        if (how == "another in its place") {
            write_whole(file + ".new", first_of(other, whole.size() - 20));
            std::filesystem::rename(file + ".new", file);
        }
    }};
    pid_t const child = ::fork();
    if (child == 0) { ::_exit(s3::sync(path, "s3://bucket/run") ? 0 : 1); }
    int ended = 0;
    REQUIRE(::waitpid(child, &ended, 0) == child);
    REQUIRE(WIFEXITED(ended));  // no signal ended it
    std::string const there = store.at("/bucket/run/000000.spot");
    std::string const now = std::filesystem::exists(file) ? bytes_of(file) : std::string{};
    bool const is_one_of_them = there.empty() || there == whole || there == now;
    CHECK(is_one_of_them);
    if (how == "nothing" || how == "another in its place" || how == "changed in place") {
        CHECK(WEXITSTATUS(ended) == 0);
        CHECK((there == now));  // sent again
    }
}

TEST_CASE("s3 sync: what is longer here than in the store stays, and what is shorter comes") {
    plain_store store;
    temporary_folder const folder;
    std::string const path = folder / "run";
    record_run(path, 40);
    REQUIRE(s3::sync(path, "s3://bucket/run"));
    std::string const whole = bytes_of(path + "/000001.spot"), side = bytes_of(path + "/000001.spotx");
    std::string const shorter = first_of(whole, whole.size() - 30'000);
    SECTION("longer") {
        store.put("/bucket/run/000001.spot", shorter);
        store.put("/bucket/run/000001.spotx", first_of(side, side.size() - 64));
        auto const done = s3::fetch_run("s3://bucket/run", path);
        REQUIRE(done);
        CHECK(done->longer == 1);
        CHECK(done->files == 0);
        CHECK((bytes_of(path + "/000001.spot") == whole));
        CHECK((bytes_of(path + "/000001.spotx") == side));
    }
    SECTION("shorter") {
        write_whole(path + "/000001.spot", shorter);
        write_whole(path + "/000001.spotx", first_of(side, side.size() - 64));
        auto const done = s3::fetch_run("s3://bucket/run", path);
        REQUIRE(done);
        CHECK(done->files == 2);
        CHECK((bytes_of(path + "/000001.spot") == whole));
        CHECK((bytes_of(path + "/000001.spotx") == side));
    }
    SECTION("shorter, and with other rows") {
        std::string other = shorter;
        other[other.size() / 2] = static_cast<char>(other[other.size() / 2] ^ 1);
        write_whole(path + "/000001.spot", other);
        error const why = s3::fetch_run("s3://bucket/run", path).error();
        CHECK(why.code == errc::exists);
        CHECK(says(why, "has other rows"));
        CHECK((bytes_of(path + "/000001.spot") == other));
        return;
    }
    SECTION("a list of what was lost that knows more") {
        write_whole(path + "/lost", "000007.spot 1 2 3 0123456789abcdef\n000008.spot 1 2 3 0123456789abcdef\n");
        store.put("/bucket/run/lost", "000009.spot 1 2 3 0123456789abcdef\n");
        REQUIRE(s3::fetch_run("s3://bucket/run", path));
        CHECK(bytes_of(path + "/lost").find("000008.spot") != std::string::npos);
    }
    check_reads(open_trial(folder / "run").value(), 40);
}

TEST_CASE("s3 sync: a run that is recorded into the folder is busy, worker by worker, and loses nothing") {
    plain_store store;
    temporary_folder const folder;
    std::string const path = folder / "run";
    {
        record_run(path, 30);
        record_run(path, 10, 2);
        REQUIRE(s3::sync(path, "s3://bucket/run"));
    }
    std::uint32_t const number = GENERATE(0U, 2U);
    {
        options how = small_segments;
        how.worker = number;
        how.existing = spotter::existing::resume;
        hook watch{path, keep, how};
        record_steps(watch, 30, 40);
        watch.flush();
        error const why = s3::fetch_run("s3://bucket/run", path).error();
        CHECK(why.code == errc::busy);
        record_steps(watch, 40, 60);
    }
    auto const run = open_trial(path);
    REQUIRE(run);
    CHECK(run->damage().empty());
    REQUIRE(s3::fetch_run("s3://bucket/run", path));
    CHECK(s3::fetch_run("s3://bucket/run", path).value().files == 0);
    CHECK(open_trial(path)->status() == run_status::finished);
}

TEST_CASE("s3 sync: a folder is freed of what the store has, and of nothing that only looks like it") {
    plain_store store;
    temporary_folder const folder;
    std::string const path = folder / "run";
    record_run(path, 60);
    REQUIRE(s3::sync(path, "s3://bucket/run"));
    std::string const second = bytes_of(path + "/000002.spot");
    std::string other = second;
    other[other.size() - 10] = static_cast<char>(other[other.size() - 10] ^ 1);
    store.put("/bucket/run/000002.spot", other);  // of a copy of the run that continued elsewhere
    REQUIRE(s3::sync(path, "s3://bucket/run", {.remove_local = true}));
    CHECK((bytes_of(path + "/000002.spot") == second));
    CHECK_FALSE(std::filesystem::exists(path + "/000000.spot"));
    CHECK_FALSE(std::filesystem::exists(path + "/000001.spotx"));
}

TEST_CASE("s3 sync: a training whose segments are cut in place, again and again, while its mirror sends them, goes on "
          "to its end") {
    int const cuts = std::getenv("SPOTTER_KILLS") != nullptr ? std::atoi(std::getenv("SPOTTER_KILLS")) : 20;
    temporary_folder const folder;
    std::string const path = folder / "run";
    std::atomic<bool> over{false};
    std::atomic<int> done{0};
    std::mt19937 random{11};
    plain_store store{[&](std::size_t came) {
        if (came < 500'000 || over || !std::filesystem::exists(path)) { return; }
        std::vector<std::string> segments;
        for (auto const& each : std::filesystem::directory_iterator{path}) {
            if (each.path().extension() == ".spot") { segments.push_back(each.path().string()); }
        }
        if (segments.size() < 2) { return; }
        std::sort(segments.begin(), segments.end());
        segments.pop_back();  // the writer appends to this one
        std::string const& one = segments[segments.size() - 1 - random() % (std::min)(segments.size(), std::size_t{3})];
        std::error_code ignored;
        std::filesystem::resize_file(one, std::filesystem::file_size(one, ignored) * (random() % 3) / 3, ignored);
        if (!ignored) { ++done; }
    }};
    pid_t const child = ::fork();
    if (child == 0) {
        s3::mirror away{path, "s3://bucket/run", {.every = 50ms, .patience = 5000ms}};
        hook watch{path, keep, options{.segment_bytes = 5'000'000}};
        for (std::uint64_t i = 0; !std::filesystem::exists(folder / "over"); ++i) {
            std::vector<float> const w = values_at(i);
            (void)watch.step(train(i), "w"_t = w);
        }
        watch.finish();
        (void)away.finish();
        ::_exit(watch.health().first_error ? 2 : 0);
    }
    for (int i = 0; i < 10'000 && done < cuts; ++i) { std::this_thread::sleep_for(10ms); }
    over = true;
    std::ofstream{folder / "over"} << "x";
    int ended = 0;
    REQUIRE(::waitpid(child, &ended, 0) == child);
    CHECK(WIFEXITED(ended));
    CHECK(WEXITSTATUS(ended) == 0);
    CHECK(done >= cuts);
    for (auto const& each : std::filesystem::directory_iterator{path}) {  // the store's copy is not shorter
        std::string const name = each.path().filename().string();
        if (name.ends_with(".spot")) { CHECK(store.at("/bucket/run/" + name).size() >= each.file_size()); }
    }
}

TEST_CASE("s3 sync: fetched again and again over a run that goes on, and always busy: nothing of it is lost") {
    int const times = std::getenv("SPOTTER_KILLS") != nullptr ? std::atoi(std::getenv("SPOTTER_KILLS")) : 40;
    plain_store store;
    temporary_folder const folder;
    std::string const path = folder / "run";
    record_run(path, 30);
    REQUIRE(s3::sync(path, "s3://bucket/run"));
    options how = small_segments;
    how.existing = spotter::existing::resume;
    std::uint64_t step = 30;
    {
        hook watch{path, keep, how};
        for (int i = 0; i < times; ++i) {
            record_steps(watch, step, step + 3);
            step += 3;
            REQUIRE(s3::fetch_run("s3://bucket/run", path).error().code == errc::busy);
        }
        CHECK(watch.health().good());
    }
    check_reads(open_trial(path).value(), step);
}
