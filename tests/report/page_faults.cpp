// SPDX-License-Identifier: Apache-2.0
// What readers of the page stumbled over: colours, orders, numbers, names.
#include <tests/report/page.hpp>

#include <spotter/rules.hpp>

#include <page/text.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr plan all_values{collection{"all", "*", always{}, payload}};

constexpr auto large_loss_here = any("loss", maximum > 0.9) | named{"too_large"};

// Twenty steps; stopped by an error at the tenth, or with a warning at the first.
void record_loss(std::string const& path, bool stops, bool warns = false) {
    constexpr auto broken = any("loss", nonfinite > 0) | severity::error;
    hook watch{path, all_values, large_loss_here, broken};
    watch.scalar("lr", stops ? 1.0 : 0.1);
    for (std::uint64_t i = 0; i < 20; ++i) {
        double const loss = stops && i == 10 ? std::numeric_limits<double>::quiet_NaN()
                            : warns          ? 1.0 / static_cast<double>(i + 1)
                                             : 0.5 / static_cast<double>(i + 1);
        if (watch.step(train(i), "loss"_t = loss).decision() == decision::stop) { break; }
    }
    watch.finish();
}

}  // namespace

TEST_CASE("page: a warning is not as red as an error") {
    temporary_folder const folder;
    record_loss(folder / "warned", false, true);
    record_loss(folder / "stopped", true);
    record_loss(folder / "well", false);
    CHECK(has_text(to_html(open(folder / "warned")), "class=\"verdict warned\""));
    CHECK(has_text(to_html(open(folder / "stopped")), "class=\"verdict bad\""));
    CHECK(has_text(to_html(open(folder / "stopped")), "<dt>status</dt><dd>stopped</dd>"));
    CHECK(has_text(to_html(open(folder / "well")), "<dt>status</dt><dd>finished</dd>"));
    CHECK(has_text(to_html(open(folder / "well")), "class=\"verdict good\""));
}

TEST_CASE("page: the headline of a sweep is as bad as its worst run") {
    temporary_folder const folder;
    auto const page_of = [&](std::string const& name, int stopped, int warned) {
        std::vector<trial> runs;
        for (int i = 0; i < 9; ++i) {
            std::string const path = folder / (name + std::to_string(i));
            record_loss(path, i < stopped, i < warned);
            runs.push_back(open(path));
        }
        return to_html(runs);
    };
    CHECK(has_text(page_of("stopped", 8, 0), "<p class=\"verdict bad\">1 finished, 8 stopped."));
    CHECK(has_text(page_of("warned", 0, 3), "<p class=\"verdict warned\">9 finished."));
    CHECK(has_text(page_of("well", 0, 0), "<p class=\"verdict good\">9 finished."));
}

TEST_CASE("page: of several runs the curves come before the findings, of one the findings") {
    temporary_folder const folder;
    record_loss(folder / "a", false, true);
    record_loss(folder / "b", true);
    std::vector<trial> runs;
    runs.push_back(open(folder / "a"));
    runs.push_back(open(folder / "b"));
    std::string const two = to_html(runs), one = to_html(runs.front());
    CHECK(two.find("<section id=\"curves\"") < two.find("<section id=\"findings-1\""));
    CHECK(one.find("<section id=\"findings\"") < one.find("<section id=\"curves\""));
}

TEST_CASE("page: numbers have no exponent where they are read more easily without") {
    CHECK(html::number_text(76890.0) == "76890");
    CHECK(html::number_text(76893.4) == "76893");
    CHECK(html::number_text(-1234567.0) == "-1234567");
    CHECK(html::number_text(0.12345) == "0.1235");
    CHECK(html::number_text(1e9) == "1e9");
    CHECK(html::number_text(1.5e100) == "1.5e100");
    CHECK(html::number_text(1e10) == "1e10");
    CHECK(html::number_text(1e-7) == "1e-7");
    CHECK(html::number_text(2.5e-10) == "2.5e-10");
    CHECK(html::number_text(0.0) == "0");
}

TEST_CASE("page: a share is not drawn as seconds") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", all_values, data_wait{.window = 5}};
        for (std::uint64_t i = 0; i < 40; ++i) {
            (void)watch.step(train(i), "time/data"_t = 3.25 + 0.01 * static_cast<double>(i), "time/step"_t = 5.0,
                             "loss"_t = 0.1);
        }
        watch.finish();
    }
    std::string const page = to_html(open(folder / "run"));
    REQUIRE(has_text(page, "share of waiting"));
    CHECK_FALSE(has_text(page, "<b>value of time/data</b>"));
}

TEST_CASE("page: lines of eighteen runs are distinguished by colour and dash, and have a number at their end") {
    temporary_folder const folder;
    std::vector<trial> runs;
    for (int i = 0; i < 18; ++i) {
        std::string const path = folder / ("run" + std::to_string(i));
        {
            hook watch{path, all_values};
            for (std::uint64_t k = 0; k < 30; ++k) { (void)watch.step(train(k), "loss"_t = 1.0 + i); }
            watch.finish();
        }
        runs.push_back(open(path));
    }
    std::string const page = to_html(runs);
    check_page(page);
    for (int colour = 0; colour < 6; ++colour) {
        for (char const* dash : {"", " dash1", " dash2"}) {
            CHECK(count_of(page, "<path class=\"line c" + std::to_string(colour) + dash + "\"") == 1);
        }
    }
    CHECK(has_text(page, "</i>1 run17</span>"));
    CHECK(count_of(page, "<text class=\"number c") > 8);
}
