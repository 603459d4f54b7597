// SPDX-License-Identifier: Apache-2.0
// A data-parallel training over MPI with a fault in one rank. Usage: ranks WHAT FOLDER. Each rank prints a line;
// tests/ext/mpi.cpp starts it.
#include <spotter/ext/mpi.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>

#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include <unistd.h>

namespace sp = spotter;
using namespace sp::literals;

namespace {

// A linear model, replicated in every rank and trained on the rank's own data; gradients are averaged over all ranks.
struct replica {
    std::vector<float> w = std::vector<float>(8 * 4, 0.1F), b = std::vector<float>(4, 0.01F);
    float temperature = 1;
    std::vector<float> gradient = std::vector<float>(8 * 4), sum = std::vector<float>(8 * 4);
    unsigned random;
    explicit replica(int rank) : random{static_cast<unsigned>(rank) + 1} {}

    float compute() {
        float loss = 0;
        for (std::size_t i = 0; i < w.size(); ++i) {
            random = random * 1664525U + 1013904223U;
            float const target = static_cast<float>(i % 5) * 0.2F + static_cast<float>(random >> 8) * 0x1p-28F;
            gradient[i] = 2 * (w[i] - target);
            loss += (w[i] - target) * (w[i] - target);
        }
        return loss;
    }
    void average(int ranks) {
        MPI_Allreduce(gradient.data(), sum.data(), static_cast<int>(sum.size()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        for (std::size_t i = 0; i < w.size(); ++i) { gradient[i] = sum[i] / static_cast<float>(ranks); }
    }
    void update() {
        for (std::size_t i = 0; i < w.size(); ++i) { w[i] -= 0.05F * gradient[i]; }
    }
};

// A late rank comes while this function works. Returns how many bytes of its own memory were changed by others.
[[gnu::noinline]] int overwritten_later() {
    unsigned char volatile own[16384];
    for (unsigned char volatile& each : own) { each = 0xA5; }
    for (int i = 0; i < 200; ++i) {
        int any = 0;
        MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_WORLD, &any, MPI_STATUS_IGNORE);  // lets MPI go on
        ::usleep(10'000);
    }
    int changed = 0;
    for (unsigned char volatile const& each : own) { changed += each != 0xA5 ? 1 : 0; }
    return changed;
}

}  // namespace

int main(int count, char** arguments) {
    if (count < 3) { return 2; }
    std::string const what = arguments[1], folder = arguments[2];
    MPI_Init(nullptr, nullptr);
    int code = 0;
    {
        sp::collective ranks{MPI_COMM_WORLD,
                             {.every = what == "seldom" ? 5U : 1U,
                              .patience = std::chrono::milliseconds{what == "hangs" ? 300 : 20'000}}};
        auto const rank = static_cast<int>(ranks.rank());
        constexpr sp::plan keep{sp::collection{"loss", "loss", sp::always{}, sp::payload}};
        constexpr auto rules =
            sp::non_finite{} || (sp::any("loss", sp::maximum > 100) | sp::named{"too_high"} | sp::severity::error);
        sp::hook watch{folder + "/run", keep, rules, ranks.digest(), ranks.options()};
        replica net{rank};
        std::string said;
        std::uint64_t last = 0;
        bool uncompared = false;
        for (std::uint64_t i = 0; i < 40; ++i) {
            last = i;
            float loss = net.compute();
            if (what == "corrupt" && rank == 2 && i == 9) { net.gradient[3] = std::numeric_limits<float>::quiet_NaN(); }
            if (what == "stops" && rank == 1 && i == 12) { loss = 1000; }
            if (what == "seldom" && rank == 1 && i == 12) { loss = 1000; }
            if (what == "flips" && rank == 3 && i == 7) { net.w[5] = std::nextafter(net.w[5], 10.0F); }
            if (what == "flips_bias" && rank == 1 && i == 5) { net.b[3] = std::nextafter(net.b[3], 10.0F); }
            if (what == "flips_number" && rank == 2 && i == 3) {
                net.temperature = std::nextafter(net.temperature, 10.0F);
            }
            bool const shown = what != "unseen" && (what != "unseen_by_one" || rank != 2 || i < 4);
            if (what == "hangs" && rank == 2 && i == 6) {
                ::usleep(1'500'000);
                said += " slept";
            }
            std::uint64_t const step = what == "ahead" && rank == 1 && i >= 20 ? i + 1 : i;
            watch.begin(sp::train(step));
            if (shown && (what != "any_order" || rank != 1)) { watch.observe("fc/w", sp::view_of(net.w, {8, 4})); }
            if (shown) { watch.observe("fc/b", net.b); }
            if (shown) { watch.observe("softmax/temperature", net.temperature, sp::role::weight); }
            if (what == "any_order" && rank == 1) { watch.observe("fc/w", sp::view_of(net.w, {8, 4})); }
            auto const found = watch.end("loss"_t = loss, "grad/fc/w"_t = sp::view_of(net.gradient, {8, 4}));
            sp::agreement const all = ranks.agree(watch, sp::train(step), found);
            if (all.alone) {
                said += " alone: " + std::string{ranks.trouble().what.view()};
                if (what == "hangs") { said += ", overwritten " + std::to_string(overwritten_later()); }
                break;
            }
            if (all.replicas_differ) {
                said += " odd " + std::to_string(all.odd_rank) + "/" + std::to_string(all.odd_ranks) + " at " +
                        std::to_string(i);
            }
            uncompared = uncompared || (!all.replicas_compared && (what != "seldom" || i % 5 == 0));
            if (all.steps_differ) {
                said += " ahead " + std::to_string(all.rank_ahead) + " at " + std::to_string(all.step_ahead.index);
            }
            if (all.replicas_differ || all.steps_differ) { break; }
            if (all.decision == sp::decision::stop) {
                said += " stopped by " + std::to_string(all.asked_by);
                break;
            }
            if (all.decision == sp::decision::skip_update) {
                said += " skipped by " + std::to_string(all.asked_by);
                continue;
            }
            net.average(static_cast<int>(ranks.size()));
            net.update();
        }
        if (uncompared) { said += " not compared"; }
        watch.finish();
        code = watch.health().good() ? 0 : 1;
        std::string const line = "rank " + std::to_string(rank) + " of " + std::to_string(ranks.size()) + said +
                                 "; last " + std::to_string(last) + ", w " + std::to_string(net.w[3]) + ", health " +
                                 std::to_string(code) + "\n";
        std::FILE* const file = std::fopen((folder + "/said-" + std::to_string(rank)).c_str(), "w");
        std::fputs(line.c_str(), file);
        std::fclose(file);
        if (what == "hangs") {  // ranks that lost each other end at different times, and mpirun ends all with the first
            ::usleep(1'000'000);
            ::_exit(0);
        }
    }
    MPI_Finalize();
    return code;
}
