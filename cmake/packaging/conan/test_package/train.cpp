// SPDX-License-Identifier: Apache-2.0
// A training whose loss becomes a NaN, which spotter finds.
#include <spotter/spotter.hpp>
#if defined(WITH_REPORT)
#include <spotter/report.hpp>
#endif

#include <cstdint>
#include <limits>

int main() {
    using namespace spotter;
    constexpr plan keep{collection{"losses", "loss", always{}, payload}};
    hook watch{"run", keep, options{.existing = existing::replace}, any("loss", nonfinite > 0)};
    for (std::uint64_t i = 0; i < 10; ++i) {
        double const loss = i == 5 ? std::numeric_limits<double>::quiet_NaN() : 1.0 / static_cast<double>(i + 1);
        auto const alarm = watch.step(train(i), "loss"_t = loss);
        if (static_cast<bool>(alarm) != (i == 5)) { return 1; }
#if defined(WITH_REPORT)
        if (alarm) { fmt::print("{}\n", alarm); }
#endif
    }
    watch.finish();
    return watch.health().good() ? 0 : 2;
}
