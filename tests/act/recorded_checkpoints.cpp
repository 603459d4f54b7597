// SPDX-License-Identifier: Apache-2.0
// The checkpoints of a record: the state of each, and the finding that made it bad, of loops that go back.
#include <spotter/act/recorded_checkpoints.hpp>
#include <spotter/checkpoints.hpp>
#include <spotter/spotter.hpp>

#include <tests/catch.hpp>
#include <tests/temporary_folder.hpp>

#include <limits>
#include <string>
#include <vector>

using namespace spotter;
using namespace spotter_test;

namespace {

using list = std::vector<std::string>;

list checkpoints_in(std::string const& run) {
    list found;
    auto const opened = open_trial(run);
    REQUIRE(opened);
    for (recorded_checkpoint const& each : checkpoints_of(*opened)) {
        found.push_back(std::string{name_of(each.step.mode)} + '(' + std::to_string(each.step.index) + ") " +
                        each.state + (each.why.empty() ? "" : ": " + each.why));
    }
    return found;
}

// A loop that may go back. A step shows `x`, and the rule "high" finds it above 5.
struct loop {
    explicit loop(temporary_folder const& folder)
        : watch{folder / "run", plan{}, any("x", maximum > 5.0) | named{"high"}}, kept{folder / "kept"} {}
    void close(step_id step, float x = 1) { (void)watch.step(step, "x"_t = x); }
    void close(std::uint64_t first, std::uint64_t end) {
        for (std::uint64_t i = first; i < end; ++i) { close(train(i)); }
    }
    error save(std::uint64_t step, float value = 1) { return kept.save(watch, train(step), "w"_t = value); }

    decltype(hook{"", plan{}, any("x", maximum > 5.0) | named{"high"}}) watch;
    checkpoints kept;
};

}  // namespace

TEST_CASE("what made a checkpoint bad is a finding since its step, not one of a path that the loop went back over") {
    temporary_folder const folder;
    {
        loop it{folder};
        it.close(40, 56);
        it.close(train(56), 9);
        it.close(40, 46);
        CHECK(!it.save(45));
        it.close(46, 49);
        SECTION("by a later step") {
            it.close(train(49), 9);
            it.close(50, 57);
        }
        SECTION("by an evaluation") {
            it.close(eval(3), 9);
            it.close(49, 57);
        }
        SECTION("by its own step, before an evaluation") {
            it.close(train(49), 9);
            it.close(eval(3));
            it.close(eval(4));
            CHECK(!it.save(49));
            it.close(50, 57);
        }
        CHECK(!it.save(56));
        it.close(57, 60);
        it.kept.review(it.watch);
        it.close(train(60), 9);
        it.watch.finish();
    }
    list const found = checkpoints_in(folder / "run");
    REQUIRE(found.size() >= 2);
    std::string const first = found.front();
    CHECK((first == "train(45) bad: high at train(49)" || first == "train(45) bad: high at eval(3)"));
    if (found.size() == 3) { CHECK(found[1] == "train(49) bad: high at train(49)"); }
    CHECK(found.back() == "train(56) good");
}

TEST_CASE("of a step that was saved again the last checkpoint is listed, and a refused one hides none") {
    temporary_folder const folder;
    float const nan_value = std::numeric_limits<float>::quiet_NaN();
    {
        loop it{folder};
        it.close(0, 11);
        CHECK(!it.save(10));
        CHECK(it.save(10, nan_value).code == errc::wrong_type);
        CHECK(it.save(10, nan_value).code == errc::wrong_type);
        it.close(11, 21);
        CHECK(!it.save(20));
        it.close(5, 11);
        SECTION("refused for good") {}
        SECTION("saved again") {
            CHECK(!it.save(10));
            it.close(train(11), 9);
        }
        it.kept.review(it.watch);
    }
    list const found = checkpoints_in(folder / "run");
    if (found.size() == 3) {
        CHECK(found ==
              list{"train(10) good", "train(10) refused: w: 1 of 1 values are not finite as f32", "train(20) good"});
    } else {
        CHECK(found == list{"train(20) good", "train(10) bad: high at train(11)"});
    }
}
