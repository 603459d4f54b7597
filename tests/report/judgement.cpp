// SPDX-License-Identifier: Apache-2.0
// What a page says of how well a net does: rates of classes, accuracy over the run, ROC, residuals, SHAP; findings in
// the order of time, charts of what was measured, rules that judge anew.
#include <tests/report/page.hpp>

#include "page/residuals.hpp"
#include "page/roc.hpp"
#include <spotter/replay.hpp>
#include <spotter/rules.hpp>

#include <bit>

using namespace spotter;
using namespace spotter_test;

namespace {

double const no_number = std::bit_cast<double>(0x7FF8000000000000ULL);

std::string section_of(std::string const& page, std::string_view id) {
    std::size_t const at = page.find("<section id=\"" + std::string{id} + '"');
    return at == page.npos ? std::string{} : page.substr(at, page.find("</section>", at) - at);
}

// Three evaluations of ten samples of two classes by one score each; the last has one sample of class 1 below one of
// class 0.
void record_scores(std::string const& path) {
    hook watch{path, everything};
    for (std::uint64_t i = 0; i < 3; ++i) {
        (void)watch.step(train(i), "loss"_t = 1.0);
        std::vector<std::int32_t> labels(10);
        std::vector<float> scores(10);
        for (std::size_t k = 0; k < 10; ++k) {
            labels[k] = k < 5 ? 1 : 0;
            scores[k] = k < 5 ? 0.9F - 0.05F * static_cast<float>(k) : 0.3F - 0.05F * static_cast<float>(k - 5);
        }
        scores[4] = i == 2 ? 0.28F : 0.1F;  // missed; at the end above all but one of the others
        watch.begin(eval(i));
        watch.observe("labels", view_of(labels, {10}), role::label);
        watch.observe("scores", view_of(scores, {10}), role::prediction);
        (void)watch.end();
    }
    watch.finish();
}

}  // namespace

TEST_CASE("classes: precision, recall and F1, accuracy over the run, and the ROC curve of a score") {
    temporary_folder const folder;
    record_scores(folder / "run");
    std::string const page = to_html(open(folder / "run"));
    check_page(page);
    std::string const classes = section_of(page, "classes");
    CHECK(has_text(classes, "</i>all</span>"));
    CHECK(has_text(classes, "</i>class 1</span>"));
    CHECK(has_text(classes, "<th>0</th><td>0.833</td><td>1.000</td><td>0.909</td><td>5</td>"));
    CHECK(has_text(classes, "<th>1</th><td>1.000</td><td>0.800</td><td>0.889</td><td>5</td>"));
    CHECK(has_text(classes, "<th>mean of classes</th><td>0.917</td><td>0.900</td><td>0.899</td><td>10</td>"));
    CHECK(
        has_text(classes, "Accuracy by class; all: 0.9 to 0.9 over steps 0 to 2, at the end 0.9; class 1: 0.8 to 0.8"));
    CHECK(has_text(classes, "class 1: 0.96</span>"));  // 24 of 25 pairs are in order
}

TEST_CASE("ROC: ties are cut across, scores that say nothing have half the area, one class has no curve") {
    std::vector<double> const scores{0.9, 0.8, 0.7, 0.1};
    CHECK(html::roc_of("x", scores, {true, true, false, false}).area == Approx(1));
    CHECK(html::roc_of("x", scores, {false, false, true, true}).area == Approx(0));
    CHECK(html::roc_of("x", scores, {true, false, true, false}).area == Approx(0.75));
    std::vector<double> const same(4, 0.5);
    html::roc_curve const level = html::roc_of("x", same, {true, false, true, false});
    CHECK(level.area == Approx(0.5));
    CHECK(level.points.size() == 2);
    CHECK(html::roc_of("x", scores, {true, true, true, true}).points.empty());
    html::roc_curve const none{"x", {}, 0};
    CHECK(html::draw(std::span{&none, 1}, "").empty());
}

TEST_CASE("residuals: of labels that are no classes, with what they explain") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything};
        std::vector<float> labels(50), said(50);
        for (std::size_t k = 0; k < 50; ++k) {
            labels[k] = 0.1F + 0.5F * static_cast<float>(k);
            said[k] = labels[k] + (k % 2 == 0 ? 1.0F : -1.0F);
        }
        watch.begin(eval(0));
        watch.observe("target", view_of(labels, {50}), role::label);
        watch.observe("guess", view_of(said, {50, 1}), role::prediction);
        (void)watch.end("loss"_t = 1.0);
        watch.finish();
    }
    std::string const page = to_html(open(folder / "run"));
    check_page(page);
    std::string const residuals = section_of(page, "residuals");
    CHECK(has_text(residuals, "Of 50 labels predictions are off by <b>1</b> (root mean square)"));
    CHECK(has_text(residuals, "they explain <b>0.9808</b>"));
    CHECK(has_text(residuals, "target and guess at eval(0)"));
    CHECK(count_of(residuals, "class=\"column c0\"") == 2);
    CHECK(section_of(page, "classes").empty());
    // Labels of classes have no residuals.
    record_scores(folder / "classes");
    CHECK(section_of(to_html(open(folder / "classes")), "residuals").empty());
    std::vector<double> const truth{1, 2, 3}, answer{1, no_number, 4};
    CHECK(html::residuals_of(truth, answer).count == 2);
    CHECK(html::residuals_of(truth, answer).mean == Approx(0.5));
}

TEST_CASE("boosted trees: SHAP values by the names of features, and every kind of importance") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything};
        for (std::uint64_t i = 0; i < 4; ++i) {
            float const gain[] = {1, 3}, cover[] = {9, 1};
            auto const round = static_cast<float>(i);
            // Two rows of two features and the bias.
            float const shap[] = {round, -4, 100, -round, 2, 100};
            (void)watch.step(train(i), "feature_importance/gain"_t = view_of(gain, {2}),
                             "feature_importance/cover"_t = view_of(cover, {2}), "average_shap/age"_t = 0.5F * round,
                             "average_shap/income"_t = -1.0F, "average_shap/bias"_t = 100.0F,
                             "full_shap"_t = view_of(shap, {2, 3}));
        }
        watch.finish();
    }
    std::string const page = to_html(open(folder / "run"));
    check_page(page);
    std::string const trees = section_of(page, "trees");
    CHECK(has_text(trees, "mean of |SHAP| over 2 rows at train(3)"));
    // The size of income is 3 on average, that of age 3 at the last round, too: of equals the first.
    std::string const moves = trees.substr(trees.find("How far features move"));
    CHECK(moves.find("<th>age</th>") < moves.find("<th>income</th>"));
    CHECK(has_text(moves, "<td>3</td>"));
    CHECK(has_text(trees, "Which way features move predictions"));
    CHECK(has_text(trees, "<td>-1</td>"));
    CHECK(has_text(trees, "Share of feature_importance/cover"));
    CHECK(has_text(trees, "90 %"));
    CHECK_FALSE(has_text(trees, "<th>bias</th>"));
}

TEST_CASE("findings are in the order of time, the first cause first, whatever is strongest") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything,
                   (any("first", maximum > 1.0) | named{"early"} | once | severity::info) ||
                       (any("loss", maximum > 1.0) | named{"late"} | severity::error)};
        for (std::uint64_t i = 0; i < 30; ++i) {
            (void)watch.step(train(i), "first"_t = i >= 5 ? 2.0 : 0.0,
                             "loss"_t = i >= 20 ? 2.0 + 0.1 * static_cast<double>(i) : 0.5);
        }
        watch.finish();
    }
    std::string const page = to_html(open(folder / "run"));
    check_page(page);
    std::string const findings = section_of(page, "findings");
    CHECK(findings.find("</span> early</h3>") < findings.find("</span> late</h3>"));
    CHECK(has_text(findings, "In the order of time"));
    CHECK(has_text(page, "1 error, 1 note: late"));  // the verdict names the strongest
    // What was measured is drawn with the threshold: of a scalar its value.
    CHECK(has_text(findings, "value of loss"));
    CHECK(has_text(findings, "threshold 1</span>"));
}

TEST_CASE("of several workers findings are in the order in which their steps were closed") {
    temporary_folder const folder;
    {
        constexpr auto high = any("loss", maximum > 1.0) | named{"high"} | once;
        hook first{folder / "run", everything, high};
        auto second = first.worker(1);
        (void)second.step(train(0), "loss"_t = 1.0, "b"_t = 1.0);
        second.flush();
        (void)first.step(train(0), "loss"_t = 1.0);
        first.finish(), second.finish();
    }
    // The findings of both, as a replay tells them: worker 0 first, though what worker 1 says was earlier.
    trial const run = open(folder / "run");
    auto const judged =
        replay(run, any("b", maximum > 0.5) | named{"early"}, any("loss", maximum > 0.5) | named{"late"});
    REQUIRE(judged.findings.size() == 3);
    CHECK(judged.findings.front().rule == "late");
    html::judgement const anew{judged.findings, {}};
    auto const page = to_html(std::span{&run, 1}, std::vector<std::string>{"findings"}, {}, std::span{&anew, 1});
    REQUIRE(page);
    CHECK(page->find("</span> early</h3>") < page->find("</span> late</h3>"));
}

TEST_CASE("a quantity that was not recorded is drawn as the rule measured it, each time that it was reported") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything, rising("loss", mean, rising_over{.window = 10}) | named{"climbs"}};
        for (std::uint64_t i = 0; i < 40; ++i) { (void)watch.step(train(i), "loss"_t = 1.0 + static_cast<double>(i)); }
        watch.finish();
    }
    trial const run = open(folder / "run");
    if (run.findings().size() < 2) { FAIL("the rule reported too little"); }
    std::string const page = to_html(run);
    check_page(page);
    CHECK(has_text(section_of(page, "findings"), "as the rule measured it, each time that it was reported"));
}
