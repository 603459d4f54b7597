// SPDX-License-Identifier: Apache-2.0
#include <spotter/ext/mpi.hpp>

int main() {
    int begun = 1;
    MPI_Initialized(&begun);
    return begun;
}
