// SPDX-License-Identifier: Apache-2.0
// Stat: statistics compared with a limit: yes, no, or undecided.
#include <tests/stat/samples.hpp>

#include <spotter/stat/predicate.hpp>

#include <tests/catch.hpp>

#include <string>

using namespace spotter;
using namespace samples;

namespace {

// A user-defined statistic; 0/0 if there is nothing to divide by.
struct spread_to_mean {
    static constexpr stats_mask needs = stats_mask::range | stats_mask::sum;
    static constexpr std::string_view name = "spread over mean";
    measurement operator()(summary const& of) const {
        double const centre = mean(of).value;
        return centre == 0 ? measurement{nan_d, true} : measurement{(of.maximum - of.minimum) / centre, true};
    }
};
struct sometimes {
    static constexpr stats_mask needs = stats_mask::nonfinite;
    static constexpr std::string_view name = "sometimes";
    constexpr measurement operator()(summary const& of) const { return {7, of.count > 2}; }
};
// A user-defined predicate.
struct odd_count {
    using kind = predicate_kind;
    static constexpr stats_mask needs = stats_mask::none;
    constexpr truth operator()(summary const& of) const { return truth_of(of.count % 2 == 1); }
};

summary const numbers = summary_of(std::vector<double>{1, 2, 6});
summary const no_numbers = summary_of(std::vector<double>{nan_d, pos_infinity});
summary const empty = summarize(view_of(static_cast<double const*>(nullptr), {0}), all_terms);

}  // namespace

TEST_CASE("the four relations") {
    CHECK(((mean < 3)(numbers) == truth::no && (mean <= 3)(numbers) == truth::yes));
    CHECK(((mean > 3)(numbers) == truth::no && (mean >= 3)(numbers) == truth::yes));
    CHECK(((l2 > 6.4)(numbers) == truth::yes && (maximum < 6)(numbers) == truth::no));
}

TEST_CASE("a statistic that was not taken is undecided") {
    summary const some = summary_of(std::vector<float>{1, 2}, stats_mask::sum);
    CHECK(((l2 > 0)(some) == truth::undecided && (l2 < 0)(some) == truth::undecided && (mean > 0)(some) == truth::yes));
}

TEST_CASE("without a finite element only counts decide [A31] [S36]", "[A31][S36]") {
    for (summary const& of : {no_numbers, empty}) {
        for (statistic each :
             std::initializer_list<statistic>{minimum, maximum, mean, stddev, variance, sum, product, l1, l2, mean_abs,
                                              of_abs(maximum), of_abs(sum), zero_fraction}) {
            INFO(each.name());
            CHECK(((each < 1)(of) == truth::undecided && (each >= 1)(of) == truth::undecided));
        }
    }
    CHECK(((nan_count > 0)(no_numbers) == truth::yes && (pos_inf >= 1)(no_numbers) == truth::yes &&
           (neg_inf > 0)(no_numbers) == truth::no));
    CHECK(((nonfinite > 1)(no_numbers) == truth::yes && (zeros < 1)(no_numbers) == truth::yes));
    CHECK(((nonfinite > 0)(empty) == truth::no && (zeros < 1)(empty) == truth::yes));
}

TEST_CASE("a share of zeros is one of the finite elements, and undecided without any; as a value and by its type") {
    summary const half = summary_of(std::vector<float>{0, nan_f, 2});
    statistic const plain = zero_fraction;
    CHECK((zero_fraction(half).value == 0.5 && plain(half).value == 0.5 && zeros(half).value == 1));
    for (summary const& of : {no_numbers, empty}) {
        CHECK(((zero_fraction < 1)(of) == truth::undecided && (zero_fraction >= 0)(of) == truth::undecided));
        CHECK(((plain < 1)(of) == truth::undecided && (plain >= 0)(of) == truth::undecided));
        CHECK(((!(zero_fraction > 0.5))(of) == truth::undecided && !zero_fraction(of).known && !plain(of).known));
        CHECK(((zeros < 1)(of) == truth::yes && (zeros >= 1)(of) == truth::no));
    }
}

TEST_CASE("predicates combine by Kleene's logic") {
    auto const unknown = l2 > 1e9;
    summary some = numbers;
    some.has = without(some.has, stats_mask::sum_squares);
    CHECK((unknown && mean > 3)(some) == truth::no);
    CHECK((unknown || mean >= 3)(some) == truth::yes);
    CHECK((unknown && mean >= 3)(some) == truth::undecided);
    CHECK((!unknown)(some) == truth::undecided);
    CHECK((!(mean > 3))(some) == truth::yes);
    CHECK((odd_count{} && mean >= 3)(numbers) == truth::yes);
}

TEST_CASE("a statistic of the user's own compares like the others; not a number is undecided") {
    CHECK((spread_to_mean{} > 1)(numbers) == truth::yes);
    summary const centred = summary_of(std::vector<double>{-1, 1});
    CHECK(((spread_to_mean{} > 1)(centred) == truth::undecided &&
           (!(spread_to_mean{} > 1))(centred) == truth::undecided));
    CHECK(((sometimes{} > 1)(numbers) == truth::yes && (sometimes{} > 1)(centred) == truth::undecided));
    CHECK(needs_of(spread_to_mean{} > 1 && l2 < 3) == (stats_mask::range | stats_mask::sum | stats_mask::sum_squares));
}

TEST_CASE("the needs of a predicate are the union of its parts' [A46]", "[A46]") {
    static_assert(needs_of(l2 > 1) == stats_mask::sum_squares && needs_of(mean_abs < 1e-7) == stats_mask::sum_abs);
    static_assert(needs_of(!(l2 > 1) || zero_fraction > 0.5) == (stats_mask::sum_squares | stats_mask::zeros));
    static_assert(needs_of(odd_count{} && nonfinite > 0) == stats_mask::nonfinite);
    static_assert(needs_of(of_abs(stddev) < 1) == (stats_mask::variance | stats_mask::sum | stats_mask::sum_abs));
    SUCCEED();
}

TEST_CASE("the evidence is the comparison that decided [A51]", "[A51]") {
    evidence const left = evidence_of(mean > 100 || maximum >= 6, numbers);
    CHECK((left.measure == "maximum" && left.measured == 6 && left.threshold == 6 &&
           left.how == relation::greater_equal));
    evidence const first = evidence_of(mean > 1 && maximum > 2, numbers);
    CHECK((first.measure == "mean" && first.measured == 3));
    evidence const turned = evidence_of(!(mean > 100), numbers);
    CHECK((turned.measure == "mean" && turned.how == relation::less_equal && turned.threshold == 100));
    evidence const own = evidence_of(spread_to_mean{} < 2, numbers);
    CHECK((own.measure == "spread over mean" && own.measured == Approx(5.0 / 3)));
    CHECK(symbol_of(relation::less_equal) == "<=");
}

TEST_CASE("statistics have names") {
    CHECK((l2.name() == "l2" && mean_abs.name() == "mean_abs" && of_abs(maximum).name() == "maximum_abs"));
    CHECK((of_abs(l2).name() == "l2" && neg_inf.name() == "neg_inf" && zero_fraction.name() == "zero_fraction"));
}
