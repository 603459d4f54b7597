// SPDX-License-Identifier: Apache-2.0
// run and twin: a training as attempts; twice at once. The training is a program of the tests: see
// tests/training/main.cpp.
#include <tests/tools/tool.hpp>

#include <fstream>

using namespace spotter_test;

TEST_CASE("run: the cure that works is found, and the records say what was tried") {
    temporary_folder const folder;
    std::string const to = " --folder " + folder / "heal";
    tool_output const text = ask("run" + to + " --retry useless --retry 'rate=--rate=0.1' -- " SPOTTER_TRAINING);
    CHECK(text.err == "");
    CHECK(text.code == 0);
    CHECK(text.says("stable after 3 attempts, with rate"));
    tool_output const table =
        ask("report " + folder / "heal/01" + ' ' + folder / "heal/02" + ' ' + folder / "heal/03" + " --as csv");
    CHECK(table.says("healing/cure"));
    CHECK(table.says("useless"));
    auto const document =
        ask("run --folder " + folder / "again" + " --retry 'nothing:rate=--rate=0.1' --json -- " SPOTTER_TRAINING)
            .document();
    CHECK(document.at("trainings").at(0).at("how") == "no_cure_left");
    CHECK(document.at("trainings").at(0).at("attempts").at(0).at("cause") == "any");
}

TEST_CASE("run: rules from outside stop a training that has none") {
    temporary_folder const folder;
    std::ofstream{folder / "rules.json"}
        << R"({"rules": [{"any": "loss", "where": "maximum > 50", "adapt": [{"on": ["stop"]}]}]})";
    tool_output const text = ask("run --folder " + folder / "heal" + " --rules " + folder / "rules.json" +
                                 " --retry 'rate=--rate=0.1' -- " SPOTTER_TRAINING " --no-rules --slow");
    CHECK(text.err == "");
    CHECK(text.says("stable after 2 attempts, with rate"));
    CHECK(text.code == 0);
}

TEST_CASE("run: of a sweep each line is a training, and slots are taken again") {
    temporary_folder const folder;
    std::ofstream{folder / "sweep"} << "--rate=0.1\n--rate=0.2\n\n--rate=9\n--rate=0.05\n";
    tool_output const text =
        ask("run --folder " + folder / "sweep-of" + " --sweep " + folder / "sweep" + " --slots 2 -- " SPOTTER_TRAINING);
    CHECK(text.says("4 trainings: 3 stable"));
    CHECK(text.code == 1);
    CHECK(ask("run --sweep " + folder / "nothing" + " -- " SPOTTER_TRAINING).code == 4);
}

TEST_CASE("run: a program that is not there") {
    temporary_folder const folder;
    tool_output const none = ask("run --folder " + folder / "heal" + " -- ./no-such-program");
    CHECK(none.code == 4);
    CHECK(none.says("could not start"));
    CHECK(ask("run").code == 2);
}

TEST_CASE("twin: two that are the same, and two that part") {
    temporary_folder const folder;
    tool_output const same = ask("twin --folder " + folder / "same" + " -- " SPOTTER_TRAINING " --rate=0.1");
    CHECK(same.err == "");
    CHECK(same.code == 0);
    CHECK(same.says("the two are the same, bit for bit"));
    tool_output const apart =
        ask("twin --folder " + folder / "apart" + " -- " SPOTTER_TRAINING " --rate=0.1 --odd-one");
    CHECK(apart.code == 1);
    CHECK(apart.says("they part at train(20), w: other values, 1 element, 1 bit, the first is element 2"));
    CHECK(apart.says("the program: compiler "));
    CHECK(ask("twin --folder " + folder / "apart" + " -- " SPOTTER_TRAINING).code == 4);
    CHECK(ask("twin --folder " + folder / "none" + " -- true").code == 7);
}

TEST_CASE("twin: what does not end is killed when the patience is over, whether it recorded or not") {
    temporary_folder const folder;
    tool_output const deaf = ask("twin --patience 2 --folder " + folder / "deaf" + " -- sh -c 'exec sleep 600'");
    CHECK(deaf.code == 7);
    CHECK(deaf.says("the first killed after 2000 ms\nthe second killed after 2000 ms\n"));
    tool_output const apart = ask("twin --patience 8 --folder " + folder / "apart" +
                                  " -- sh -c '" SPOTTER_TRAINING " --rate=0.1 --odd-one; exec sleep 600'");
    CHECK(apart.code == 1);
    CHECK(apart.says("they part at train(20)"));
    CHECK(apart.says("the second killed after 8000 ms"));
    CHECK(ask("twin --patience 0 -- true").code == 2);
    CHECK(ask("twin --patience 0.0001 --folder " + folder / "short" + " -- sleep 2").says("killed after 1 ms"));
    CHECK(!ask("twin --patience 1e300 --folder " + folder / "endless" + " -- sleep 0.2").says("killed"));
}
