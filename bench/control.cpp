// SPDX-License-Identifier: Apache-2.0
// How long a running loop takes to carry out a request, and the cost on the training thread when its rules are
// exchanged.
#include "bench.hpp"
#include "scratch_folder.hpp"

#include <spotter/control.hpp>
#include <spotter/ext/json/live.hpp>
#include <spotter/packs.hpp>
#include <spotter/spotter.hpp>

#include <atomic>
#include <thread>

using namespace spotter;

namespace {

constexpr std::size_t tensors = 64;
constexpr double milliseconds = 1e-6, microseconds = 1e-3;

[[nodiscard]] bool honoured(std::string const& path, run_request const& what, bench::samples& times) {
    bool done = false;
    times.time(1, [&] {
        auto const answers = ask_run(path, what);
        done = answers && (*answers)[0].state == answer_state::done;
        if (!done) { std::printf("%s\n", answers ? (*answers)[0].what.c_str() : answers.error().what.view().data()); }
    });
    return done;
}

}  // namespace

int main() {
    bench::scratch_folder const folder;
    std::string const path = folder.path() + "/run";
    hook watch{path, live(plan{collection{"all", "*", every{10}}}), live(packs::supervised)};
    std::vector<std::string> names;
    std::vector<std::vector<float>> const values(tensors, bench::weights(256));
    for (std::size_t i = 0; i < tensors; ++i) { names.push_back("layer" + std::to_string(i) + "/weight"); }

    // A step: the hook's work and a rest of a millisecond.
    std::atomic<bool> over{false}, exchanging{false};
    bench::samples usual, exchanged;
    std::thread loop{[&] {
        for (std::uint64_t i = 0; !over; ++i) {
            (exchanging ? exchanged : usual).time(1, [&] {
                watch.begin(train(i));
                for (std::size_t k = 0; k < tensors; ++k) { watch.observe(names[k], values[k]); }
                bench::do_not_optimise(watch.end());
            });
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
    }};
    bench::samples answers, exchanges;
    bool fine = true;
    for (std::size_t i = 0; i < bench::rounds(100, 5); ++i) {
        fine = fine && honoured(path, {.what = control_verb::flush}, answers);
    }
    exchanging = true;
    for (std::size_t i = 0; i < bench::rounds(20, 2); ++i) {
        fine = fine &&
               honoured(path, {.what = control_verb::rules, .document = R"({"rules": ["supervised"]})"}, exchanges);
    }
    over = true;
    loop.join();
    if (!fine) { return 1; }
    bench::figure("an answer, in a loop of steps of a millisecond, median", milliseconds * answers.median(), "ms");
    bench::figure("the longest of 100", milliseconds * answers.percentile(1), "ms");
    bench::figure("where rules are exchanged, longest", milliseconds * exchanges.percentile(1), "ms");
    bench::figure("a step of 64 tensors under a pack, median", microseconds * usual.median(), "us");
    bench::figure("the longest where rules are exchanged", microseconds * exchanged.percentile(1), "us",
                  bench::control("without", microseconds * usual.percentile(1), "us"));
}
