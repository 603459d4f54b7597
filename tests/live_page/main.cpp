// SPDX-License-Identifier: Apache-2.0
// Makes folders of runs for `spotter serve`: many runs, a long one, a wide one, and one that grows. The tests of the
// page and bench/live_page.py use it.
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using namespace spotter;

constexpr plan keep{collection{"all", "*", always{}, payload}};

double loss_at(std::uint64_t step, double rate) {
    double const noise = std::sin(static_cast<double>(step * 7919 % 1000)) * 0.03;
    return 2.3 * std::exp(-rate * static_cast<double>(step)) + 0.2 + noise;
}

// `count` runs of `steps` steps with a loss, an accuracy and two hyperparameters; a NaN stops each tenth run.
int sweep(std::string const& folder, std::uint64_t count, std::uint64_t steps) {
    constexpr auto rules = any("loss", nonfinite > 0) | severity::error;
    for (std::uint64_t i = 0; i < count; ++i) {
        std::string const path = folder + "/sweep/run-" + std::to_string(i);
        hook watch{path, keep, rules};
        double const rate = 0.001 * static_cast<double>(1 + i % 7);
        watch.scalar("lr", rate);
        watch.scalar("batch", static_cast<std::int64_t>(16U << (i % 3)));
        watch.scalar("optimizer", i % 2 == 0 ? "adam" : "sgd");
        for (std::uint64_t k = 0; k < steps; ++k) {
            double const loss = i % 10 == 9 && k > steps / 2 ? std::nan("") : loss_at(k, rate);
            auto const alarm = watch.step(train(k), "loss"_t = loss, "metric/accuracy"_t = 1 - loss / 3);
            if (alarm.decision() == decision::stop) { break; }
            if (k % 100 == 99) { (void)watch.step(eval(k / 100), "loss"_t = loss * 1.1); }
        }
        watch.finish();
    }
    return 0;
}

// One run of many steps with three scalars.
int long_run(std::string const& folder, std::uint64_t steps) {
    hook watch{folder + "/long", keep};
    for (std::uint64_t k = 0; k < steps; ++k) {
        double const loss = loss_at(k, 5e-6);
        (void)watch.step(train(k), "loss"_t = k == steps / 2 ? 40.0 : loss, "metric/accuracy"_t = 1 - loss / 3,
                         "rate"_t = 0.1);
    }
    watch.finish();
    return 0;
}

// One run of many tensors.
int wide(std::string const& folder, std::uint64_t tensors) {
    constexpr plan statistics{collection{"all", "*", always{}, stats(l2, mean, maximum)},
                              collection{"some", "layer/1*/w", every{10}, payload | histogram}};
    hook watch{folder + "/wide", statistics};
    std::vector<std::string> names;
    for (std::uint64_t i = 0; i < tensors; ++i) { names.push_back("layer/" + std::to_string(i) + "/w"); }
    std::vector<float> values(64);
    for (std::uint64_t k = 0; k < 20; ++k) {
        watch.begin(train(k));
        for (std::uint64_t i = 0; i < tensors; ++i) {
            for (std::size_t n = 0; n < values.size(); ++n) {
                values[n] = static_cast<float>(std::sin(static_cast<double>(n + i + k)));
            }
            watch.observe(names[i], view_of(values, {8, 8}));
        }
        watch.observe("loss", loss_at(k, 0.1));
        (void)watch.end();
    }
    watch.finish();
    return 0;
}

// One run that grows for `seconds`, by twenty steps a second; with `die` it ends without finishing.
int grow(std::string const& path, double seconds, bool die) {
    hook watch{path, keep};
    auto const begin = std::chrono::steady_clock::now();
    for (std::uint64_t k = 0;; ++k) {
        auto const now = std::chrono::steady_clock::now();
        if (std::chrono::duration<double>(now - begin).count() > seconds) { break; }
        double const time = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
        (void)watch.step(train(k), "loss"_t = loss_at(k, 0.01), "made_at"_t = time);
        std::this_thread::sleep_for(std::chrono::milliseconds{50});
    }
    if (die) { std::_Exit(9); }
    watch.finish();
    return 0;
}

// Hostile names and texts (markup, control characters) in every field of a record that holds text.
int hostile(std::string const& folder) {
    constexpr auto rules = any("*", maximum > 1e3) | named{"<img src=x onerror=window.broken=1>"};
    std::string const evil = "<script>window.broken=1</script>\"'&,/%2F..\xe2\x80\xae\x1b[31m";
    hook watch{folder + "/<img src=x onerror=window.broken=1>\"',&%2e%2e #\xe2\x80\xae", keep, rules};
    watch.scalar("setting " + evil, evil);
    watch.scalar("a setting with quite a long name that no phone has the room for at all", 0.1);
    for (std::uint64_t k = 0; k < 60; ++k) {
        watch.begin(train(k));
        watch.observe("loss/" + evil, loss_at(k, 0.1));
        watch.observe("metric/" + evil, k == 30 ? 1e4 : loss_at(k, 0.02));
        watch.observe("\xff\xfe no UTF-8", loss_at(k, 0.02));
        (void)watch.end();
    }
    watch.finish();
    return 0;
}

}  // namespace

int main(int count, char** words) {
    std::string_view const what = count > 2 ? words[1] : "";
    auto const number = [&](int at) { return count > at ? std::strtoull(words[at], nullptr, 10) : 0; };
    if (what == "sweep") { return sweep(words[2], number(3), number(4)); }
    if (what == "long") { return long_run(words[2], number(3)); }
    if (what == "wide") { return wide(words[2], number(3)); }
    if (what == "hostile") { return hostile(words[2]); }
    if (what == "grow" || what == "die") { return grow(words[2], static_cast<double>(number(3)), what == "die"); }
    std::fprintf(stderr,
                 "live_page sweep FOLDER RUNS STEPS | long FOLDER STEPS | wide FOLDER TENSORS | hostile FOLDER | "
                 "grow RUN SECONDS | die RUN SECONDS\n");
    return 2;
}
