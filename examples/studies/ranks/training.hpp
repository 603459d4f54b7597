// SPDX-License-Identifier: Apache-2.0
// One rank of a data-parallel training of the net in examples/digits, and the fault of one of the ranks.
#pragma once

#include "../../digits/network.hpp"

#include <spotter/ext/mpi.hpp>
#include <spotter/rule/builtin/gradient_spike.hpp>
#include <spotter/rule/builtin/non_finite.hpp>
#include <spotter/spotter.hpp>

#include <array>
#include <bit>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace ranks_study {

namespace sp = spotter;
using namespace sp::literals;

inline constexpr int rank_count = 4;
inline constexpr std::uint64_t steps = 400;

enum class fault { none, corrupt, replica, slow, dies };
inline constexpr std::array<std::pair<std::string_view, fault>, 5> faults{{{"none", fault::none},
                                                                           {"corrupt", fault::corrupt},
                                                                           {"replica", fault::replica},
                                                                           {"slow", fault::slow},
                                                                           {"dies", fault::dies}}};

// The affected rank, time and place: drawn from the seed.
struct mishap {
    fault kind = fault::none;
    int rank = 0;
    std::uint64_t step = 0;
    std::size_t layer = 0, element = 0;
    unsigned bit = 0;
    std::chrono::microseconds after{};  // from the first step to the kill

    mishap(fault what, std::uint64_t seed) : kind{what} {
        example::prng random{seed * 8 + static_cast<std::uint64_t>(what) + 1};
        auto const below = [&](std::uint64_t end) {
            return static_cast<std::uint64_t>(random.uniform(0, 1) * static_cast<float>(end)) % end;
        };
        rank = static_cast<int>(below(rank_count));
        step = 120 + below(240);
        layer = static_cast<std::size_t>(below(3));
        element = static_cast<std::size_t>(below(320));
        bit = kind == fault::replica ? static_cast<unsigned>(below(31)) : 30;  // 30: the highest of the exponent
        after = std::chrono::microseconds{static_cast<long>(below(1'000'000))};
    }
    [[nodiscard]] bool meets(int its, std::uint64_t now) const noexcept { return its == rank && now == step; }
    [[nodiscard]] std::string weight() const { return "fc" + std::to_string(layer + 1) + "/w"; }
};

inline void flip(std::vector<float>& values, mishap const& it) noexcept {
    std::size_t element = it.element % values.size();
    // The gradient of an always white pixel is zero.
    while (values[element] == 0.0F && ++element < values.size()) {}
    float& value = values[element < values.size() ? element : 0];
    value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ (1U << it.bit));
}

inline constexpr sp::plan keep{sp::collection{"losses", "loss", sp::always{}, sp::payload}};
inline constexpr auto rules = sp::on(sp::non_finite{} || sp::gradient_spike{}, sp::skip_update);

// Averages over all ranks, in place.
inline void average(digits::network& net) {
    for (digits::layer& each : net.layers()) {
        for (std::vector<float>* values : {&each.grad_w.values, &each.grad_b}) {
            MPI_Allreduce(MPI_IN_PLACE, values->data(), static_cast<int>(values->size()), MPI_FLOAT, MPI_SUM,
                          MPI_COMM_WORLD);
            for (float& value : *values) { value /= rank_count; }
        }
    }
}

[[nodiscard]] inline double accuracy(digits::network& net, digits::dataset const& test) {
    net.forward(test);
    return static_cast<double>(net.correct()) / static_cast<double>(test.size());
}

// A rank of the program, started by mpirun. `heeds`: acts on the ranks' common decision. Writes its result to
// OUT/said-RANK, and before that the number of each closed step to OUT/closed-RANK.
inline int train_rank(digits::split const& data, mishap const& what, std::uint64_t seed, bool heeds,
                      std::string const& out) {
    MPI_Init(nullptr, nullptr);
    {
        sp::collective ranks{MPI_COMM_WORLD};
        auto const rank = static_cast<int>(ranks.rank());
        sp::hook watch{out + "/run", keep, rules, ranks.digest(),
                       ranks.options({.ring_in = sp::ring_in::shared_memory})};
        if (sp::health_report const health = watch.health(); !health.good()) {
            std::fprintf(stderr, "rank %d: %.*s\n", rank, static_cast<int>(health.first_error.what.view().size()),
                         health.first_error.what.view().data());
        }
        example::prng random{seed}, own{seed * 1000 + static_cast<std::uint64_t>(rank) + 1};
        digits::network net{{digits::pixel_count, 64, 32, digits::class_count}, random};
        std::FILE* const closed = std::fopen((out + "/closed-" + std::to_string(rank)).c_str(), "wb");
        std::thread killer;
        bool same = true;
        std::uint64_t const end = what.kind == fault::dies ? ~std::uint64_t{0} : steps;
        std::vector<std::size_t> order;
        for (std::uint64_t i = 0; i < end; ++i) {
            watch.begin(sp::train(i));
            {
                auto const part = watch.section("compute");
                if (order.size() < 32) { order = example::shuffled_indices(data.train.size(), own); }
                net.forward(digits::gather(data.train, std::span{order}.last(32)));
                order.resize(order.size() - 32);
                net.backward();
                if (what.kind == fault::corrupt && what.meets(rank, i)) {
                    flip(net.layers()[what.layer].grad_w.values, what);
                }
                if (what.kind == fault::replica && what.meets(rank, i)) {
                    flip(net.layers()[what.layer].w.values, what);
                }
                if (what.kind == fault::slow && rank == what.rank && i >= what.step) {
                    std::this_thread::sleep_for(std::chrono::milliseconds{3});
                }
                if (what.kind == fault::dies && rank == what.rank && i == 0) {
                    killer = std::thread{[&what] {
                        std::this_thread::sleep_for(what.after);
                        std::raise(SIGKILL);
                    }};
                }
            }
            auto const found = watch.end(net, "loss"_t = net.loss());
            if (closed != nullptr) {
                std::fseek(closed, 0, SEEK_SET), std::fwrite(&i, sizeof i, 1, closed), std::fflush(closed);
            }
            sp::agreement const all = ranks.agree(watch, sp::train(i), found);
            if (heeds && (all.replicas_differ || all.alone || all.decision == sp::decision::stop)) {
                same = false;
                break;
            }
            if (heeds && all.decision == sp::decision::skip_update) { continue; }
            {
                auto const part = watch.section("allreduce");
                average(net);
            }
            net.update(0.1F, 0.9F);
        }
        if (std::FILE* const file = std::fopen((out + "/said-" + std::to_string(rank)).c_str(), "w"); file != nullptr) {
            std::fprintf(file, "%d %016llx %.4f\n", same ? 1 : 0,
                         static_cast<unsigned long long>(digits::fingerprint(net)), accuracy(net, data.test));
            std::fclose(file);
        }
        if (closed != nullptr) { std::fclose(closed); }
        watch.finish();
    }
    MPI_Finalize();
    return 0;
}

}  // namespace ranks_study
