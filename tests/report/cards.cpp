// SPDX-License-Identifier: Apache-2.0
// One card a cause, a chart once; what overfits beside its training; workers as curves of their own.
#include <tests/report/page.hpp>

#include <spotter/packs.hpp>
#include <spotter/report/summary.hpp>
#include <spotter/rules.hpp>

#include <limits>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr plan kept_values{collection{"all", "*", always{}, payload}};

std::string section_text(trial const& run, std::string const& section) {
    auto const page = to_html(std::span{&run, 1}, std::vector<std::string>{section});
    if (!page) { FAIL("no such section"); }
    check_page(*page);
    return *page;
}

// Without what is folded.
std::size_t cards_in(std::string page) {
    for (std::size_t at = page.find("<details class=\"behind\">"); at != page.npos;
         at = page.find("<details class=\"behind\">")) {
        page.erase(at, page.find("</details>", at) - at);
    }
    return count_of(page, "<article class=\"finding");
}

double workers_clock = 1'700'000'000;
double tell_workers_clock() noexcept { return workers_clock; }

// That train alike; a step of one of them takes six times as long.
void record_workers(std::string const& path, std::uint32_t count, std::uint32_t slow) {
    for (std::uint32_t number = 0; number < count; ++number) {
        options how{.worker = number, .workers = count};
        how.drain = drain::poll;
        how.clock = &tell_workers_clock;
        hook watch{path, kept_values, how};
        for (std::uint64_t i = 0; i < 30; ++i) {
            watch.begin(train(i));
            workers_clock += number == slow ? 0.006 : 0.001;
            (void)watch.end("loss"_t = 1.0 + number + 1.0 / static_cast<double>(i + 1));
            if (i % 10 == 9) { (void)watch.step(eval(i / 10), "loss"_t = 2.0 + number); }
            watch.poll();
        }
    }
}

}  // namespace

TEST_CASE("cards: findings that would draw the same chart are one card with both marks") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", kept_values, (exploding_gradient{} || gradient_spike{} | once)};
        for (std::uint64_t i = 0; i < 60; ++i) {
            float const size = i >= 40 ? 1000.0F : 1.0F + 0.01F * static_cast<float>(i % 7);
            float const gradient[] = {size, -size, size};
            (void)watch.step(train(i), "grad/w"_t = view_of(std::vector<float>(gradient, gradient + 3), {3}));
        }
        watch.finish();
    }
    std::string const page = section_text(open(folder / "run"), "findings");
    CHECK(has_text(page, "</span> exploding_gradient</h3>"));
    CHECK(has_text(page, "</span> gradient_spike</h3>"));
    CHECK(cards_in(page) == 1);
    CHECK(count_of(page, "<b>mean_abs of grad/w</b>") == 1);
    CHECK(count_of(page, "<g class=\"mark ") == 2);
    CHECK(has_text(page, "1 further finding with it: <b>"));
}

TEST_CASE("cards: what a finding explains is folded into its card") {
    temporary_folder const folder;
    {
        constexpr auto high = any("loss", maximum > 1.0) | named{"high"} | once;
        constexpr auto wide = any("act", maximum > 1.0) | named{"wide"} | once | severity::note;
        constexpr auto early = any("early", maximum > 1.0) | named{"early"} | once | severity::note;
        hook watch{folder / "run", kept_values, wide || high || early};
        for (std::uint64_t i = 0; i < 30; ++i) {
            double const now = i >= 20 ? 2.0 : 0.5, before = i >= 5 ? 2.0 : 0.5;
            (void)watch.step(train(i), "loss"_t = now, "act"_t = now, "early"_t = before);
        }
        watch.finish();
    }
    std::string const page = section_text(open(folder / "run"), "findings");
    CHECK(cards_in(page) == 2);
    std::size_t const fold = page.find("<details class=\"behind\">");
    REQUIRE(fold != page.npos);
    CHECK(page.find("</span> early</h3>") < page.find("</span> high</h3>"));
    CHECK(page.find("</span> high</h3>") < fold);
    CHECK(fold < page.find("</span> wide</h3>"));
    CHECK(count_of(page, "<b>value of act</b>") == 1);  // a chart of its own, in the fold
}

TEST_CASE("cards: what follows a value that is not finite is in its card, at later steps, too") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", kept_values, non_finite{} || exploding_gradient{}};
        for (std::uint64_t i = 0; i < 30; ++i) {
            float const bad = std::numeric_limits<float>::quiet_NaN();
            (void)watch.step(train(i), "a"_t = i >= 10 ? bad : 1.0F, "grad/w"_t = i >= 12 ? bad : 1.0F);
        }
        watch.finish();
    }
    std::string const page = section_text(open(folder / "run"), "findings");
    CHECK(has_text(page, "because of non_finite"));
    CHECK(cards_in(page) == 1);
    // The same through the function that the live page uses.
    std::vector<html::finding_card> const reported = html::finding_cards(open(folder / "run"));
    REQUIRE(reported.size() == 1);
    CHECK(reported[0].head.strongest.rule == "non_finite");
    CHECK(!reported[0].behind.empty());
}

TEST_CASE("cards: a cause whose tensor has a name longer than a detail holds has its notes behind it all the same") {
    temporary_folder const folder;
    std::string const name = "grad/" + std::string(260, 'x');
    {
        hook watch{folder / "run", kept_values, non_finite{} || exploding_gradient{}};
        for (std::uint64_t i = 0; i < 30; ++i) {
            float const bad = std::numeric_limits<float>::quiet_NaN();
            watch.begin(train(i));
            watch.observe(name, i >= 10 ? bad : 1.0F);
            (void)watch.end("grad/w"_t = i >= 12 ? bad : 1.0F);
        }
        watch.finish();
    }
    CHECK(cards_in(section_text(open(folder / "run"), "findings")) == 1);
}

TEST_CASE("a rule that is given by itself and in a pack is one rule, for who counts them") {
    temporary_folder const folder;
    {
        hook watch{folder / "run",          kept_values,
                   on(non_finite{}, stop),  packs::supervised,
                   any("loss", mean > 5.0), any("loss", mean > 6.0)};
        for (std::uint64_t i = 0; i < 30; ++i) { (void)watch.step(train(i), "loss"_t = 1.0); }
        watch.finish();
    }
    trial const run = open(folder / "run");
    std::string const page = section_text(run, "findings");
    std::size_t const table = page.find("<summary>What each of ");
    REQUIRE(table != page.npos);
    CHECK(count_of(page.substr(table), "<th>non_finite</th>") == 1);
    CHECK(count_of(page.substr(table), "<th>any</th>") == 2);
    auto const rules = spotter::detail::distinct_rules(run.coverages());
    CHECK(rules.size() + 1 == run.coverages().size());
    CHECK(has_text(page, "What each of " + std::to_string(rules.size()) + " rules judged"));
}

TEST_CASE("cards: of labels no norm and no mean is drawn, for they are names") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", kept_values, class_imbalance{.samples = 50}};
        std::vector<std::int32_t> labels(40, 0);
        labels[0] = 1;
        for (std::uint64_t i = 0; i < 20; ++i) {
            (void)watch.step(train(i), "loss"_t = 1.0, "labels"_t = labels, "predictions"_t = labels);
        }
        watch.finish();
    }
    std::string const page = section_text(open(folder / "run"), "findings");
    CHECK(has_text(page, "</span> class_imbalance</h3>"));
    CHECK_FALSE(has_text(page, "l2 of labels"));
    CHECK_FALSE(has_text(page, "mean_abs of labels"));
}

TEST_CASE("cards: overfit is drawn with the evaluation beside the training, whatever the evaluation is called") {
    temporary_folder const folder;
    for (bool const own_name : {false, true}) {
        std::string const path = folder / (own_name ? "named" : "mode");
        {
            hook watch{path, kept_values, (overfit{} | once)};
            for (std::uint64_t i = 0; i < 60; ++i) {
                double const trained = 1.0 / static_cast<double>(i + 1),
                             evaluated = 1.0 + 0.01 * static_cast<double>(i);
                if (own_name && i % 5 == 4) {
                    (void)watch.step(train(i), "loss"_t = trained, "val_loss"_t = evaluated);
                } else {
                    (void)watch.step(train(i), "loss"_t = trained);
                    if (i % 5 == 4) { (void)watch.step(eval(i / 5), "loss"_t = evaluated); }
                }
            }
            watch.finish();
        }
        trial const run = open(path);
        REQUIRE(run.findings().size() == 1);
        std::string const page = section_text(run, "findings");
        CHECK(has_text(page, "<b>loss in training and in evaluation</b>"));
        CHECK(has_text(page, "</i>train</span>"));
        CHECK(has_text(page, own_name ? "</i>val_loss</span>" : "</i>eval</span>"));
        CHECK(count_of(page, "<path class=\"line c") == 2);
        CHECK(count_of(page, "<g class=\"mark warning\">") == 1);
    }
}

TEST_CASE("workers: each has a curve with its number at its end, and the slow one is marked") {
    temporary_folder const folder;
    record_workers(folder / "run", 3, 1);
    trial const run = open(folder / "run");
    auto const all = sections_of(to_html(run));
    REQUIRE(all.size() > 2);
    CHECK((all[1] == "workers" && all[2] == "curves"));
    CHECK(has_text(to_html(run), "<dt>workers</dt><dd>3; 1 slow</dd>"));
    std::string const workers = section_text(run, "workers");
    CHECK(has_text(workers, "<li>rank 1 is slow: a step of its own takes "));
    CHECK(has_text(workers, "<tbody>\n<tr class=\"marked\"><th>1</th><td>slow</td><td>train(29)</td>"));
    CHECK(count_of(workers, "<path class=\"line c1 strong\"") == 2);  // narrow and wide
    CHECK(has_text(workers, "</i>worker 1, slow</span>"));
    std::string const curves = section_text(run, "curves");
    for (char const* const each : {"0", "1, slow", "2"}) {
        CHECK(has_text(curves, std::string{"</i>worker "} + each + "</span>"));
        CHECK(has_text(curves, std::string{"</i>worker "} + each + ", eval</span>"));
    }
    CHECK(has_text(curves, "<text class=\"number c2\""));
}

TEST_CASE("workers: of many those that are slow and some others have curves, and the page says so") {
    temporary_folder const folder;
    record_workers(folder / "run", 12, 11);
    std::string const curves = section_text(open(folder / "run"), "curves");
    CHECK(count_of(curves, "<b>loss</b>") == 2);  // narrow and wide
    CHECK(has_text(curves, "worker 11, slow"));
    CHECK(count_of(curves, "worker 11, slow, eval</span>") == 2);
    CHECK(has_text(curves, "Curves of 8 of 12 workers"));
}

TEST_CASE("workers: of one worker nothing is said") {
    temporary_folder const folder;
    record_workers(folder / "run", 1, 5);
    CHECK_FALSE(has_text(to_html(open(folder / "run")), "<section id=\"workers\""));
}
