// SPDX-License-Identifier: Apache-2.0
// A step computed again: bits that flip in a net during training, wrong data, wrong programs, and steps that cannot be
// computed again.
#include <spotter/format/checksum.hpp>
#include <spotter/rerun.hpp>
#include <spotter/rule/builtin/exploding_gradient.hpp>
#include <spotter/rule/builtin/non_finite.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <tests/catch.hpp>
#include <tests/temporary_folder.hpp>

#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

using namespace spotter;
using namespace spotter_test;

namespace {

// Two layers with ReLU that learn a sum of products; the data are drawn at each step.
struct small_net {
    static constexpr std::size_t in = 6, units = 12, batch = 16;
    std::vector<float> w1 = std::vector<float>(in * units), w2 = std::vector<float>(units);
    std::vector<float> x = std::vector<float>(batch * in), act = std::vector<float>(batch * units),
                       out = std::vector<float>(batch);
    std::vector<float> g1 = std::vector<float>(in * units), g2 = std::vector<float>(units);
    float loss = 0;
    std::mt19937 random{1}, saved{1};
    std::function<void(char const* where)> strike = [](char const*) {};  // called between the parts of a step

    small_net() {
        for (float& each : w1) { each = draw() * 0.5F; }
        for (float& each : w2) { each = draw() * 0.5F; }
    }
    float draw() { return 2 * (static_cast<float>(random() >> 8) * 0x1p-24F) - 1; }
    void compute() {
        for (float& each : x) { each = draw(); }
        strike("input");
        loss = 0;
        for (std::size_t r = 0; r < batch; ++r) {
            for (std::size_t u = 0; u < units; ++u) {
                float sum_of = 0;
                for (std::size_t i = 0; i < in; ++i) { sum_of += x[r * in + i] * w1[i * units + u]; }
                act[r * units + u] = sum_of > 0 ? sum_of : 0;
            }
        }
        strike("act");
        std::fill(g1.begin(), g1.end(), 0.0F), std::fill(g2.begin(), g2.end(), 0.0F);
        for (std::size_t r = 0; r < batch; ++r) {
            out[r] = 0;
            for (std::size_t u = 0; u < units; ++u) { out[r] += act[r * units + u] * w2[u]; }
            float const gap = out[r] - x[r * in] * x[r * in + 1];
            loss += gap * gap / batch;
            for (std::size_t u = 0; u < units; ++u) {
                g2[u] += 2 * gap / batch * act[r * units + u];
                if (!(act[r * units + u] > 0)) { continue; }
                for (std::size_t i = 0; i < in; ++i) { g1[i * units + u] += 2 * gap / batch * w2[u] * x[r * in + i]; }
            }
        }
        strike("grad");
    }
    template <class See>
    void show(See& see) const {
        see.observe("input", x);
        see.observe("fc1/w", w1);
        see.observe("act/1", act, role::activation);
        see.observe("fc2/w", w2);
        see.observe("output", out);
        see.observe("loss", loss);
        see.observe("grad/fc1/w", g1);
        see.observe("grad/fc2/w", g2);
    }
    void update() {
        for (std::size_t i = 0; i < w1.size(); ++i) { w1[i] -= 0.05F * g1[i]; }
        for (std::size_t i = 0; i < w2.size(); ++i) { w2[i] -= 0.05F * g2[i]; }
    }
};

void flip(float& value, unsigned bit) { value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ 1U << bit); }

// A rerun of a small_net.
auto rerun_of(small_net& net, rerun_options const& choices = {}) {
    return rerun{[&net] { net.saved = net.random; }, [&net] { net.random = net.saved; }, [&net] { net.compute(); },
                 [&net](auto& see) { net.show(see); }, choices};
}
constexpr auto alarming = non_finite{} || exploding_gradient{.max_mean_abs = 10, .patience = 1} ||
                          (any("{input,act/*}", maximum > 1e4) | named{"gradient_spike"});

}  // namespace

TEST_CASE("without an alarm a step is computed once, and nothing is reported") {
    temporary_folder const folder;
    small_net net, alone;
    std::uint64_t computed = 0;
    net.strike = [&](char const* where) { computed += where == std::string_view{"input"} ? 1U : 0U; };
    hook watch{folder / "run", plan{}, alarming};
    auto again = rerun_of(net);
    for (std::uint64_t i = 0; i < 50; ++i) {
        rerun_result const it = again.step(watch, train(i));
        CHECK((it.verdict == rerun_verdict::not_asked && it.alarm.empty() && !it.apart.any()));
        net.update();
        alone.compute();
        alone.update();
    }
    CHECK(computed == 50);
    CHECK((again.counts().steps == 0 && net.w1 == alone.w1));
    watch.finish();
    CHECK(open_trial(folder / "run")->names("rerun").empty());
}

TEST_CASE("bits that flip while a step is computed: each alarm is transient, with its tensor, and training goes on as "
          "if nothing happened") {
    std::mt19937 random{7};
    std::uint64_t alarms = 0, silent = 0;
    std::map<std::string, std::uint64_t> named;
    for (int strike = 0; strike < 120; ++strike) {
        small_net net, alone;
        char const* const places[] = {"input", "act", "grad"};
        std::string const place = places[random() % 3];
        // Half of the flips hit the highest exponent bit, which makes the number huge.
        auto const bit = static_cast<unsigned>(random() % 2 == 0 ? 30 : 22 + random() % 9);
        std::size_t const at = random();
        bool struck = false, armed = false;
        net.strike = [&](char const* where) {
            if (!armed || struck || where != place) { return; }
            struck = true;
            std::vector<float>& into = place == "input" ? net.x : place == "act" ? net.act : net.g1;
            flip(into[at % into.size()], bit);
        };
        hook watch{plan{}, alarming};
        auto again = rerun_of(net);
        for (std::uint64_t i = 0; i < 12; ++i) {
            armed = i == 8;
            rerun_result const it = again.step(watch, train(i));
            alone.compute();
            if (it.verdict != rerun_verdict::not_asked) {
                INFO(place << " bit " << bit << " at " << at);
                CHECK(i == 8);
                CHECK(it.verdict == rerun_verdict::transient);
                CHECK(!it.alarm);
                CHECK((it.apart.tensor == (place == "input" ? "input" : place == "act" ? "act/1" : "grad/fc1/w")));
                CHECK((it.apart.elements == 1 && it.apart.bits == 1));
                ++alarms;
                ++named[it.apart.tensor];
            } else if (i == 8) {
                ++silent;
            }
            net.update();
            alone.update();
        }
        if (again.counts().transient == 1) { CHECK((net.w1 == alone.w1 && net.w2 == alone.w2)); }
    }
    CHECK(alarms >= 15);
    CHECK(alarms + silent == 120);
    CHECK(named.size() == 3);
}

TEST_CASE("a batch or a program that is wrong is so each time: reproducible, with the hash of the input") {
    temporary_folder const folder;
    small_net net;
    std::uint64_t step = 0;
    net.strike = [&](char const* where) {
        if (step == 5 && where == std::string_view{"input"}) { net.x[3] = std::bit_cast<float>(0x7FC00000U); }
    };
    hook watch{folder / "run", plan{}, alarming};
    auto again = rerun_of(net);
    std::uint64_t input = 0;
    for (; step < 6; ++step) {
        rerun_result const it = again.step(watch, train(step));
        CHECK(it.verdict == (step == 5 ? rerun_verdict::reproducible : rerun_verdict::not_asked));
        CHECK(static_cast<bool>(it.alarm) == (step == 5));
        input = it.input;
        if (!it.alarm) { net.update(); }
    }
    CHECK(input == xxh64(std::as_bytes(std::span{net.x})));
    CHECK((again.counts().steps == 1 && again.counts().reproducible == 1));
    watch.finish();
    auto const reported = open_trial(folder / "run").value()["rerun"].loose();
    REQUIRE(reported.size() == 1);
    CHECK(reported[0].bytes == "train(5) reproducible; input " + std::to_string(input));
}

TEST_CASE("a program that computes something else each time is unsteady: the machine is not blamed") {
    small_net net;
    std::uint64_t calls = 0;
    net.strike = [&](char const* where) {
        if (where != std::string_view{"grad"} || calls++ < 3) { return; }
        net.g1[0] = calls == 4 ? std::bit_cast<float>(0x7F800000U) : static_cast<float>(calls);
    };
    hook watch{plan{}, alarming};
    auto again = rerun_of(net);
    rerun_verdict last = rerun_verdict::not_asked;
    for (std::uint64_t i = 0; i < 4; ++i) { last = again.step(watch, train(i)).verdict; }
    CHECK(last == rerun_verdict::unsteady);
    CHECK(again.counts().unsteady == 1);
}

TEST_CASE(
    "a net that cannot be restored is reported as failed, and the alarm stays; exceptions of the loop reach the loop") {
    small_net net;
    net.strike = [&](char const*) { net.g1[0] = std::bit_cast<float>(0x7F800000U); };
    hook watch{plan{}, non_finite{}};
    rerun again{[] {}, [] { return false; }, [&] { net.g1[0] = std::bit_cast<float>(0x7F800000U); },
                [&](auto& see) { net.show(see); }};
    rerun_result const it = again.step(watch, train(0));
    CHECK((it.verdict == rerun_verdict::failed && it.alarm));
    CHECK(again.counts().failed == 1);
#if SPOTTER_EXCEPTIONS
    int times = 0;
    rerun throws{[] {}, [] {},
                 [&] {
                     net.g1[0] = std::bit_cast<float>(0x7F800000U);
                     if (++times == 2) { throw std::runtime_error{"no"}; }
                 },
                 [&](auto& see) { net.show(see); }};
    CHECK_THROWS_AS((void)throws.step(watch, train(1)), std::runtime_error);
    CHECK(times == 2);
    CHECK(watch.step(train(2), "loss"_t = 1.0F).empty());
    CHECK(watch.health().left_open == 1);
#endif
}

TEST_CASE("of tensors beyond the room for copies it is known which differ, and where about") {
    small_net net;
    net.act.resize(40'000);
    bool struck = false;
    net.strike = [&](char const* where) {
        if (where != std::string_view{"act"} || std::exchange(struck, true)) { return; }
        net.act[20'000] += 1;
        net.w1[0] = net.w1[0];
        net.act[0] = std::bit_cast<float>(0x7F800000U);
    };
    hook watch{plan{}, non_finite{}};
    auto again = rerun_of(net, {.most_bytes = 100});
    rerun_result const it = again.step(watch, train(0));
    CHECK(it.apart.tensor == "act/1");
    CHECK((it.apart.first == 0 && it.apart.bits == 0 && it.apart.elements == 0 && it.apart.tensors >= 1));
    auto only_some = rerun_of(net, {.rules = "loss_spike"});
    net.strike = [&](char const*) { net.act[0] = std::bit_cast<float>(0x7F800000U); };
    CHECK(only_some.step(watch, train(1)).verdict == rerun_verdict::not_asked);
}

TEST_CASE("tensors that come and go between two computations are reported as other tensors") {
    detail::step_image one{1000}, other{1000}, less{1000};
    one.observe("a", 1.0F), one.observe("b", 2.0F);
    other.observe("a", 1.0F), other.observe("c", 2.0F);
    less.observe("a", 1.0F);
    CHECK((!(one - one).any() && (one - other).other_tensors && (one - other).tensor == "b"));
    CHECK((one - less).other_tensors);
}

TEST_CASE("a reproducible alarm is computed on another core: a faulty core is distinguished from a bug") {
    for (bool const broken : {false, true}) {
        temporary_folder const folder;
        small_net net;
        bool elsewhere = false;
        // Either the first core computes an activation wrong each time, or the data are wrong on every core.
        net.strike = [&](char const* where) {
            if (broken && !elsewhere && where == std::string_view{"act"}) { net.act[5] = 1e9F; }
            if (!broken && where == std::string_view{"input"}) { net.x[3] = 1e9F; }
        };
        hook watch{folder / "run", plan{}, alarming};
        std::uint64_t there = 0;
        rerun again{[&] { net.saved = net.random; }, [&] { net.random = net.saved; }, [&] { net.compute(); },
                    [&](auto& see) { net.show(see); },
                    [&] {
                        elsewhere = true;
                        net.compute();
                        elsewhere = false;
                        ++there;
                    }};
        rerun_result const it = again.step(watch, train(0));
        CHECK(there == 1);
        CHECK(it.verdict == (broken ? rerun_verdict::here_only : rerun_verdict::reproducible));
        CHECK((broken ? it.apart.tensor == "act/1" && it.apart.first == 5 : !it.apart.any()));
        CHECK((it.alarm && net.act[5] == (broken ? 1e9F : net.act[5])));  // the tensors are those computed on this core
        CHECK((again.counts().here_only == (broken ? 1U : 0U) && again.counts().reproducible == (broken ? 0U : 1U)));
        watch.finish();
        auto const reported = open_trial(folder / "run").value()["rerun"].loose();
        REQUIRE(reported.size() == 1);
        CHECK(reported[0].bytes.rfind(broken ? "train(0) here_only: act/1, " : "train(0) reproducible; input ", 0) ==
              0);
    }
}
