// SPDX-License-Identifier: Apache-2.0
// A loop whose data arrives slowly: the loop names its sections, a sampler records the machine, and the record shows
// why the loop is slow.
#include "common/regression.hpp"

#include <spotter/ext/system.hpp>
#include <spotter/packs.hpp>
#include <spotter/report.hpp>
#include <spotter/spotter.hpp>
#include <spotter/workbench/profile.hpp>

#include <chrono>
#include <thread>

namespace sp = spotter;

int main() {
    example::regression net;
    sp::system_sampler machine{sp::system_options{.seconds = 0.05}, sp::packs::system};  // must outlive the hook
    {
        sp::hook watch{"runs/slow", sp::plan{}, sp::packs::system,
                       sp::options{.existing = sp::existing::replace, .beside = &machine}};
        for (std::uint64_t i = 0; i < 300; ++i) {
            {
                auto const part = watch.section("data");
                std::this_thread::sleep_for(std::chrono::milliseconds{10});  // stands for a slow disk
            }
            {
                auto const part = watch.section("compute");
                for (int batch = 0; batch < 20; ++batch) { net.forward_backward(); }
            }
            for (auto const& each : watch.step(sp::train(i))) { fmt::print("{}\n", each); }
            auto const part = watch.section("update");
            net.update();
        }
    }
    sp::run_profile const it = sp::profile_of(sp::open_trial("runs/slow").value());
    fmt::print("{}", sp::describe(it));
    bool const waits = it.workers.at(0).modes.at(0).sections.at(0).path == "data";
    return waits && it.verdict.find("section data") != std::string::npos ? 0 : 1;
}
