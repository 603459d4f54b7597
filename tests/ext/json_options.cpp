// SPDX-License-Identifier: Apache-2.0
// Settings files: the options of a run, and names that have two spellings.
#include <tests/catch.hpp>
#include <tests/temporary_folder.hpp>

#include <spotter/ext/json.hpp>
#include <spotter/spotter.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

void is_refused(std::string const& text, std::string_view code, std::initializer_list<std::string_view> words) {
    result<dynamic_plan> const found = parse_plan(text);
    std::string const why =
        found ? "none" : std::string{name_of(found.error().code)} + ": " + std::string{found.error().what.view()};
    INFO(text << "\n" << why);
    CHECK(std::string_view{why}.starts_with(code));
    for (std::string_view each : words) { CHECK(why.find(each) != why.npos); }
}

void comes_back(dynamic_plan const& it) {
    std::string const text = to_json(it);
    INFO(text);
    CHECK(parse_plan(text).value() == it);
}

std::string own_with(std::string const& members) {
    return "{\"collections\": [{\"name\": \"mine\", " + members + "}]}";
}

}  // namespace

TEST_CASE("options of a run stand in a settings file, and hold whatever the program says") {
    result<dynamic_plan> const found = parse_plan(R"({
        "options": {"existing": "replace", "overflow": "thin", "copying": "streaming", "disk_sync": "flushes",
                    "ring_bytes": "1 MiB", "segment_bytes": 65536, "run_bytes": "3GiB", "flush_milliseconds": 7,
                    "compression_level": -3, "compressors": 2, "workers": 4, "keep": "one", "flight_bytes": "64 KiB",
                    "flight_steps_after": 5, "ring_in": "shared_memory"},
        "collections": [{"name": "losses"}]})");
    INFO(found.error().what.view());
    REQUIRE(found);
    auto clock = []() noexcept { return 3.0; };
    options const took = detail::options_among(
        options{.existing = existing::resume, .ring_bytes = 5, .worker = 3, .flight_steps_after = 1, .clock = clock},
        *found);
    CHECK(
        (took.existing == existing::replace && took.overflow == overflow::thin && took.copying == copying::streaming));
    CHECK((took.disk_sync == disk_sync::flushes && took.ring_bytes == 1 << 20 && took.segment_bytes == 65536));
    CHECK((took.run_bytes == 3ULL << 30 && took.flush_milliseconds == 7 && took.compression_level == -3));
    CHECK((took.compressors == 2 && took.workers == 4 && took.keep == recording_workers::one));
    CHECK((took.flight_bytes == 65536 && took.flight_steps_after == 5 && took.ring_in == ring_in::shared_memory));
    CHECK((took.worker == 3 && took.clock == +clock && took.drain == drain::thread));  // the file cannot give these
    comes_back(*found);
    dynamic_plan without = *found;
    without.run = {};
    CHECK(!(without == *found));

    result<dynamic_plan> const one = parse_plan(R"({"options": {"overflow": "drop"}, "collections": []})");
    options const kept = detail::options_among(options{.overflow = overflow::thin, .ring_bytes = 1 << 17}, *one);
    CHECK((kept.overflow == overflow::drop && kept.ring_bytes == 1 << 17 && kept.existing == existing::next));
}

TEST_CASE("each run option has the words and the place of its enumerators") {
    auto const says = [](char const* key, char const* word) {
        auto const it =
            parse_plan("{\"collections\": [], \"options\": {\"" + std::string{key} + "\": \"" + word + "\"}}");
        INFO(key << ' ' << word << ' ' << it.error().what.view());
        REQUIRE(it);
        comes_back(*it);
        return detail::options_among(*it);
    };
    CHECK(says("existing", "next").existing == existing::next);
    CHECK(says("existing", "refuse").existing == existing::refuse);
    CHECK(says("existing", "resume").existing == existing::resume);
    CHECK(says("overflow", "block").overflow == overflow::block);
    CHECK(says("copying", "automatic").copying == copying::automatic);
    CHECK(says("copying", "cached").copying == copying::cached);
    CHECK(says("disk_sync", "never").disk_sync == disk_sync::never);
    CHECK(says("disk_sync", "segments").disk_sync == disk_sync::segments);
    CHECK(says("keep", "all").keep == recording_workers::all);
    CHECK(says("ring_in", "memory").ring_in == ring_in::memory);
}

TEST_CASE("what is wrong among the options of a run is named, with what is allowed") {
    auto const with = [](std::string const& inner) { return "{\"collections\": [], \"options\": {" + inner + "}}"; };
    is_refused(R"({"collections": [], "options": []})", "bad_config", {"options: must be an object"});
    is_refused(with(R"("overflow": "trim")"), "bad_config",
               {"overflow of options: \"trim\" is no choice; allowed: block thin drop"});
    is_refused(with(R"("overflow": "blok")"), "bad_config", {"\"blok\" is no choice: did you mean block?"});
    is_refused(with(R"("overflow": 1)"), "bad_config", {"overflow of options", "block"});
    is_refused(with(R"("existing": "")"), "bad_config", {"existing of options", "next refuse replace resume"});
    is_refused(with(R"("keep": "")"), "bad_config", {"keep of options", "all one"});
    for (char const* const wrong :
         {"-1", "1.5", "65535", "1e9", "true", "null", "[65536]", "\"\"", "\"64\"", "\"64 MB\"", "\"-1 MiB\"",
          "\"64  MiB\"", "\"64 MiB \"", "\"99999999999 GiB\"", "\"MiB\"", "18446744073709551615"}) {
        is_refused(with("\"ring_bytes\": " + std::string{wrong}), "bad_config",
                   {"ring_bytes of options: must be a whole number of bytes, 65536 to", "MiB"});
    }
    is_refused(with(R"("compressors": 0)"), "bad_config", {"compressors of options: must be a whole number, 1 to 16"});
    is_refused(with(R"("compressors": "2 KiB")"), "bad_config", {"compressors of options"});
    is_refused(with(R"("compression_level": 23)"), "bad_config", {"compression_level of options", "-7 to 22"});
    is_refused(with(R"("ringbytes": 1)"), "bad_config",
               {"ringbytes of options: unknown key: did you mean ring_bytes? Allowed: existing "});
    is_refused(with(R"("worker": 1)"), "bad_config", {"worker of options: only the program can know it"});
    is_refused(with(R"("dry_run": true)"), "bad_config", {"dry_run of options: stands beside options"});
    is_refused(R"({"collections": [], "option": {}})", "bad_config", {"option: unknown key", "options"});
}

TEST_CASE("a run obeys the options of its settings file, in further workers too") {
    temporary_folder const folder;
    dynamic_plan const replaced =
        parse_plan(R"({"options": {"existing": "replace", "keep": "one"}, "collections": [{"name": "losses"}]})")
            .value();
    for (int round = 0; round < 2; ++round) {
        hook watch{folder / "run", replaced, options{.existing = existing::next}};
        hook second = watch.worker(1);
        (void)watch.step(train(0), "loss"_t = 2.0F);
        (void)second.step(train(0), "loss"_t = 2.0F);
        CHECK((watch.path() == folder / "run" && second.path().empty()));
        CHECK(watch.health().good());
    }
}

TEST_CASE("a statistic of sizes and the change of a tensor are read by either of their names") {
    CHECK(parse_plan(own_with(R"j("pattern": "*", "what": ["of_abs(minimum)"])j"))->wanted(1) == stats(minimum_abs));
    CHECK(parse_plan(own_with(R"("pattern": "*", "what": ["minimum_abs"])"))->wanted(1) == stats(of_abs(minimum)));
    is_refused(own_with(R"j("pattern": "*", "what": ["of_abs(l2)"])j"), "bad_config", {"of_abs(l2)"});
    is_refused(own_with(R"("pattern": "*", "what": ["of_abs(minimum"])"), "bad_config", {"what"});
    is_refused(own_with(R"("pattern": "*", "what": ["of_abs("])"), "bad_config", {"what"});
    for (char const* const name : {"change", "delta"}) {
        CHECK(parse_plan(own_with("\"pattern\": \"*\", \"what\": \"" + std::string{name} + "\""))->wanted(1) ==
              (stats_mask::change | stats_mask::nonfinite));
    }
    for (char const* const name : {"delta", "chain"}) {
        auto const it =
            parse_plan(own_with(R"("pattern": "*", "what": ["payload", {")" + std::string{name} + "\": 8}]"));
        REQUIRE(it);
        CHECK(it->wanted(1) == (payload | delta{8}));
        CHECK(to_json(*it).find(R"("what": ["payload", {"delta": 8}])") != std::string::npos);
    }
    is_refused(own_with(R"("pattern": "*", "what": [{"delta": 65}])"), "bad_config", {"what", "1 to 64"});
}
