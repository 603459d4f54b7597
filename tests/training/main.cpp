// SPDX-License-Identifier: Apache-2.0
// A training program for tests of `spotter run` and `spotter twin`. It diverges with a rate above 1, which is the
// default. Its record goes where the environment says, not where the program says.
//     training [--rate=N] [--no-rules] [--slow] [--odd-one]
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/supervisor.hpp>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace {

using namespace spotter;

struct choices {
    float rate = 2;
    bool rules = true, slow = false, odd_one = false;
};

template <class Hook>
void train_with(Hook& watch, choices const& chosen) {
    supervised_attempt::here().note(watch);
    char const* const run = std::getenv("SPOTTER_RUN");
    bool const is_second = run != nullptr && std::string_view{run}.ends_with("/b");
    std::vector<float> w(8, 1.0F);
    float loss = 2;
    for (std::uint64_t i = 0; i < 400; ++i) {
        if (chosen.odd_one && is_second && i == 20) { w[2] = std::nextafter(w[2], 9.0F); }
        if (watch.step(train(i), "w"_t = w, "loss"_t = loss).decision() == decision::stop) { return; }
        for (float& each : w) { each -= 0.001F * chosen.rate; }
        loss = chosen.rate > 1 ? (std::min)(loss * 1.1F, 1e6F) : 0.1F + 0.99F * (loss - 0.1F);
        if (chosen.slow) { std::this_thread::sleep_for(std::chrono::milliseconds{3}); }
    }
}

}  // namespace

int main(int count, char** arguments) {
    choices chosen;
    for (int i = 1; i < count; ++i) {
        std::string_view const word = arguments[i];
        if (word.starts_with("--rate=")) { chosen.rate = std::strtof(arguments[i] + 7, nullptr); }
        chosen.rules = chosen.rules && word != "--no-rules";
        chosen.slow = chosen.slow || word == "--slow";
        chosen.odd_one = chosen.odd_one || word == "--odd-one";
    }
    constexpr plan keep{collection{"all", "*", always{}}};
    if (chosen.rules) {
        hook watch{"nowhere/of-its-own", keep, on(any("loss", maximum > 50.0), stop)};
        train_with(watch, chosen);
    } else {
        hook watch{"nowhere/of-its-own", keep};
        train_with(watch, chosen);
    }
    return 0;
}
