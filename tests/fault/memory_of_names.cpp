// SPDX-License-Identifier: Apache-2.0
// Lists of names and tables are made while the n-th allocation fails, for every n.
#include <tests/fault/starved.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr std::string_view long_pattern = "a rather long name of a block/{}/w";

}  // namespace

TEST_CASE("a list of names has them all, or is empty; so is a copy of it") {
    std::size_t const needed = allocations_of(0, outage::once, [] { name_list const names{long_pattern, 5}; });
    REQUIRE(needed > 5);  // one per name
    for (std::size_t n = 1; n <= needed + 1; ++n) {
        name_list const whole{long_pattern, 5};
        std::size_t made = 0, copied = 0;
        (void)allocations_of(n, outage::once, [&] { made = name_list{long_pattern, 5}.size(); });
        (void)allocations_of(n, outage::once, [&] {
            name_list const again = whole;
            copied = again.size();
            for (std::size_t i = 0; i < again.size(); ++i) { copied += again[i] == whole[i] ? 0 : 100; }
        });
        CHECK(made == (n <= needed ? 0 : 5));
        CHECK(copied == (n <= needed ? 0 : 5));
    }
    name_list const whole{long_pattern, 5};
    CHECK(whole[3] == "a rather long name of a block/3/w");
}

TEST_CASE("a table for which memory gives out leaves rows out, and says how many it has") {
    float const values[4] = {1, 2, 3, 4};
    float const* where = values;
    auto const fill = [&](tensor_table& table) {
        table.add("a rather long name of the first weight", &where, {2, 2}).add("b", &where, {4}, role::bias);
        table.add("a rather long name of the third weight", &where, {2, 2});
    };
    auto const seen = [](tensor_table const& table) {
        std::size_t count = 0;
        visit_tensors(table, [&](std::string_view name, tensor_ref const& view, auto...) {
            CHECK_FALSE(name.empty());
            CHECK(view.count == 4);
            ++count;
        });
        return count;
    };
    tensor_table whole;
    std::size_t const needed = allocations_of(0, outage::once, [&] { fill(whole); });
    REQUIRE(needed > 3);
    REQUIRE(seen(whole) == 3);
    bool some_left_out = false;
    for (std::size_t n = 1; n <= needed; ++n) {
        tensor_table table;
        (void)allocations_of(n, outage::once, [&] { fill(table); });
        CHECK(table.size() < 3);
        CHECK(seen(table) == table.size());
        tensor_table copied;
        (void)allocations_of(n, outage::once, [&] { copied = whole; });
        CHECK(seen(copied) == copied.size());
        some_left_out = some_left_out || copied.size() < 3;
        CHECK(seen(whole) == 3);
    }
    CHECK(some_left_out);
}
