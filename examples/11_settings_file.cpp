// SPDX-License-Identifier: Apache-2.0
// Changes what is kept without recompiling: the plan comes from the file that SPOTTER_CONFIG names, or else from the
// code.
#include "common/regression.hpp"

#include <spotter/ext/json.hpp>
#include <spotter/rule/builtin/non_finite.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <cstdio>
#include <cstdlib>

namespace sp = spotter;
using namespace sp::literals;

constexpr sp::plan in_code{sp::fallback{.when = sp::every{100}}, sp::defaults::losses, sp::defaults::weights};

// The user of a finished program would write such a file; here the example writes it itself.
constexpr char const* settings = R"({
  // Collections that do not say when: every 50th step.
  "fallback": {"when": {"every": 50}},
  "collections": [
    {"name": "losses"},
    {"name": "weights"},
    {"name": "gradients", "when": {"and": [{"every": 10}, {"during": "train"}]}, "what": ["l2", "maximum_abs"]},
    {"name": "second layer", "pattern": {"and": ["*fc2*", {"not": "grad/*"}]}, "what": ["payload", "mean"]}
  ]
}
)";

static std::size_t train_with(sp::dynamic_plan const& keep) {
    sp::options const replace{.existing = sp::existing::replace};
    sp::hook watch{"runs/settings", keep, sp::non_finite{}, replace};
    example::regression net;
    for (std::uint64_t i = 0; i < 201; ++i) {
        float const loss = net.forward_backward();
        if (watch.step(sp::train(i), "loss"_t = loss, net).decision() == sp::decision::stop) { break; }
        net.update();
    }
    watch.finish();

    sp::trial const run = sp::open_trial(watch.path()).value();
    for (auto const& each : run.collections()) { std::printf("%-13s %s\n", each.name.c_str(), each.what.c_str()); }
    return run["fc1/w"].payload_steps().size();
}

int main() {
    // Without the variable, the plan in the code counts. For a file, the first fault in it is an error, and nothing of
    // the file is applied.
    ::unsetenv("SPOTTER_CONFIG");
    std::size_t const before = train_with(sp::load_plan_or(in_code).value());

    std::FILE* const file = std::fopen("settings.json", "w");
    if (file == nullptr) { return 1; }
    std::fputs(settings, file);
    std::fclose(file);
    ::setenv("SPOTTER_CONFIG", "settings.json", 1);
    sp::result<sp::dynamic_plan> const loaded = sp::load_plan_or(in_code);
    if (!loaded) { return 1; }
    std::size_t const after = train_with(*loaded);

    sp::error const wrong = sp::parse_plan(R"({"collections": [{"name": "weights", "when": {"every": 0}}]})").error();
    std::printf("%s\n", std::string{wrong.what.view()}.c_str());
    std::printf("%s", sp::to_json(in_code).c_str());
    return before == 3 && after == 5 && wrong.code == sp::errc::bad_config &&
                   sp::parse_plan(sp::to_json(in_code)).value() == sp::dynamic_plan{in_code}
               ? 0
               : 1;
}
