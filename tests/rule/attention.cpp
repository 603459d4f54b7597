// SPDX-License-Identifier: Apache-2.0
// Rules on attention: what is extracted of its weights, and each example of the catalogue.
#include <tests/catch.hpp>
#include <tests/rule/features.hpp>

#include <cmath>

using namespace spotter;
using namespace stage;

namespace {

using weights = std::vector<float>;

// What a head gives to `keys` keys from `query`: `at` gives the weight before it is divided by the sum; keys behind the
// query are masked.
template <class At>
void add_row(weights& to, std::size_t query, std::size_t keys, At&& at) {
    std::size_t const first = to.size();
    float total = 0;
    for (std::size_t k = 0; k < keys; ++k) {
        to.push_back(k <= query ? at(k) : 0.0F);
        total += to.back();
    }
    for (std::size_t k = first; k < to.size(); ++k) { to[k] /= total; }
}
constexpr std::size_t side = 16;
float alike(std::size_t, std::size_t) { return 1; }
float first_key(std::size_t, std::size_t key) { return key == 0 ? 1.0F : 0.0F; }
float own_key(std::size_t query, std::size_t key) { return key == query ? 1.0F : 0.0F; }
float near_keys(std::size_t query, std::size_t key) { return std::exp(-0.3F * static_cast<float>(query - key)); }
using head_pattern = float (*)(std::size_t, std::size_t);

// [batch, head, query, key] of `batch` samples that are alike.
weights causal(std::vector<head_pattern> const& heads, std::size_t batch = 2) {
    weights made;
    for (std::size_t n = 0; n < batch; ++n) {
        for (head_pattern const each : heads) {
            for (std::size_t q = 0; q < side; ++q) {
                add_row(made, q, side, [&](std::size_t k) { return each(q, k); });
            }
        }
    }
    return made;
}
std::vector<attention_heads::head> heads_of(weights const& values, extents const& shape,
                                            order layout = order::row_major) {
    tensor_ref view = view_of(values.data(), shape);
    view.layout = layout;
    attention_heads::scratch own;
    feature made;
    attention_heads::extract(own, view, made);
    std::vector<attention_heads::head> all;
    for (std::size_t i = 0; i < attention_heads::count_in(made.all()); ++i) {
        all.push_back(attention_heads::of(made.all(), i));
    }
    return all;
}
// The answers of `closes` closes that show the same weights.
template <rule Rule>
std::vector<truth> answers(Rule const& rule, weights const& values, extents const& shape, int closes,
                           std::string* reported = nullptr) {
    run it{rule};
    std::vector<truth> all;
    for (int i = 0; i < closes; ++i) {
        auto const at = train(static_cast<std::uint64_t>(i));
        it.see(at, "attention/1", values, shape);
        all.push_back(it.close(at));
        if (reported != nullptr && !it.found.empty()) { *reported = it.found[0].detail.view(); }
    }
    return all;
}
extents four_axes(std::size_t heads) { return {2, heads, side, side}; }

}  // namespace

TEST_CASE("of each head: how spread, how much on which key, and which head does the same") {
    auto const all = heads_of(causal({alike, first_key, own_key, first_key}), four_axes(4));
    REQUIRE(all.size() == 4);
    CHECK(all[0].entropy == Approx(1).margin(1e-4));
    CHECK(all[1].entropy == 0);
    CHECK((all[1].share == 1 && all[1].position == 0));
    CHECK((all[1].distance == 0 && all[1].next == 3 && all[3].next == 1));
    CHECK(all[2].entropy == 0);
    CHECK(all[2].share < 0.2);  // another key each time
    CHECK(all[2].distance > 0.5);
    // Queries 3 to 15 have four keys or more; evenly spread they give 1/4 to 1/16 to the first.
    double sum_of_shares = 0;
    for (int keys = 4; keys <= 16; ++keys) { sum_of_shares += 1.0 / keys; }
    CHECK(all[0].share == Approx(sum_of_shares / 13).margin(1e-4));
}

TEST_CASE("a head's entropy is that of its weights over that of even ones") {
    // Halves on two of four keys: ln 2 over ln 4.
    weights values;
    for (int q = 0; q < 4; ++q) { values.insert(values.end(), {0.5F, 0, 0, 0.5F}); }
    auto const all = heads_of(values, {1, 4, 4});
    REQUIRE(all.size() == 1);
    CHECK(all[0].entropy == Approx(0.5).margin(1e-4));
    CHECK((all[0].distance == 1 && all[0].next == 0));  // there is no other
}

TEST_CASE("the order of the axes in memory makes no difference") {
    weights const rows = causal({near_keys, first_key}, 1);
    weights columns(rows.size());
    for (std::size_t h = 0; h < 2; ++h) {
        for (std::size_t q = 0; q < side; ++q) {
            for (std::size_t k = 0; k < side; ++k) {
                columns[h + 2 * (q + side * k)] = rows[(h * side + q) * side + k];
            }
        }
    }
    auto const a = heads_of(rows, {2, side, side}), b = heads_of(columns, {2, side, side}, order::column_major);
    REQUIRE((a.size() == 2 && b.size() == 2));
    for (std::size_t h = 0; h < 2; ++h) {
        CHECK((a[h].entropy == b[h].entropy && a[h].share == b[h].share && a[h].distance == b[h].distance));
    }
}

TEST_CASE("what is no attention says nothing") {
    weights scores = causal({alike, alike});
    for (float& each : scores) { each = each * 10 - 3; }  // before the softmax
    CHECK(heads_of(scores, four_axes(2)).empty());
    weights broken = causal({alike, alike});
    for (float& each : broken) { each = nan_f; }
    CHECK(heads_of(broken, four_axes(2)).empty());
    CHECK(heads_of(weights(64, 0.0F), {1, 4, 4, 4}).empty());   // padding throughout
    CHECK(heads_of(weights(27, 1.0F / 3), {3, 3, 3}).empty());  // three keys
    CHECK(heads_of(weights(16, 0.25F), {4, 4}).empty());
    CHECK(heads_of({}, {0, 2, 4, 4}).empty());
    CHECK(heads_of({}, {2, 2, 0, 4}).empty());
    // Dropout scales what is left.
    weights dropped = causal({near_keys, near_keys});
    for (float& each : dropped) { each *= 1.25F; }
    CHECK(heads_of(dropped, four_axes(2)).at(0).entropy == heads_of(causal({near_keys}), four_axes(1)).at(0).entropy);
    // A sample that is padding is passed over.
    weights half = causal({near_keys});
    std::fill(half.begin() + side * side, half.end(), 0.0F);
    CHECK(heads_of(half, four_axes(1)).size() == 1);
}

TEST_CASE("attention_collapse: a mean entropy below a tenth, five times in a row", "[attention_collapse]") {
    auto const all = answers(attention_collapse{}, causal({own_key, first_key}), four_axes(2), 6);
    CHECK(std::count(all.begin(), all.end(), truth::yes) == 2);
    CHECK(all[4] == truth::yes);
    CHECK(answers(attention_collapse{}, causal({alike, own_key}), four_axes(2), 6).back() == truth::no);
    CHECK(answers(attention_collapse{.min_entropy = 0.6}, causal({alike, own_key}), four_axes(2), 6).back() ==
          truth::yes);
    CHECK(answers(attention_collapse{}, weights(16, 0.25F), {4, 4}, 6).back() == truth::undecided);
}

TEST_CASE("attention_one_position: nine tenths of a head's weight on one key, ten times", "[attention_one_position]") {
    std::string reported;
    auto const all =
        answers(attention_one_position{}, causal({near_keys, alike, first_key}), four_axes(3), 10, &reported);
    CHECK(std::count(all.begin(), all.end(), truth::yes) == 1);
    CHECK(all.back() == truth::yes);
    CHECK(reported == "head 2 at key 0; 1 of 3 heads are so");
    CHECK(answers(attention_one_position{}, causal({near_keys, alike, own_key}), four_axes(3), 10).back() == truth::no);
}

TEST_CASE("attention_similar_heads: the same keys, but for heads that are next to even", "[attention_similar_heads]") {
    std::string reported;
    auto const all =
        answers(attention_similar_heads{}, causal({near_keys, alike, near_keys}), four_axes(3), 10, &reported);
    CHECK(std::count(all.begin(), all.end(), truth::yes) == 1);
    CHECK(all.back() == truth::yes);
    CHECK(reported == "heads 0 and 2; 2 of 3 have one like them");
    CHECK(answers(attention_similar_heads{}, causal({alike, alike}), four_axes(2), 10).back() == truth::no);
    CHECK(answers(attention_similar_heads{}, causal({near_keys, own_key}), four_axes(2), 10).back() == truth::no);
    CHECK(answers(attention_similar_heads{}, causal({near_keys}), four_axes(1), 10).back() == truth::undecided);
}

TEST_CASE("rules on attention judge features as they judge values, and take no damaged one") {
    weights const values = causal({near_keys, first_key, first_key});
    auto const play = [&](auto& it, auto tell) {
        for (std::uint64_t i = 0; i < 12; ++i) {
            it.see(train(i), "attention/1", values, four_axes(3));
            tell(it.close(train(i)));
        }
    };
    CHECK(judges_without_values(attention_collapse{.min_entropy = 0.9}, play));
    CHECK(judges_without_values(attention_one_position{}, play));
    CHECK(judges_without_values(attention_similar_heads{}, play));
    for (std::vector<double> const& made :
         {std::vector<double>{1}, {-1, 0, 0, 0, 0}, {0, 0, 1e300, 0, 0}, {0, static_cast<double>(nan_f), 0, 0, 0}}) {
        CHECK(attention_heads::count_in(made) == 0);
    }
}

TEST_CASE("of a large layer a part is looked at, of many heads the first 96") {
    std::size_t const heads = 100, queries = 40, keys = 64;
    weights values(heads * queries * keys, 1.0F / 64);
    CHECK(heads_of(values, {1, heads, queries, keys}).size() == 96);
    // A long batch: the queries that are looked at lie at no regular distance, so that both halves of them count.
    weights mixed;
    for (std::size_t n = 0; n < 64; ++n) {
        for (std::size_t h = 0; h < 2; ++h) {
            for (std::size_t q = 0; q < 16; ++q) {
                for (std::size_t k = 0; k < 8; ++k) {
                    mixed.push_back(h == 0 || q % 2 == 0 ? 0.125F : k == 0 ? 1.0F : 0.0F);
                }
            }
        }
    }
    double const entropy = heads_of(mixed, {64, 2, 16, 8}).at(1).entropy;
    CHECK((entropy > 0.25 && entropy < 0.75));
}
