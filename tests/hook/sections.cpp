// SPDX-License-Identifier: Apache-2.0
// Named parts of a step: their times are summed, nested, and checked for misuse; and step times for rules that ask for
// them.
#include <tests/catch.hpp>
#include <tests/hook/collect.hpp>

#include <spotter/rules.hpp>

#include <map>

using namespace spotter;
using namespace spotter_test;

namespace {

double section_clock = 0;
double tell_section_clock() noexcept { return section_clock; }
void pass(double seconds) { section_clock += seconds; }
constexpr options clocked{.clock = &tell_section_clock};

// The times kept at each close.
struct kept_times {
    std::map<std::string, double> now{}, last{};
    int closes = 0;

    void start(run_info const&) noexcept {}
    void declare(tensor_info const&) noexcept {}
    void observe(observation const&, stats_mask) noexcept {}
    void feature(tensor_info const&, step_id, std::uint64_t, std::span<double const>) noexcept {}
    void scalar(tensor_info const& tensor, step_id const*, tensor_ref const& value, double const*) noexcept {
        double const number = value.type == dtype::f32
                                  ? static_cast<double>(*static_cast<float const*>(value.values.raw))
                                  : *static_cast<double const*>(value.values.raw);
        now[std::string{tensor.name}] = number;
    }
    void close(step_id, step_alarm const&) noexcept {
        last = std::exchange(now, {});
        ++closes;
    }
    void finish(run_end const&) noexcept {}
    void flush() noexcept {}
    [[nodiscard]] sink_health health() const noexcept { return {}; }
    [[nodiscard]] std::string_view path() const noexcept { return {}; }
};

std::vector<std::string> shown_order;
constexpr section_observer shown{[](char const* name) noexcept { shown_order.emplace_back(name); },
                                 []() noexcept { shown_order.emplace_back("end"); }};

}  // namespace

TEST_CASE("sections before, in and behind a step are summed at its close, inner ones by their path") {
    kept_times sink;
    hook watch{sink, plan<>{}, clocked};
    for (std::uint64_t i = 0; i < 3; ++i) {
        {
            auto const part = watch.section("data");
            pass(0.5);
        }
        watch.begin(i);
        for (int k = 0; k < 2; ++k) {
            auto const outer = watch.section("forward");
            pass(0.25);
            auto const inner = watch.section("conv");
            pass(0.125);
        }
        (void)watch.end();
        watch.begin_section("update");
        pass(1);
        watch.end_section("update");
    }
    CHECK(sink.closes == 3);
    CHECK(sink.last["time/data"] == 0.5);
    CHECK(sink.last["time/forward"] == 0.75);
    CHECK(sink.last["time/forward/conv"] == 0.25);
    CHECK(sink.last["time/update"] == 1);  // the update belongs to the step closed before it
    CHECK(sink.last.size() == 4);
    CHECK(watch.health().good());
}

TEST_CASE("a step without a section keeps nothing of it") {
    kept_times sink;
    hook watch{sink, plan<>{}, clocked};
    watch.begin_section("eval");
    pass(1);
    watch.end_section("eval");
    (void)watch.step(0);
    CHECK(sink.last.size() == 1);
    (void)watch.step(1);
    CHECK(sink.last.empty());
}

TEST_CASE("a section that is open where its step is closed is split there and named") {
    kept_times sink;
    hook watch{sink, plan<>{}, clocked};
    watch.begin_section("backward");
    pass(2);
    (void)watch.step(0);
    CHECK(sink.last["time/backward"] == 2);
    pass(3);
    watch.end_section("backward");
    (void)watch.step(1);
    CHECK(sink.last["time/backward"] == 3);
    REQUIRE(watch.health().failures.size() == 1);
    CHECK(watch.health().first_error.what.view().starts_with("section \"backward\" was open when its step was closed"));
}

TEST_CASE("sections that overlap, and ends without a beginning, lose no time and are named") {
    kept_times sink;
    hook watch{sink, plan<>{}, clocked};
    watch.begin_section("a");
    pass(1);
    watch.begin_section("b");
    pass(1);
    watch.end_section("a");  // ends b, too
    pass(1);
    watch.end_section("b");
    (void)watch.step(0);
    CHECK(sink.last["time/a"] == 2);
    CHECK(sink.last["time/a/b"] == 1);
    auto const health = watch.health();
    REQUIRE(health.failures.size() == 2);
    CHECK(health.failures[0].what.what.view().starts_with("section \"b\" was open when the section around it ended"));
    CHECK(health.failures[1].what.what.view().find("ended where it was not open") != std::string_view::npos);
}

TEST_CASE("a clock that goes back gives no negative time, and health says so") {
    kept_times sink;
    hook watch{sink, plan<>{}, clocked};
    watch.begin_section("data");
    pass(-5);
    watch.end_section("data");
    (void)watch.step(0);
    CHECK(sink.last["time/data"] == 0);
    pass(-1);
    (void)watch.step(1);
    CHECK(watch.health().first_error.what.view().find("options::clock") != std::string_view::npos);
}

TEST_CASE("an observer is shown the same sections, in order") {
    shown_order.clear();
    options choices = clocked;
    choices.sections = &shown;
    hook watch{plan<>{}, choices};
    {
        auto const outer = watch.section("forward");
        auto const inner = watch.section(std::string_view{"conv1 and more"}.substr(0, 5));
    }
    CHECK(shown_order == std::vector<std::string>{"forward", "conv1", "end", "end"});
}

TEST_CASE("of a hook that is not there, sections are nothing") {
    null_hook watch{1, 2};
    auto const part = watch.section("data");
    watch.begin_section("a");
    watch.end_section("a");
    (void)watch.step(0);
}

TEST_CASE("a rule that reads the time of a step hears it from the hook; rules that watch everything do not") {
    kept_times sink;
    hook watch{sink, plan<>{}, clocked, step_time_outlier{.min_history = 3}, any("*", maximum > 1.0)};
    step_alarm found;
    for (std::uint64_t i = 0; i < 20; ++i) {
        pass(i == 15 ? 9.0 : 0.5);
        found.add(watch.step(i, "x"_t = 0.5F));
        CHECK(sink.last.count("time/step") == (i == 0 ? 0U : 1U));
    }
    CHECK(sink.last["time/step"] == 0.5);
    REQUIRE(found.size() == 1);
    CHECK(found[0].rule == "step_time_outlier");
    CHECK(found[0].step == train(15));
    CHECK(found[0].measured == 9);
}

TEST_CASE("a loop that shows the time of its steps itself is believed") {
    kept_times sink;
    hook watch{sink, plan<>{}, clocked, step_time_outlier{.min_history = 3}};
    for (std::uint64_t i = 0; i < 10; ++i) {
        pass(0.5);
        watch.begin(i);
        watch.scalar("time/step", 7.0);
        CHECK(watch.end().empty());
        CHECK(sink.last["time/step"] == 7);
    }
}

TEST_CASE("without such a rule nothing is observed, and no name is made") {
    kept_times sink;
    hook watch{sink, plan<>{}, clocked, any("*", maximum > 1.0)};
    (void)watch.step(0, "x"_t = 0.5F);
    (void)watch.step(1, "x"_t = 0.5F);
    CHECK(watch.health().declared == 1);
}
