// SPDX-License-Identifier: Apache-2.0
// What a page is made of: escaped text, thinned histories, axes, curves, heat maps, ridges, pictures.
#include <tests/report/page.hpp>

#include "page/axis.hpp"
#include "page/classes.hpp"
#include "page/heat_map.hpp"
#include "page/ridges.hpp"
#include <spotter/rule/builtin/classes.hpp>
#include <spotter/workbench/page.hpp>

#include <fmt/format.h>

#include <bit>

using namespace spotter;
using namespace spotter::html;
using namespace spotter_test;

namespace {

// By their bits: -ffast-math knows no others.
double const not_a_number = std::bit_cast<double>(0x7FF8000000000000ULL);
double const infinite = std::bit_cast<double>(0x7FF0000000000000ULL);

bool has_part(std::string const& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("html: text loses its mark-up, its control letters and what is no UTF-8, and nothing else") {
    CHECK(escape("fc1/w") == "fc1/w");
    CHECK(escape("<b a=\"x\" b='y'>&") == "&#60;b a=&#34;x&#34; b=&#39;y&#39;&#62;&#38;");
    CHECK(escape("a\x1b[31m\nb\x7f") == "a\\x1b[31m\\x0ab\\x7f");
    CHECK(escape("Größe µ ∞ 𝛼") == "Größe µ ∞ 𝛼");
    CHECK(escape("\xff") == "\\xff");
    CHECK(escape("\xc3") == "\\xc3");                      // cut
    CHECK(escape("\xc0\xbc") == "\\xc0\\xbc");             // an overlong <
    CHECK(escape("\xed\xa0\x80") == "\\xed\\xa0\\x80");    // half of a pair
    CHECK(escape("\xe2\x80\xae!") == "\\xe2\\x80\\xae!");  // right to left from here
}

TEST_CASE("html: a history of any length takes bounded memory and keeps its spikes") {
    series curve{64};
    for (std::uint64_t i = 0; i < 100'000; ++i) { curve.add(i, i == 77'777 ? 50.0 : 1.0); }
    CHECK(curve.size() == 100'000);
    CHECK(curve.buckets().size() <= 64);
    CHECK(curve.buckets().size() > 32);
    series::bucket const all = curve.whole();
    CHECK((all.count == 100'000 && all.least == 1 && all.most == 50 && all.first == 0 && all.last == 99'999));
    auto const spike =
        std::find_if(curve.buckets().begin(), curve.buckets().end(), [](auto const& it) { return it.most > 2; });
    REQUIRE(spike != curve.buckets().end());
    CHECK((spike->first <= 77'777 && spike->last >= 77'777));
}

TEST_CASE("html: a history takes steps in any order, far from zero, and NaN apart") {
    series curve{16};
    std::uint64_t const far = 1'000'000'000'000ULL;
    for (std::uint64_t const step : {far + 5, far + 3, far + 900, far + 5}) { curve.add(step, 2.0); }
    curve.add(far + 100, not_a_number);
    curve.add(far + 101, infinite);
    series::bucket const all = curve.whole();
    CHECK((all.count == 4 && all.bad == 2 && all.sum == 8));
    CHECK((curve.first_step() == far + 3 && curve.last_step() == far + 900));
    CHECK(curve.buckets().size() <= 16);
    curve.add(0, 1.0);  // a rewind to the very beginning
    CHECK((curve.first_step() == 0 && curve.whole().count == 5 && curve.buckets().size() <= 16));
    curve.add(~std::uint64_t{0}, 1.0);
    CHECK((curve.whole().count == 6 && curve.buckets().size() <= 16));
    series huge;
    for (std::uint64_t i = 0; i < 100; ++i) { huge.add(i, 1e308); }
    CHECK(is_finite(huge.whole().sum));
}

TEST_CASE("html: a sample is even, bounded, and has the first and the last") {
    for (int const count : {0, 1, 7, 8, 9, 100, 1000}) {
        sample<int> few{8};
        for (int i = 0; i < count; ++i) { few.add(i); }
        std::vector<int> const items = few.items();
        INFO(count);
        CHECK(items.size() <= 9);
        CHECK(items.size() >= static_cast<std::size_t>((std::min)(count, 4)));
        CHECK(std::is_sorted(items.begin(), items.end()));
        if (count == 0) { continue; }
        CHECK((items.front() == 0 && items.back() == count - 1));
    }
}

TEST_CASE("html: an axis, linear and logarithmic, with round numbers") {
    auto const labels = [](axis const& it, int wanted, bool counts = false) {
        std::string text;
        for (axis::tick const& each : it.ticks(wanted, counts)) { text += each.label + ' '; }
        return text;
    };
    axis const plain{0, 10, 100, 200};
    CHECK((plain.at(0) == 100 && plain.at(5) == 150 && plain.at(99) == 200 && !plain.holds(99)));
    CHECK(labels(plain, 5) == "0 2 4 6 8 10 ");
    CHECK(labels({0, 1'000'000, 0, 1}, 4, true) == "0 200k 400k 600k 800k 1M ");
    CHECK(labels({2.3021, 2.3030, 0, 1}, 4) == "2.3022 2.3024 2.3026 2.3028 2.3030 ");
    axis const decades{1e-6, 1, 0, 60, true};
    CHECK((decades.is_log() && decades.at(1e-3) == Approx(30) && decades.at(0) == 0));
    CHECK(labels(decades, 6) == "1e-6 1e-5 1e-4 0.001 0.01 0.1 1 ");
    CHECK_FALSE(axis{0, 1, 0, 1, true}.is_log());
    axis const same{3, 3, 0, 10};
    CHECK(same.at(3) == Approx(5));
    CHECK(labels({0, 0, 0, 1}, 2) == "-1 0 1 ");
}

TEST_CASE(
    "html: a curve has a line, a band where steps share a bucket, gaps and crosses at NaN, findings and a threshold") {
    series curve{32};
    for (std::uint64_t i = 0; i < 1000; ++i) {
        i / 100 == 5 ? curve.add(i, not_a_number) : curve.add(i, 1.0 + 0.001 * static_cast<double>(i % 10));
    }
    chart it;
    it.title = "a<b";
    it.lines.push_back({&curve, "train", 0, false});
    it.marks.push_back({700, severity::error, "non_finite & more"});
    it.threshold = 1.005;
    std::string const svg = draw(it);
    CHECK(count_of(svg, "class=\"line c0\"") == 1);
    std::string const path = svg.substr(svg.find("class=\"line c0\""),
                                        svg.find('>', svg.find("class=\"line c0\"")) - svg.find("class=\"line c0\""));
    CHECK(count_of(path, "M") == 2);  // the gap
    CHECK(count_of(svg, "class=\"band c0\"") == 1);
    CHECK(count_of(svg, "class=\"bad\"") >= 1);
    CHECK(count_of(svg, "class=\"mark error\"") == 1);
    CHECK(count_of(svg, "<path class=\"limit\"") == 1);
    CHECK(has_part(svg, "threshold 1.005</span>"));
    // The stretch that is not finite is shaded from its first step to its last.
    CHECK(count_of(svg, "class=\"stretch\"") == 1);
    CHECK(has_part(svg, "not finite at step 500 to 599, 100 values"));
    // Pointing at a place shows the values there, in columns over the whole chart.
    CHECK(count_of(svg, "<title>step ") <= 48);
    CHECK(has_part(svg, "<title>step 0 to 31: train 1.004 (1 to 1.009)</title>"));
    CHECK(has_part(svg, "non_finite &#38; more"));
    CHECK(has_part(svg, "a&#60;b"));
    CHECK(has_part(svg, "aria-label="));
    CHECK_FALSE(has_part(svg, "logarithmic"));
    CHECK_FALSE(has_part(svg, "nan"));
}

TEST_CASE("html: a smoothed curve lies under the switch, and a chart alone is drawn wide, too") {
    series noise;
    for (std::uint64_t i = 0; i < 200; ++i) { noise.add(i, i % 2 == 0 ? 1.0 : 3.0); }
    auto const smooth = html::detail::running_means(noise);
    REQUIRE(smooth.size() == 200);
    CHECK(*smooth[0] == Approx(1.0));
    CHECK(*smooth[1] == Approx((0.15 * 3 + 0.85 * 0.15 * 1) / (0.15 + 0.85 * 0.15)));
    CHECK(*smooth[199] == Approx(2.0).margin(0.1));
    chart it;
    it.title = "noise";
    it.lines.push_back({&noise, {}, 0, false});
    std::string const alone = draw_alone(it);
    CHECK(count_of(alone, "class=\"line smooth c0\"") == 2);
    CHECK(count_of(alone, "<figure class=\"across\">") == 1);
    CHECK(has_part(alone, "viewBox=\"0 0 480 224\""));
    CHECK(has_part(alone, "viewBox=\"0 0 1104 224\""));
    CHECK(draw_alone({}).empty());
    series whole;
    whole.add(0, 1.0), whole.add(~std::uint64_t{0}, 2.0);
    it.lines.front().data = &whole;
    CHECK(has_part(draw(it), "<title>step 0: 1</title>"));
}

TEST_CASE("html: a curve over decades is logarithmic, a far threshold does not flatten it, and nothing gives nothing") {
    series curve;
    for (std::uint64_t i = 0; i < 30; ++i) { curve.add(i, std::pow(10.0, -static_cast<double>(i) / 5)); }
    chart it;
    it.lines.push_back({&curve, {}, 0, false});
    CHECK(has_part(draw(it), "logarithmic"));
    it.may_be_log = false;
    CHECK_FALSE(has_part(draw(it), "logarithmic"));
    series level;
    level.add(0, 1.0), level.add(1, 1.01);
    chart flat;
    flat.lines.push_back({&level, {}, 0, false});
    flat.threshold = 1e9;
    CHECK_FALSE(has_part(draw(flat), "class=\"limit\""));
    CHECK(has_part(draw(flat), "threshold 1e9, beyond the axis"));
    CHECK_FALSE(has_part(draw(flat), "smooth"));  // too few points
    series empty, bad;
    bad.add_bad(3);
    CHECK(draw(chart{"x", {}, {{&empty, {}, 0, false}}, {}, {}, "step", true, false, {}}).empty());
    CHECK(has_part(draw(chart{"x", {}, {{&bad, {}, 0, false}}, {}, {}, "step", true, false, {}}), "class=\"bad\""));
}

TEST_CASE("html: a heat map colours by decade; zero and what is not finite have colours of their own") {
    heat_map map{"scale", {}, {}, true};
    for (int layer = 0; layer < 3; ++layer) {
        strip one{fmt::format("layer<{}>", layer), series{32}, layer == 1};
        for (std::uint64_t i = 0; i < 200; ++i) {
            if (layer == 1 && i >= 100) {
                one.data.add_bad(i);
            } else {
                one.data.add(i, layer == 0 ? 1e-6 : layer == 1 ? 1e-3 : i < 100 ? 1.0 : 0.0);
            }
        }
        map.strips.push_back(one);
    }
    std::string const html = draw(map);
    CHECK(count_of(html, "<svg") == 3);
    CHECK(has_part(html, "layer&#60;0&#62;"));
    CHECK(has_part(html, "<path class=\"h0\""));
    CHECK(has_part(html, "<path class=\"h11\""));
    CHECK(has_part(html, "<path class=\"hz\""));
    CHECK(has_part(html, "<path class=\"hx\""));
    CHECK((has_part(html, "exactly zero") && has_part(html, "not finite")));
    CHECK(count_of(html, "class=\"blamed\"") == 1);
    CHECK(has_part(html, "step 0"));
    CHECK(has_part(html, ">199<"));
    CHECK(draw(heat_map{"none", {}, {}, true}).empty());
}

TEST_CASE("html: series of different length are brought to one width of columns") {
    heat_map map{"scale", {}, {{"long", series{32}, false}, {"short", series{32}, false}}, true};
    for (std::uint64_t i = 0; i < 1000; ++i) { map.strips[0].data.add(i, 1.0); }
    for (std::uint64_t i = 480; i < 512; ++i) { map.strips[1].data.add(i, 1.0); }
    std::string const html = draw(map);
    CHECK(count_of(html, "viewBox=\"0 0 32 1\"") == 2);
    CHECK(has_part(html, "d=\"M0 0h32v1h-32z\""));
    CHECK(has_part(html, "d=\"M15 0h1v1h-1z\""));
}

TEST_CASE("html: ridges keep the shares of the bins within their range") {
    std::vector<double> values(10'000);
    for (std::size_t i = 0; i < values.size(); ++i) { values[i] = static_cast<double>(i) / 10'000; }
    distribution const flat = distribution_of(view_of(values.data(), {values.size()}), stats_mask::histogram, {});
    auto const shares = html::detail::ridge_shares(flat, flat.low, flat.high);
    double total = 0;
    for (double const each : shares) {
        CHECK(each == Approx(1.0 / 48).epsilon(0.02));
        total += each;
    }
    CHECK(total == Approx(1));
    auto const upper = html::detail::ridge_shares(flat, 0.5, 1.5);
    double kept = 0;
    for (double const each : upper) { kept += each; }
    CHECK(kept == Approx(0.5).epsilon(0.02));
    ridge_plot plot{"w", {{0, flat}, {10, flat}}};
    CHECK(count_of(draw(plot), "class=\"ridge") == 2);
    distribution same = distribution_of(view_of(values.data(), {1}), stats_mask::histogram, {});  // one value
    CHECK(has_part(draw(ridge_plot{"b", {{0, same}}}), "class=\"ridge"));
    CHECK(draw(ridge_plot{"none", {}}).empty());
}

TEST_CASE("html: a picture is a bitmap inside the page, lowest row first, blue first, rows of whole words") {
    CHECK(to_base64({}) == "");
    CHECK(to_base64({'M'}) == "TQ==");
    CHECK(to_base64({'M', 'a'}) == "TWE=");
    CHECK(to_base64({'M', 'a', 'n', '!'}) == "TWFuIQ==");
    picture const two{1, 2, {1, 2, 3, 4, 5, 6}};
    std::string const uri = data_uri(two);
    REQUIRE(uri.starts_with("data:image/bmp;base64,Qk0"));  // "BM"
    // 54 bytes of head, then 6 5 4 0, then 3 2 1 0: groups of three from byte 54 on.
    CHECK(uri.ends_with(to_base64({6, 5, 4, 0, 3, 2, 1, 0})));
    CHECK(uri.size() == 22 + (54 + 8 + 2) / 3 * 4);
}

TEST_CASE("html: which inputs are pictures, and how they are drawn") {
    using html::detail::draw_sample;
    using html::detail::image_of;
    auto const size = [](extents const& shape) {
        auto const it = image_of(shape);
        return std::array<std::size_t, 3>{it.width, it.height, it.channels};
    };
    CHECK(size({32, 64}) == std::array<std::size_t, 3>{8, 8, 1});
    CHECK(size({32, 3072}) == std::array<std::size_t, 3>{32, 32, 3});
    CHECK(size({32, 30}) == std::array<std::size_t, 3>{0, 0, 1});
    CHECK(size({32, 4}) == std::array<std::size_t, 3>{0, 0, 1});
    CHECK(size({2, 5, 7}) == std::array<std::size_t, 3>{7, 5, 1});
    CHECK(size({2, 3, 5, 7}) == std::array<std::size_t, 3>{7, 5, 3});
    CHECK(size({2, 5, 7, 3}) == std::array<std::size_t, 3>{7, 5, 3});
    CHECK(size({2, 16, 5, 7}) == std::array<std::size_t, 3>{0, 0, 1});
    std::vector<double> const grey{-1, 1, 0, -1};
    CHECK(draw_sample(grey, {2, 2, 1, false}).pixels ==
          std::vector<std::uint8_t>{0, 0, 0, 255, 255, 255, 127, 127, 127, 0, 0, 0});
    std::vector<double> const colour{0, 1, 2};
    CHECK(draw_sample(colour, {1, 1, 3, false}).pixels == std::vector<std::uint8_t>{0, 127, 255});
    std::vector<double> const large(200 * 100, 1.0);
    picture const small = draw_sample(large, {200, 100, 1, false});
    CHECK((small.width == 50 && small.height == 25 && small.pixels.size() == 3 * 50 * 25));
}

TEST_CASE("html: what predictions say: logits, probabilities, one score, classes") {
    using html::detail::classes_in;
    tensor_story logits;
    logits.info.flags = flag::logits;
    float const rows[] = {0, 2, 0, 5, 0, 0};
    auto const said = classes_in(logits, view_of(rows, {2, 3}), false);
    CHECK(said.classes == std::vector<std::uint32_t>{1, 0});
    CHECK(said.certainty[0] == Approx(std::exp(2.0) / (std::exp(2.0) + 2)));
    float const scores[] = {0.2F, 0.9F, 0.5F};
    auto const binary = classes_in(tensor_story{}, view_of(scores, {3}), true);
    CHECK(binary.classes == std::vector<std::uint32_t>{0, 1, 0});
    CHECK(binary.certainty[1] == Approx(0.9));
    // Logarithms of shares: known by their values, or reported.
    float const powers[] = {std::log(0.1F), std::log(0.7F),  std::log(0.2F),
                            std::log(0.5F), std::log(0.25F), std::log(0.25F)};
    auto const behind = classes_in(tensor_story{}, view_of(powers, {2, 3}), false);
    CHECK(behind.classes == std::vector<std::uint32_t>{1, 0});
    CHECK(behind.certainty[0] == Approx(0.7));
    CHECK(behind.scores[2] == Approx(0.2));
    tensor_story reported;
    reported.info.flags = flag::log_probabilities;
    float const second[] = {std::log(0.2F), std::log(0.9F)};
    auto const single = classes_in(reported, view_of(second, {2}), true);
    CHECK(single.classes == std::vector<std::uint32_t>{0, 1});
    CHECK(single.certainty[0] == Approx(0.8));
    CHECK(single.certainty[1] == Approx(0.9));
    std::int32_t const numbers[] = {3, -1, 7};
    CHECK(classes_in(tensor_story{}, view_of(numbers, {3}), false).classes ==
          std::vector<std::uint32_t>{3, no_class, 7});
    // Labels of several columns that name no class are numbers to predict: colours.
    tensor_story labels;
    labels.info.role = role::label;
    CHECK(classes_in(labels, view_of(rows, {2, 3}), false).classes.empty());
    float const one_hot[] = {0, 1, 0, 0.9F, 0.05F, 0.05F};
    CHECK(classes_in(labels, view_of(one_hot, {2, 3}), false).classes == std::vector<std::uint32_t>{1, 0});
}
