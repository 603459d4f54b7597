// SPDX-License-Identifier: Apache-2.0
// Compiles, links and runs with the component mpi.
#include <spotter/ext/mpi.hpp>

int main() {
    int begun = 1;
    MPI_Initialized(&begun);
    return begun;
}
