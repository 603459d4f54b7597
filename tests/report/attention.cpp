// SPDX-License-Identifier: Apache-2.0
// The section of a page that draws what heads look at.
#include <tests/report/page.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr plan keep_attention{collection{"all", "*", always{}, payload}};

// [1, 2, 4, 4]: head 0 looks at key 0, head 1 at all alike.
std::vector<float> first_and_even() {
    std::vector<float> made;
    for (int q = 0; q < 4; ++q) { made.insert(made.end(), {1, 0, 0, 0}); }
    made.insert(made.end(), 16, 0.25F);
    return made;
}

}  // namespace

TEST_CASE("a page draws each head of a layer, of the last step that has its values") {
    temporary_folder const folder;
    hook watch{folder / "run", keep_attention};
    std::vector<float> const weights = first_and_even();
    for (std::uint64_t i = 0; i < 3; ++i) {
        (void)watch.step(eval(i), "attention/layer1"_t = view_of(weights, {1, 2, 4, 4}),
                         "block/2/attention"_t = view_of(weights, {2, 4, 4}));
    }
    watch.finish();
    std::string const page = to_html(open(folder / "run"));
    check_page(page);
    CHECK(has_text(page, "<section id=\"attention\">"));
    CHECK(has_text(page, "<h3>attention/layer1 <span class=\"note\">at eval(2)</span></h3>"));
    CHECK(has_text(page, "<h3>block/2/attention <span class=\"note\">at eval(2)</span></h3>"));
    CHECK(has_text(page, "head 0: spread 0 %, 100 % on key 0<"));
    CHECK(has_text(page, "head 1: spread 100 %<"));
}

TEST_CASE("a page has no attention where there is none, or where it is none") {
    temporary_folder const folder;
    hook watch{folder / "run", keep_attention};
    std::vector<float> scores = first_and_even();
    for (float& each : scores) { each = 5 * each - 2; }
    (void)watch.step(eval(0), "attention/scores"_t = view_of(scores, {1, 2, 4, 4}), "attention/rank"_t = scores,
                     "fc/w"_t = view_of(scores, {4, 8}));
    watch.finish();
    std::string const page = to_html(open(folder / "run"));
    check_page(page);
    CHECK_FALSE(has_text(page, "id=\"attention\""));
}
