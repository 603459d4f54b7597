// SPDX-License-Identifier: Apache-2.0
// Runs in an independent store, Ceph's radosgw: it verifies signatures itself and keeps confirmed objects when it is
// killed.
#include <tests/ext/s3/store.hpp>

#include <atomic>
#include <thread>

using namespace spotter_test;
using namespace std::chrono_literals;

namespace {

// The cluster's data are in memory and in `folder`.
class gateway {
public:
    [[nodiscard]] bool works() {
        if (!server_.works()) { return false; }
        s3::request it{.method = "PUT", .bucket = "runs"};
        s3::http door{s3::settings_here().value()};
        door.ask(it);
        INFO(it.why.what.view() << it.text);
        REQUIRE(it.good());
        return true;
    }
    void kill() const { server_.tell("kill"); }

private:
    temporary_folder folder_{};
    store_process server_{{SPOTTER_PYTHON3, SPOTTER_S3_RADOSGW, folder_ / "ceph"}};
};

#define SPOTTER_NEEDS_GATEWAY(name)                                                                                    \
    gateway name;                                                                                                      \
    if (!name.works()) { SPOTTER_SKIP("no radosgw with ceph-mon and ceph-osd was found, or it did not begin"); }

}  // namespace

TEST_CASE("radosgw: mirrored while it is recorded, read by ranges, sent in parts, fetched; a foreign run, wrong keys "
          "and buckets are errors") {
    SPOTTER_NEEDS_GATEWAY(store);
    temporary_folder const folder;
    std::string const path = folder / "run", there = "s3://runs/a b/\xC3\xBC&=+";
    {
        s3::mirror away{path, there, {.every = 200ms}};
        {
            hook watch{path, keep, small_segments};
            record_steps(watch, 0, 50);
            watch.flush();
            bool running = false;
            for (int i = 0; i < 100 && !running; ++i) {
                std::this_thread::sleep_for(100ms);
                auto const run = open_trial(there);
                running = run && run->status() == run_status::running && run->steps().size() == 50;
            }
            CHECK(running);
            record_steps(watch, 50, 80);
        }
        CHECK_FALSE(away.finish());
    }
    check_same(path, there);
    std::this_thread::sleep_for(1100ms);  // longer than a cached listing is used
    trial const run = open_trial(there).value();
    CHECK(run.status() == run_status::finished);
    check_reads(run, 80);
    CHECK(s3::fetch_run(there, folder / "copy").value().files > 8);
    check_reads(open_trial(folder / "copy").value(), 80);

    record_run(folder / "other", 3);
    CHECK(s3::sync(folder / "other", there).error().code == errc::exists);
    CHECK(says(s3::sync(folder / "other", "s3://no-such-bucket/run").error(), "NoSuchBucket"));
    s3::store away{s3::settings_here().value()};
    std::string const large(std::size_t{70} << 20, 'x');
    REQUIRE_FALSE(away.put("runs", "large", std::as_bytes(std::span{large})));
    std::vector<s3::object> all;
    REQUIRE_FALSE(away.list("runs", "large", all));
    REQUIRE(all.size() == 1);
    CHECK(all[0].bytes == large.size());
    ::setenv("AWS_SECRET_ACCESS_KEY", "another", 1);
    CHECK(says(s3::sync(path, there).error(), "SignatureDoesNotMatch"));
}

TEST_CASE("radosgw: the store is killed again and again while runs are sent: what it confirmed is there, and in the "
          "end all of it") {
    SPOTTER_NEEDS_GATEWAY(store);
    char const* const wanted = std::getenv("SPOTTER_KILLS");  // 200 when run by hand
    int const kills = wanted != nullptr ? std::atoi(wanted) : 10;
    temporary_folder const folder;
    record_run(folder / "run", 60);
    std::mt19937 random{11};
    std::atomic<bool> over{false};
    std::thread killer{[&] {
        for (int i = 0; i < kills; ++i) {
            std::this_thread::sleep_for(
                std::chrono::milliseconds{std::uniform_int_distribution<int>{200, 700}(random)});
            store.kill();
        }
        over = true;
    }};
    std::uint64_t sent = 0, failed = 0;
    for (std::uint64_t number = 0; !over; ++number) {
        std::string const there = "s3://runs/killed/" + std::to_string(number);
        auto const done = s3::sync(folder / "run", there);
        INFO(done.error().what.view());
        REQUIRE(done);
        ++sent, failed += done->failed;
        check_same(folder / "run", there);
        auto const run = open_trial(there);
        REQUIRE(run);
        check_reads(*run, 60);
    }
    killer.join();
    CHECK(sent > 0);
    CHECK(failed == 0);  // each transfer was repeated until the store accepted it
}
