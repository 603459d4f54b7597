// SPDX-License-Identifier: Apache-2.0
// info: what each collection, and what each rule extracts, takes on the disk.
#include <tests/tools/tool.hpp>

#include <spotter/rule/builtin/dormant_units.hpp>
#include <spotter/rule/builtin/unrelated_predictions.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

struct even {
    using kind = policy_kind;
    [[nodiscard]] constexpr bool operator()(step_id step) const noexcept { return step.index % 2 == 0; }
};

}  // namespace

TEST_CASE("info: what collections cost adds up to what the run takes, whatever is packed, and rules stand apart") {
    temporary_folder const folder;
    plan const keep{collection{"weights", "fc1/w", always{}, payload}, collection{"more", "fc1/*", always{}, stats(l2)},
                    collection{"losses", "loss", always{}, payload}};
    {
        hook watch{folder / "run", keep, any("free", l2 > 1e9), dormant_units{}};
        for (std::uint64_t i = 0; i < 50; ++i) {
            std::vector<float> const values = weights_at(i);
            auto const view = view_of(values.data(), {height, width});
            watch.begin(train(i));
            watch.observe("hidden", view, role::activation);
            watch.observe("fc1/w", view), watch.observe("fc1/b", view), watch.observe("free", view);
            watch.scalar("loss", 0.5);
            (void)watch.end();
        }
    }
    auto const it = ask("info --json " + folder / "run").document();
    auto const& collections = it.at("collections");
    REQUIRE(collections.size() == 3);
    CHECK(collections.at(0).at("values_bytes") == it.at("bytes").at("values"));  // and no other keeps any
    CHECK(collections.at(0).at("values_bytes") > 50'000);
    CHECK(collections.at(1).at("values_bytes") == 0);
    CHECK(collections.at(1).at("rows_bytes") > 50 * 8);
    CHECK(collections.at(2).at("rows_bytes") >= 50 * 8);
    CHECK(collections.at(2).at("rows_bytes") < 50 * 40);
    CHECK(it.at("bytes_for_rules") > 50 * 8);
    std::uint64_t features = 0;
    for (auto const& each : it.at("features")) { features += each.at("bytes").get<std::uint64_t>(); }
    std::uint64_t rows = it.at("bytes_for_rules").get<std::uint64_t>() + features;
    for (auto const& each : collections) { rows += each.at("rows_bytes").get<std::uint64_t>(); }
    CHECK(rows < it.at("bytes").at("rows"));
    CHECK(2 * rows > it.at("bytes").at("rows"));
    REQUIRE(it.at("features").size() == 1);
    CHECK(it.at("features").at(0).at("rule") == "dormant_units");
    tool_output const text = ask("info " + folder / "run");
    INFO(text.out);
    CHECK(text.says("  takes     weights: "));
    CHECK(text.says("  takes     losses: "));
    CHECK(text.says("  takes     statistics that rules alone ask for: "));
    CHECK(text.says("  takes     features for dormant_units, which judged nothing: "));
}

TEST_CASE("info: scalars in no collection are no cost of rules") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", plan{collection{"weights", "fc1/w", every{10}, payload}}};
        for (std::uint64_t i = 0; i < 50; ++i) {
            std::vector<float> const values = weights_at(i);
            watch.begin(train(i));
            watch.observe("fc1/w", view_of(values.data(), {height, width}));
            watch.scalar("rate", 0.5 + static_cast<double>(i));
            (void)watch.end();
        }
    }
    CHECK(ask("info --json " + folder / "run").document().at("bytes_for_rules") == 0);
    tool_output const text = ask("info " + folder / "run");
    INFO(text.out);
    CHECK(text.says("  takes     scalars in no collection: "));
    CHECK(!text.says("rules"));
}

TEST_CASE("info: what rules keep of a collection at other steps is their cost") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", plan{collection{"weights", "fc1/w", never{}, payload}}, any("fc1/w", l2 > 1e9)};
        for (std::uint64_t i = 0; i < 50; ++i) {
            std::vector<float> const values = weights_at(i);
            (void)watch.step(train(i), "fc1/w"_t = view_of(values.data(), {height, width}));
        }
    }
    tool_output const text = ask("info " + folder / "run");
    INFO(text.out);
    CHECK(text.says("  takes     statistics that rules alone ask for: "));
    CHECK(!text.says("  takes     weights: "));
}

TEST_CASE("info: a rule without targets takes features of predictions in the first step alone, and that is said") {
    temporary_folder const folder;
    plan const keep{collection{"losses", "loss"}};
    auto const bytes_of = [&](bool targets) {
        std::string const path = folder / (targets ? "with" : "without");
        {
            hook watch{path, keep, unrelated_predictions{}};
            for (std::uint64_t i = 0; i < 50; ++i) {
                std::vector<float> const values = weights_at(i);
                watch.begin(train(i));
                watch.observe("logits", view_of(values.data(), {height, width}), role::prediction);
                if (targets) { watch.observe("labels", view_of(values.data(), {height, width}), role::label); }
                (void)watch.end();
            }
        }
        auto const it = ask("info --json " + path).document();
        return it.at("features").at(0).at("bytes").get<std::uint64_t>();
    };
    CHECK(bytes_of(true) > 50 * 100);
    CHECK(bytes_of(false) < 2 * 64 * 8);
    CHECK(ask("info " + folder / "without").says("features for unrelated_predictions, which judged nothing: "));
}

TEST_CASE("info: what the plan alone would have recorded, and what rules add to it") {
    temporary_folder const folder;
    // The same loop with rules and without.
    plan const keep{collection{"gradients", "grad/*", every{10} && during{mode::train}, stats(l2)},
                    collection{"losses", "loss", always{}, payload}};
    auto const record = [&](std::string const& path, auto const&... rules) {
        hook watch{path, keep, rules...};
        for (std::uint64_t i = 0; i < 300; ++i) {
            std::vector<float> const values = weights_at(i);
            watch.begin(train(i));
            watch.observe("grad/fc1/w", view_of(values.data(), {height, width}));
            watch.scalar("loss", 0.5);
            (void)watch.end();
        }
    };
    record(folder / "ruled", all("grad/*", l2 < 0.0), any("free", l2 > 1e9));
    record(folder / "plain");
    auto const ruled = ask("info --json " + folder / "ruled").document();
    auto const plain = ask("info --json " + folder / "plain").document();
    auto const alone = ruled.at("bytes_plan_alone").get<double>(), added = ruled.at("bytes_rules_add").get<double>();
    CHECK(plain.at("bytes_rules_add") == 0);
    CHECK(added > 270 * 8);
    CHECK(alone > 0.7 * plain.at("bytes_plan_alone").get<double>());
    CHECK(alone < 1.3 * plain.at("bytes_plan_alone").get<double>());
    CHECK(ask("info " + folder / "ruled").says("  plan      alone: "));
    CHECK(ask("info " + folder / "ruled").says("`rule | only{every{10}}`"));
    CHECK(!ask("info " + folder / "plain").says("  plan      alone: "));
    // When a policy is a function of the program, nobody knows.
    {
        hook watch{folder / "own", plan{collection{"all", "*", even{}}}};
        (void)watch.step(0, "loss"_t = 0.5);
    }
    CHECK(ask("info --json " + folder / "own").document().at("bytes_plan_alone").is_null());
}
