// SPDX-License-Identifier: Apache-2.0
// check --self-test and report --self-test: which faults a run would have noticed, in words, as a document, on the
// page.
#include <spotter/rules.hpp>
#include <tests/tools/tool.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

void record_a_falling_loss(std::string const& path, std::uint64_t steps) {
    hook watch{path, plan{collection{"all", "*", always{}}}};
    for (std::uint64_t i = 0; i < steps; ++i) {
        (void)watch.step(i,
                         "loss"_t = 1.0F + 2.0F / (1.0F + 0.05F * static_cast<float>(i)) + (i % 3 == 0 ? 0.01F : 0.0F));
    }
}

}  // namespace

TEST_CASE("check --self-test: noticed, missed and unseen, each with its reason") {
    temporary_folder const folder;
    record_a_falling_loss(folder / "run", 600);
    tool_output const text =
        ask("check " + folder / "run" + " --self-test --rules non_finite --rules loss_not_decreasing");
    CHECK(text.code == 0);
    CHECK(text.says("would have been noticed"));
    CHECK(text.says("noticed  nan_loss             the loss is not a number: non_finite at once"));
    CHECK(text.says("noticed  flat_loss            the loss stands still: loss_not_decreasing after "));
    CHECK(text.says(
        "unseen   nan_gradient         one value of a gradient is not a number: the record shows no gradients"));
    auto const document = ask("check " + folder / "run" + " --self-test --json --rules non_finite").document();
    auto const& faults = document.at("self_test").at(0).at("faults");
    CHECK(faults.size() > 12);
    for (auto const& each : faults) {
        if (each.at("fault") == "flat_loss") {
            CHECK(each.at("verdict") == "missed");
            CHECK(each.at("silent").at(0).at("why") == "not among the rules");
        }
    }
}

TEST_CASE("check --self-test: of what was seen without its values it says so, and what would keep them") {
    temporary_folder const folder;
    {
        hook watch{folder / "run",
                   plan{collection{"losses", role::loss}, collection{"labels", role::label, always{}, stats(mean)}}};
        std::vector<std::int32_t> const labels{0, 1, 2, 0};
        for (std::uint64_t i = 0; i < 60; ++i) {
            (void)watch.step(i, "loss"_t = 1.0F / (1.0F + static_cast<float>(i)), "labels"_t = labels);
        }
    }
    tool_output const text = ask("check " + folder / "run" + " --self-test");
    CHECK(text.says("all samples of a batch have one label: the plan keeps no values of labels in train: "
                    "a collection of \"labels\" with `payload`, due in train, keeps them"));
    CHECK(text.says("the same output for every sample, and the loss stands still: the record shows no predictions\n"));
}

TEST_CASE("check --self-test: of values that are kept in evaluation alone it says in which mode they lack") {
    temporary_folder const folder;
    {
        hook watch{folder / "run",
                   plan{collection{"losses", role::loss}, collection{"seen", role::label, always{}, stats(mean)},
                        collection{"labels", role::label, during{mode::eval}, payload}}};
        std::vector<std::int32_t> const labels{0, 1, 2, 0};
        for (std::uint64_t i = 0; i < 60; ++i) {
            (void)watch.step(i, "loss"_t = 1.0F / (1.0F + static_cast<float>(i)), "labels"_t = labels);
            if (i % 10 == 9) { (void)watch.step(eval(i), "labels"_t = labels); }
        }
    }
    CHECK(ask("check " + folder / "run" + " --self-test").says("the plan keeps no values of labels in train: "));
}

TEST_CASE("check --self-test: a fault that would begin after the record's end is not blamed on the plan") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", plan{collection{"all", "*"}}};
        std::vector<float> const gradient{0.5F, -0.25F};
        for (std::uint64_t i = 0; i < 40; ++i) {
            (void)watch.step(i, "loss"_t = 1.0F / (1.0F + static_cast<float>(i)), "grad/w"_t = gradient);
        }
    }
    tool_output const text = ask("check " + folder / "run" + " --self-test");
    CHECK(text.says("at every 50th step: the record is too short: the fault begins after its last steps"));
    CHECK_FALSE(text.says("the plan keeps no  of"));
}

TEST_CASE("check --self-test: what is too short, no run, or has no such rule") {
    temporary_folder const folder;
    record_a_falling_loss(folder / "run", 20);
    tool_output const few = ask("check " + folder / "run" + " --self-test");
    CHECK(few.code == 7);
    CHECK(few.says("too short"));
    CHECK(ask("check " + folder / "nothing" + " --self-test").code == 3);
    CHECK(ask("check " + folder / "run" + " --self-test --rules no_such_rule").code == 2);
}

TEST_CASE("report --self-test: a section of the page says what the run would not have noticed") {
    temporary_folder const folder;
    record_a_falling_loss(folder / "run", 600);
    CHECK(ask("report " + folder / "run" + " --self-test -o " + folder / "page.html").code == 0);
    std::vector<char> const bytes = read_file(folder / "page.html");
    std::string const page{bytes.begin(), bytes.end()};
    CHECK(page.find("What this run would not have noticed") != std::string::npos);
    CHECK(page.find("the record shows no gradients") != std::string::npos);
    CHECK(ask("report " + folder / "run" + ' ' + folder / "run" + " --self-test -o " + folder / "two.html").code == 2);
}
