// SPDX-License-Identifier: Apache-2.0
// Core: three-valued truth, algebra of predicates, steps, results, and the two small containers.
#include <spotter/core/algebra.hpp>
#include <spotter/core/pack.hpp>
#include <spotter/core/result.hpp>
#include <spotter/core/sentence.hpp>
#include <spotter/core/slots.hpp>
#include <spotter/core/step.hpp>

#include <tests/catch.hpp>

#include <cstdint>
#include <memory>
#include <sstream>
#include <string>

using namespace spotter;

namespace {

struct answers_kind : stateless_kind {};
struct asks {
    using kind = answers_kind;
    truth answer;
    int* calls = nullptr;
    constexpr truth operator()(int) const {
        if (calls != nullptr) { ++*calls; }
        return answer;
    }
};
struct other_kind : stateless_kind {};
struct other {
    using kind = other_kind;
};
template <class Left, class Right>
concept conjoinable = requires(Left left, Right right) { left&& right; };

constexpr truth all_truths[] = {truth::no, truth::undecided, truth::yes};

}  // namespace

TEST_CASE("Kleene's tables", "[A45]") {
    using enum truth;
    static_assert(conjunction(yes, yes) == yes && conjunction(yes, undecided) == undecided &&
                  conjunction(no, undecided) == no);
    static_assert(disjunction(no, no) == no && disjunction(no, undecided) == undecided &&
                  disjunction(yes, undecided) == yes);
    static_assert(negation(yes) == no && negation(no) == yes && negation(undecided) == undecided);
    static_assert(decided(no) && decided(yes) && !decided(undecided) && truth_of(true) == yes);
    SUCCEED();
}

TEST_CASE("de Morgan, double negation, distribution and absorption hold for expressions [S12]", "[S12]") {
    for (truth x : all_truths) {
        for (truth y : all_truths) {
            asks const a{x}, b{y};
            CHECK((!(a || b))(0) == (!a && !b)(0));
            CHECK((!(a && b))(0) == (!a || !b)(0));
            CHECK((!!a)(0) == a(0));
            CHECK((a && b)(0) == (b && a)(0));
            CHECK((a || (a && b))(0) == a(0));
            for (truth z : all_truths) {
                asks const c{z};
                CHECK((a && (b || c))(0) == ((a && b) || (a && c))(0));
                CHECK(((a || b) || c)(0) == (a || (b || c))(0));
            }
        }
    }
}

TEST_CASE("a compound owns its parts, asks both, and does not mix kinds") {
    int left = 0, right = 0;
    auto const both_parts = [&] {
        asks const a{truth::no, &left}, b{truth::yes, &right};
        return (a && b) || (a || b);
    }();  // the operands a and b are destroyed
    CHECK(both_parts(0) == truth::yes);
    CHECK((left == 2 && right == 2));
    static_assert(conjoinable<asks, asks> && !conjoinable<asks, other> && !conjoinable<asks, bool>);
}

TEST_CASE("steps compare by mode, then by index", "[A05]") {
    static_assert(train(7) == step_id{mode::train, 7} && train(7) != eval(7) && train(3) < train(4) &&
                  train(9) < eval(0));
    CHECK((name_of(mode::predict) == "predict" && index_of(mode::eval) == 1 && predict(2).mode == mode::predict));
}

TEST_CASE("a result holds a value or an error with its name", "[A39]") {
    result<std::string> good{std::string(100, 'x')};
    CHECK((good && good->size() == 100 && good.error().code == errc::none));
    result<std::string> bad{errc::no_such_name, "there is no \"nope\""};
    CHECK_FALSE(bad);
    CHECK((bad.error().code == errc::no_such_name && bad.error().what.view() == "there is no \"nope\""));
    bad = std::move(good);
    CHECK(bad.value().size() == 100);
    result<std::string> moved{std::move(bad)};
    CHECK(std::move(moved).value_or("other").size() == 100);
    CHECK(result<int>{errc::not_yet, ""}.has_value() == false);
    CHECK(result<int>{error{errc::busy, "x"}}.error().code == errc::busy);
    result<std::unique_ptr<int>> owner{std::make_unique<int>(7)};
    CHECK(*std::move(owner).value() == 7);
    static_assert(*result<int>{5} == 5 && !result<int>{errc::busy, "x"});
    for (int i = 0; i <= static_cast<int>(errc::replaced); ++i) { CHECK_FALSE(name_of(static_cast<errc>(i)).empty()); }
    CHECK(name_of(errc::user_code_threw) == "user_code_threw");
}

TEST_CASE("a long sentence is cut for display between two letters") {
    CHECK(detail::shortened("a || b").view() == "a || b");
    std::string const whole(200, 'a');
    CHECK(detail::shortened(whole).view() == whole);
    std::string const front(140, 'a'), back(60, 'b');
    CHECK(detail::shortened(front + 'c' + back).view() == front + "..." + back);
    // The second byte of a letter would be the first behind the cut.
    std::string const letters =
        std::string(139, 'a') + "\xC3\xA4" + std::string(100, 'c') + "\xC3\xA4" + std::string(59, 'b');
    CHECK(detail::shortened(letters).view() == std::string(139, 'a') + "..." + std::string(59, 'b'));
}

#if SPOTTER_EXCEPTIONS
TEST_CASE("an error is written into a stream as its sentence") {
    std::ostringstream out;
    out << result<int>{errc::no_such_name, "there is no \"nope\""}.error() << '|' << error{} << '|' << text<8>{"a text"}
        << '|';
    CHECK(out.str() == "no_such_name: there is no \"nope\"||a text|");
}

TEST_CASE("the value of an error throws, and the exception says why") {
    result<int> const bad{errc::corrupt, "frame 3"};
    try {
        (void)bad.value();
        FAIL("no exception");
    } catch (failure const& it) {
        CHECK(std::string{it.what()} == "corrupt: frame 3");
        CHECK(it.why().code == errc::corrupt);
    }
}
#endif

TEST_CASE("slots grow, keep what they hold, and begin with zeros") {
    slot_array<std::uint64_t> list;
    CHECK((list.size() == 0 && !list.holds(0)));
    REQUIRE(list.grow(3));
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(list[i] == 0);
        list[i] = i + 1;
    }
    REQUIRE(list.grow(4));
    CHECK(list.size() >= 6);  // doubled
    CHECK((list[2] == 3 && list[5] == 0));
    CHECK(list.grow(2));
    slot_array<std::uint64_t> copy{list};
    copy[0] = 99;
    CHECK(list[0] == 1);
    slot_array<std::uint64_t> moved{std::move(copy)};
    CHECK((moved[0] == 99 && copy.size() == 0));
    copy = moved;
    CHECK((copy[0] == 99 && moved[0] == 99));
    if constexpr (sizeof(std::size_t) == 8) { CHECK_FALSE(list.grow(PTRDIFF_MAX / 8)); }  // beyond any memory
    CHECK_FALSE(list.grow(PTRDIFF_MAX / 8 + 1));                                          // beyond any array
    CHECK_FALSE(list.grow(~std::size_t{0}));
    CHECK(list[0] == 1);
    static_assert([] {
        slot_array<int> some;
        if (!some.grow(5)) { return 0; }
        some[4] = 7;
        slot_array<slot_array<int>> nested;
        if (!nested.grow(2)) { return 0; }
        nested[1] = some;
        return nested[1][4];
    }() == 7);
}

TEST_CASE("a pack holds values of several types and visits them in order") {
    pack<int, std::string, double> it{std::in_place, 3, "x", 2.5};
    std::string seen;
    it.each([&](auto& value, std::size_t index) {
        seen += std::to_string(index);
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, std::string>) { seen += value; }
    });
    CHECK((seen == "01x2" && it.size == 3));
    pack<> const none{std::in_place};
    none.each([](auto&, std::size_t) {});
}
