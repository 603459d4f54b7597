// SPDX-License-Identifier: Apache-2.0
// Cures that a loop follows: what each asks for and when, that cures are bounded, recorded and judged, and that they do
// not change a healthy training.
#include <spotter/heal.hpp>
#include <spotter/packs.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <tests/asks_for.hpp>
#include <tests/catch.hpp>
#include <tests/temporary_folder.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace spotter;
using namespace spotter_test;

namespace {

using list = std::vector<std::string>;
constexpr float nan_value = std::numeric_limits<float>::quiet_NaN();

// A net with one hidden layer of ReLU that learns a product.
struct learner {
    static constexpr std::size_t in = 3, units = 16, batch = 32;
    std::vector<float> w1 = std::vector<float>(in * units), b1 = std::vector<float>(units),
                       w2 = std::vector<float>(units);
    std::vector<float> x = std::vector<float>(batch * in), act = std::vector<float>(batch * units);
    std::vector<float> g1 = std::vector<float>(in * units), gb = std::vector<float>(units),
                       g2 = std::vector<float>(units);
    float loss = 0, rate = 0.05F;
    std::mt19937 random{1};

    learner() {
        for (float& each : w1) { each = draw() * 0.8F; }
        for (float& each : w2) { each = draw() * 0.5F; }
    }
    float draw() { return 2 * (static_cast<float>(random() >> 8) * 0x1p-24F) - 1; }
    void compute(float scale = 1) {
        for (float& each : x) { each = draw(); }
        loss = 0;
        std::fill(g1.begin(), g1.end(), 0.0F), std::fill(gb.begin(), gb.end(), 0.0F),
            std::fill(g2.begin(), g2.end(), 0.0F);
        for (std::size_t r = 0; r < batch; ++r) {
            float out = 0;
            for (std::size_t u = 0; u < units; ++u) {
                float sum_of = b1[u];
                for (std::size_t i = 0; i < in; ++i) { sum_of += x[r * in + i] * w1[i * units + u]; }
                act[r * units + u] = sum_of < 0 ? 0 : sum_of;
                out += act[r * units + u] * w2[u];
            }
            float const gap = out - x[r * in] * x[r * in + 1];
            loss += gap * gap / batch;
            for (std::size_t u = 0; u < units; ++u) {
                float const slope = scale * 2 * gap / batch;
                g2[u] += slope * act[r * units + u];
                if (!(act[r * units + u] > 0)) { continue; }
                gb[u] += slope * w2[u];
                for (std::size_t i = 0; i < in; ++i) { g1[i * units + u] += slope * w2[u] * x[r * in + i]; }
            }
        }
    }
    [[nodiscard]] float norm() const {
        double sum_of = 0;
        for (auto const* each : {&g1, &gb, &g2}) {
            for (float const value : *each) { sum_of += static_cast<double>(value) * static_cast<double>(value); }
        }
        return static_cast<float>(std::sqrt(sum_of));
    }
    void update(treatment const& what = {}) {
        float factor = rate * static_cast<float>(what.rate);
        if (what.largest_norm > 0 && norm() > static_cast<float>(what.largest_norm)) {
            factor *= static_cast<float>(what.largest_norm) / norm();
        }
        for (std::size_t i = 0; i < w1.size(); ++i) { w1[i] -= factor * g1[i]; }
        for (std::size_t i = 0; i < units; ++i) { b1[i] -= factor * gb[i], w2[i] -= factor * g2[i]; }
    }
    [[nodiscard]] bool finite() const { return std::isfinite(w1[0] + b1[0] + w2[0] + w1.back()); }
};

template <class Hook>
step_alarm show(Hook& watch, std::uint64_t i, learner const& net) {
    watch.begin(train(i));
    watch.observe("fc1/w", view_of(net.w1, {learner::in, learner::units}));
    watch.observe("fc1/b", net.b1, role::bias);
    watch.observe("fc2/w", view_of(net.w2, {learner::units, std::size_t{1}}));
    watch.observe("act/1", view_of(net.act, {learner::batch, learner::units}), role::activation,
                  activated_by(activation_kind::relu));
    watch.observe("loss", net.loss);
    watch.observe("grad/fc1/w", view_of(net.g1, {learner::in, learner::units}));
    watch.observe("grad/fc1/b", net.gb);
    watch.observe("grad/fc2/w", view_of(net.g2, {learner::units, std::size_t{1}}));
    return watch.end();
}

// The recorded decisions, a line each.
list decisions(std::string const& run) {
    list made;
    auto const opened = open_trial(run);
    REQUIRE(opened);
    for (auto const& each : (*opened)["decision"].loose()) { made.push_back(std::string{each.bytes}); }
    return made;
}
template <class Heal>
cure_report report_of(Heal const& cures, std::string_view name) {
    cure_report found;
    cures.report([&](cure_report const& it) { found = it.name == name ? it : found; });
    return found;
}

}  // namespace

TEST_CASE("a healthy training under all cures ends in the same bits as one without them") {
    heal cures{skip_batch{}, clip_gradients{}, step_back{}, warm_up_again{}, reinitialise_units{}};
    hook watch{plan{}, packs::supervised, cures.gauge()};
    learner net, alone;
    for (std::uint64_t i = 0; i < 1500; ++i) {
        net.compute();
        treatment const what = cures.treat(watch, train(i), show(watch, i, net));
        CHECK(!(what.skip || what.restore || what.stop || what.reinitialise || what.largest_norm > 0));
        CHECK((what.rate == 1 && what.loss_scale == 1));
        net.update(what);
        alone.compute();
        alone.update();
    }
    CHECK((net.w1 == alone.w1 && net.w2 == alone.w2 && net.loss < 0.03F));
    cures.report([](cure_report const& it) { CHECK(it.acts == 0); });
    CHECK(!watch.health().first_error);
}

TEST_CASE("a batch whose gradient is NaN is skipped, also if the rules report it only once") {
    temporary_folder const folder;
    heal cures{skip_batch{}};
    hook watch{folder / "run", plan{}, packs::supervised, cures.gauge()};
    learner net;
    for (std::uint64_t i = 0; i < 400; ++i) {
        net.compute();
        bool const planted = i == 100 || i == 103 || i == 150 || i == 152;
        if (i == 100 || i == 150) { net.g1[7] = nan_value; }
        if (i == 103 || i == 152) { net.loss = nan_value; }
        treatment const what = cures.treat(watch, train(i), show(watch, i, net));
        CHECK(what.skip == planted);
        CHECK(!what.stop);
        if (!what.skip) { net.update(what); }
    }
    watch.finish();
    CHECK((net.finite() && net.loss < 0.1F));
    cure_report const reported = report_of(cures, "skip_batch");
    CHECK((reported.acts == 4 && reported.again == 3 && reported.worse == 0 && !reported.stopped));
    list const all = decisions(folder / "run");
    REQUIRE(all.size() == 5);
    CHECK(all[0] == "train(100) skip_batch: a gradient is NaN or infinite");
    CHECK(all[1] == "train(103) skip_batch: the loss is NaN or infinite");
    CHECK(all[4].rfind("train(252) skip_batch, what it did at train(152): ", 0) == 0);
}

TEST_CASE("more bad batches in a row than are an accident ask to go back, and with no cure left to stop") {
    heal cures{skip_batch{.in_a_row = 3}, step_back{.times = 1}};
    hook watch{plan{}, non_finite{}, cures.gauge()};
    learner net;
    std::vector<treatment> all;
    for (std::uint64_t i = 0; i < 12; ++i) {
        net.compute();
        net.g2[0] = nan_value;
        all.push_back(cures.treat(watch, train(i), show(watch, i, net)));
    }
    for (std::size_t i = 0; i < all.size(); ++i) {
        CHECK(all[i].skip == (i < 3 || (i > 3 && i < 7)));  // after going back, a new row of bad batches begins
        CHECK(all[i].restore == (i == 3));
        CHECK(all[i].stop == (i >= 7));
        CHECK(all[i].rate == (i < 3 ? 1.0 : 0.5));  // by how much updates were too large is unknown: the rate is halved
    }
}

TEST_CASE("how often and until when is said beforehand") {
    heal cures{skip_batch{.times = 2, .until = 50}};
    hook watch{plan{}, cures.gauge()};
    learner net;
    std::vector<std::uint64_t> skipped;
    for (std::uint64_t i = 0; i < 60; ++i) {
        net.compute();
        if (i % 20 == 10) { net.g1[0] = nan_value; }
        treatment const what = cures.treat(watch, train(i), show(watch, i, net));
        if (what.skip) { skipped.push_back(i); }
        CHECK(what.stop == (i == 50));  // neither skipped nor good
    }
    CHECK(skipped == std::vector<std::uint64_t>{10, 30});
    heal late{skip_batch{.until = 5}};
    hook other{plan{}, late.gauge()};
    net.g1[0] = nan_value;
    CHECK(late.treat(other, train(4), show(other, 4, net)).skip);
    CHECK((!late.treat(other, train(5), show(other, 5, net)).skip && late.now().stop));
}

TEST_CASE("a rate a thousand times too large: back to the beginning, with the rate that updates of a hundredth of the "
          "weights ask for") {
    temporary_folder const folder;
    heal cures{skip_batch{}, step_back{}, warm_up_again{.steps = 20}};
    hook watch{folder / "run", plan{}, packs::supervised, cures.gauge()};
    learner net;
    net.rate *= 1000;
    learner const first = net;
    std::uint64_t back = 0, steps = 0;
    for (std::uint64_t i = 0; i < 2000 && ++steps < 4000; ++i) {
        net.compute();
        treatment const what = cures.treat(watch, train(i), show(watch, i, net));
        if (what.restore) {
            std::mt19937 const where = net.random;
            net = first, net.random = where;
            ++back;
            i = ~std::uint64_t{0};
            continue;
        }
        if (!what.skip) { net.update(what); }
    }
    watch.finish();
    CHECK((back >= 1 && back <= 6));
    CHECK((net.finite() && net.loss < 0.05F));
    list const all = decisions(folder / "run");
    auto const says = [&](std::string_view what) {
        return std::any_of(all.begin(), all.end(),
                           [&](std::string const& each) { return each.find(what) != each.npos; });
    };
    CHECK((says(" step_back: the rate is 1/") && says(" warm_up_again: a new beginning")));
}

TEST_CASE("a warm-up grows evenly to the whole rate, over updates that are made") {
    heal cures{warm_up_again{.steps = 4, .rules = "asks"}};
    hook watch{plan{}, on(any("loss", maximum > 100) | named{"asks"}, decision::proceed), cures.gauge()};
    learner net;
    std::vector<double> rates;
    for (std::uint64_t i = 0; i < 8; ++i) {
        net.compute();
        if (i == 1) { net.loss = 1000; }
        treatment const what = cures.treat(watch, train(i), show(watch, i, net));
        CHECK(what.restore == (i == 1));
        rates.push_back(what.rate);
    }
    CHECK(rates == std::vector<double>{1, 1, 0.2, 0.4, 2.0 * 3 / 10, 0.8, 1, 1});
}

TEST_CASE(
    "gradients that jump are clipped at the quantile of those before, for a while, and the jump is not remembered") {
    heal cures{clip_gradients{.window = 40, .steps = 30}};
    hook watch{plan{}, cures.gauge()};
    learner net;
    std::vector<double> norms;
    double limit = 0;
    for (std::uint64_t i = 0; i < 200; ++i) {
        net.compute();
        if (i == 100 || i == 110) {
            for (float& each : net.g1) { each *= 1000; }
        }
        treatment const what = cures.treat(watch, train(i), show(watch, i, net));
        bool const clips = i >= 100 && i < 140;
        REQUIRE((what.largest_norm > 0) == clips);
        if (i == 100) {
            std::vector<double> before(norms.end() - 40, norms.end());
            std::sort(before.begin(), before.end());
            limit = before[35];  // nine tenths of 39
        }
        if (clips) { CHECK(what.largest_norm == Approx(limit)); }
        if (!clips) { norms.push_back(static_cast<double>(net.norm())); }
        net.update(what);
    }
    CHECK(net.finite());
    CHECK(report_of(cures, "clip_gradients").acts == 1);
}

TEST_CASE("before there are norms enough nothing is clipped") {
    heal cures{clip_gradients{.window = 40}};
    hook watch{plan{}, cures.gauge()};
    learner net;
    for (std::uint64_t i = 0; i < 10; ++i) {
        net.compute();
        if (i == 9) { net.g1[0] = 1e6F; }
        CHECK(cures.treat(watch, train(i), show(watch, i, net)).largest_norm == 0);
    }
}

TEST_CASE("dead units are named by place, and live once their weights are drawn again") {
    heal cures{reinitialise_units{}};
    hook watch{plan{}, dead_relu{.threshold_layer = 0.3, .samples = 512}, cures.gauge()};
    learner net;
    std::vector<std::size_t> const dead{0, 3, 4, 9, 11, 15};
    for (std::size_t const unit : dead) { net.b1[unit] = -20; }
    std::uint64_t times = 0;
    for (std::uint64_t i = 0; i < 200; ++i) {
        net.compute();
        treatment const what = cures.treat(watch, train(i), show(watch, i, net));
        if (what.reinitialise) {
            CHECK(i == 15);  // 512 samples
            ++times;
            std::vector<std::size_t> reported;
            cures.each_dead([&](std::string_view name, std::size_t unit) {
                CHECK(name == "act/1");
                reported.push_back(unit);
            });
            CHECK(reported == dead);
            for (std::size_t const unit : reported) {
                net.w2[unit] = 0, net.b1[unit] = 0;
                for (std::size_t k = 0; k < learner::in; ++k) { net.w1[k * learner::units + unit] = net.draw() * 0.8F; }
            }
        }
        net.update(what);
    }
    CHECK(times == 1);
    std::uint64_t left = 0;
    cures.each_dead([&](std::string_view, std::size_t) { ++left; });
    CHECK(left == 0);
}

TEST_CASE("the loss scale is halved where a gradient in half precision overflows, and doubled after steps enough") {
    heal cures{adjust_loss_scale{.start = 0x1p30, .interval = 50}, skip_batch{}};
    hook watch{plan{}, cures.gauge()};
    learner net;
    CHECK(cures.now().loss_scale == 0x1p30);
    std::uint64_t skipped = 0, halved = 0, doubled = 0;
    double scale = cures.now().loss_scale;
    for (std::uint64_t i = 0; i < 600; ++i) {
        net.compute(static_cast<float>(scale));
        for (auto* each : {&net.g1, &net.gb, &net.g2}) {
            // f16 overflows in the same way.
            for (float& value : *each) {
                value = std::abs(value) > 65504 ? std::numeric_limits<float>::infinity() : value;
            }
        }
        for (auto* each : {&net.g1, &net.gb, &net.g2}) {
            for (float& value : *each) { value /= static_cast<float>(scale); }
        }
        treatment const what = cures.treat(watch, train(i), show(watch, i, net));
        skipped += what.skip ? 1 : 0;
        halved += what.loss_scale < scale ? 1 : 0;
        doubled += what.loss_scale > scale ? 1 : 0;
        scale = what.loss_scale;
        if (!what.skip) { net.update(what); }
    }
    CHECK((skipped == halved && halved > 10 && doubled >= 5));
    CHECK((scale >= 0x1p12 && scale < 0x1p22));
    CHECK((net.finite() && net.loss < 0.1F));
    CHECK(report_of(cures, "skip_batch").acts == 0);  // a bad batch was not the cause
    cure_report const reported = report_of(cures, "adjust_loss_scale");
    CHECK((reported.acts == halved + doubled &&
           reported.worse + reported.helped + reported.unchanged + reported.again == 0));
}

namespace {

// A deliberately wrong cure: it raises the rate where a rule asks for a cure.
struct faster {
    static constexpr std::string_view name = "faster";
    std::uint64_t times = 5, until = always_allowed;
    struct state {
        double rate = 1;
    };
    bool acts(state& seen, symptoms const& of, cure_reason& why) const noexcept {
        if (of.found.empty()) { return false; }
        seen.rate *= 60;
        why << "a rule asks";
        return true;
    }
    void follow(state& seen, symptoms const&, bool, treatment& what) const noexcept { what.rate *= seen.rate; }
};

}  // namespace

TEST_CASE("a cure that makes it worse is stopped, what it asked for ends, and both are recorded") {
    temporary_folder const folder;
    heal cures{faster{}};
    hook watch{folder / "run", plan{}, any("marker", maximum > 0) | named{"asks"}, cures.gauge()};
    learner net;
    double rate_after = 0;
    for (std::uint64_t i = 0; i < 300; ++i) {
        net.compute();
        watch.begin(train(i));
        watch.observe("loss", net.loss);
        watch.observe("fc1/w", view_of(net.w1, {learner::in, learner::units}));
        watch.observe("marker", i == 100 || i == 250 ? 1.0F : 0.0F);
        treatment const what = cures.treat(watch, train(i), watch.end());
        CHECK(what.rate == (i >= 100 && i < 200 ? 60 : 1));
        rate_after = what.rate;
        learner before = net;
        net.update(what);
        if (!(net.loss < 1e6F) || !net.finite()) { net = before; }
    }
    CHECK(rate_after == 1);
    cure_report const reported = report_of(cures, "faster");
    CHECK((reported.stopped && reported.worse == 1 && reported.acts == 1));
    watch.finish();
    list const all = decisions(folder / "run");
    REQUIRE(all.size() == 2);
    CHECK(all[0] == "train(100) faster: a rule asks");
    CHECK(all[1].find("train(200) faster, what it did at train(100): worse; ") == 0);
    CHECK(all[1].find("; stopped") != all[1].npos);
}

TEST_CASE("losses that are not shown count as none: a cure is worse where half of those shown are not finite") {
    // A loss is shown at every `every`th step, and each `one_in`th of those is bad.
    auto const [every, one_in, is_worse] = GENERATE(table<std::uint64_t, std::uint64_t, bool>({{1, 1000, false},
                                                                                               {3, 1000, false},
                                                                                               {40, 1000, false},
                                                                                               {1, 3, false},
                                                                                               {1, 2, true},
                                                                                               {5, 2, true},
                                                                                               {5, 3, false},
                                                                                               {1000, 1000, false}}));
    INFO("a loss at every " << every << ", one bad in " << one_in);
    heal cures{faster{}};
    hook watch{plan{}, any("marker", maximum > 0) | named{"asks"}, cures.gauge()};
    for (std::uint64_t i = 0; i <= 201; ++i) {
        watch.begin(train(i));
        watch.observe("marker", i == 100 ? 1.0F : 0.0F);
        watch.observe("grad/fc1/w", 1.0F);
        bool const is_bad = i > 100 && i / every % one_in == 1;
        if (i % every == 0) { watch.observe("loss", is_bad ? nan_value : 1.0F); }
        (void)cures.treat(watch, train(i), watch.end());
    }
    cure_report const reported = report_of(cures, "faster");
    CHECK(reported.acts == 1);
    CHECK(reported.worse == (is_worse ? 1 : 0));
    CHECK(reported.unchanged == (is_worse ? 0 : 1));
    CHECK(reported.stopped == is_worse);
}

TEST_CASE("a decision has its own reason, not that of a cure that did not act") {
    temporary_folder const folder;
    heal cures{clip_gradients{.window = 8, .steps = 10}, step_back{}};
    hook watch{folder / "run", plan{}, cures.gauge()};
    std::vector<float> w(8, 1.0F);
    for (std::uint64_t i = 0; i < 40; ++i) {
        std::vector<float> const gradient(8, i == 20 || i == 22 ? 100.0F : 0.1F + 0.001F * static_cast<float>(i));
        w[0] = i == 30 ? nan_value : 1.0F;
        (void)cures.treat(watch, train(i), watch.step(train(i), "fc1/w"_t = w, "grad/fc1/w"_t = gradient));
    }
    watch.finish();
    list const all = decisions(folder / "run");
    REQUIRE(all.size() == 2);
    CHECK(all[0].rfind("train(20) clip_gradients: their norm is ", 0) == 0);
    CHECK(all[1].rfind("train(30) step_back: the rate is 1/2 of what it was: a weight is NaN or infinite", 0) == 0);
}

TEST_CASE("a quantile beyond 0 to 1 is the nearest of them") {
    auto const [quantile, limit] =
        GENERATE(table<double, double>({{-3, 1}, {0, 1}, {1, 8}, {1.5, 8}, {1e300, 8}, {std::nan(""), 1}}));
    INFO(quantile);
    heal cures{clip_gradients{.quantile = quantile, .window = 8}};
    hook watch{plan{}, cures.gauge()};
    double clipped = 0;
    for (std::uint64_t i = 1; i <= 9; ++i) {
        float const norm = i < 9 ? static_cast<float>(i) : 1000.0F;
        clipped = cures.treat(watch, train(i), watch.step(train(i), "grad/fc1/w"_t = norm)).largest_norm;
    }
    CHECK(clipped == limit);
}

TEST_CASE("a rule that asks to stop is heard where no cure has anything against it") {
    heal cures{skip_batch{}};
    hook watch{plan{}, on(any("loss", maximum > 100) | named{"too_high"}, stop), cures.gauge()};
    learner net;
    net.compute();
    CHECK(!cures.treat(watch, train(0), show(watch, 0, net)).stop);
    net.loss = 1000;
    CHECK(cures.treat(watch, train(1), show(watch, 1, net)).stop);
}

TEST_CASE("without a gauge in the hook cures go by the alarm alone; a new hook takes the gauge over") {
    heal cures{skip_batch{.rules = "non_finite"}};
    learner net;
    net.compute();
    {
        hook watch{plan{}, non_finite{}};
        CHECK(!cures.treat(watch, train(0), show(watch, 0, net)).skip);
        net.g1[0] = nan_value;
        CHECK(cures.treat(watch, train(1), show(watch, 1, net)).skip);
    }
    hook first{plan{}, cures.gauge()};
    CHECK(cures.treat(first, train(0), show(first, 0, net)).skip);
    hook second{plan{}, cures.gauge()};
    CHECK(cures.treat(second, train(0), show(second, 0, net)).skip);
    CHECK(!cures.treat(first, train(1), show(first, 1, net)).skip);  // its gauge no longer measures
}

TEST_CASE("the lower rate follows from the updates of weights, whatever other rules measure of biases") {
    auto const rate_after = [](auto const&... others) {
        heal cures{step_back{}};
        hook watch{plan{}, others..., cures.gauge()};
        learner net;
        net.b1.assign(net.b1.size(), 1e-6F);
        net.rate = 50;
        for (std::uint64_t i = 0; i < 2; ++i) {
            net.compute();
            CHECK(!cures.treat(watch, train(i), show(watch, i, net)).restore);
            net.update();
        }
        net.g1[0] = nan_value;
        treatment const what = cures.treat(watch, train(2), show(watch, 2, net));
        CHECK(what.restore);
        return what.rate;
    };
    CHECK(rate_after(asks_for<stats_mask::change>{}) == rate_after());
}

TEST_CASE("evaluations are not measured, and of a hook's workers the first is") {
    temporary_folder const folder;
    heal cures{skip_batch{}};
    hook watch{folder / "run", plan{}, cures.gauge()};
    learner net, bad;
    net.compute(), bad.compute();
    bad.g1[0] = nan_value;
    CHECK(!cures.treat(watch, train(0), show(watch, 0, net)).skip);
    auto other = watch.worker(1);
    (void)show(other, 0, bad);
    CHECK(!cures.treat(watch, train(1), show(watch, 1, net)).skip);
    watch.begin(eval(1));
    watch.observe("loss", nan_value);
    (void)watch.end();
    CHECK(!cures.treat(watch, train(2), show(watch, 2, net)).skip);
}
