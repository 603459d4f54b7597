// SPDX-License-Identifier: Apache-2.0
// The labels of recorded trainings that bench_diagnosis reads: what is wrong with a line is said with its number and
// what to do.
#include <bench/diagnosis/record_labels.hpp>

#include <tests/catch.hpp>
#include <tests/temporary_folder.hpp>

#include <filesystem>
#include <fstream>
#include <string>

using diagnosis::record_labels;

namespace {

struct exam {
    exam() {
        std::filesystem::create_directory(folder / "run");
        std::filesystem::create_directory(folder / "other");
    }
    record_labels labels(std::string const& text) const {
        std::ofstream{folder / "labels.csv"} << text;
        return record_labels{folder / ""};
    }
    bool complains(std::string const& text, std::string const& of) const {
        return labels("run,program,pack,fault,accepted\n" + text).trouble().find(of) != std::string::npos;
    }

    spotter_test::temporary_folder folder{};
};

}  // namespace

TEST_CASE("labels of recorded trainings: columns in any order, rules with a part of a reason or of a tensor") {
    exam const with;
    record_labels const all = with.labels("program,run,fault,pack,accepted\n"
                                          "net,run,none,supervised,\n"
                                          "net,other,left out,rl,dead_update_path:layer3|non_finite\n");
    CHECK(all.trouble().empty());
    REQUIRE(all.trainings().size() == 2);
    CHECK(all.trainings()[0].healthy());
    record_labels const windows = with.labels("run,program,pack,fault,accepted\r\nrun,net,rl,none,\r\n");
    CHECK((windows.trouble().empty() && windows.trainings().size() == 1));
    diagnosis::recorded_training const& left_out = all.trainings()[1];
    CHECK((left_out.program == "net" && left_out.pack == "rl" && left_out.fault == "left out"));
    CHECK(left_out.accepts({"dead_update_path", "updates do not change it", "net/layer3/w"}));
    CHECK(!left_out.accepts({"dead_update_path", "updates do not change it", "net/layer1/w"}));
    CHECK(left_out.accepts({"non_finite", "bad input", "input"}));
    CHECK(!left_out.accepts({}));
}

TEST_CASE("labels of recorded trainings: what is wrong is said with its line and what to do") {
    exam const with;
    CHECK(record_labels{with.folder / "elsewhere"}.trouble().find("missing or empty") != std::string::npos);
    CHECK(with.labels("run,program,fault,accepted\n")
              .trouble()
              .find("line 1: there is no column \"pack\": add it to the header") != std::string::npos);
    CHECK(with.complains("", "line 1: no run follows"));
    CHECK(with.complains("run,net,supervised,none,\ngone,net,supervised,none,\n", "line 3: there is no run "));
    CHECK(with.complains("run,net,supervised,none,\nrun,net,supervised,none,\n", "line 3: run is named twice"));
    CHECK(with.complains("run,net,supervised,none\n", "line 2: 4 fields, and the header has 5"));
    CHECK(with.complains("run,net,trees,none,\n", "line 2: \"trees\" is no pack"));
    CHECK(with.complains("run,net,supervised,none,overfit\n", "a healthy training accepts no rule"));
    CHECK(with.complains("run,net,supervised,rate,\n", "line 2: no accepted rule"));
    CHECK(with.complains("run,net,supervised,rate,learning_rate\n", "\"learning_rate\" is no rule"));
}
