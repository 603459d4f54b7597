// SPDX-License-Identifier: Apache-2.0
// Parting: the first step, tensor and bit at which two trainings differ, found while they run.
#include <spotter/rules.hpp>
#include <spotter/workbench/parting.hpp>

#include <tests/catch.hpp>
#include <tests/trial/runs.hpp>

#include <cmath>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr auto with_values = plan{collection{"all", "*", always{}}};
constexpr auto with_hashes = plan{collection{"all", "*", always{}, stats_mask::hash}};

// One of the two trainings; with `odd` one bit of one element of `act` differs from step 7 on.
template <class Hook>
void step_of_one(Hook& watch, std::uint64_t i, bool odd) {
    std::vector<float> w(32, 0.5F), act(32, 2.0F);
    w[3] = static_cast<float>(i);
    if (odd && i >= 7) { act[5] = std::nextafter(2.0F, 3.0F); }
    (void)watch.step(train(i), "w"_t = w, "act"_t = act, "loss"_t = odd && i >= 7 ? 0.3F : 0.25F);
}

}  // namespace

TEST_CASE("parting: of values the element and the bits, in the order of the program") {
    temporary_folder const folder;
    hook one{folder / "a", with_values}, other{folder / "b", with_values};
    for (std::uint64_t i = 0; i < 5; ++i) { step_of_one(one, i, false), step_of_one(other, i, true); }
    one.flush(), other.flush();
    auto a = open_trial(folder / "a").value(), b = open_trial(folder / "b").value();
    parting apart{a, b};
    CHECK_FALSE(apart.look());
    CHECK(apart.steps() == 5);
    for (std::uint64_t i = 5; i < 12; ++i) { step_of_one(one, i, false), step_of_one(other, i, true); }
    one.flush(), other.flush();
    auto const& found = apart.look();
    REQUIRE(found);
    CHECK(found->step == train(7));
    CHECK(found->tensor == "act");
    CHECK(found->element == 5);
    CHECK(found->elements == 1);
    CHECK(found->bits == 1);
    CHECK(apart.steps() == 7);
    CHECK(apart.look()->step == train(7));
}

TEST_CASE("parting: of hashes the tensor, and of equal runs nothing") {
    temporary_folder const folder;
    {
        hook one{folder / "a", with_hashes}, other{folder / "b", with_hashes}, third{folder / "c", with_hashes};
        for (std::uint64_t i = 0; i < 12; ++i) {
            step_of_one(one, i, false), step_of_one(other, i, true), step_of_one(third, i, false);
        }
    }
    auto a = open_trial(folder / "a").value(), b = open_trial(folder / "b").value(),
         c = open_trial(folder / "c").value();
    parting apart{a, b}, same{a, c};
    REQUIRE(apart.look());
    CHECK(apart.look()->tensor == "act");
    CHECK(apart.look()->what == "the hash");
    CHECK_FALSE(same.look());
    CHECK(same.steps() == 12);
}

TEST_CASE("parting: other steps, and what one alone observed") {
    temporary_folder const folder;
    {
        hook one{folder / "a", with_values}, other{folder / "b", with_values}, third{folder / "c", with_values};
        for (std::uint64_t i = 0; i < 4; ++i) {
            (void)one.step(train(i), "x"_t = 1.0F);
            (void)other.step(train(i == 2 ? 9 : i), "x"_t = 1.0F);
            if (i == 3) {
                (void)third.step(train(i), "x"_t = 1.0F, "y"_t = 2.0F);
            } else {
                (void)third.step(train(i), "x"_t = 1.0F);
            }
        }
    }
    auto a = open_trial(folder / "a").value(), b = open_trial(folder / "b").value(),
         c = open_trial(folder / "c").value();
    parting apart{a, b}, more{a, c};
    CHECK(apart.look()->step == train(2));
    CHECK(apart.look()->tensor.empty());
    CHECK(more.look()->step == train(3));
    CHECK(more.look()->tensor == "y");
}
