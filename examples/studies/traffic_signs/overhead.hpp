// SPDX-License-Identifier: Apache-2.0
// The cost of watching: the same training without a hook, and with hooks that keep different amounts at different
// intervals.
#pragma once

#include "training.hpp"

#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>

namespace traffic {

struct spent {
    double thread = 0, clock = 0;  // seconds: processor time of the training thread, and elapsed time

    [[nodiscard]] static spent now() {
        auto const read = [](clockid_t which) {
            timespec time{};
            ::clock_gettime(which, &time);
            return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
        };
        return {read(CLOCK_THREAD_CPUTIME_ID), read(CLOCK_MONOTONIC)};
    }
    spent& operator+=(spent const& more) { return thread += more.thread, clock += more.clock, *this; }
    [[nodiscard]] spent operator-(spent const& other) const { return {thread - other.thread, clock - other.clock}; }
};

enum class keeping { all, weights, in_and_out };
inline constexpr std::array<std::pair<keeping, char const*>, 3> keepings{
    {{keeping::all, "all tensors"}, {keeping::weights, "weights"}, {keeping::in_and_out, "inputs and outputs"}}};

// A net of its own that trains on one batch. Each step observes everything; the plan decides what is kept.
class measured_training {
public:
    measured_training(std::int64_t width, studies::pictures const& batch)
        : input_{studies::as_input(batch.pixels)}, labels_{batch.labels} {
        torch::manual_seed(7);
        net_ = studies::resnet{width, studies::traffic_signs::class_count};
        tensors_ = sp::module_table{net_};
        optimizer_ = std::make_unique<torch::optim::SGD>(net_->parameters(), 1e-3);
    }
    template <class Hook>
    spent run(std::uint64_t steps, Hook& watch) {
        spent const before = spent::now();
        for (std::uint64_t i = 0; i < steps; ++i) {
            watch.begin(sp::train(index_++));
            optimizer_->zero_grad();
            watch.observe("input", input_);
            torch::Tensor const score = net_->forward(input_, [&](std::string const& name, torch::Tensor const& made) {
                return watch.tap(name == "fc" ? "output" : "act/" + name, made);
            });
            torch::Tensor const loss = torch::nn::functional::cross_entropy(score, labels_);
            loss.backward();
            watch.observe("loss", loss);
            sp::observe_module(watch, tensors_);
            (void)watch.end();
            optimizer_->step();
        }
        return spent::now() - before;
    }

private:
    studies::resnet net_{nullptr};
    sp::module_table tensors_;
    std::unique_ptr<torch::optim::SGD> optimizer_;
    torch::Tensor input_, labels_;
    std::uint64_t index_ = 0;
};

struct slowdown {
    std::uint64_t interval = 0;
    std::array<spent, keepings.size()> of{};  // ratios to the training without a hook
};

// Measures in rounds of `chunk` steps, without a hook and with each hook in turn, so that other load on the machine
// affects all alike. Records are written below `folder` and removed.
[[nodiscard]] inline std::vector<slowdown> measure_overhead(studies::pictures const& train, std::int64_t width,
                                                            std::vector<std::uint64_t> const& intervals,
                                                            std::uint64_t chunk, std::string const& folder) {
    studies::pictures const batch = train.at(torch::arange(recipe::batch));
    std::vector<slowdown> found;
    sp::null_hook nobody;
    for (std::uint64_t const interval : intervals) {
        slowdown row{interval, {}};
        std::uint64_t const rounds = std::max<std::uint64_t>(2, interval / chunk);
        for (std::size_t k = 0; k < keepings.size(); ++k) {
            sp::glob const which = keepings[k].first == keeping::all       ? sp::glob{"*"}
                                   : keepings[k].first == keeping::weights ? sp::glob{"*.weight"}
                                                                           : sp::glob{"{input,output}"};
            sp::plan const wanted{sp::collection{"losses", "loss", sp::always{}, sp::payload},
                                  sp::collection{"kept", which, sp::every{interval}, sp::payload}};
            std::string const path = folder + "/measured";
            {
                sp::hook watch{path, wanted, sp::options{.existing = sp::existing::replace}};
                measured_training plain{width, batch}, watched{width, batch};
                (void)plain.run(2, nobody);
                (void)watched.run(2, watch);  // the hook has met all names
                spent without, with;
                for (std::uint64_t i = 0; i < rounds; ++i) {
                    without += plain.run(chunk, nobody);
                    with += watched.run(chunk, watch);
                }
                spent const rest = spent::now();
                watch.finish();
                with.clock += (spent::now() - rest).clock;  // until everything is written
                row.of[k] = {with.thread / without.thread, with.clock / without.clock};
            }
            std::filesystem::remove_all(path);
        }
        found.push_back(row);
    }
    return found;
}

}  // namespace traffic
