// SPDX-License-Identifier: Apache-2.0
// User code that throws, after optimisation: this executable is always compiled with -O3. g++ 12 lets a call that
// returns a struct write directly into the object that is assigned. If the call throws half-way, half of the result is
// in that object.
#include <tests/catch.hpp>
#include <tests/hook/collect.hpp>

#include <spotter/response.hpp>
#include <spotter/rules.hpp>

#include <cstring>
#include <stdexcept>
#include <string>

using namespace spotter;
using namespace spotter_test;

TEST_CASE("at -O3: a guarded call returns the call's result") {
    CHECK(guarded_or([] { return error{errc::busy, "held"}; }, [] { return error{}; }).what.view() == "held");
}

#if SPOTTER_EXCEPTIONS
namespace {

constexpr auto high = any("x", maximum > 1.0);

// Writes into its result before it throws, as code that composes a sentence does.
struct half_an_error {
    using responds = void;
    int* calls;
    error operator()(finding const& found) const {
        error why{errc::none, "this is not to be seen: "};
        why.what << found.rule;
        if (++*calls > 0) { throw std::runtime_error{"no"}; }
        return why;
    }
};
struct half_a_view {
    bool works = false;
    tensor_ref operator()(double const* values) const {
        tensor_ref view = view_of(values, {2});
        if (!works) { throw std::runtime_error{"no"}; }
        return view;
    }
};

}  // namespace

TEST_CASE("at -O3: a response that throws is reported in health, whole, and the others run") {
    int calls = 0, others = 0;
    hook watch{plan<>{}, on(high, half_an_error{&calls}, call{[&](finding const&) { ++others; }},
                            call{[](finding const&) -> error { throw 1; }})};
    CHECK(watch.health().good());
    (void)watch.step(train(0), "x"_t = 2.0);
    CHECK(calls == 1);
    CHECK(others == 1);
    error const first = watch.health().first_error;
    REQUIRE(first.code == errc::user_code_threw);
    CHECK(first.what.view().size() <= 232);
    CHECK(first.what.view().find("threw") != std::string_view::npos);
    CHECK(first.what.view().find("not to be seen") == std::string_view::npos);
}

TEST_CASE("at -O3: what a call that threw was to return is what stands for it, and nothing of the call's own") {
    double const values[2]{1, 2};
    for (bool works : {false, true}) {
        half_a_view const look{works};
        tensor_ref const view = guarded_or([&] { return look(values); }, [] { return refused_view(refusal::null); });
        CHECK(view.refused == (works ? refusal::none : refusal::null));
        CHECK(view.count == (works ? 2U : 0U));
        CHECK((view.values.raw != nullptr) == works);
    }
}

TEST_CASE(
    "at -O3: a source that throws while it is copied leaves the tensor out of the step, and the next step is whole") {
    collecting_sink sink;
    hook watch{sink, plan{collection{"all", "*", always{}, payload}}, high};
    bool works = false;
    auto const device = copied<double>({2}, [&](void* into, std::size_t bytes) -> bool {
        std::memset(into, 0, bytes / 2);
        if (!works) { throw std::runtime_error{"no"}; }
        std::memset(into, 0, bytes);
        return true;
    });
    (void)watch.step(train(0), "x"_t = device, "y"_t = 1.0);
    works = true;
    (void)watch.step(train(1), "x"_t = device, "y"_t = 1.0);
    CHECK(sink.kept["x"] == std::vector{train(1)});
    CHECK(sink.kept["y"].size() == 2);
    CHECK(watch.health().refused == 1);
    CHECK(watch.health().first_error.code == errc::user_code_threw);
}

TEST_CASE("at -O3: a plan's policy, and a pattern, that throw keep nothing at that step and of that tensor") {
    struct fickle {
        using kind = policy_kind;
        bool operator()(step_id step) const { return step.index != 1 ? true : throw 1; }
    };
    auto const picky = [](std::string_view name) { return name != "bad" ? true : throw 1; };
    collecting_sink sink;
    hook watch{sink, plan{collection{"all", picky, fickle{}, payload}}};
    for (std::uint64_t i = 0; i < 3; ++i) { (void)watch.step(train(i), "good"_t = 1.0, "bad"_t = 2.0); }
    CHECK(sink.kept["good"] == std::vector{train(0), train(2)});
    CHECK(sink.kept["bad"].empty());
    CHECK(watch.health().first_error.code == errc::user_code_threw);
}
#endif
