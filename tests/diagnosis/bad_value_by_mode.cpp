// SPDX-License-Identifier: Apache-2.0
// A NaN in evaluation, and another in training a step later: both are reported as non-finite values.
#include <spotter/hook.hpp>
#include <spotter/packs.hpp>

#include <tests/catch.hpp>

#include <limits>
#include <string>
#include <vector>

using namespace spotter;

namespace {

constexpr float no_number = std::numeric_limits<float>::quiet_NaN();

// The first finding of each alarm, for a falling loss that is NaN at `eval_at` in evaluation, and from `train_at` on in
// training.
template <class Pack>
std::vector<std::string> alarms_of(Pack const& pack, std::uint64_t eval_at, std::uint64_t train_at) {
    hook watch{plan<>{}, pack};
    std::vector<std::string> reported;
    auto const note = [&](step_alarm const& alarm) {
        if (!alarm) { return; }
        finding const& first = alarm.front();
        reported.push_back(std::string{first.rule} + ' ' + std::string{name_of(first.step.mode)} + '(' +
                           std::to_string(first.step.index) + ')');
    };
    for (std::uint64_t i = 0; i < 80; ++i) {
        float const loss = 1.0F / static_cast<float>(i + 1);
        if (i % 10 == 0) {
            watch.begin(eval(i));
            watch.observe("loss", i == eval_at ? no_number : loss);
            note(watch.end());
        }
        watch.begin(train(i));
        watch.observe("loss", i >= train_at ? no_number : loss);
        note(watch.end());
    }
    return reported;
}

}  // namespace

TEST_CASE("values that are no numbers in evaluation and then in training are two findings of non_finite; what follows "
          "in training is none") {
    using said = std::vector<std::string>;
    for (std::uint64_t const behind : {1U, 2U, 9U}) {
        said const both{"non_finite eval(50)", "non_finite train(" + std::to_string(50 + behind) + ")"};
        CHECK(alarms_of(packs::supervised, 50, 50 + behind) == both);
        CHECK(alarms_of(packs::rl, 50, 50 + behind) == both);
    }
    CHECK(alarms_of(packs::supervised, 50, 1000) == said{"non_finite eval(50)"});
    CHECK(alarms_of(packs::supervised, 1000, 51) == said{"non_finite train(51)"});
    CHECK(alarms_of(packs::supervised, 60, 51) == said{"non_finite train(51)"});  // evaluation follows from it
}
