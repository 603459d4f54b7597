// SPDX-License-Identifier: Apache-2.0
// Compiles, links and runs with the component s3.
#include <spotter/ext/s3.hpp>
#include <spotter/trial.hpp>

int main() { return spotter::open_trial("s3://") ? 1 : 0; }  // the bucket is missing
