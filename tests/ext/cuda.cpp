// SPDX-License-Identifier: Apache-2.0
// Tensors in GPU memory, tested without a GPU: a stand-in for CUDA's driver runs the kernels' source on the processor.
#include <spotter/ext/cuda.hpp>
#include <spotter/ext/dlpack.hpp>
#include <spotter/replay.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/stat/delta.hpp>
#include <spotter/stat/summarize.hpp>
#include <spotter/trial.hpp>
#include <tests/ext/cuda/device.hpp>
#include <tests/preflight/net.hpp>

#include <tests/catch.hpp>
#include <tests/temporary_folder.hpp>

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace spotter;
using namespace spotter::literals;
using spotter_test::card;
using spotter_test::driver;
using spotter_test::on_card;
using spotter_test::stand_in;
using spotter_test::temporary_folder;

namespace {

constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr auto sick = any("*", nonfinite > 0);
constexpr plan keep_statistics{collection{"all", "*", always{}, stats(l2, mean, stddev, minimum, maximum, zeros)}};

std::vector<float> ramp(std::size_t count, float from) {
    std::vector<float> all(count);
    for (std::size_t i = 0; i < count; ++i) { all[i] = from + 0.37F * static_cast<float>(i); }
    return all;
}

}  // namespace

TEST_CASE("a NaN on the device is found with its element and its step, one close later") {
    card();
    std::vector<float> values = ramp(5000, -3);
    on_card<float> w{values};
    cuda_device gpu{stand_in()};
    hook watch{keep_statistics, sick, gpu.tensors()};
    REQUIRE(watch.health().good());
    CHECK(!watch.step(train(0), "w"_t = w.whole()));
    w.data()[4321] = not_a_number;
    CHECK(!watch.step(train(1), "w"_t = w.whole()));
    w.data()[4321] = 1;
    step_alarm const found = watch.step(train(2), "w"_t = w.whole());
    REQUIRE(found);
    CHECK(found.begin()->step == train(1));
    CHECK(found.begin()->tensor == "w");
    CHECK(found.begin()->measured == 1);
    CHECK(!watch.step(train(3), "w"_t = w.whole()));
    watch.finish();
    CHECK(watch.health().good());
    CHECK(gpu.done().launches == 4);
    CHECK(gpu.done().copied_bytes == 0);
}

TEST_CASE("a record of device tensors reads as that of the processor's") {
    card();
    temporary_folder const folder;
    auto const run = [&](std::string const& name, auto const& values_of, auto const&... device) {
        hook watch{folder / name, keep_statistics, sick, any("w", l2 > 300.0), device...};
        for (std::uint64_t i = 0; i < 20; ++i) {
            watch.scalar("rate", 0.5F / static_cast<float>(i + 1));
            float const loss = 10.0F / static_cast<float>(i + 1);
            (void)watch.step(train(i), "w"_t = values_of(i), "loss"_t = loss);
        }
        watch.finish();
        INFO(watch.health().first_error.what.view());
        CHECK(watch.health().good());
        CHECK(watch.health().steps == 20);
    };
    auto const at = [](std::uint64_t i) {
        std::vector<float> values = ramp(3000 + 7 * (i % 3), static_cast<float>(i));
        if (i == 7) { values[2222] = not_a_number; }
        return values;
    };
    run("processor", at);
    std::vector<std::unique_ptr<on_card<float>>> tensors;
    for (std::uint64_t i = 0; i < 20; ++i) { tensors.push_back(std::make_unique<on_card<float>>(at(i))); }
    cuda_device gpu{stand_in()};
    run("device", [&](std::uint64_t i) { return tensors[i]->whole(); }, gpu.tensors());

    trial const processor = open_trial(folder / "processor").value(), device = open_trial(folder / "device").value();
    std::array<statistic, 7> const shown{l2, mean, stddev, minimum, maximum, zeros, nonfinite};
    for (auto const& name : {"w", "loss"}) {
        for (std::uint64_t i = 0; i < 20; ++i) {
            INFO(name << " at " << i);
            for (statistic const& which : shown) {
                double const left = processor[name].stat(train(i), which).value();
                double const right = device[name].stat(train(i), which).value();
                CHECK(std::bit_cast<std::uint64_t>(left) == std::bit_cast<std::uint64_t>(right));
            }
            CHECK(processor[name].shape(train(i)).value() == device[name].shape(train(i)).value());
        }
    }
    auto const said = [](trial const& it) {
        std::string all;
        for (finding const& each : it.findings()) {
            all += std::string{each.tensor} + " " + std::to_string(each.step.index) + " " +
                   std::to_string(each.measured) + "\n";
        }
        return all;
    };
    CHECK(said(processor) == said(device));
    CHECK(!said(device).empty());
    auto const again = replay(device, sick, any("w", l2 > 300.0));
    CHECK(again.trouble.code == errc::none);
    CHECK(again.findings.size() == device.findings().size());
}

namespace {

// Arbitrary bits: NaN, infinities, zeros of both signs and subnormals among them.
template <class Value>
std::vector<Value> hostile(std::size_t count, std::mt19937_64& random) {
    std::vector<Value> all(count);
    auto const kind = random() % 4;
    for (Value& each : all) {
        std::uint64_t bits = random();
        if (kind == 0) { bits &= 0x8000000080008080ULL; }  // zeros
        if constexpr (std::is_same_v<Value, bool>) {
            each = (bits & 1) != 0;
        } else {
            std::memcpy(static_cast<void*>(&each), &bits, sizeof each);
        }
        if constexpr (std::is_floating_point_v<Value>) {
            if (kind >= 2) { each = static_cast<Value>(static_cast<double>(bits % 20001) * 1e-3 - 10); }
        }
    }
    return all;
}

void check_same(summary const& a, summary const& b) {
    auto const bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
    CHECK(a.has == b.has);
    CHECK(a.count == b.count);
    CHECK(a.nan == b.nan);
    CHECK(a.pos_inf == b.pos_inf);
    CHECK(a.neg_inf == b.neg_inf);
    CHECK(a.first_bad == b.first_bad);
    CHECK(a.zeros == b.zeros);
    CHECK(a.hash == b.hash);
    for (auto const field : {&summary::sum, &summary::sum_abs, &summary::sum_squares, &summary::moment2,
                             &summary::minimum, &summary::maximum, &summary::abs_minimum, &summary::abs_maximum,
                             &summary::delta_sum_squares, &summary::dot, &summary::previous_sum_squares}) {
        CHECK(bits(a.*field) == bits(b.*field));
    }
    CHECK(a.has_previous == b.has_previous);
    CHECK(a.changed == b.changed);
}

constexpr stats_mask all_terms = without(pass_terms, stats_mask::product);

// Tensors of a type, one after another, through a device and without a hook: the result equals the processor's.
template <class Value>
void check_bits(cuda_device& gpu, std::uint64_t seed, std::uint64_t rounds) {
    std::mt19937_64 random{seed};
    for (std::uint64_t round = 0; round < rounds; ++round) {
        std::size_t const count = random() % (round % 8 == 0 ? 9000 : 1100);
        std::vector<Value> const now = hostile<Value>(count, random), before = hostile<Value>(count, random);
        INFO(name_of(dtype_of<Value>) << ", seed " << seed << ", round " << round << ", " << count << " elements");
        std::vector<Value> current = before;
        on_card<Value> const at{current};
        summary expected;
        for (std::uint64_t index = 0; index < 2; ++index) {
            if (index == 1 && count > 0) { std::memcpy(at.data(), now.data(), count * sizeof(Value)); }
            std::uint32_t number = 0;
            device_wish const wish{all_terms | stats_mask::change, false, static_cast<std::uint32_t>(round),
                                   train(index)};
            REQUIRE(gpu.take(0, at.whole(), wish, number).code == errc::none);
            gpu.close(0);
            REQUIRE(gpu.look(0) == device_state::done);
            device_answer const reported = gpu.answer(0, number);
            REQUIRE(!reported.lost);
            std::vector<Value> const& these = index == 0 ? before : now;
            tensor_ref const view = view_of(these.data(), {count});
            expected = summarize(view, all_terms);
            expected.has |= stats_mask::change;
            if (index == 1) { (void)compare_with_previous(view, view_of(before.data(), {count}), 0, expected); }
            if (count > 0) { check_same(expected, reported.stats); }
            gpu.release(0);
        }
    }
}

}  // namespace

TEST_CASE("a device's statistics have the processor's bits, for every type and odd sizes") {
    fake_cuda const before = card();
    cuda_device gpu{stand_in()};
    REQUIRE(!gpu.begin());
    char const* const asked = std::getenv("SPOTTER_TENSORS");  // tensors of each type
    std::uint64_t const rounds = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 24;
    check_bits<float>(gpu, 1, rounds);
    check_bits<double>(gpu, 2, rounds);
    check_bits<f16>(gpu, 3, rounds);
    check_bits<bf16>(gpu, 4, rounds);
    check_bits<f8_e4m3>(gpu, 5, rounds);
    check_bits<f8_e5m2>(gpu, 6, rounds);
    check_bits<std::int8_t>(gpu, 7, rounds);
    check_bits<std::int16_t>(gpu, 8, rounds);
    check_bits<std::int32_t>(gpu, 9, rounds);
    check_bits<std::int64_t>(gpu, 10, rounds);
    check_bits<std::uint8_t>(gpu, 11, rounds);
    check_bits<std::uint16_t>(gpu, 12, rounds);
    check_bits<std::uint32_t>(gpu, 13, rounds);
    check_bits<std::uint64_t>(gpu, 14, rounds);
    gpu.end();
    fake_cuda const& now = driver().state();
    CHECK(now.live_memory == before.live_memory);
    CHECK(now.live_pinned == before.live_pinned);
    CHECK(now.live_streams == before.live_streams);
    CHECK(now.live_events == before.live_events);
    CHECK(now.live_modules == before.live_modules);
    CHECK(now.retained == before.retained);
}

namespace {

// A net of two layers that does not learn; it only gives the rules something to look at.
struct layers {
    std::vector<float> w, grad, act;
};
layers layers_at(std::uint64_t i) {
    layers it;
    it.w = ramp(768, 0.1F * static_cast<float>(i));
    it.grad = ramp(768, i % 5 == 4 ? -1e5F : -140);
    it.act = ramp(640, -100);
    for (float& each : it.act) { each = each > 0 && i < 20 ? each : 0; }
    if (i == 25) { it.grad[700] = std::numeric_limits<float>::infinity(); }
    return it;
}

constexpr auto catalogue = [] {
    return plan{
        collection{"weights", "w", every{5}, payload | delta{4}},
        collection{"spread", "grad/*", every{3}, stats(l2, stddev) | stats_mask::quantiles | stats_mask::histogram},
        collection{"all", "*", always{}, stats(mean, minimum, maximum)}};
}();

template <class Show, class... Device>
void train_layers(std::string const& path, Show const& show, Device const&... device) {
    hook watch{path,     catalogue, non_finite{}, dead_relu{}, exploding_gradient{}, all("w", l2 > 1.0) | for_steps{3},
               device...};
    for (std::uint64_t i = 0; i < 40; ++i) {
        watch.begin(i % 10 == 9 ? eval(i / 10) : train(i));
        watch.observe("loss", 1.0F / static_cast<float>(i + 1));
        show(watch, i);
        (void)watch.end();
        if (i % 7 == 3) { watch.scalar("loose", i); }
    }
    watch.finish();
    INFO(watch.health().first_error.what.view());
    CHECK(watch.health().good());
}
std::string said(std::vector<finding> const& all) {
    std::string lines;
    for (finding const& each : all) {
        lines += std::string{each.rule} + " " + std::string{each.tensor} + " " + std::string{name_of(each.step.mode)} +
                 std::to_string(each.step.index) + " " + std::to_string(each.measured) + " " +
                 std::string{each.detail.view()} + "\n";
    }
    return lines;
}

}  // namespace

TEST_CASE("rules, features, payloads and distributions are the same on a device and in a replay") {
    card();
    temporary_folder const folder;
    train_layers(folder / "processor", [](auto& watch, std::uint64_t i) {
        layers const it = layers_at(i);
        watch.observe("w", view_of(it.w, {32, 24}));
        watch.observe("grad/w", view_of(it.grad, {32, 24}));
        watch.observe("act/relu", view_of(it.act, {64, 10}), role::activation, activated_by(activation_kind::relu));
    });
    for (std::size_t const change_bytes : {std::size_t{1} << 20, std::size_t{0}}) {
        cuda_options chosen = stand_in();
        chosen.change_bytes = change_bytes;
        cuda_device gpu{chosen};
        std::string const name = folder / (change_bytes > 0 ? "device" : "without");
        train_layers(
            name,
            [](auto& watch, std::uint64_t i) {
                layers const it = layers_at(i);
                on_card<float> const w{it.w}, grad{it.grad}, act{it.act};
                float const* const at = w.data();
                watch.observe("w", on_device(at, {32, 24}));
                watch.observe("grad/w", on_device(static_cast<float const*>(grad.data()), {32, 24}));
                watch.observe("act/relu", on_device(static_cast<float const*>(act.data()), {64, 10}), role::activation,
                              activated_by(activation_kind::relu));
            },
            gpu.tensors());
        trial const left = open_trial(folder / "processor").value(), right = open_trial(name).value();
        CHECK(said(left.findings()) == said(right.findings()));
        CHECK(said(right.findings()).size() > 100);
        auto const again =
            replay(right, non_finite{}, dead_relu{}, exploding_gradient{}, all("w", l2 > 1.0) | for_steps{3});
        CHECK(again.trouble.code == errc::none);
        CHECK(said(again.findings) == said(right.findings()));
        for (std::uint64_t i = 0; i < 40; i += 5) {
            if (i % 10 == 9) { continue; }
            auto const a = left["w"].at(train(i)).to<std::vector<float>>();
            auto const b = right["w"].at(train(i)).to<std::vector<float>>();
            REQUIRE(a);
            REQUIRE(b);
            CHECK(a.value() == b.value());
        }
        CHECK(left["grad/w"].quantile(train(3), 0.5).value() == right["grad/w"].quantile(train(3), 0.5).value());
    }
}

namespace {

struct many_tensors {
    std::vector<std::unique_ptr<on_card<float>>> all;
};
template <class Visit>
void visit_tensors(many_tensors const& it, Visit visit) {
    for (std::size_t i = 0; i < it.all.size(); ++i) { visit("w" + std::to_string(i), it.all[i]->whole()); }
}

}  // namespace

TEST_CASE("what an examination proved right is recorded beside device tensors, too") {
    card();
    temporary_folder const folder;
    preflight_test::perceptron<> net;
    on_card<float> const w{ramp(100, 1)};
    cuda_device gpu{stand_in()};
    hook on_device{folder / "device", keep_statistics, sick, gpu.tensors()};
    hook on_processor{folder / "processor", keep_statistics, sick};
    on_device.add(preflight_test::examined(net));
    on_processor.add(preflight_test::examined(net));
    for (std::uint64_t i = 0; i < 3; ++i) {
        CHECK(!on_device.step(train(i), "w"_t = w.whole()));
        CHECK(!on_processor.step(train(i), "w"_t = ramp(100, 1)));
    }
    on_device.finish();
    on_processor.finish();
    for (char const* const each : {"device", "processor"}) {
        INFO(each);
        trial const run = open_trial(folder / each).value();
        CHECK(run["preflight/answer"].steps().size() == 1);
    }
}

TEST_CASE("many tensors of one call share a launch; nothing is copied and no thread waits") {
    fake_cuda& it = card();
    many_tensors net;
    for (std::size_t i = 0; i < 300; ++i) { net.all.push_back(std::make_unique<on_card<float>>(ramp(10 + i, 1))); }
    net.all[299]->data()[5] = not_a_number;
    cuda_device gpu{stand_in()};
    hook watch{keep_statistics, sick, gpu.tensors()};
    CHECK(!watch.step(train(0), net));
    it.held = true;  // the card does not run anything; the loop continues
    step_alarm const found = watch.step(train(1), net);
    REQUIRE(found);
    CHECK(found.begin()->tensor == "w299");
    CHECK(found.begin()->step == train(0));
    it.held = false;
    CHECK(gpu.done().launches == 2 * 5);
    CHECK(gpu.done().waits == 0);
    CHECK(it.copies == 0);
    watch.finish();
    CHECK(watch.health().good());
}

TEST_CASE("a card that is behind delays what is found, and nothing else") {
    fake_cuda& it = card();
    on_card<float> const w{ramp(100, 1)};
    cuda_device gpu{stand_in()};
    hook watch{keep_statistics, sick, gpu.tensors()};
    it.held = true;
    w.data()[3] = not_a_number;
    for (std::uint64_t i = 0; i < 5; ++i) { CHECK(!watch.step(train(i), "w"_t = w.whole())); }
    CHECK(watch.health().steps == 0);
    it.held = false;
    step_alarm const found = watch.step(train(5), "w"_t = w.whole());
    CHECK(found);
    CHECK(found.begin()->step == train(0));
    CHECK(watch.health().steps == 5);
    CHECK(gpu.done().waits == 0);
    watch.finish();
    CHECK(watch.health().steps == 6);
    CHECK(watch.health().good());
}

TEST_CASE("with no lag a close waits, and says at once what it found") {
    fake_cuda& it = card();
    on_card<float> const w{ramp(100, 1)};
    cuda_device gpu{stand_in()};
    hook watch{keep_statistics, sick, gpu.tensors(), options{.device_lag = 0}};
    w.data()[3] = not_a_number;
    it.held = true;
    std::atomic<bool> over{false};
    std::thread later{[&] {
        while (!over) {
            std::this_thread::sleep_for(std::chrono::milliseconds{5});
            driver().step();
        }
    }};
    step_alarm const found = watch.step(train(0), "w"_t = w.whole());
    over = true;
    later.join();
    CHECK(found);
    CHECK(found.begin()->step == train(0));
    CHECK(gpu.done().waits <= 1);
    it.held = false;
}

TEST_CASE("with a lag of three a step is judged three closes later, and finish judges the rest") {
    card();
    on_card<float> const w{ramp(100, 1)};
    cuda_device gpu{stand_in()};
    hook watch{keep_statistics, sick, gpu.tensors(), options{.device_lag = 3}};
    w.data()[3] = not_a_number;
    for (std::uint64_t i = 0; i < 3; ++i) { CHECK(!watch.step(train(i), "w"_t = w.whole())); }
    step_alarm const found = watch.step(train(3), "w"_t = w.whole());
    REQUIRE(found);
    CHECK(found.begin()->step == train(0));
    CHECK(watch.health().steps == 1);
    watch.finish();
    CHECK(watch.health().steps == 4);
    CHECK(gpu.done().waits == 0);
}

TEST_CASE("two hooks with a device each are apart, though their steps are interleaved") {
    card();
    on_card<float> const sound{ramp(100, 1)}, broken{ramp(100, 1)};
    broken.data()[3] = not_a_number;
    cuda_device first{stand_in()}, second{stand_in()};
    hook left{keep_statistics, sick, first.tensors()}, right{keep_statistics, sick, second.tensors()};
    for (std::uint64_t i = 0; i < 4; ++i) {
        CHECK(!left.step(train(i), "w"_t = sound.whole()));
        CHECK(static_cast<bool>(right.step(train(i), "w"_t = broken.whole())) == (i > 0));
    }
    left.finish();
    right.finish();
    for (auto const* const each : {&first, &second}) { CHECK(each->done().launches == 4); }
    CHECK((left.health().good() && right.health().good()));
}

TEST_CASE("without a driver, a card or a hook's device the loop goes on and health says what is missing") {
    fake_cuda& it = card();
    on_card<float> const w{ramp(100, 1)};
    auto const check = [&](std::string_view words, auto const&... device) {
        hook watch{keep_statistics, any("loss", mean > 1.0), device...};
        step_alarm const found = watch.step(train(0), "w"_t = w.whole(), "loss"_t = 2.0F);
        INFO(watch.health().first_error.what.view());
        CHECK(found);  // at this step, as there is nothing to wait for
        CHECK(watch.health().refused == 1);
        CHECK(!watch.health().good());
        CHECK(watch.health().first_error.what.view().find(words) != std::string_view::npos);
    };
    check("another device");
    cuda_options chosen;
    chosen.library = "/nowhere/libcuda.so.1";
    cuda_device none{chosen};
    check("cannot be opened", none.tensors());
    it.version = 8000;
    cuda_device old{stand_in()};
    check("version 8000", old.tensors());
    it.version = 12040;
    it.major = 6;
    cuda_device small_card{stand_in()};
    check("older than the kernels", small_card.tensors());
    it.major = 8;
    cuda_device gpu{stand_in()};
    hook first{keep_statistics, gpu.tensors()};
    check("another hook", gpu.tensors());
}

TEST_CASE("what cannot be read is refused by name, and the rest of the step is judged") {
    fake_cuda& it = card();
    on_card<float> w{ramp(100, 1)}, gone{ramp(100, 1)};
    cuda_device gpu{stand_in()};
    hook watch{keep_statistics, sick, gpu.tensors()};
    auto const why = [&](std::string_view name) {
        std::string words;
        watch.each_refused([&](refused_tensor const& each) {
            if (each.name == name) { words = std::string{each.why}; }
        });
        return words;
    };
    float const* const freed = gone.data();
    gone.free();
    float const* const whole = w.data();
    (void)watch.step(train(0), "freed"_t = on_device(freed, {100}), "long"_t = on_device(whole, {101, 2}),
                     "elsewhere"_t = on_device(whole, {100}, nullptr, 3), "w"_t = w.whole(),
                     "null"_t = on_device(static_cast<float const*>(nullptr), {7}),
                     "odd"_t = on_device(reinterpret_cast<char const*>(whole) + 1, dtype::f32, {9}, {}));
    CHECK(why("freed").find("was it freed") != std::string::npos);
    CHECK(why("long").find("larger than the memory") != std::string::npos);
    CHECK(why("elsewhere").find("another card") != std::string::npos);
    CHECK(why("null").find("null pointer") != std::string::npos);
    CHECK(why("odd").find("address") != std::string::npos);
    CHECK(why("w").empty());
    it.capturing = true;
    (void)watch.step(train(1), "graph"_t = w.whole());
    CHECK(why("graph").find("captured") != std::string::npos);
    it.capturing = false;
    watch.finish();
    CHECK(watch.health().refused == 6);
    CHECK(watch.health().observed == 1);
    CHECK(it.bad_reads == 0);
}

namespace {

bool reported(health_report const& of, std::string_view words) {
    for (repeated_failure const& each : of.failures) {
        if (each.what.what.view().find(words) != std::string_view::npos) { return true; }
    }
    return false;
}

}  // namespace

TEST_CASE("whichever call of the driver fails, the loop goes on, health names it, and nothing leaks") {
    fake_cuda& it = card();
    on_card<float> const w{ramp(2000, 1)};
    constexpr plan keep{collection{"all", "*", always{}, stats(l2) | stats_mask::change},
                        collection{"values", "*", every{2}, payload}};
    for (int const code : {2, 700}) {
        bool passed = false;
        unsigned reported_of = 0;
        for (long n = 1; n < 400 && !passed; ++n) {
            INFO("call " << n << " answers " << code);
            card();
            fake_cuda const before = it;
            bool early = false;  // whether a call failed before the end
            it.fail_at = n, it.code = code, it.sticky = code == 700;
            cuda_device gpu{stand_in()};
            bool named = false;
            std::uint64_t judged = 0;
            {
                hook watch{keep, any("loss", mean > 1.0), gpu.tensors()};
                for (std::uint64_t i = 0; i < 4; ++i) {
                    judged += watch.step(train(i), "w"_t = w.whole(), "loss"_t = 2.0F) ? 1U : 0U;
                }
                judged += watch.end() ? 1U : 0U;
                early = it.fail_at == 0;
                watch.finish();
                judged += watch.end() ? 1U : 0U;
                CHECK(watch.health().steps == 4);
                named = reported(watch.health(), "CUDA") || reported(watch.health(), "cuInit");
                CHECK((named || watch.health().good() || reported(watch.health(), "device")));
            }
            CHECK(judged >= 3);
            passed = it.fail_at > 0;
            CHECK((!passed || !named));
            reported_of += named ? 1U : 0U;
            it.fail_at = 0;
            if (code == 2 && early) {
                CHECK(it.live_memory == before.live_memory);
                CHECK(it.live_pinned == before.live_pinned);
                CHECK(it.live_streams == before.live_streams);
                CHECK(it.live_events == before.live_events);
            }
        }
        CHECK(passed);
        CHECK(reported_of > 30);
    }
    card();
}

TEST_CASE("a context that dies under the loop is reported once, and the loop goes on") {
    fake_cuda& it = card();
    on_card<float> const w{ramp(100, 1)};
    cuda_device gpu{stand_in()};
    hook watch{keep_statistics, any("loss", mean > 1.0), gpu.tensors()};
    (void)watch.step(train(0), "w"_t = w.whole(), "loss"_t = 0.0F);
    it.context_dead = true;
    for (std::uint64_t i = 1; i < 6; ++i) { (void)watch.step(train(i), "w"_t = w.whole(), "loss"_t = 2.0F); }
    watch.finish();
    it.context_dead = false;
    CHECK(watch.health().steps == 6);
    CHECK(watch.health().refused >= 5);
    CHECK(reported(watch.health(), "CUDA_ERROR_CONTEXT_IS_DESTROYED"));
}

TEST_CASE("values that are due find no room, and statistics go on") {
    card();
    on_card<float> const w{ramp(2000, 1)};
    cuda_options chosen = stand_in();
    chosen.values_bytes = 0;
    cuda_device gpu{chosen};
    constexpr plan keep{collection{"values", "*", every{2}, payload}, collection{"all", "*", always{}, stats(l2)}};
    hook watch{keep, sick, gpu.tensors()};
    for (std::uint64_t i = 0; i < 4; ++i) { (void)watch.step(train(i), "w"_t = w.whole()); }
    watch.finish();
    CHECK(watch.health().refused == 2);
    CHECK(watch.health().observed == 2);
    CHECK(watch.health().first_error.code == errc::out_of_memory);
}

TEST_CASE("a section with a stream takes the time that the card took, of its own step") {
    fake_cuda& it = card();
    temporary_folder const folder;
    on_card<float> const w{ramp(100, 1)};
    long const events = it.live_events;
    cuda_device gpu{stand_in()};
    hook watch{folder / "run", keep_statistics, any("time/forward", mean >= 0.002), gpu.tensors()};
    for (std::uint64_t i = 0; i < 6; ++i) {
        {
            auto const part = watch.section("forward", nullptr);
            it.held = i == 3;
        }
        if (i == 3) {
            std::this_thread::sleep_for(std::chrono::milliseconds{4});
            it.held = false;
        }
        (void)watch.step(train(i), "w"_t = w.whole());
    }
    watch.finish();
    CHECK(watch.health().good());
    trial const run = open_trial(folder / "run").value();
    for (std::uint64_t i = 0; i < 6; ++i) { CHECK(run["time/forward"].stat(train(i), mean).value() >= 0); }
    CHECK(run["time/forward"].stat(train(3), mean).value() >= 0.004);
    CHECK(has(run["time/forward"].info().flags, flag::of_kernels));
    CHECK(!run.findings().empty());
    CHECK(it.live_events == events);
}

namespace {

// The layout of DLTensor in dlpack.h.
struct dl_tensor {
    void* data;
    struct {
        int device_type, device_id;
    } device;
    int ndim;
    struct {
        std::uint8_t code, bits;
        std::uint16_t lanes;
    } dtype;
    std::int64_t* shape;
    std::int64_t* strides;
    std::uint64_t byte_offset;
};

int streams_asked = 0;
void* tell_stream(int) noexcept {
    ++streams_asked;
    return nullptr;
}

}  // namespace

TEST_CASE("DLPack's tensors of a card are taken in the current stream, its page-locked ones are read here") {
    card();
    on_card<float> const w{ramp(64, 1)};
    std::int64_t shape[] = {8, 8}, strides[] = {1, 8};
    dl_tensor it{w.data(), {2, 0}, 2, {2, 32, 1}, shape, strides, 0};
    std::vector<float> host = ramp(64, 2);
    dl_tensor const pinned{host.data(), {3, 0}, 2, {2, 32, 1}, shape, nullptr, 0};
    dl_tensor const managed{w.data(), {13, 0}, 2, {2, 32, 1}, shape, nullptr, 0};
    dl_tensor const elsewhere{w.data(), {4, 0}, 2, {2, 32, 1}, shape, nullptr, 0};
    cuda_options chosen = stand_in();
    chosen.current_stream = &tell_stream;
    streams_asked = 0;
    cuda_device gpu{chosen};
    hook watch{keep_statistics, any("*", l2 > 100.0), gpu.tensors()};
    (void)watch.step(train(0), "w"_t = it, "pinned"_t = pinned, "managed"_t = managed, "elsewhere"_t = elsewhere);
    CHECK(streams_asked == 2);
    it.byte_offset = 4;  // beyond its end
    (void)watch.step(train(1), "w"_t = it);
    watch.finish();
    (void)watch.end();
    CHECK(watch.health().refused == 2);
    CHECK(watch.health().observed == 3);
    hook without{keep_statistics};
    (void)without.step(train(0), "w"_t = it);
    CHECK(without.health().refused == 1);
}
