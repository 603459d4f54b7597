// SPDX-License-Identifier: Apache-2.0
// A training loop in C++14 that asks for verdicts before it updates, skips what is bad, and ends its run as failed.
#include "read_back.h"

#include <spotter/c/spotter.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace {

struct destroy {
    void operator()(spotter_hook* hook) const { spotter_destroy(hook); }
};

int failures = 0;
void check(bool so, char const* what) {
    if (so) { return; }
    std::fprintf(stderr, "not so: %s\n", what);
    ++failures;
}

}  // namespace

int main() {
    std::string path;
    std::vector<double> weights(6, 0.5);
    {
        std::unique_ptr<spotter_hook, destroy> const watch{spotter_create("runs/loop_14")};
        spotter_uint64 const shape[] = {2, 3};
        spotter_uint64 const bits_of_infinity = spotter_uint64{0x7FF} << 52;  // -ffast-math has no infinity
        spotter_int64 const column_major[] = {sizeof(double), 2 * sizeof(double)};
        for (spotter_uint64 step = 0; step < 30; ++step) {
            double loss = 0;
            for (double const weight : weights) { loss += weight * weight; }
            if (step == 20) { std::memcpy(&loss, &bits_of_infinity, sizeof loss); }
            spotter_begin(watch.get(), step % 10 == 9 ? SPOTTER_EVAL : SPOTTER_TRAIN, step);
            spotter_observe_as(watch.get(), "theta", SPOTTER_ROLE_WEIGHT, SPOTTER_FLAG_FROZEN, SPOTTER_F64,
                               weights.data(), 2, shape, column_major);
            spotter_observe_f64(watch.get(), "loss", &loss, 0, nullptr);
            spotter_scalar_at(watch.get(), "clock", 0.25, 1.5e9);
            if (spotter_end(watch.get()).decision == SPOTTER_STOP) {
                check(step == 20, "stopped at 20");
                spotter_finding found;
                check(spotter_get_finding(watch.get(), 0, &found) == 1, "there is a finding");
                check(std::string{found.tensor} == "loss", "the loss is named");
                spotter_fail(watch.get(), "the loss is infinite");
                break;
            }
            weights[1] += 1;  // element (1, 0), column-major
        }
        check(spotter_get_health(watch.get(), nullptr) == SPOTTER_OK, "in good health");
        path = spotter_path(watch.get());
    }
    check(recorded_steps(path.c_str()) == 21, "21 steps are recorded");
    check(recorded(path.c_str(), "theta", 10, 3) == 10.5, "columns come back as rows");
    check(recorded(path.c_str(), "clock", 3, 0) == 0.25, "a scalar with a time");
    check(recorded_failure(path.c_str()) == 1, "the run ended as failed");
    return failures != 0 ? 1 : 0;
}
