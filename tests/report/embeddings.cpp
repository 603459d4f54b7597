// SPDX-License-Identifier: Apache-2.0
// The section of a page that draws samples as points of a plane.
#include <tests/report/page.hpp>

#include <limits>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr plan keep_all_planes{collection{"all", "*", always{}, payload}};

// `steps` evaluations of `samples` points, a third of each of three classes.
void record_planes(std::string const& path, std::uint64_t steps, std::size_t samples, bool labelled, float spoilt = 0) {
    hook watch{path, keep_all_planes};
    watch.scalar("class_names", std::string{"shoe\n<bag>\ncoat"});
    std::vector<float> points(2 * samples);
    std::vector<std::int32_t> labels(samples);
    for (std::uint64_t i = 0; i < steps; ++i) {
        for (std::size_t k = 0; k < samples; ++k) {
            labels[k] = static_cast<std::int32_t>(k % 3);
            points[2 * k] = static_cast<float>(k % 3) * static_cast<float>(i);
            points[2 * k + 1] = static_cast<float>(k) / static_cast<float>(samples);
        }
        points[0] += spoilt;
        watch.begin(eval(i));
        watch.observe("embedding/tsne", view_of(points, {samples, 2}));
        if (labelled) { watch.observe("labels", labels); }
        (void)watch.end();
    }
    watch.finish();
}
std::size_t dots(std::string const& page) {
    std::size_t const begin = page.find("<section id=\"embeddings\">");
    return count_of(page.substr(begin, page.find("</section>", begin) - begin), "h0");
}

}  // namespace

TEST_CASE("a page draws embeddings: six planes at most, the first and the last step among them, a colour a class") {
    temporary_folder const folder;
    record_planes(folder / "run", 11, 30, true);
    std::string const page = to_html(open(folder / "run"));
    check_page(page);
    CHECK(has_text(page, "<section id=\"embeddings\">"));
    CHECK(has_text(page, "embedding/tsne <span class=\"note\">6 of 11 steps</span>"));
    CHECK(count_of(page, "30 points in 3 colours") == 6);
    CHECK(has_text(page, "eval(0): 30 points"));
    CHECK(has_text(page, "eval(10): 30 points"));
    CHECK(has_text(page, "</i>1 &#60;bag&#62;</span>"));
    CHECK(dots(page) == 180);
}

TEST_CASE("a page draws embeddings without labels, of one step, thinned, and without points that are none") {
    temporary_folder const folder;
    record_planes(folder / "plain", 1, 12, false);
    std::string page = to_html(open(folder / "plain"));
    check_page(page);
    CHECK(has_text(page, "1 of 1 step</span>"));
    CHECK(has_text(page, "12 points in 1 colour"));
    record_planes(folder / "many", 1, 3000, true);
    page = to_html(open(folder / "many"));
    check_page(page);
    CHECK(has_text(page, "some 600 of 3000 points"));
    CHECK(dots(page) == 600);
    record_planes(folder / "spoilt", 2, 12, true, std::numeric_limits<float>::quiet_NaN());
    page = to_html(open(folder / "spoilt"));
    check_page(page);
    CHECK(dots(page) == 22);
}
