// SPDX-License-Identifier: Apache-2.0
// A sweep as a table: the settings of the runs, how and by whom each ended, and its result; in a page and as CSV.
#include <tests/report/page.hpp>

#include <spotter/workbench/runs_table.hpp>

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr auto diverges = on(any("loss", maximum > 5.0) | named{"diverges"}, stop);

// So many train steps of a loss that ends as `end`, an evaluation behind each fifth; ends itself where the alarm says
// so, if it heeds it.
template <class... Rules>
void record(std::string const& path, float lr, std::uint64_t steps, double end, bool heeds, Rules const&... rules) {
    hook watch{path, everything, rules...};
    watch.scalar("lr", lr);
    watch.scalar("batch", 64);
    watch.scalar("net", "wide, \"deep\"");
    for (std::uint64_t i = 0; i < steps; ++i) {
        double const loss = end * static_cast<double>(i + 1) / static_cast<double>(steps);
        auto const alarm = watch.step(train(i), "loss"_t = loss);
        if (heeds && alarm.decision() == decision::stop) { break; }
        if (i % 5 == 4) { (void)watch.step(eval(i / 5), "loss"_t = loss + 1, "metric/accuracy"_t = 0.5); }
    }
    watch.finish();
}

std::vector<trial> open_all(std::vector<std::string> const& paths) {
    std::vector<trial> runs;
    for (std::string const& each : paths) { runs.push_back(open(each)); }
    return runs;
}

}  // namespace

TEST_CASE("a table of runs: settings that differ, who stopped what and when, last values, evaluation first") {
    temporary_folder const folder;
    record(folder / "whole", 0.1F, 10, 1, true, diverges);
    record(folder / "stopped", 10, 10, 10, true, diverges);
    record(folder / "ignored", 0.5F, 10, 10, false, diverges);
    runs_table const table = table_of(open_all({folder / "whole", folder / "stopped", folder / "ignored"}));
    CHECK(table.settings == std::vector<std::string>{"lr"});  // batch and net are the same
    CHECK(table.outcomes == std::vector<std::string>{"loss, eval", "metric/accuracy, eval", "loss, train"});
    REQUIRE(table.rows.size() == 3);
    runs_row const& whole = table.rows[0];
    CHECK((whole.name == "whole" && whole.path == folder / "whole" && whole.ended() == "finished"));
    CHECK((whole.steps == 10 && whole.stop_asked_by.empty() && whole.why.empty()));
    CHECK(whole.settings == std::vector<std::string>{"0.1"});  // as the float that it was
    CHECK(whole.outcomes == std::vector<std::optional<double>>{2, 0.5, 1});
    runs_row const& stopped = table.rows[1];
    CHECK((stopped.ended() == "stopped" && stopped.stop_asked_by == "diverges" && !stopped.went_on));
    CHECK((stopped.stop_asked_at == train(5) && stopped.steps == 6 && stopped.settings.front() == "10"));
    CHECK(stopped.outcomes == std::vector<std::optional<double>>{6, 0.5, 6});
    runs_row const& ignored = table.rows[2];
    CHECK((ignored.ended() == "stopped" && ignored.stop_asked_at == train(9)));  // nothing came behind the last request
}

TEST_CASE("a table of runs: a stop that was not heeded is reported as that") {
    temporary_folder const folder;
    record(folder / "run", 0.5F, 10, 10, false, on(any("loss", maximum > 5.0) | once | named{"diverges"}, stop));
    runs_table const table = table_of(open_all({folder / "run"}));
    runs_row const& row = table.rows.front();
    CHECK((row.ended() == "finished" && row.stop_asked_by == "diverges" && row.went_on));
    CHECK((row.stop_asked_at == eval(0) && row.steps == 10));
    CHECK(table.settings == std::vector<std::string>{"lr", "batch", "net"});  // of one run all
    CHECK(row.settings == std::vector<std::string>{"0.5", "64", "wide, \"deep\""});
}

TEST_CASE("a table of runs: a stop from outside names what the file said") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything};
        for (std::uint64_t i = 0; i < 100'000; ++i) {
            auto const alarm = watch.step(train(i), "loss"_t = 1.0);
            if (i == 3) {
                watch.flush();
                std::ofstream{folder / "run/stop"} << "behind the others\n";
            }
            if (alarm.decision() == decision::stop) { break; }
            if (i > 3) { std::this_thread::sleep_for(std::chrono::milliseconds{1}); }
        }
        (void)watch.step(eval(0), "loss"_t = 2.0);  // a last evaluation is no going on
        watch.finish();
    }
    runs_table const table = table_of(open_all({folder / "run"}));
    runs_row const& row = table.rows.front();
    CHECK((row.ended() == "stopped" && row.stop_asked_by == "stop_file" && row.why == "behind the others"));
    CHECK((row.stop_asked_at.mode == mode::train && row.stop_asked_at.index + 1 == row.steps));
}

TEST_CASE("a table of runs: failed, dead and running ones, and what has no number at the end") {
    temporary_folder const folder;
    {
        hook watch{folder / "failed", everything};
        (void)watch.step(train(0), "loss"_t = 1.0);
        (void)watch.step(train(1), "loss"_t = std::bit_cast<double>(0x7FF8000000000000ULL));
        watch.fail("out of data");
    }
    in_killed_child([&] {
        hook watch{folder / "died", everything};
        (void)watch.step(train(0), "loss"_t = 1.0);
        watch.flush();
        ::raise(SIGKILL);
    });
    hook live{folder / "live", everything};
    live.scalar("remark", "a reason that is longer than a column of numbers is wide");
    (void)live.step(train(0), "metric/a,b"_t = 0.25);
    live.flush();
    auto const runs = open_all({folder / "failed", folder / "died", folder / "live"});
    runs_table const table = table_of(runs);
    CHECK((table.rows[0].ended() == "failed" && table.rows[0].why == "out of data"));
    REQUIRE(table.rows[0].outcomes.front().has_value());
    CHECK(classify(*table.rows[0].outcomes.front()) == number_class::nan);  // and not the 1 before it
    CHECK((table.rows[1].ended() == "died" && table.rows[2].ended() == "running"));
    std::string const page = to_html(runs);
    check_page(page);
    CHECK(has_text(page, "<td>NaN</td><td>—</td>"));
    CHECK(has_text(page, "failed: out of data"));
    CHECK(has_text(page, "<td class=\"text long\">a reason that is longer"));  // wrapped
    std::string const csv = to_csv(table);
    CHECK(csv.starts_with(
        "run,path,ended,stop_asked_by,stop_asked_at,why,steps,seconds,remark,\"loss, train\",\"metric/a,b, train\"\n"
        "failed,"));
    CHECK((has_text(csv, ",out of data,2,") && has_text(csv, ",nan,\n") && has_text(csv, ",,0.25\n")));
}

TEST_CASE("a table of runs as CSV: quotes where they are needed, who stopped it, numbers whole") {
    temporary_folder const folder;
    record(folder / "a", 0.1F, 3, 1.0 / 3, true, diverges);
    record(folder / "b", 10, 10, 10, true, diverges);
    auto runs = open_all({folder / "b"});
    CHECK(has_text(to_csv(table_of(runs)), ",lr,batch,net,\"loss, eval\",\"metric/accuracy, eval\",\"loss, train\"\n"));
    CHECK(has_text(to_csv(table_of(runs)), ",10,64,\"wide, \"\"deep\"\"\",6,0.5,6\n"));
    runs.insert(runs.begin(), open(folder / "a"));
    std::string const csv = to_csv(table_of(runs));
    CHECK(has_text(csv, ",stopped,diverges,train(5),"));
    CHECK(has_text(csv, ",0.1,,,0.3333333333333333\n"));  // no evaluation
}

TEST_CASE("one run's page has what it was reported before the first step; later texts are none of it") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything};
        watch.scalar("lr", 0.003);
        watch.scalar("decay", 0.0005192951464);
        watch.scalar("seed", std::uint64_t{12345678901234567890U});
        watch.scalar("note", "<first>");
        for (std::uint64_t i = 0; i < 3; ++i) {
            (void)watch.step(train(i), "loss"_t = 1.0, "hyperparameters/decay"_t = 0.5);
        }
        watch.scalar("best", 7.5);
        watch.finish();
    }
    std::string const page = to_html(open(folder / "run"));
    check_page(page);
    CHECK(sections_of(page).front() == "hyperparameters");
    CHECK(has_text(page, "<tr><th>lr</th><td>0.003</td></tr>"));
    CHECK(has_text(page, "<tr><th>decay</th><td>0.0005193</td></tr>"));
    CHECK(has_text(to_csv(table_of(open_all({folder / "run"}))), ",0.0005192951464,"));
    CHECK(has_text(page, "<tr><th>seed</th><td>12345678901234567890</td></tr>"));
    CHECK(has_text(page, "<tr><th>note</th><td>&#60;first&#62;</td></tr>"));
    CHECK(has_text(page, "<tr><th>hyperparameters/decay</th><td>0.5</td></tr>"));
    CHECK_FALSE(has_text(page, "<th>best</th>"));
}

TEST_CASE("of sixteen runs a page has the table, the curves and the findings, and stays small") {
    temporary_folder const folder;
    std::vector<std::string> paths;
    for (int i = 0; i < 16; ++i) {
        paths.push_back(folder / fmt::format("run{}", i));
        record(paths.back(), 0.1F * static_cast<float>(i), 400, i == 3 ? 9 : 1 + 0.1 * i, true, diverges);
    }
    auto const runs = open_all(paths);
    std::string const page = to_html(runs);
    check_page(page);
    CHECK(sections_of(page) == std::vector<std::string>{"runs", "curves", "findings"});
    CHECK(has_text(page, "<h1>16 runs</h1>"));
    CHECK(has_text(page, "15 finished, 1 stopped."));
    CHECK(has_text(page, "Make a page of one run, or of a few"));
    CHECK(has_text(page, "stopped by <b>diverges</b> at train("));
    CHECK(has_text(page, "<h3 id=\"findings-16\">run15</h3>"));
    CHECK((has_text(page, "<b>loss, eval</b>") && has_text(page, "<b>loss, train</b>")));
    CHECK_FALSE(has_text(page, "class=\"band"));
    // The legend is in the order in which the lines end.
    std::string const legend = page.substr(page.find("<b>loss, train</b>"), 3000);
    CHECK(legend.find("run3<") < legend.find("run15<"));
    CHECK(legend.find("run15<") < legend.find("run0<"));
    CHECK(page.size() < 120'000);
}

TEST_CASE("of many runs a chart names those at both ends, and one that ended without a number comes first") {
    temporary_folder const folder;
    std::vector<std::string> paths;
    for (int i = 0; i < 27; ++i) {
        paths.push_back(folder / fmt::format("run{}", i));
        hook watch{paths.back(), everything};
        (void)watch.step(train(0), "loss"_t = 1.0);
        double const end = i == 5 ? std::bit_cast<double>(0x7FF8000000000000ULL) : 0.01 * i;
        (void)watch.step(train(1), "loss"_t = end);
    }
    std::string const page = to_html(open_all(paths));
    check_page(page);
    CHECK(has_text(page, "from the one that ends highest to the lowest, 3 between them unnamed"));
    std::string const legend = page.substr(page.find("<b>loss, train</b>"), 4000);
    CHECK(legend.find("run5<") < legend.find("run26<"));
    CHECK(legend.find("run26<") < legend.find("run0<"));
    CHECK_FALSE(has_text(legend, "run14<"));
}

TEST_CASE("only the sections that were asked for, and a wrong one is reported with those that there are") {
    temporary_folder const folder;
    record(folder / "a", 0.1F, 10, 1, true, diverges);
    record(folder / "b", 10, 10, 10, true, diverges);
    auto const runs = open_all({folder / "a", folder / "b"});
    auto const of = [&](std::vector<std::string> const& ids) { return to_html(runs, ids); };
    auto const two = of({"curves", "runs"});
    REQUIRE(two);
    check_page(*two);
    CHECK(sections_of(*two) == std::vector<std::string>{"runs", "curves"});  // in the page's order
    CHECK_FALSE((has_text(*two, "<h1>") || has_text(*two, "<nav>") || has_text(*two, "<footer>")));
    CHECK(sections_of(*of({"findings"})) == std::vector<std::string>{"findings-1", "findings-2"});
    CHECK(sections_of(*of({"findings-2"})) == std::vector<std::string>{"findings-2"});
    auto const wrong = of({"runs", "classes"});
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().code == errc::no_such_name);
    CHECK(wrong.error().what.view() ==
          "the page has no section \"classes\"; there are runs differences curves findings times");
    CHECK(*of({}) == to_html(runs));
}
