// SPDX-License-Identifier: Apache-2.0
// A store that is hostile or broken: whatever it answers, the caller gets an error in bounded time and memory. The
// error's text holds no secret and no raw bytes.
#include <tests/ext/s3/hostile.hpp>
#include <tests/ext/s3/store.hpp>

#include <sys/resource.h>

using namespace spotter_test;
using namespace std::chrono_literals;

namespace {

using question = hostile_store::question;

s3::settings settings_of(hostile_store const& store, std::chrono::milliseconds patience = 1000ms) {
    return {.endpoint = "http://" + store.address(), .key_id = "AKIDTEST", .key = store_secret, .patience = patience};
}
std::string object_text(std::string const& key, std::string const& bytes) {
    return "<Contents><Key>" + key + "</Key><ETag>&quot;abc&quot;</ETag><Size>" + bytes + "</Size></Contents>";
}
std::string listing(std::string const& objects, std::string const& token) {
    return "<ListBucketResult><IsTruncated>" + std::string{token.empty() ? "false" : "true"} + "</IsTruncated>" +
           objects + (token.empty() ? "" : "<NextContinuationToken>" + token + "</NextContinuationToken>") +
           "</ListBucketResult>";
}
std::uint64_t peak_memory() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    return static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
}
bool is_plain_words(std::string_view text) {
    for (char const each : text) {
        if (each < 0x20 || each > 0x7E) { return false; }
    }
    return !text.empty();
}

}  // namespace

TEST_CASE("s3 hostile: a listing that never ends is left: the same token, tokens in a circle, without objects, or one "
          "at a time") {
    std::atomic<int> page{0};
    std::string const how = GENERATE("same", "circle", "nothing", "same object", "one by one");
    INFO(how);
    hostile_store store{[&](question const& asked) {
        int const number = ++page;
        std::string const token = how == "same"     ? "t"
                                  : how == "circle" ? "t" + std::to_string(number % 3)
                                                    : "t" + std::to_string(number);
        std::string const key = how == "same object" ? "run/a" : "run/" + std::to_string(number);
        asked.answer(listing(how == "nothing" ? "" : object_text(key, "1"), token));
    }};
    s3::store away{settings_of(store)};
    std::vector<s3::object> all;
    error const why = away.list("bucket", "run/", all);
    CHECK(why.code == errc::io_error);
    CHECK(is_plain_words(why.what.view()));
    CHECK(page < 20'000);
}

TEST_CASE("s3 hostile: an answer of any size takes no more memory than an answer may have") {
    std::string const how = GENERATE("list", "refusal", "without a length", "header");
    INFO(how);
    hostile_store store{[&](question const& asked) {
        std::string const piece(1 << 20, how == "header" ? '\n' : 'x');
        (void)asked.say(how == "refusal" ? "HTTP/1.1 403 Forbidden\r\n" : "HTTP/1.1 200 OK\r\n");
        if (how == "header") {
            while (asked.say("X-Filler: " + std::string(1000, 'x') + "\r\n")) {}
        }
        (void)asked.say(how == "without a length" ? "Connection: close\r\n\r\n"
                                                  : "Content-Length: 20000000000\r\n\r\n");
        for (int i = 0; i < 20'000 && asked.say(piece); ++i) {}
    }};
    std::uint64_t const before = peak_memory();
    s3::store away{settings_of(store)};
    std::vector<s3::object> all;
    error const why = away.list("bucket", "run/", all);
    CHECK(why);
    CHECK(is_plain_words(why.what.view()));
    CHECK(peak_memory() - before < (std::uint64_t{128} << 20));
    std::string text;
    CHECK(away.get("bucket", "run/writer", text));
    CHECK(text.size() < (std::size_t{2} << 20));
    CHECK(store.bytes_sent() < (std::uint64_t{256} << 20));
}

TEST_CASE("s3 hostile: an answer that drips holds the caller no longer than the patience") {
    hostile_store store{[&](question const& asked) {
        (void)asked.say("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
        while (asked.say("x")) { std::this_thread::sleep_for(100ms); }
    }};
    auto const begin = std::chrono::steady_clock::now();
    s3::store away{settings_of(store, 1500ms)};
    std::vector<s3::object> all;
    CHECK(away.list("bucket", "run/", all).code == errc::io_error);
    std::vector<std::byte> some(1000);
    s3::request part{.bucket = "bucket", .key = "run/000000.spot", .into = some};
    away.connection().ask(part);
    CHECK_FALSE(part.good());
    CHECK(std::chrono::steady_clock::now() - begin < 30s);  // the whole answer would take 28 hours
    CHECK(is_plain_words(s3::error_of(part).what.view()));
}

TEST_CASE("s3 hostile: user and password of an endpoint or a place stand in no error") {
    s3::settings how{
        .endpoint = "http://somebody:geheim@127.0.0.1:9", .key_id = "AKIDTEST", .key = store_secret, .patience = 200ms};
    s3::store away{how};
    std::string text;
    error const why = away.get("bucket", "x", text);
    CHECK(why.code == errc::io_error);
    CHECK_FALSE(says(why, "geheim"));
    CHECK_FALSE(says(why, "somebody"));
    CHECK(says(why, "http://127.0.0.1:9"));
    for (char const* const place :
         {"s3://AKIDTEST:geheim@bucket/run", "s3://geheim@/run", "S3://AKIDTEST:geheim@bucket"}) {
        error const wrong = s3::parse_place(place).error();
        CHECK(wrong.code == errc::bad_config);
        CHECK_FALSE(says(wrong, "geheim"));
    }
}

TEST_CASE("s3 hostile: the store's own words are in an error only where they are words") {
    std::string code = "\x1b[31mEvil\xE2\x80\xAE", region = "\x1b]0;x\x07";
    hostile_store store{[&](question const& asked) {
        asked.answer("<Error><Code>" + code + "</Code></Error>", "403 Forbidden",
                     "x-amz-bucket-region: " + region + "\r\n");
    }};
    s3::store away{settings_of(store)};
    std::string text;
    CHECK(is_plain_words(away.get("bucket", "run/\x1b[2J\xC2\x9B", text).what.view()));
    code = "AccessDenied", region = "eu-west-3";
    error const why = away.get("bucket", "run/a", text);
    CHECK(says(why, "AccessDenied"));
    CHECK(says(why, "eu-west-3"));
    code = std::string(100'000, 'A');
    CHECK_FALSE(says(away.get("bucket", "run/a", text), "AAAA"));
}

TEST_CASE("s3 hostile: listings that are no XML, cost no more than their length, and promise sizes that nothing has") {
    std::string body, size = "9000000000000000000";
    hostile_store store{[&](question const& asked) {
        if (!asked.is_list()) { return asked.answer("", "404 Not Found"); }
        asked.answer(body);
    }};
    s3::store away{settings_of(store, 20'000ms)};
    std::vector<s3::object> all;
    for (int i = 0; i < 800'000; ++i) { body += "<Contents>"; }
    body += "</Contents>";
    CHECK_FALSE(away.list("bucket", "run/", all));
    CHECK(all.size() <= 1);

    std::uint64_t const before = peak_memory();
    for (char const* const claimed : {"9000000000000000000", "1000000000000", "60000000"}) {
        body.clear();
        for (int i = 0; i < 1000; ++i) {
            char name[64];
            std::snprintf(name, sizeof name, "run/%06d.spot", i);
            body += object_text(name, claimed) + object_text(std::string{name} + "x", claimed);
        }
        body = listing(body, "");
        INFO("claimed " << claimed);
        s3::store_files files{settings_of(store)};
        CHECK_FALSE(files.map("s3://bucket/run/000000.spotx"));
        CHECK_FALSE(files.map("s3://bucket/run/000000.spot"));
        CHECK_FALSE(open_trial("s3://bucket/run", files));
    }
    CHECK(peak_memory() - before < (std::uint64_t{512} << 20));
}

TEST_CASE("s3 hostile: signs of life of any length of time, and parts of uploads without number") {
    std::atomic<bool> forgot_others{false};
    std::string alive = "spotter alive 1\nevery 9223372036854775807\n";
    hostile_store store{[&](question const& asked) {
        if (asked.path.ends_with("/alive")) {
            return asked.answer(
                alive, "200 OK",
                "Date: Tue, 25 Nov 2025 12:00:00 GMT\r\nLast-Modified: Sat, 25 Oct 2025 10:00:00 GMT\r\n");
        }
        if (asked.query.find("uploads=") != asked.query.npos) {
            std::string uploads;
            for (int i = 0; i < 1000; ++i) {
                uploads += "<Upload><Key>run/000000.spot</Key><UploadId>u" + std::to_string(i) +
                           "</UploadId></Upload>" +
                           "<Upload><Key>run/notes.txt</Key><UploadId>mine</UploadId></Upload>";
            }
            return asked.answer(uploads);
        }
        if (asked.method == "DELETE" && asked.query.find("mine") != asked.query.npos) { forgot_others = true; }
        asked.answer("", asked.method == "DELETE" ? "204 No Content" : "200 OK");
    }};
    s3::store_files files{settings_of(store)};
    CHECK_FALSE(files.is_locked("s3://bucket/run/lock").value());  // the last sign of life is a month old
    alive = "spotter alive 1\nevery -5\n";
    CHECK_FALSE(files.is_locked("s3://bucket/run/lock").value());
    std::uint64_t const before = store.questions();
    s3::store away{settings_of(store)};
    away.forget_parts("bucket", "run/", s3::detail::is_of_run);
    CHECK_FALSE(forgot_others);
    CHECK(store.questions() - before <= 101);
}
