// SPDX-License-Identifier: Apache-2.0
// What happens when a rule fires: each response, several at once, a failing one, and a hook that knows since when all
// is healthy.
#include <tests/response/alerts.hpp>

#include <spotter/replay.hpp>
#include <spotter/rule/builtin/stalled_training.hpp>
#include <spotter/rule/dynamic_rule.hpp>

#include <algorithm>
#include <stdexcept>

#if __has_include(<nlohmann/json.hpp>)
#include <nlohmann/json.hpp>
#endif

using namespace spotter;
using namespace spotter_test;

TEST_CASE("responses run once for each finding that is delivered, behind the adaptors, and in a loop only [S71]") {
    temporary_folder const folder;
    std::vector<std::uint64_t> called;
    stop_flag flag;
    auto const note = call{[&called](finding const& it) { called.push_back(it.step.index); }};
    auto const rules = on(high, note, stop, raise_flag{flag}) | rearm{2};
    hook watch{folder / "run", rules};
    CHECK(one_step(watch, 0, 0.5) == decision::proceed);
    CHECK_FALSE(flag.raised());
    CHECK(one_step(watch, 1, 2) == decision::stop);
    CHECK(flag.raised());
    for (std::uint64_t i = 2; i < 5; ++i) { CHECK(one_step(watch, i, 2) == decision::proceed); }
    for (std::uint64_t i = 5; i < 7; ++i) { CHECK(one_step(watch, i, 0) == decision::proceed); }
    CHECK(one_step(watch, 7, 2) == decision::stop);
    CHECK(called == std::vector<std::uint64_t>{1, 7});
    watch.finish();
    flag.lower();
    std::size_t said = 0;
    (void)replay(open(watch.path()), rules, [&](spotter::step_alarm const& it) { said += it.size(); });
    CHECK(said == 2);
    CHECK(called.size() == 2);
    CHECK_FALSE(flag.raised());
}

TEST_CASE("two responses of one rule run in the order in which they are given [S67]") {
    std::vector<int> order;
    hook watch{plan<>{}, on(on(high, call{[&](finding const&) { order.push_back(1); }}),
                            call{[&](finding const&) { order.push_back(2); }},
                            call{[&](finding const&) { order.push_back(3); }})};
    (void)one_step(watch, 0, 2);
    CHECK(order == std::vector<int>{1, 2, 3});
}

TEST_CASE("responses are found wherever their rule stands, each once for each finding that went through it") {
    std::string called;
    auto const note = [&](char what) { return call{[&called, what](finding const&) { called += what; }}; };
    auto const other = any("x", minimum > 1.0);
    auto const third = any("x", mean > 1.0);
    auto const inner = on(high, note('a')) || on(other | for_steps{2}, note('b'));
    dynamic_rule const dynamic =
        to_dynamic(on(together(inner, on(third && other, note('c'))), note('d')) | cooldown{2});
    for (bool const hidden : {false, true}) {
        called.clear();
        // The second one makes the rule dynamic, with a cooldown.
        hook watch{plan<>{}, on(!on(high, note('n')), note('e')),
                   hidden ? dynamic : dynamic_rule{on(together(inner, on(third && other, note('c'))), note('d'))},
                   on(high, note('f'), note('g'), note('h')), on(high, note('i'))};
        (void)one_step(watch, 0, 2);
        CHECK(called == "adicdfgh");
        called.clear();
        (void)one_step(watch, 1, 2);
        CHECK(called == (hidden ? "fghi" : "adibdcdfgh"));
        called.clear();
        (void)one_step(watch, 2, 0);
        CHECK(called == "e");
    }
}

TEST_CASE("of more responses than there are numbers the further ones are left out, and no other runs in their place") {
    std::vector<response_call> calls(65'537);
    findings all;
    for (response_call& each : calls) {
        all.clear();
        all.push({.rule = "any"});
        all.ask_for(each, 0);
    }
    CHECK((calls[65'534].number == 65'535 && calls[65'535].number == 0));
    CHECK(all[0].response_count() == 0);
}

TEST_CASE("a response that fails is reported in health, and the others run [S67]") {
    std::size_t called = 0;
    auto const rules = on(high, append_lines{"/proc/none/alerts.jsonl"}, call{[&](finding const&) { ++called; }});
    hook watch{plan<>{}, rules};
    (void)one_step(watch, 0, 2);
    (void)one_step(watch, 1, 2);
    CHECK(called == 2);
    CHECK(watch.health().first_error.code != errc::none);
    CHECK(watch.health().first_error.what.view().find("alerts.jsonl") != std::string_view::npos);
}

#if SPOTTER_EXCEPTIONS
TEST_CASE("a response that throws is reported in health, and the others run") {
    std::size_t called = 0;
    hook watch{plan<>{}, on(high, call{[](finding const&) { throw std::runtime_error{"no"}; }},
                            call{[&](finding const&) { ++called; }})};
    (void)one_step(watch, 0, 2);
    CHECK(called == 1);
    CHECK(watch.health().first_error.code == errc::user_code_threw);
}

TEST_CASE("a response that fails or throws is reported with rule, response and error, each once with a count") {
    auto const rules =
        on(high | named{"too high"}, call{[](finding const&) { throw std::runtime_error{"no mail server"}; }},
           append_lines{"/proc/none/alerts.jsonl"}, call{[](finding const&) { throw 1; }});
    hook watch{plan<>{}, rules};
    for (std::uint64_t i = 0; i < 3; ++i) { (void)one_step(watch, i, 2); }
    failure_list const list = watch.health().failures;
    REQUIRE(list.size() == 3);
    for (repeated_failure const& each : list) {
        CHECK(each.times == 3);
        CHECK(each.what.what.view().find("\"too high\"") != std::string_view::npos);
    }
    CHECK(list[0].what.what.view().find("response call") != std::string_view::npos);
    CHECK(list[0].what.what.view().find("no mail server") != std::string_view::npos);
    CHECK(list[1].what.what.view().find("response append_lines") != std::string_view::npos);
    CHECK(list[2].what.code == errc::user_code_threw);
}
#endif

TEST_CASE("findings are appended to a file as JSON, and a command gets them on its standard input") {
    temporary_folder const folder;
    std::string const lines = folder / "alerts.jsonl", written = folder / "command";
    std::string const command = copy_of_input(written);
    hook watch{plan<>{}, on(high | named{"it's \"high\"\n"}, append_lines{lines}, run_command{command})};
    (void)one_step(watch, 3, 2.5);
    std::string const seen = text_of(lines);
    CHECK(seen.starts_with("{\"rule\": \"it's \\\"high\\\" \", "));
    CHECK(seen.substr((std::min)(seen.find("\"severity\""), seen.size()))
              .starts_with(
                  "\"severity\": \"warning\", \"decision\": \"proceed\", "
                  "\"mode\": \"train\", \"step\": 3, \"tensor\": \"x\", \"measure\": \"maximum\", \"measured\": 2.5, "
                  "\"relation\": \">\", \"threshold\": 1, \"others\": 0, \"run\": \"\", \"worker\": 0, \"attempt\": 0, "
                  "\"time\": "));
    CHECK(seen.ends_with(", \"detail\": \"\", \"remedy\": \"\"}\n"));
    CHECK(without_time(wait_for(written, 1)) == without_time(seen));
    CHECK(watch.health().good());
    std::filesystem::remove(lines);
    std::filesystem::remove(written);
    (void)one_step(watch, 4, 2.5);
    (void)wait_for(written, 1);
    CHECK(text_of(lines).find("\"step\": 4") != std::string::npos);
}

TEST_CASE("JSON of a finding is whole whatever it holds") {
    std::string const long_one(5000, '"');
    finding it;
    it.rule = it.reason = it.tensor = it.measure = it.remedy = long_one;
    for (int i = 0; i < 100; ++i) { it.detail << '"'; }
    it.measured = std::numeric_limits<double>::quiet_NaN();
    it.threshold = -std::numeric_limits<double>::infinity();
    std::string const line{json_of(it).view()};
    CHECK(line.ends_with("\"}\n"));
    CHECK(line.find("\"measured\": null") != line.npos);
    CHECK(line.find("\"threshold\": null") != line.npos);
    it.measured = 0.1;
    CHECK(json_of(it).view().find("\"measured\": 0.1,") != std::string_view::npos);
}

namespace {

// The text between the quotes behind a key; no text in these tests has quotes.
std::string value_of(std::string_view line, std::string_view key) {
    std::size_t const begin = line.find("\"" + std::string{key} + "\": \"") + key.size() + 5;
    return std::string{line.substr(begin, line.find('"', begin) - begin)};
}

}  // namespace

TEST_CASE("JSON of a finding is UTF-8 whatever its texts are: cut at a letter, what is no letter as its bytes") {
    std::string const umlaut = "\xC3\xA4", globe = "\xF0\x9F\x8C\x8D";
    std::string many;
    for (int i = 0; i < 200; ++i) { many += umlaut; }
    std::string const names[][2] = {{umlaut + globe, umlaut + globe},
                                    {many, many.substr(0, 250)},
                                    {"x" + many, "x" + many.substr(0, 248)},
                                    {"xyz" + many.substr(0, 244) + globe, "xyz" + many.substr(0, 244)},
                                    {"a\xFF"
                                     "b\x80",
                                     R"(a\xffb\x80)"},    // bytes that begin no character
                                    {"\xC3", R"(\xc3)"},  // an incomplete character
                                    {"\xE2\x82x", R"(\xe2\x82x)"},
                                    {"\xC0\xAF\xE0\x80\xAF", R"(\xc0\xaf\xe0\x80\xaf)"},  // longer than necessary
                                    {"\xED\xA0\x80", R"(\xed\xa0\x80)"},                  // half of a surrogate pair
                                    {"\xF4\x90\x80\x80\xF4\x8F\xBF\xBF", R"(\xf4\x90\x80\x80)"
                                                                         "\xF4\x8F\xBF\xBF"},  // beyond the last
                                    {many.substr(0, 248) + "\xFF", many.substr(0, 248)}};
    for (auto const& [name, expected] : names) {
        finding it;
        it.tensor = name;
        std::string const line{json_of(it).view()};
        std::string written;
        for (char const each : expected) { written.append(each == '\\' ? 2 : 1, each); }
        CHECK(value_of(line, "tensor") == written);
#if __has_include(<nlohmann/json.hpp>)
        auto const parsed = nlohmann::json::parse(line, nullptr, false);
        REQUIRE_FALSE(parsed.is_discarded());
        CHECK(parsed["tensor"].get<std::string>() == expected);
#endif
    }
}

TEST_CASE("an alert says of which run, worker and attempt it is, and when") {
    temporary_folder const folder;
    std::string const lines = folder / "alerts.jsonl";
    double const begin = detail::seconds_now();
    for (int attempt = 0; attempt < 2; ++attempt) {
        hook watch{folder / "run", options{.existing = existing::resume, .worker = 3}, on(high, append_lines{lines})};
        (void)one_step(watch, 0, 2);
    }
    std::string const reported = text_of(lines);
    std::string const run = "\"run\": \"" + (folder / "run/worker-3") + "\", \"worker\": 3, \"attempt\": ";
    CHECK(reported.find(run + "0, ") != reported.npos);
    CHECK(reported.find(run + "1, ") != reported.npos);
    double const time = std::stod(reported.substr(reported.find("\"time\": ") + 8));
    CHECK(time >= begin);
    CHECK(time <= detail::seconds_now());
}

TEST_CASE("what is printed of a finding cannot move the cursor: control bytes and what is no letter are escaped") {
    finding it;
    it.rule = "named\x1b[2J";
    it.tensor = "w\r\x7f\x9b\xc2\x9b\xff r\xc3\xa9sum\xc3\xa9";
    it.measure = "mean";
    it.detail << "a\nb";
    std::string const shown = "\"w\\x0d\\x7f\\x9b\\xc2\\x9b\\xff r\xc3\xa9sum\xc3\xa9\"";
    text<1024> line;
    describe(it, line);
    CHECK(line.view().find("named\\x1b[2J at ") != std::string_view::npos);
    CHECK(line.view().find(shown) != std::string_view::npos);
    CHECK(line.view().find("(a\\x0ab)") != std::string_view::npos);
    temporary_folder const folder;
    std::FILE* const stream = std::fopen((folder / "printed").c_str(), "wb");
    CHECK(!print_finding{stream}(it));
    std::fclose(stream);
    std::string const printed = text_of(folder / "printed");
    CHECK(printed.find(shown) != printed.npos);
    // Only its line feed is below 0x20.
    CHECK(std::count_if(printed.begin(), printed.end(), [](unsigned char each) { return each < 0x20; }) == 1);
}

TEST_CASE("healthy_since says whether a checkpoint may replace an older one") {
    hook watch{plan<>{}, high | rearm{2}, any("y", maximum > 1.0) | severity::info, any("v", maximum > 1.0),
               any("z", maximum > 1.0) | rearm{2} | severity::info};
    CHECK(watch.healthy_since(train(0)));
    (void)one_step(watch, 0, 0);
    (void)one_step(watch, 1, 2);  // reported
    CHECK_FALSE(watch.healthy_since(train(0)));
    CHECK_FALSE(watch.healthy_since(train(1)));
    CHECK(watch.healthy_since(train(2)));
    (void)one_step(watch, 2, 2);  // thinned by rearm, but the condition still holds
    CHECK_FALSE(watch.healthy_since(train(2)));
    (void)one_step(watch, 3, 0);
    CHECK(watch.healthy_since(train(3)));
    (void)watch.step(train(4), "y"_t = 2.0);  // only a note
    CHECK(watch.healthy_since(train(3)));
    for (std::uint64_t i = 1; i < 4; ++i) { (void)watch.step(eval(i), "z"_t = 2.0); }  // notes, reported or thinned
    CHECK(watch.healthy_since(eval(0)));
    (void)watch.step(eval(0), "v"_t = 2.0);
    CHECK_FALSE(watch.healthy_since(train(4)));
    CHECK_FALSE(watch.healthy_since(eval(0)));
    CHECK(watch.healthy_since(train(5)));
    (void)one_step(watch, 5, 0);
    (void)one_step(watch, 4, 0);  // back to the checkpoint: the fault at step 4 is undone
    CHECK(watch.healthy_since(train(4)));
    CHECK_FALSE(watch.healthy_since(train(3)));
}

TEST_CASE("healthy_since: going back does not make good what was found at steps that are still to come again") {
    hook watch{plan<>{}, high};
    for (std::uint64_t i = 0; i < 8; ++i) { (void)one_step(watch, i, 0); }
    run_moment const saved = watch.vital_signs().moment_of(train(7));
    CHECK(watch.vital_signs().healthy_since(saved) == truth::yes);
    run_moment const next = watch.vital_signs().moment_of(train(8));
    (void)one_step(watch, 8, 0);
    CHECK(watch.vital_signs().moment_of(train(8)).close == next.close);
    (void)one_step(watch, 9, 2);
    (void)one_step(watch, 3, 0);  // back
    CHECK_FALSE(watch.healthy_since(train(7)));
    CHECK_FALSE(watch.healthy_since(train(9)));
    CHECK(watch.healthy_since(train(10)));
    CHECK(watch.healthy_since(train(3)));
    CHECK(watch.vital_signs().healthy_since(saved) == truth::no);
    for (std::uint64_t i = 4; i < 8; ++i) { (void)one_step(watch, i, 0); }
    CHECK(watch.healthy_since(train(7)));        // repeated without a fault
    CHECK_FALSE(watch.healthy_since(train(9)));  // not repeated yet
    CHECK(watch.vital_signs().healthy_since(saved) == truth::no);
    CHECK(watch.vital_signs().healthy_since(watch.vital_signs().moment_of(train(7))) == truth::yes);
    CHECK(watch.vital_signs().healthy_since(watch.vital_signs().moment_of(eval(0))) == truth::yes);
    hook other{plan<>{}, high};
    (void)one_step(other, 7, 0);
    CHECK(other.vital_signs().healthy_since(saved) == truth::undecided);
    CHECK(other.vital_signs().healthy_since(run_moment{}) == truth::undecided);
}

TEST_CASE("a loop that stood still is reported when it goes on, by the hook's clock and by the record's") {
    temporary_folder const folder;
    static double now;
    now = 1e9;
    constexpr auto rules = stalled_training{.threshold = 100} || (high | rearm{2});
    hook watch{folder / "run", rules, options{.drain = drain::poll, .clock = []() noexcept { return now; }}};
    std::vector<std::uint64_t> stalls;
    for (std::uint64_t i = 0; i < 8; ++i) {
        now += i == 3 ? 101 : i == 5 ? 99 : 1;
        auto const reported = watch.step(train(i), "x"_t = 0.0);
        watch.flush();
        if (reported) {
            CHECK((reported.front().rule == "stalled_training" && reported.front().measured == 101));
            CHECK(reported.decision() == decision::proceed);
            stalls.push_back(i);
        }
    }
    CHECK(stalls == std::vector<std::uint64_t>{3});
    watch.finish();
    stalls.clear();
    (void)replay(open(watch.path()), rules, [&](spotter::step_alarm const& it) {
        if (it) { stalls.push_back(it.front().step.index); }
    });
    CHECK(stalls == std::vector<std::uint64_t>{3});
}

TEST_CASE("capture keeps more for a while once a rule fires") {
    temporary_folder const folder;
    constexpr plan little{collection{"x", "x", always{}, stats(maximum)}};
    constexpr plan more{collection{"all", "*", always{}, payload}, collection{"w", "w", every{2}, stats(l2)}};
    hook watch{folder / "run", little, on(high, capture{more, 3})};
    std::vector<float> w(10, 1.0F);
    for (std::uint64_t i = 0; i < 12; ++i) {
        (void)watch.step(train(i), "x"_t = i == 2 || i == 4 ? 2.0 : 0.0, "w"_t = w);
    }
    watch.finish();
    CHECK(watch.health().good());
    trial const run = open(watch.path());
    std::vector<std::uint64_t> kept;
    for (std::uint64_t i = 0; i < 12; ++i) {
        bool const there = static_cast<bool>(run["w"].at(train(i)));
        CHECK(there == static_cast<bool>(run["x"].at(train(i))));
        if (there) { kept.push_back(i); }
    }
    CHECK(kept == std::vector<std::uint64_t>{3, 4, 5, 6, 7});
    hook wrong{plan<>{}, on(high, capture{plan{collection{"a", "[a", always{}, payload}}, 3})};
    (void)one_step(wrong, 0, 2);
    CHECK(wrong.health().first_error.code == errc::bad_pattern);
}

TEST_CASE("a command of 4095 bytes is run, a longer one is refused") {
    temporary_folder const folder;
    std::string const written = folder / "command";
    std::string command = copy_of_input(written) + begin_of_comment;
    command.resize(4095, 'x');
    constexpr finding_origin then{"runs/a", 2, 12.5};
    finding it;
    it.rule = "named";
    CHECK(!run_command{command}(it, then));
    std::string const line{json_of(it, then).view()};
    CHECK(wait_for(written, line.size()) == line);
    command += 'x';
    error const why = run_command{command}(it);
    CHECK(why.code == errc::bad_config);
    CHECK(why.what.view().find("longer than 4095 bytes") != std::string_view::npos);
}
