// SPDX-License-Identifier: Apache-2.0
// The cost of deciding together at each step for ranks, compared with a plain MPI_Allreduce of the same bytes: mpirun
// -n 4 bench_ranks
#include "bench.hpp"

#include <spotter/ext/mpi.hpp>
#include <spotter/spotter.hpp>

using namespace spotter;

int main() {
    MPI_Init(nullptr, nullptr);
    {
        collective ranks{MPI_COMM_WORLD};
        hook watch{plan{}};
        bench::samples agreed, plain;
        std::size_t const rounds = bench::rounds(200, 5), calls = 100;
        std::uint64_t step = 0;
        bool fine = true;
        for (std::size_t i = 0; i < rounds; ++i) {
            agreed.time(calls, [&] {
                ++step;
                fine = fine && !ranks.agree(watch, train(step), step_alarm{});
            });
            plain.time(calls, [] {
                std::uint64_t const mine[6] = {};
                std::uint64_t all[6];
                MPI_Allreduce(mine, all, 6, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
            });
        }
        if (ranks.rank() == 0) {
            std::printf("%u ranks%s\n", ranks.size(), fine ? "" : ", and something went wrong");
            bench::figure("an agreement", agreed.median() * 1e-3, "us",
                          bench::control("a plain MPI_Allreduce", plain.median() * 1e-3, "us"));
        }
    }
    MPI_Finalize();
}
