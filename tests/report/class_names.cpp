// SPDX-License-Identifier: Apache-2.0
// Classes by their names, and pages of many classes: the pairs that are mistaken most, in both directions, and their
// pictures.
#include <tests/report/page.hpp>

#include "page/classes.hpp"

#include <fmt/format.h>

using namespace spotter;
using namespace spotter_test;

namespace {

struct batch {
    std::vector<std::int32_t> labels{}, said{};
    std::vector<float> pixels{};  // 4 x 4 each

    void add(std::size_t count, std::int32_t label, std::int32_t as) {
        labels.insert(labels.end(), count, label);
        said.insert(said.end(), count, as);
        for (std::size_t i = 0; i < 16 * count; ++i) { pixels.push_back(static_cast<float>(i % 16)); }
    }
};

void record(std::string const& path, batch const& it, std::string_view names) {
    hook watch{path, everything};
    if (!names.empty()) { watch.scalar("class_names", names); }
    (void)watch.step(train(0), "loss"_t = 1.0);
    std::size_t const count = it.labels.size();
    (void)watch.step(eval(0), "labels"_t = view_of(it.labels, {count}), "pred"_t = view_of(it.said, {count}),
                     "input"_t = view_of(it.pixels, {count, 4, 4}));
    watch.finish();
}

// 43 classes; 38 and 39 are taken for one another, 0 once for each of many.
batch signs() {
    batch it;
    for (std::int32_t each = 0; each < 43; ++each) { it.add(20, each, each); }
    it.add(8, 38, 39), it.add(6, 39, 38);
    for (std::int32_t each = 1; each < 30; ++each) { it.add(1, 0, each); }
    return it;
}
std::string names_of_signs() {
    std::string text;
    for (int i = 0; i < 43; ++i) {
        text += i == 38 ? "keep right\n" : i == 39 ? "keep left\n" : fmt::format("sign {}\n", i);
    }
    return text;
}

}  // namespace

TEST_CASE("names stand beside the numbers of classes, wherever these do") {
    temporary_folder const folder;
    batch it;
    it.add(5, 0, 0), it.add(4, 1, 1), it.add(1, 1, 0), it.add(3, 2, 2);
    record(folder / "run", it, "cat\n<dog>");  // none for 2
    std::string const page = to_html(open(folder / "run"));
    check_page(page);
    CHECK(has_text(page, "<th class=\"label\">0 cat</th>"));
    CHECK(has_text(page, "<span class=\"upright\">1 &#60;dog&#62;</span>"));
    CHECK(has_text(page, "<th class=\"label\">2</th>"));
    CHECK(has_text(page, "title=\"1 &#60;dog&#62; taken for 0 cat: 1 of 5\""));
    CHECK(has_text(page, "<img alt=\"1 &#60;dog&#62; taken for 0 cat\""));
    CHECK(has_text(page, "<tr><th>0 cat</th><td class=\"bars\">"));
    CHECK_FALSE(has_text(page, "<th>class_names</th>"));
    record(folder / "plain", it, "");
    std::string const plain = to_html(open(folder / "plain"));
    CHECK(has_text(plain, "<th class=\"label\">0</th>"));
    CHECK_FALSE(has_text(plain, "upright\">"));
}

TEST_CASE("of many classes the pairs that are mistaken most, each with the other way round") {
    temporary_folder const folder;
    record(folder / "run", signs(), names_of_signs());
    std::string const page = to_html(open(folder / "run"));
    check_page(page);
    CHECK_FALSE(has_text(page, "Confusion matrix"));
    CHECK(has_text(page, "20 of 31 pairs of classes"));
    std::string const first =
        "<tr><th>38 keep right</th><th>39 keep left</th><td>8</td><td>28.6 %</td><td>6</td></tr>\n"
        "<tr><th>39 keep left</th><th>38 keep right</th><td>6</td><td>23.1 %</td><td>8</td></tr>\n";
    CHECK(has_text(page, first));
    CHECK(has_text(page, "<tr><th>42 sign 42</th><td class=\"bars\">"));  // all 43 are in the balance
    CHECK_FALSE(has_text(page, "the first "));
}

TEST_CASE("the pictures begin with the most frequent pairs, three of each, and end with others") {
    temporary_folder const folder;
    record(folder / "run", signs(), names_of_signs());
    std::string const page = to_html(open(folder / "run"));
    CHECK(has_text(page, "of the most frequent pairs, then the surest: 24 of 43"));
    std::string const right = "<img alt=\"38 keep right taken for 39 keep left\"";
    std::string const left = "<img alt=\"39 keep left taken for 38 keep right\"";
    std::size_t const others = page.find("<img alt=\"0 sign 0 taken for");
    CHECK((page.find(right) < page.find(left) && page.find(left) < others && others != page.npos));
    CHECK(count_of(page.substr(0, others), "<img alt=") == 6);
    CHECK(count_of(page, "<img alt=") == 24);
}

TEST_CASE("mistakes are chosen: the surest of the most frequent pairs, then the surest of all others") {
    using namespace spotter::html;
    class_counts counts;
    std::vector<mistake> all;
    auto const add = [&](std::uint32_t label, std::uint32_t said, double certainty) {
        counts.add(label, said);
        all.push_back({label, said, certainty, eval(0), all.size(), 100, {}});
    };
    for (int i = 0; i < 5; ++i) { add(1, 2, 0.1 * i); }
    for (std::uint32_t i = 10; i < 20; ++i) { add(i, i + 1, 0.01 * i), add(i, i + 1, 0.9); }
    auto const chosen = html::detail::choose_mistakes(all, counts);
    REQUIRE(chosen.size() == 24);
    CHECK((chosen[0].certainty == Approx(0.4) && chosen[1].certainty == Approx(0.3) &&
           chosen[2].certainty == Approx(0.2)));
    CHECK((chosen[3].label == 10 && chosen[3].certainty == 0.9 && chosen[4].label == 10 && chosen[5].label == 11));
    CHECK((chosen[13].label == 15 && chosen[13].certainty == 0.9));  // the first of all others
    CHECK(std::is_sorted(chosen.begin() + 13, chosen.end(),
                         [](mistake const& a, mistake const& b) { return a.certainty > b.certainty; }));
}
