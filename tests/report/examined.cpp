// SPDX-License-Identifier: Apache-2.0
// The chapter of a page on examinations of the loop: what was found, which gradients are not right, and what
// experiments said of alarms.
#include <tests/preflight/net.hpp>
#include <tests/report/page.hpp>

#include <spotter/rules.hpp>
#include <spotter/trial/examined.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

using net_type = preflight_test::perceptron<>;

std::string page_of(std::string const& path) { return to_html(open(path)); }

net_type with_negated_layer() {
    net_type net;
    net.spoils = [](net_type& it) {
        for (float& g : it.g2.values) { g = -g; }
    };
    return net;
}

}  // namespace

TEST_CASE("a page has no chapter on examinations where there was none") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", plan<>{}};
        (void)watch.step(train(0), "loss"_t = 1.0);
    }
    CHECK(examinations_of(open(folder / "run")).empty());
    CHECK_FALSE(has_text(page_of(folder / "run"), "id=\"examined\""));
}

TEST_CASE("a page says that a loop was examined, also where nothing was found; it is no hyperparameter") {
    temporary_folder const folder;
    {
        net_type net;
        hook watch{folder / "run", plan<>{}};
        watch.scalar("rate", 0.1);
        watch.add(preflight_test::examined(net));
        (void)watch.step(train(0), "loss"_t = 1.0);
    }
    std::string const page = page_of(folder / "run");
    check_page(page);
    REQUIRE(has_text(page, "<section id=\"examined\">"));
    CHECK(has_text(page, "<p><b>5 of 5 gradients are right; nothing was found wrong"));
    CHECK_FALSE(has_text(page, "not proven right"));
    CHECK(count_of(page, "gradients are right") == 1);
}

TEST_CASE("a page shows what an examination found: causes with their places, and the gradients that are not right") {
    temporary_folder const folder;
    {
        net_type net = with_negated_layer();
        hook watch{folder / "run", plan<>{}};
        watch.add(preflight_test::examined(net));
        (void)watch.step(train(0), "loss"_t = 1.0);
    }
    trial const run = open(folder / "run");
    recorded_examinations const it = examinations_of(run);
    REQUIRE(it.all.size() == 1);
    REQUIRE(!it.findings.empty());
    CHECK(it.findings[0].rule == "negated_gradient");
    REQUIRE(it.gradients.size() == 1);
    CHECK(it.gradients[0].name == "fc2/w");
    CHECK(it.gradients[0].verdict == "wrong");
    CHECK(it.gradients[0].error > 1);
    std::string const page = to_html(run);
    check_page(page);
    CHECK(has_text(page, "4 of 5 gradients are right, 1 wrong; first of what is wrong: negated_gradient"));
    CHECK(has_text(page, "<span class=\"tag\">error</span></th><td><code>negated_gradient</code></td><td><code>fc2/w"));
    CHECK(has_text(page, "Gradients that were not proven right"));
}

TEST_CASE("a page shows what an experiment said of an alarm") {
    temporary_folder const folder;
    {
        net_type net;
        net.clears = false;
        alarm_examination exam{[&] { return preflight_test::examined(net); }};
        hook watch{folder / "run", plan<>{}, update_direction{.warmup = 0, .window = 5}};
        watch.examine_with(exam);
        std::vector<float> w(8, 1.0F), shown(8);
        for (std::uint64_t i = 0; i < 40; ++i) {  // the loop shows its gradient with the wrong sign
            for (std::size_t k = 0; k < w.size(); ++k) { shown[k] = -0.1F * static_cast<float>(k + 1); }
            (void)watch.step(train(i), "fc/w"_t = view_of(w.data(), {2, 4}),
                             "grad/fc/w"_t = view_of(shown.data(), {2, 4}), "loss"_t = 1.0);
            for (std::size_t k = 0; k < w.size(); ++k) { w[k] -= 0.01F * static_cast<float>(k + 1); }
        }
    }
    trial const run = open(folder / "run");
    recorded_examinations const it = examinations_of(run);
    CHECK(it.all.empty());
    REQUIRE(!it.words.empty());
    std::string const page = to_html(run);
    check_page(page);
    CHECK(has_text(page, "What experiments said of alarms"));
    CHECK(has_text(page, "<td><code>update_direction</code></td><td>refuted</td>"));
    CHECK(has_text(page, "proven: <code>gradient_not_cleared</code>"));
}
