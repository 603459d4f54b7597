// SPDX-License-Identifier: Apache-2.0
// checkpoints: each one's state with the reason, in words and as a document; of runs without any, and of what is no
// run.
#include <spotter/checkpoints.hpp>
#include <tests/tools/tool.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

void record_checkpoints(std::string const& path, std::string const& into) {
    hook watch{path, plan{}, any("w", maximum > 5.0)};
    checkpoints kept{into, {.as = dtype::f16}};
    std::vector<float> w(4, 1);
    for (std::uint64_t i = 0; i < 40; ++i) {
        w[0] = i >= 15 && i < 18 ? 9.0F : 1.0F;
        (void)watch.step(i, "w"_t = w);
        w[1] = i == 30 ? 1e6F : 1.0F;
        if (i % 10 == 0) { (void)kept.save(watch, train(i), "w"_t = w); }
    }
}

}  // namespace

TEST_CASE("checkpoints: good, bad with the finding behind it, refused with the tensor") {
    temporary_folder const folder;
    record_checkpoints(folder / "run", folder / "kept");
    tool_output const text = ask("checkpoints " + folder / "run");
    CHECK(text.code == 0);
    CHECK(text.out == "train(0)  good\n"
                      "train(10)  bad: any at train(15)\n"
                      "train(20)  good\n"
                      "train(30)  refused: w: 1 of 4 values are not finite as f16\n");
    auto const document = ask("checkpoints " + folder / "run" + " --json").document();
    REQUIRE(document.at("checkpoints").size() == 4);
    CHECK(document.at("checkpoints")[1].at("state") == "bad");
    CHECK(document.at("checkpoints")[1].at("step").at("index") == 10);
    CHECK(document.at("checkpoints")[0].at("time") > 1.6e9);
}

TEST_CASE("checkpoints: a run without any, and what is no run") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything};
        (void)watch.step(0, "loss"_t = 1.0F);
        watch.scalar("checkpoint", "of another kind");
    }
    tool_output const none = ask("checkpoints " + folder / "run");
    CHECK(none.code == 0);
    CHECK(none.out == "The record has no checkpoints.\n");
    CHECK(ask("checkpoints " + folder / "nothing").code == 3);
}
