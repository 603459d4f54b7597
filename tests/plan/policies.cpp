// SPDX-License-Identifier: Apache-2.0
// Policies: which steps they select, from a step's mode and index alone. What must compile is checked by the compiler.
#include <tests/catch.hpp>

#include <spotter/hook.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace spotter;

namespace {

template <policy Policy>
std::vector<std::uint64_t> admitted(Policy const& when, std::uint64_t count) {
    std::vector<std::uint64_t> list;
    for (std::uint64_t i = 0; i < count; ++i) {
        if (when(train(i))) { list.push_back(i); }
    }
    return list;
}
using indices = std::vector<std::uint64_t>;

template <policy Policy>
std::string words(Policy const& when) {
    sentence out;
    describe(when, out);
    return std::string{out.view()};
}

// Steps of all modes, with small and large indices of all magnitudes.
std::vector<step_id> random_steps(std::size_t count) {
    std::vector<step_id> list;
    std::uint64_t state = 42;
    for (std::size_t i = 0; i < count; ++i) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        std::uint64_t const index = (state >> 8) >> (state % 56);
        list.push_back({static_cast<mode>((state >> 33) % 3), index});
    }
    return list;
}

// A user-defined policy.
struct powers_of_two {
    using kind = policy_kind;
    constexpr bool operator()(step_id step) const { return std::has_single_bit(step.index); }
};

}  // namespace

// [S12]
static_assert((every{10} && during{mode::train})(train(20)));
static_assert(!(every{10} && during{mode::train})(eval(20)));
static_assert(!(every{10} && during{mode::train})(train(21)));
static_assert(!every{0}(train(0)) && every{1}(train(0)));
static_assert(between{3, 5}(train(3)) && between{3, 5}(train(4)) && !between{3, 5}(train(5)) &&
              !between{5, 3}(train(4)));
static_assert((powers_of_two{} || at{5})(train(5)) && (powers_of_two{} && !at{8})(train(16)));

TEST_CASE("policies: of many workers exactly so many are kept at each index, in the long run each as often") {
    for (std::uint32_t const workers : {1U, 2U, 7U, 12U, 100U, 1000U}) {
        for (std::uint32_t const keep : {1U, 4U}) {
            for (std::uint64_t const seed : {0U, 1U, 77U}) {
                std::vector<std::uint32_t> times(workers);
                std::uint32_t const indices = 40 * workers;
                bool exact = true;
                for (std::uint32_t index = 0; index < indices; ++index) {
                    std::uint32_t kept = 0;
                    for (std::uint32_t worker = 0; worker < workers; ++worker) {
                        bool const mine = sampled{worker, workers, keep, seed}(train(index));
                        kept += mine ? 1U : 0U;
                        times[worker] += mine ? 1U : 0U;
                    }
                    exact = exact && kept == (std::min)(keep, workers);
                    if (workers == 1000 && index > 200) { break; }
                }
                INFO(workers << " workers, " << keep << " kept, seed " << seed);
                CHECK(exact);
                if (workers > 100) { continue; }
                auto const [least, most] = std::minmax_element(times.begin(), times.end());
                CHECK(*least > 0);
                CHECK((workers <= keep || *most < 3 * 40 * keep));
            }
        }
    }
    CHECK_FALSE(sampled{0, 4, 0}(train(0)));
    CHECK(words(every{100} && sampled{.worker = 2, .workers = 8, .keep = 3, .seed = 5}) ==
          "(every{100} && sampled{worker 2 of 8, keep 3, seed 5})");
}

TEST_CASE("every is anchored at zero, from and before bound it, at adds to it [S01][S02][S03][S04]") {
    CHECK(admitted(every{100} && from{5}, 450) == indices{100, 200, 300, 400});
    CHECK(admitted(every{100} && before{200}, 450) == indices{0, 100});
    CHECK(admitted(every{100} && before{201}, 450) == indices{0, 100, 200});
    CHECK(admitted(every{500} || at{3, 7}, 1001) == indices{0, 3, 7, 500, 1000});
    CHECK(admitted((every{100} && before{101}) || at{700}, 1000) == indices{0, 100, 700});
    CHECK(admitted(at{7, 3, 7}, 10) == indices{3, 7});
}

TEST_CASE("every{1} is always, never and before{0} are nothing [S05][S06]") {
    CHECK(admitted(every{1}, 10) == admitted(always{}, 10));
    CHECK(admitted(always{}, 10).size() == 10);
    CHECK(admitted(never{}, 1000).empty());
    CHECK(admitted(before{0}, 1000).empty());
    CHECK(admitted(every{0}, 1000).empty());
}

TEST_CASE("each mode has its own schedule, by the index within the mode [S07]") {
    constexpr auto when = (every{2} && during{mode::train}) || (every{3} && during{mode::eval});
    std::string kept;
    for (step_id each : {train(0), train(1), eval(0), eval(1), eval(2), train(2), train(3)}) {
        if (when(each)) { kept += std::string{name_of(each.mode)} + std::to_string(each.index) + " "; }
    }
    CHECK(kept == "train0 eval0 train2 ");
    CHECK(!when(predict(0)));
}

TEST_CASE("the laws of Boole hold on 10^4 random step ids [S12]") {
    constexpr auto a = every{3} || during{mode::eval};
    constexpr auto b = from{1000} && !at{5000, 7};
    constexpr auto c = before{1ULL << 40};
    for (step_id step : random_steps(10'000)) {
        bool const equal = (!(a || b))(step) == (!a && !b)(step) && (!(a && b))(step) == (!a || !b)(step) &&
                           (a && (b || c))(step) == ((a && b) || (a && c))(step) && (!!a)(step) == a(step) &&
                           (a || !a)(step) && !(a && !a)(step) && (a && b)(step) == (b && a)(step) &&
                           (from{10} && before{20})(step) == between{10, 20}(step);
        if (!equal) { FAIL(name_of(step.mode) << " " << step.index); }
    }
}

TEST_CASE("the largest index is an index like any other") {
    constexpr std::uint64_t last = ~std::uint64_t{0};
    CHECK(from{last}(train(last)));
    CHECK(!before{last}(train(last)));
    CHECK(at{last}(eval(last)));
    CHECK(!between{0, last}(train(last)));
}

TEST_CASE("a policy describes itself the way it is written") {
    CHECK(words(every{10} && during{mode::train}) == "(every{10} && during{train})");
    CHECK(words((from{5} || before{3}) && !between{1, 2}) == "((from{5} || before{3}) && !between{1, 2})");
    CHECK(words(at{0, 1, 100}) == "at{0, 1, 100}");
    CHECK(words(always{} || never{}) == "(always || never)");
    CHECK(words(powers_of_two{} && every{2}) == "(a function of the step && every{2})");
}
