// SPDX-License-Identifier: Apache-2.0
// The section of a page that draws which parts of an input made a net say what it said.
#include <tests/report/page.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr plan keep_every_value{collection{"all", "*", always{}, payload}};

// Two pictures of 2 x 2 and one layer of one channel; `complete`: all that adds up to the output is recorded.
void record_explained(std::string const& path, bool complete, bool with_gradient = true) {
    hook watch{path, keep_every_value};
    std::vector<float> const input{1, 2, 3, 4, 4, 3, 2, 1}, gradient{0, 0, 0, 1, 1, 0, 0, 0}, bias{0.5F},
        output{4.5F, 4.5F};
    std::vector<float> const scores{0, 4.5F, 4.5F, 0};
    std::vector<std::int32_t> const labels{1, 1};
    watch.begin(predict(3));
    watch.observe("input", view_of(input, {2, 1, 2, 2}));
    if (with_gradient) { watch.observe("grad/input", view_of(gradient, {2, 1, 2, 2})); }
    watch.observe("bias/conv", bias);
    watch.observe("grad/conv", view_of(gradient, {2, 1, 2, 2}));
    watch.observe("labels", labels);
    watch.observe("logits", view_of(scores, {2, 2}), role::prediction, flag::logits);
    if (complete) { watch.observe("explained", output); }
    (void)watch.end();
    watch.finish();
}

}  // namespace

TEST_CASE("a page draws the saliency maps of the last step that was recorded for them") {
    temporary_folder const folder;
    record_explained(folder / "run", true);
    std::string const page = to_html(open(folder / "run"));
    check_page(page);
    CHECK(has_text(page, "<section id=\"saliency\">"));
    CHECK(has_text(page, "At predict(3), the first 2 of 2 samples."));
    CHECK(has_text(page, "add up to the output except for 0 % of it"));
    CHECK(has_text(page, "<figcaption>1</figcaption>"));
    CHECK(has_text(page, "<figcaption>1 taken for 0</figcaption>"));
    // The map is as large as the picture, and not the picture.
    std::size_t const first = page.find("<img alt=\"\" src=\""), second = page.find("<img alt=\"what says it\" src=\"");
    REQUIRE(first != page.npos);
    REQUIRE(second != page.npos);
    std::string const plain = page.substr(first + 17, page.find('"', first + 17) - first - 17);
    std::string const drawn = page.substr(second + 29, page.find('"', second + 29) - second - 29);
    CHECK(plain.size() == drawn.size());
    CHECK(plain != drawn);
}

TEST_CASE("a page says what saliency maps lack, and nothing where none were meant") {
    temporary_folder const folder;
    record_explained(folder / "none", false);
    CHECK_FALSE(has_text(to_html(open(folder / "none")), "id=\"saliency\""));
    record_explained(folder / "some", true, false);
    std::string const page = to_html(open(folder / "some"));
    check_page(page);
    CHECK(has_text(page, "id=\"saliency\""));
    CHECK(has_text(page, "saliency needs &#34;grad/input&#34;"));
}
