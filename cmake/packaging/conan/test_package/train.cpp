// SPDX-License-Identifier: Apache-2.0
// A loss that becomes a NaN is found, recorded and read back.
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>
#if defined(WITH_REPORT)
#include <spotter/report.hpp>
#endif

#include <cstdint>
#include <limits>

int main() {
    using namespace spotter;
    constexpr plan keep{collection{"losses", "loss", always{}, payload}};
    bool found = false;
    {
        hook watch{"run", keep, options{.existing = existing::replace}, any("loss", nonfinite > 0)};
        for (std::uint64_t i = 0; i < 10; ++i) {
            double const loss = i == 5 ? std::numeric_limits<double>::quiet_NaN() : 1.0 / static_cast<double>(i + 1);
            auto const alarm = watch.step(train(i), "loss"_t = loss);
#if defined(WITH_REPORT)
            if (alarm) { fmt::print("{}\n", alarm); }
#endif
            found = found || (alarm && i == 5);
        }
    }
    auto const run = open_trial("run");
    if (!found || !run) { return 1; }
    auto const last = (*run)["loss"].at(train(9)).to<double>();
    return last && *last > 0.09 && *last < 0.11 ? 0 : 2;
}
