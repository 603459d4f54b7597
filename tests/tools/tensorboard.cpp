// SPDX-License-Identifier: Apache-2.0
// export: what TensorBoard itself reads in the files: its loaders, its server, and the page in a browser.
#include <tests/tools/tool.hpp>

#include <spotter/rule/builtin/non_finite.hpp>

#include <cmath>

using namespace spotter;
using namespace spotter_test;

namespace {

void record_run(std::string const& path) {
    plan const keep{collection{"losses", "loss", always{}, payload}, collection{"weights", "fc1/w", every{2}, payload},
                    collection{"half", "half", every{3}, payload}, collection{"input", "input*", every{5}, payload},
                    collection{"gradients", "grad/*", always{}, stats(l2, maximum) | histogram}};
    hook watch{path, keep, non_finite{}};
    watch.scalar("config", "| batch | rate |\n|---|---|\n| 32 | 0.1 |");
    for (std::uint64_t i = 0; i < 60; ++i) {
        // A rewind at step 40: what stood there before is void.
        std::uint64_t const step = i < 50 ? i : i - 10;
        std::vector<float> weights(40 * 50), input(4 * 6 * 8 * 3), grey(2 * 7 * 9);
        for (std::size_t k = 0; k < weights.size(); ++k) { weights[k] = std::sin(static_cast<float>(k + 3 * i)); }
        for (std::size_t k = 0; k < input.size(); ++k) { input[k] = static_cast<float>((k + i) % 256) / 255; }
        for (std::size_t k = 0; k < grey.size(); ++k) { grey[k] = static_cast<float>(k) / 126; }
        if (i == 7) { weights[3] = NAN, weights[4] = INFINITY; }
        std::vector<bf16> half(16);
        for (std::size_t k = 0; k < half.size(); ++k) { half[k].bits = static_cast<std::uint16_t>(0x3F80 + 5 * k); }
        double const loss = i == 20 ? NAN : i == 21 ? INFINITY : std::exp(-0.05 * static_cast<double>(i));
        (void)watch.step(train(step), "loss"_t = loss, "fc1/w"_t = view_of(weights, {40, 50}),
                         "grad/fc1/w"_t = view_of(weights, {40, 50}), "half"_t = view_of(half, {4, 4}),
                         "input"_t = view_of(input, {4, 6, 8, 3}), "input/grey"_t = view_of(grey, {2, 7, 9}));
        watch.scalar("lr", 0.1 / static_cast<double>(i + 1));
        if (i % 5 == 4) { (void)watch.step(eval(i), "loss"_t = 0.5 + loss / 2); }
    }
    watch.finish();
}

// Ends with 77 where something is missing, and says what.
tool_output read_back(std::string const& folder, std::string const& picture) {
    if (python_with("tensorboard").empty()) {
        return {77, "there is no Python with TensorBoard (SPOTTER_PYTHON_VENV)", {}};
    }
    return run_shell(std::string{SPOTTER_PYTHON_VENV} + " '" + SPOTTER_READ_TENSORBOARD + "' '" + SPOTTER_TOOL + "' '" +
                     folder + "/run' '" + folder + "' " + picture + " 2>&1");
}

}  // namespace

TEST_CASE("export: TensorBoard's own loader reads back every scalar, histogram, picture and text [D24]") {
    temporary_folder const folder;
    record_run(folder / "run");
    tool_output const it = read_back(folder / "", "");
    if (it.code == 77) { SPOTTER_SKIP(it.out.c_str()); }
    INFO(it.out);
    CHECK(it.code == 0);
    CHECK(it.says(" scalars, "));
    CHECK_FALSE(it.says(" 0 histograms"));
    CHECK_FALSE(it.says(" 0 pictures"));
}

TEST_CASE("export: TensorBoard's server has the same scalars, and its page draws them in Chromium") {
    temporary_folder const folder;
    record_run(folder / "run");
    tool_output const it = read_back(folder / "", folder / "page.png");
    if (it.code == 77) { SPOTTER_SKIP(it.out.c_str()); }
    INFO(it.out);
    CHECK(it.code == 0);
}
