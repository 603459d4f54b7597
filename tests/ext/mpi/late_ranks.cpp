// SPDX-License-Identifier: Apache-2.0
// Ranks whose weights are in a device's memory, where a step is judged later, by each rank at another time. Usage:
// late_ranks WHAT FOLDER. Each rank prints a line; tests/ext/mpi.cpp starts it.
#include <spotter/ext/mpi.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>

#include <tests/ext/cuda/device.hpp>

#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace sp = spotter;
using namespace sp::literals;

int main(int count, char** arguments) {
    if (count < 3) { return 2; }
    std::string const what = arguments[1], folder = arguments[2];
    MPI_Init(nullptr, nullptr);
    int code = 0;
    {
        sp::collective ranks{MPI_COMM_WORLD, {.every = what == "late_seldom" ? 3U : 1U}};
        fake_cuda& card = spotter_test::card();
        sp::cuda_device gpu{spotter_test::stand_in()};
        constexpr sp::plan keep{sp::collection{"loss", "loss", sp::always{}, sp::payload}};
        sp::hook watch{folder + "/run", keep, sp::non_finite{}, ranks.digest(), ranks.options(), gpu.tensors()};
        std::vector<std::unique_ptr<spotter_test::on_card<float>>> weights;  // by step: the card may read them later
        for (std::uint64_t i = 0; i < 30; ++i) {
            std::vector<float> w(32, 0.5F + static_cast<float>(i));
            if (what != "late" && ranks.rank() == 2 && i >= 7) { w[5] = std::nextafter(w[5], 99.0F); }
            weights.push_back(std::make_unique<spotter_test::on_card<float>>(w));
        }
        std::string said;
        std::uint64_t compared = 0;
        for (std::uint64_t i = 0; i < 30; ++i) {
            card.held = ranks.rank() == 1 && i >= 5 && i < 10;  // this rank's card is behind
            auto const found = watch.step(sp::train(i), "fc/w"_t = weights[i]->whole(), "loss"_t = 1.0F);
            sp::agreement const all = ranks.agree(watch, sp::train(i), found);
            compared += all.replicas_compared ? 1U : 0U;
            if (all.replicas_differ) {
                said += " odd " + std::to_string(all.odd_rank) + "/" + std::to_string(all.odd_ranks) + " of step " +
                        std::to_string(all.compared_step.index);
                break;
            }
        }
        card.held = false;
        watch.finish();
        code = watch.health().good() ? 0 : 1;
        std::string const line = "rank " + std::to_string(ranks.rank()) + said + "; compared " +
                                 std::to_string(compared) + ", health " + std::to_string(code) + "\n";
        std::FILE* const file = std::fopen((folder + "/said-" + std::to_string(ranks.rank())).c_str(), "w");
        std::fputs(line.c_str(), file);
        std::fclose(file);
    }
    MPI_Finalize();
    return code;
}
