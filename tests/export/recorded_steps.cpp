// SPDX-License-Identifier: Apache-2.0
// A record read step by step and exported to TensorBoard files and JSON lines: rewinds, resumed runs, several workers,
// live runs.
#include <spotter/export/tensorboard_sink.hpp>
#include <spotter/rule/builtin/non_finite.hpp>
#include <spotter/workbench/export.hpp>

#include <tests/export/event_reader.hpp>

#include <cmath>
#include <csignal>
#include <limits>

using namespace spotter;
using namespace spotter_test;

namespace {

// Exports the whole run and returns the number of values written.
std::uint64_t to_board(trial const& run, std::string const& folder, tensorboard_options const& options = {}) {
    tensorboard_writer writer{folder, options};
    error const why = writer.advance(run);
    INFO(std::string{why.what.view()});
    CHECK(!why);
    return writer.counts().values;
}
std::string to_lines(trial const& run, export_choice const& choice = {}) {
    std::string text;
    json_lines_writer writer{[&](std::string_view line) {
                                 text += line;
                                 return error{};
                             },
                             choice};
    CHECK(!writer.advance(run));
    return text;
}
using steps_list = std::vector<std::uint64_t>;
steps_list steps_of(std::vector<read_value> const& series) {
    steps_list found;
    for (read_value const& each : series) { found.push_back(each.step); }
    return found;
}

}  // namespace

TEST_CASE("tensorboard: every scalar of a run, with the step and time of its record; modes are runs [D24]") {
    temporary_folder const folder;
    double const nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
    double const losses[] = {3, nan, 2, inf, -inf, 1e300, 0};
    {
        hook watch{folder / "run", everything};
        for (std::uint64_t i = 0; i < 7; ++i) { (void)watch.step(train(10 * i), "loss"_t = losses[i]); }
        (void)watch.step(eval(3), "loss"_t = 0.5);
    }
    trial const run = open(folder / "run");
    CHECK(to_board(run, folder / "board") == 8);
    auto const series = series_of(read_events(folder / "board/train"), "loss");
    REQUIRE(series.size() == 7);
    for (std::size_t i = 0; i < 7; ++i) {
        CHECK(series[i].step == 10 * i);
        CHECK(same_bits(series[i].time, run["loss"].time(train(10 * i)).value()));
        auto const bits = std::bit_cast<std::uint32_t>(series[i].scalar);
        CHECK((i == 1 ? (bits & 0x7FC00000U) == 0x7FC00000U
                      : bits == std::bit_cast<std::uint32_t>(static_cast<float>(losses[i]))));
    }
    auto const other = read_events(folder / "board/eval");
    REQUIRE(other.size() == 1);
    CHECK(other[0].step == 3);
    CHECK(other[0].scalar == 0.5F);
    CHECK(!std::filesystem::exists(folder / "board/predict"));
}

TEST_CASE("tensorboard: statistics as stored, histograms as stored or of the values, of every type [D24]") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", plan{collection{"stored", "g", always{}, stats(l2, maximum) | histogram},
                                        collection{"values", "{w,h,f,n}", always{}, payload}}};
        std::vector<float> const w{1, 2, std::numeric_limits<float>::quiet_NaN(), 4};
        std::vector<bf16> const h{{0x3F80}, {0x4000}, {0xFF80}};  // 1, 2, -inf
        std::vector<f8_e4m3> const f{{0x38}, {0x7F}};             // 1, NaN
        std::vector<float> const n(3, std::numeric_limits<float>::quiet_NaN());
        (void)watch.step(train(0), "g"_t = view_of(w, {4}), "w"_t = view_of(w, {2, 2}), "h"_t = view_of(h, {3}),
                         "f"_t = view_of(f, {2}), "n"_t = view_of(n, {3}));
    }
    trial const run = open(folder / "run");
    (void)to_board(run, folder / "board");
    auto const all = read_events(folder / "board/train");
    auto const scalar = [&](std::string_view tag) {
        auto const series = series_of(all, tag);
        return series.size() == 1 ? static_cast<double>(series[0].scalar) : -1;
    };
    CHECK(scalar("g:maximum") == 4);
    CHECK(scalar("g:l2") == Approx(std::sqrt(21.0)));
    CHECK(scalar("g:nonfinite") == 1);
    CHECK(series_of(all, "g:mean").empty());  // the mean was not recorded
    auto const bounds = [&](std::string_view tag) {
        auto const series = series_of(all, tag);
        if (series.empty()) { return std::vector<double>{}; }
        CHECK(series[0].is_histogram);
        std::string const made = field_of(series[0].message, 5).bytes;
        return std::vector<double>{double_of(field_of(made, 1)), double_of(field_of(made, 2)),
                                   double_of(field_of(made, 3))};
    };
    CHECK(bounds("g") == std::vector<double>{1, 4, 3});
    CHECK(bounds("w") == std::vector<double>{1, 4, 3});
    CHECK(bounds("h") == std::vector<double>{1, 2, 2});
    CHECK(bounds("f") == std::vector<double>{1, 1, 1});
    CHECK(bounds("n").empty());  // there are no finite values

    tensorboard_options chosen;
    chosen.which.names = {"w"};
    chosen.which.statistics = {mean};
    CHECK(to_board(run, folder / "chosen", chosen) == 2);
    auto const means = series_of(read_events(folder / "chosen/train"), "w:mean");
    REQUIRE(means.size() == 1);
    CHECK(means[0].scalar == Approx(7.0 / 3));
}

TEST_CASE("tensorboard: texts, findings and pictures are of series of their own") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything, non_finite{}};
        watch.scalar("config", "# a title");
        std::vector<float> const input(2 * 3 * 5, 0.5F);
        (void)watch.step(train(4), "input"_t = view_of(input, {2, 3, 5}),
                         "x"_t = std::numeric_limits<double>::quiet_NaN());
    }
    (void)to_board(open(folder / "run"), folder / "board");
    auto const all = read_events(folder / "board/train");
    auto const texts = [&](std::string_view tag) {
        std::vector<std::string> found;
        auto const series = series_of(all, tag);
        REQUIRE(series.size() == 1);
        for (read_field const& each : read_message(field_of(series[0].message, 8).bytes)) {
            if (each.number == 8) { found.push_back(each.bytes); }
        }
        return found;
    };
    CHECK(texts("config") == std::vector<std::string>{"# a title"});
    CHECK(texts("findings").at(0).starts_with("error: non_finite"));
    auto const pictures = texts("input:images");
    REQUIRE(pictures.size() == 4);
    CHECK(pictures[0] == "5");
    CHECK(pictures[2].substr(1, 3) == "PNG");
    CHECK(series_of(all, "input").at(0).is_histogram);
}

TEST_CASE("tensorboard: after a rewind and in a resumed run what was closed again holds") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything};
        for (std::uint64_t const i : {0U, 1U, 2U, 3U, 2U, 3U, 4U}) {
            (void)watch.step(train(i), "loss"_t = 1.0 * static_cast<double>(i));
        }
    }
    {
        hook watch{folder / "run", everything, options{.existing = existing::resume}};
        for (std::uint64_t const i : {4U, 5U}) { (void)watch.step(train(i), "loss"_t = 10.0 * static_cast<double>(i)); }
    }
    trial const run = open(folder / "run");
    CHECK(to_board(run, folder / "board") == 9);
    auto const series = series_of(read_events(folder / "board/train"), "loss");
    CHECK(steps_of(series) == steps_list{0, 1, 2, 3, 4, 5});
    CHECK(series[4].scalar == 40);
    std::string const lines = to_lines(run);
    CHECK(std::count(lines.begin(), lines.end(), '\n') == 9);
}

TEST_CASE("tensorboard: a step that goes on in the next segment is whole") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything, options{.segment_bytes = 16U << 10}};
        for (std::uint64_t i = 0; i < 8; ++i) {
            std::vector<float> values(3000);  // values that do not compress
            for (std::size_t k = 0; k < values.size(); ++k) { values[k] = std::sin(static_cast<float>(k * 7919 + i)); }
            watch.begin(train(i));
            watch.observe("first", 1.0);
            for (char const* each : {"a", "b", "c", "d"}) { watch.observe(each, view_of(values, {3000})); }
            watch.flush();
            (void)watch.end();
        }
    }
    trial const run = open(folder / "run");
    REQUIRE(std::filesystem::exists(folder / "run/000001.spot"));
    (void)to_board(run, folder / "board");
    auto const all = read_events(folder / "board/train");
    for (char const* each : {"first", "a", "b", "c", "d"}) { CHECK(series_of(all, each).size() == 8); }
}

TEST_CASE("tensorboard: scalars between steps go with the last step of train, each at a step of its own") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything};
        watch.scalar("lr", 1.0);
        (void)watch.step(train(10), "loss"_t = 1.0);
        (void)watch.step(eval(77), "loss"_t = 1.0);
        watch.scalar("lr", 0.5, 1234.5);
        watch.scalar("lr", 0.25);
        (void)watch.step(train(11), "loss"_t = 1.0);
        watch.scalar("final", 9.0);
    }
    trial const run = open(folder / "run");
    (void)to_board(run, folder / "board");
    auto const all = read_events(folder / "board/train");
    auto const series = series_of(all, "lr");
    CHECK(steps_of(series) == steps_list{0, 10, 11});
    CHECK(series.at(1).time == 1234.5);
    CHECK(steps_of(series_of(all, "final")) == steps_list{11});
    CHECK(read_events(folder / "board/eval").size() == 1);
    std::string const lines = to_lines(run, {.names = {"final"}});
    CHECK(lines.starts_with("{\"name\":\"final\",\"time\":"));
    CHECK(lines.ends_with(",\"value\":9}\n"));
}

TEST_CASE("tensorboard: of several observations in a step the last counts, and an open step does not") {
    temporary_folder const folder;
    in_killed_child([&] {
        hook watch{folder / "run", everything};
        watch.begin(train(0));
        watch.observe("x", 1.0);
        watch.observe("y", 5.0);
        watch.observe("x", 2.0);
        (void)watch.end();
        watch.begin(train(1));
        watch.observe("x", 3.0);
        watch.flush();
        std::raise(SIGKILL);
    });
    (void)to_board(open(folder / "run"), folder / "board");
    auto const all = read_events(folder / "board/train");
    REQUIRE(series_of(all, "x").size() == 1);
    CHECK(series_of(all, "x")[0].scalar == 2);
    CHECK(series_of(all, "y").size() == 1);
}

TEST_CASE("tensorboard: each worker is a run of its own") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything};
        auto other = watch.worker(3);
        (void)watch.step(train(0), "loss"_t = 1.0);
        (void)other.step(train(0), "loss"_t = 2.0);
    }
    trial const run = open(folder / "run");
    CHECK(to_board(run, folder / "board") == 2);
    CHECK(read_events(folder / "board/worker-0/train").at(0).scalar == 1);
    CHECK(read_events(folder / "board/worker-3/train").at(0).scalar == 2);
    CHECK(to_lines(run).find("\"worker\":3,\"value\":2}") != std::string::npos);
}

TEST_CASE("tensorboard and lines: names that are no UTF-8 become such") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything};
        (void)watch.step(train(0), "a\xFF\"b"_t = 1.0);
    }
    trial const run = open(folder / "run");
    (void)to_board(run, folder / "board");
    CHECK(read_events(folder / "board/train").at(0).tag == "a\\xff\"b");
    CHECK(to_lines(run).starts_with("{\"name\":\"a\\\\xff\\\"b\","));
}

TEST_CASE("tensorboard: a run that grows is read once, in any number of pieces, with the same result") {
    temporary_folder const folder;
    auto const record = [](auto& watch, std::uint64_t i) {
        watch.scalar("lr", static_cast<double>(i));
        std::vector<float> const values(40, static_cast<float>(i));
        (void)watch.step(train(i), "loss"_t = static_cast<double>(i), "w"_t = view_of(values, {5, 8}));
        if (i % 3 == 0) { (void)watch.step(eval(i), "loss"_t = 0.5); }
    };
    std::string lines;
    auto const put = [&](std::string_view line) {
        lines += line;
        return error{};
    };
    tensorboard_writer board{folder / "pieces"};
    json_lines_writer writer{put};
    hook watch{folder / "run", everything};
    watch.flush();
    trial run = open(folder / "run");
    for (std::uint64_t i = 0; i < 30; ++i) {
        record(watch, i);
        if (i % 4 == 1) {
            watch.flush();
            REQUIRE(!run.refresh());
            REQUIRE(!board.advance(run));
            REQUIRE(!writer.advance(run));
            CHECK(series_of(read_events(folder / "pieces/train"), "loss").size() == i + 1);
        }
    }
    watch.scalar("last", 1.0);
    watch.finish();
    REQUIRE(!run.refresh());
    REQUIRE(!board.advance(run));
    REQUIRE(!writer.advance(run));
    CHECK(lines == to_lines(open(folder / "run")));
    (void)to_board(open(folder / "run"), folder / "whole");
    for (std::string const mode : {"/train", "/eval"}) {
        CHECK(read_file(event_file_in(folder / "pieces" + mode)) == read_file(event_file_in(folder / "whole" + mode)));
    }
    CHECK(series_of(read_events(folder / "whole/train"), "last").size() == 1);
}

TEST_CASE("tensorboard: a sink beside the recorder shows what is flushed, and in the end everything") {
    temporary_folder const folder;
    hook watch{folder / "run", everything};
    tensorboard_sink board{watch.path(), folder / "board", {}, std::chrono::milliseconds{5}};
    for (std::uint64_t i = 0; i < 50; ++i) { (void)watch.step(train(i), "loss"_t = static_cast<double>(i)); }
    watch.flush();
    bool seen = false;
    for (int i = 0; i < 2000 && !seen; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
        seen = std::filesystem::exists(folder / "board/train") && !std::filesystem::is_empty(folder / "board/train") &&
               series_of(read_events(folder / "board/train", true), "loss").size() == 50;
    }
    CHECK(seen);  // visible while the run is still recording
    for (std::uint64_t i = 50; i < 60; ++i) { (void)watch.step(train(i), "loss"_t = static_cast<double>(i)); }
    watch.finish();
    CHECK(!board.finish());
    CHECK(series_of(read_events(folder / "board/train"), "loss").size() == 60);
    CHECK(!tensorboard_sink{"", folder / "nothing"}.finish());
    CHECK(!std::filesystem::exists(folder / "nothing"));
    error const why = tensorboard_sink{folder / "none", folder / "nothing", {}, std::chrono::milliseconds{1}}.finish();
    CHECK(why.code == errc::not_a_run);
}

TEST_CASE("json lines: every number of the CSV table is there, and statistics under their names") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", plan{collection{"all", "*", always{}, payload | stats(l2)}}};
        for (std::uint64_t i = 0; i < 5; ++i) {
            std::vector<double> const values{1.0 / 3, static_cast<double>(i)};
            (void)watch.step(train(i), "x"_t = 0.1 * static_cast<double>(i), "v"_t = view_of(values, {2}));
        }
    }
    trial const run = open(folder / "run");
    std::string const lines = to_lines(run);
    for (std::uint64_t i = 0; i < 5; ++i) {
        std::string const place =
            "\"step\":" + std::to_string(i) + ",\"mode\":\"train\",\"index\":" + std::to_string(i);
        CHECK(lines.find("{\"name\":\"x\"," + place + ",\"time\":" + csv_number(run["x"].time(train(i)).value()) +
                         ",\"value\":" + csv_number(0.1 * static_cast<double>(i)) + "}\n") != std::string::npos);
        CHECK(lines.find("\"statistic\":\"l2\",\"value\":" + csv_number(run["v"].stat(train(i), l2).value()) + "}\n") !=
              std::string::npos);
    }
    std::string const one = to_lines(run, {.names = {"v"}, .step = train(3), .statistics = {maximum}});
    CHECK(std::count(one.begin(), one.end(), '\n') == 1);
    CHECK(one.ends_with("\"statistic\":\"maximum\",\"value\":3}\n"));
}

TEST_CASE("json lines: integers have all their digits, in a step, loose and as a tensor of one; a text is a text") {
    temporary_folder const folder;
    std::int64_t const least = std::numeric_limits<std::int64_t>::min() + 1;
    std::uint64_t const most = std::numeric_limits<std::uint64_t>::max() - 1;
    {
        hook watch{folder / "run", everything};
        watch.scalar("loose", most);
        watch.begin(train(0));
        watch.scalar("scalar", least);
        watch.observe("observed", most);
        watch.observe("one", std::vector<std::uint64_t>{most});
        watch.scalar("note", "letters");
        watch.scalar("small", 0.5);
        (void)watch.end();
    }
    std::string const lines = to_lines(open(folder / "run"));
    auto const value_of = [&](std::string const& name) {
        std::size_t const line = lines.find("{\"name\":\"" + name + '"');
        REQUIRE(line != lines.npos);
        std::size_t const at = lines.find("\"value\":", line) + 8;
        return lines.substr(at, lines.find('}', at) - at);
    };
    CHECK(value_of("loose") == "18446744073709551614");
    CHECK(value_of("scalar") == "-9223372036854775807");
    CHECK(value_of("observed") == "18446744073709551614");
    CHECK(value_of("one") == "18446744073709551614");
    CHECK(value_of("small") == "0.5");
    CHECK(lines.find("\"text\":\"letters\"}") != lines.npos);
}
