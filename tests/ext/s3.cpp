// SPDX-License-Identifier: Apache-2.0
// Runs in object storage: mirrored while they are recorded, despite faults of store and network, and read back from
// there. The store is moto behind a proxy. The proxy has botocore verify every signature, and fails on request
// (tests/ext/s3/server.py).
#include <tests/ext/s3/store.hpp>

#include <sstream>

using namespace spotter_test;
using namespace std::chrono_literals;

namespace {

// moto behind the proxy, and the proxy's own requests: fail and counts.
class object_store {
public:
    [[nodiscard]] bool works() const noexcept { return server_.works(); }
    void fail(std::string const& how, int times) {
        (void)ask("fail", "how=" + how + "&times=" + std::to_string(times));
    }
    // The proxy's counters since the last call: `name value` lines.
    [[nodiscard]] std::map<std::string, std::uint64_t> counts() {
        std::map<std::string, std::uint64_t> found;
        std::istringstream lines{ask("counts", "")};
        for (std::string line; std::getline(lines, line);) {
            std::size_t const blank = line.rfind(' ');
            found[line.substr(0, blank)] = std::stoull(line.substr(blank + 1));
        }
        return found;
    }

private:
    [[nodiscard]] static std::string ask(std::string const& key, std::string const& query) {
        s3::http door{s3::settings_here().value()};
        s3::request it{.bucket = "_door", .key = key, .query = query};
        door.ask(it);
        REQUIRE(it.good());
        return it.text;
    }

    store_process server_{{SPOTTER_PYTHON_S3, SPOTTER_S3_SERVER}};
};

#define SPOTTER_NEEDS_STORE(name)                                                                                      \
    object_store name;                                                                                                 \
    if (!name.works()) { SPOTTER_SKIP("no Python with moto was found"); }

}  // namespace

TEST_CASE("s3: a place, and what a URL may hold of it") {
    CHECK(s3::parse_place("s3://bucket/runs/a/").value().key == "runs/a");
    CHECK(s3::parse_place("s3://bucket").value().key.empty());
    for (char const* const wrong : {"runs/a", "s3://", "s3://x", "s3://a bucket/runs", "s3:///runs"}) {
        CHECK(s3::parse_place(wrong).error().code == errc::bad_config);
    }
    std::string const name = "runs/a b+c/\xC3\xBC&?=%.spot";
    CHECK(s3::encoded(name, false) == "runs/a%20b%2Bc/%C3%BC%26%3F%3D%25.spot");
    CHECK(s3::decoded(s3::encoded(name, true)) == name);
    CHECK(s3::decoded("a%2") == "a%2");
    CHECK(s3::decoded("a%zz%") == "a%zz%");
}

TEST_CASE("s3: keys of the environment, of a profile, of none; those of two accounts are not mixed") {
    temporary_folder const folder;
    std::ofstream{folder / "credentials"}
        << "[other]\naws_access_key_id = OTHER\naws_secret_access_key=os\n"
           "[default] \n# x\naws_access_key_id=FILE\naws_secret_access_key = fs \naws_session_token=t\n";
    std::ofstream{folder / "config"}
        << "[default]\nregion = eu-central-1\n[profile other]\nregion=us-west-2\nendpoint_url=http://x:1/\n";
    for (char const* const each : {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_SESSION_TOKEN", "AWS_PROFILE",
                                   "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}) {
        ::unsetenv(each);
    }
    ::setenv("AWS_SHARED_CREDENTIALS_FILE", (folder / "credentials").c_str(), 1);
    ::setenv("AWS_CONFIG_FILE", (folder / "config").c_str(), 1);
    s3::settings found = s3::settings_here().value();
    CHECK(found.key_id == "FILE");
    CHECK(found.key == "fs");
    CHECK(found.token == "t");
    CHECK(found.region == "eu-central-1");
    ::setenv("AWS_PROFILE", "other", 1);
    found = s3::settings_here().value();
    CHECK(found.key_id == "OTHER");
    CHECK(found.token.empty());
    CHECK(found.endpoint == "http://x:1");
    ::setenv("AWS_ACCESS_KEY_ID", "ENV", 1);  // without the secret key
    CHECK(s3::settings_here().value().key_id == "OTHER");
    ::setenv("AWS_SECRET_ACCESS_KEY", "es", 1);
    CHECK(s3::settings_here().value().key_id == "ENV");
    CHECK(s3::settings_here().value().token.empty());
    ::setenv("AWS_PROFILE", "none", 1);
    ::unsetenv("AWS_SECRET_ACCESS_KEY");
    CHECK(says(s3::settings_here().error(), "AWS_SECRET_ACCESS_KEY"));
}

TEST_CASE("s3: a run is mirrored while it is recorded, and read from the store: while it goes on, and when it is over; "
          "only what is asked for is "
          "fetched, and nothing is sent twice") {
    SPOTTER_NEEDS_STORE(store);
    temporary_folder const folder;
    std::string const path = folder / "run", there = "s3://runs/a b/\xC3\xBC";
    {
        s3::mirror away{path, there, {.every = 300ms}};
        REQUIRE_FALSE(away.refused());
        {
            hook watch{path, keep, small_segments};
            record_steps(watch, 0, 50);
            for (int i = 0; i < 200 && store.counts()["put /runs/a b/\xC3\xBC/alive"] == 0; ++i) {
                std::this_thread::sleep_for(50ms);
            }
            std::this_thread::sleep_for(600ms);  // another listing, now of all objects
            result<trial> const run = open_trial(there);
            REQUIRE(run);
            CHECK(run->status() == run_status::running);
            check_reads(*run, 50);
            record_steps(watch, 50, 80);
        }
        CHECK_FALSE(away.finish());
        CHECK(away.health().pending == 0);
        CHECK(away.health().done > 8);
        CHECK_FALSE(away.health().trouble);
    }
    check_same(path, there);
    (void)store.counts();
    s3::mirror_health const again = s3::sync(path, there).value();
    CHECK(again.done == 0);
    auto asked = store.counts();
    CHECK(asked["put /runs/a b/\xC3\xBC/000000.spot"] == 0);
    CHECK(asked["requests"] == again.requests);

    std::uint64_t whole = 0;
    for (auto const& each : std::filesystem::directory_iterator{path}) { whole += each.file_size(); }
    std::this_thread::sleep_for(1100ms);  // longer than a cached listing is used
    trial const run = open_trial(there).value();
    CHECK(run.status() == run_status::finished);
    auto const opened = store.counts();
    CHECK(run["w"].at(train(70)).to<std::vector<float>>().value() == values_at(70));
    CHECK(store.counts()["bytes_out"] <= 300'000);  // rows of all segments, and the blocks of one value
    CHECK(opened.at("refused") == 0);
    CHECK(whole > 1'000'000);
    check_reads(run, 80);

    CHECK(s3::fetch_run(there, folder / "copy").value().files > 8);
    CHECK(s3::fetch_run(there, folder / "copy").value().files == 0);
    check_reads(open_trial(folder / "copy").value(), 80);
    record_run(folder / "other", 3);
    CHECK(s3::fetch_run(there, folder / "other").error().code == errc::exists);
}

TEST_CASE("s3: errors of the store, cut connections, answers that come late or not at all: all of it arrives") {
    SPOTTER_NEEDS_STORE(store);
    temporary_folder const folder;
    record_run(folder / "run", 60);
    for (char const* const how : {"500", "busy", "cut", "cut_after", "slow"}) {
        std::string const there = std::string{"s3://runs/"} + how;
        INFO(how);
        store.fail(how, 4);
        result<s3::mirror_health> const sent = s3::sync(folder / "run", there);
        INFO(sent.error().what.view());
        REQUIRE(sent);
        check_same(folder / "run", there);
        store.fail(how, 4);
        trial const run = open_trial(there).value();
        check_reads(run, 60);
    }
    store.fail("skew", 1000);
    error const skewed = s3::sync(folder / "run", "s3://runs/skew").error();
    CHECK(skewed.code == errc::bad_config);
    CHECK(says(skewed, "clock"));
}

TEST_CASE("s3: a store that is down blocks nothing: the training goes on, health reports what waits, and later all of "
          "it is sent") {
    SPOTTER_NEEDS_STORE(store);
    temporary_folder const folder;
    std::string const path = folder / "run";
    std::string const endpoint = s3::settings_here().value().endpoint;
    ::setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9", 1);  // no server listens there
    auto const begin = std::chrono::steady_clock::now();
    {
        s3::mirror away{path, "s3://runs/down", {.every = 100ms, .patience = 500ms}};
        {
            hook watch{path, keep, small_segments};
            record_steps(watch, 0, 60);
            watch.finish();
            CHECK(watch.health().good());
        }
        error const why = away.finish();
        CHECK(why.code == errc::io_error);
        CHECK(says(why, "does not answer"));
        CHECK(away.health().pending > 4);
        CHECK(away.health().pending_bytes > 500'000);
        CHECK(away.health().failed > 0);
        CHECK(away.health().done == 0);
    }
    CHECK(std::chrono::steady_clock::now() - begin < 30s);
    ::setenv("AWS_ENDPOINT_URL", endpoint.c_str(), 1);
    CHECK(s3::sync(path, "s3://runs/down").value().pending == 0);
    check_same(path, "s3://runs/down");

    s3::mirror const nowhere{path, "runs/down"};
    CHECK(nowhere.refused().code == errc::bad_config);
}

TEST_CASE("s3: the sender is killed at any instant: nothing is lost, and no segment that the store has is sent again") {
    SPOTTER_NEEDS_STORE(store);
    temporary_folder const folder;
    record_run(folder / "run", 60);
    std::mt19937 random{7};
    std::map<std::string, std::uint64_t> sent;
    for (int i = 0; i < 200; ++i) {
        std::string const there = "s3://runs/kill/" + std::to_string(i / 20);
        pid_t const child = ::fork();
        if (child == 0) {
            bool const good = s3::sync(folder / "run", there).has_value();
            ::_exit(good ? 0 : 1);
        }
        std::this_thread::sleep_for(std::chrono::microseconds{std::uniform_int_distribution<int>{0, 60'000}(random)});
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
    }
    for (int i = 0; i < 10; ++i) {
        std::string const there = "s3://runs/kill/" + std::to_string(i);
        REQUIRE(s3::sync(folder / "run", there));
        check_same(folder / "run", there);
    }
    for (auto const& [name, times] : store.counts()) {
        // Once; once more if the kill came between the store's answer and its arrival.
        if (name.starts_with("put ") && name.ends_with(".spot")) { CHECK(times <= 3); }
    }
    check_reads(open_trial("s3://runs/kill/3").value(), 60);
}

TEST_CASE("s3: workers, another run in the same place, foreign objects, an object cut short, wrong buckets and keys: "
          "each error is named") {
    SPOTTER_NEEDS_STORE(store);
    temporary_folder const folder;
    record_run(folder / "run", 40);
    record_run(folder / "run", 20, 3);
    std::string const there = "s3://runs/deep/er/run";
    s3::store away{s3::settings_here().value()};
    REQUIRE_FALSE(away.put("runs", "deep/er/run/notes.txt", bytes_in("not ours")));
    REQUIRE_FALSE(away.put("runs", "deep/er/run/worker-x/000000.spot", bytes_in("not ours either")));
    REQUIRE_FALSE(away.put("runs", "deep/er/running/000000.spot", bytes_in("a neighbour")));
    REQUIRE(s3::sync(folder / "run", there));
    {
        trial const run = open_trial(there).value();
        CHECK(run.workers() == std::vector<std::uint32_t>{0, 3});
        CHECK(run.damage().empty());
        CHECK(run.steps(worker{3}).size() == 20);
        CHECK(open_trial(there, worker{3}).value().steps().size() == 20);
        CHECK(open_trial(there, worker{2}).error().code == errc::no_such_worker);
    }
    record_run(folder / "another", 5);
    error const other = s3::sync(folder / "another", there).error();
    CHECK(other.code == errc::exists);
    CHECK(says(other, "another run"));
    check_same(folder / "run", there);

    std::string const last = bytes_of(folder / "run/000002.spot");
    REQUIRE(last.size() > 100'000);
    REQUIRE_FALSE(
        away.put("runs", "deep/er/run/000002.spot", bytes_in(std::string_view{last}.substr(0, last.size() / 2))));
    std::this_thread::sleep_for(1100ms);
    {
        trial const cut = open_trial(there).value();
        CHECK(cut.losses().damaged());
        CHECK(cut["w"].at(train(0)).to<std::vector<float>>().value() == values_at(0));
    }

    CHECK(open_trial("s3://runs/nothing/here").error().code == errc::not_a_run);
    CHECK(says(open_trial("s3://no-such-bucket/run").error(), "NoSuchBucket"));
    CHECK(says(s3::sync(folder / "run", "s3://no-such-bucket/run").error(), "NoSuchBucket"));
    CHECK(s3::fetch_run("s3://runs/nothing/here", folder / "x").error().code == errc::not_a_run);
    ::setenv("AWS_ACCESS_KEY_ID", "AKIDEXPIREDEXPIRED00", 1);
    error const expired = s3::sync(folder / "run", there).error();
    CHECK(expired.code == errc::bad_config);
    CHECK(says(expired, "expired"));
    ::setenv("AWS_ACCESS_KEY_ID", "AKIDTESTTESTTESTTEST", 1);
    ::setenv("AWS_SECRET_ACCESS_KEY", "another", 1);
    error const wrong = s3::sync(folder / "run", there).error();
    CHECK(says(wrong, "SignatureDoesNotMatch"));
    CHECK_FALSE(says(wrong, "AKID"));
    CHECK_FALSE(says(wrong, store_secret));
    CHECK(bytes_of(folder / "run/000000.spot").find("a-secret") == std::string::npos);
}

TEST_CASE("s3: an object beyond 64 MiB goes in parts; parts that a kill left are forgotten; a folder is freed when the "
          "store has it") {
    SPOTTER_NEEDS_STORE(store);
    s3::store away{s3::settings_here().value()};
    std::string const large(std::size_t{70} << 20, 'x');
    REQUIRE_FALSE(away.put("runs", "large", bytes_in(large)));
    std::vector<s3::object> all;
    REQUIRE_FALSE(away.list("runs", "large", all));
    REQUIRE(all.size() == 1);
    CHECK(all[0].bytes == large.size());
    CHECK(all[0].etag.ends_with("-2"));
    CHECK(away.put("runs", "large", bytes_in("x"), true).code == errc::exists);

    temporary_folder const folder;
    record_run(folder / "run", 60);
    s3::request begun{.method = "POST", .bucket = "runs", .key = "free/000000.spot", .query = "uploads="};
    away.connection().ask(begun);
    REQUIRE(begun.good());
    s3::mirror_health const done = s3::sync(folder / "run", "s3://runs/free", {.remove_local = true}).value();
    CHECK(done.removed >= 4);
    CHECK_FALSE(std::filesystem::exists(folder / "run/000000.spot"));
    s3::request open{.bucket = "runs", .query = "uploads="};
    away.connection().ask(open);
    CHECK(open.good());
    CHECK(open.text.find("free/000000.spot") == std::string::npos);
    check_reads(open_trial("s3://runs/free").value(), 60);
}

TEST_CASE("s3: what a program prints on streams that it has closed is no part of a request, and a relative folder "
          "stays where it was") {
    SPOTTER_NEEDS_STORE(store);
    temporary_folder const folder;
    record_run(folder / "run", 20);
    pid_t const child = ::fork();
    if (child == 0) {
        for (int const each : {0, 1, 2}) { ::close(each); }
        std::thread{[] {
            for (;;) {
                for (int const each : {1, 2}) { (void)!::write(each, "GET / HTTP/1.1\r\n\r\n", 18); }
            }
        }}.detach();
        bool good = ::chdir((folder / "").c_str()) == 0;
        s3::mirror away{"later", "s3://runs/printed/later", {.every = 100ms}};
        good = good && s3::sync("run", "s3://runs/printed/run").has_value();
        good = ::chdir("/") == 0 && good;
        record_run(folder / "later", 20);
        good = !away.finish() && good;
        auto const read = open_trial("s3://runs/printed/run");
        good = good && read &&
               (*read)["w"].at(train(7)).to<std::vector<float>>().value_or(std::vector<float>{}) == values_at(7);
        ::_exit(good ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
    check_same(folder / "run", "s3://runs/printed/run");
    check_same(folder / "later", "s3://runs/printed/later");
}
