// SPDX-License-Identifier: Apache-2.0
// check: rules over existing records: the findings, how they are printed, and the exit code.
#include <tests/preflight/net.hpp>
#include <tests/tools/tool.hpp>

#include <spotter/packs.hpp>
#include <spotter/preflight.hpp>
#include <spotter/rule/builtin/replica_divergence.hpp>

#include <cstdlib>
#include <fstream>

using namespace spotter;
using namespace spotter_test;

namespace {

// A loss, and weights that explode from `bad` on.
void record_loop(std::string const& path, std::uint64_t bad, options choices = {}) {
    hook watch{path, everything, choices};
    for (std::uint64_t i = 0; i < 20; ++i) {
        std::vector<double> const gradient(4, i >= bad ? 1e4 : 0.1);
        (void)watch.step(train(i), "loss"_t = 1.0 / static_cast<double>(i + 1), "grad/w"_t = gradient);
    }
}

}  // namespace

TEST_CASE("check: healthy runs end with 0, those with findings with 1, each with its evidence") {
    temporary_folder const folder;
    record_loop(folder / "good", 100);
    record_loop(folder / "bad", 7);
    std::string const rules = " --rules exploding_gradient";
    tool_output const good = ask("check " + folder / "good" + rules);
    CHECK(good.code == 0);
    CHECK(good.says("/good: nothing found in 20 steps (finished)\n"));
    tool_output const both = ask("check " + folder / "good" + " " + folder / "bad" + rules);
    CHECK(both.code == 1);
    CHECK(both.says("warning: exploding_gradient: gradients explode at train(9), \"grad/w\": mean_abs 10000 > 10; 11 "
                    "times, last at train(19)"));
    CHECK(both.says("2 records: 1 with findings\n"));
    CHECK(ask("check " + folder / "bad" + rules + " --fail-on error").code == 0);
    auto const document = ask("check --json " + folder / "bad" + rules).document();
    auto const& run = document.at("runs").at(0);
    CHECK(run.at("status") == "finished");
    CHECK(run.at("steps") == 20);
    CHECK(run.at("whole") == true);
    REQUIRE(run.at("findings").size() == 11);
    CHECK(run.at("findings").at(0).at("tensor") == "grad/w");
    CHECK(run.at("findings").at(0).at("step") == nlohmann::json{{"mode", "train"}, {"index", 9}});
    CHECK(run.at("rules").at(0).at("fired") == 11);
}

TEST_CASE("check: what an examination of the loop found counts, whatever rules the record is judged by") {
    temporary_folder const folder;
    auto const record = [&](std::string const& name, float rate) {
        hook watch{folder / name, everything};
        preflight_test::perceptron<> net;
        net.rate = rate;
        watch.add(preflight_test::examined(net));
        for (std::uint64_t i = 0; i < 10; ++i) { (void)watch.step(train(i), "loss"_t = 1.0); }
    };
    record("right", 0.1F), record("adds", -0.1F);
    std::string const rules = " --rules non_finite";
    CHECK(ask("check " + folder / "right" + rules).code == 0);
    tool_output const adds = ask("check " + folder / "adds" + rules);
    CHECK(adds.code == 1);
    CHECK(adds.says("error: update_direction: proven: the update moves along the gradient, not against it"));
    auto const run = ask("check --json " + folder / "adds" + rules).document().at("runs").at(0);
    REQUIRE(!run.at("findings").empty());
    CHECK(run.at("findings").at(0).at("rule") == "update_direction");
    CHECK(run.at("findings").at(0).at("decision") == "stop");
}

TEST_CASE("check: a run is judged by the packs that it had itself, killed or not, and by others where they are named") {
    temporary_folder const folder;
    auto const record = [&](std::string const& name, auto const& rules, bool kill = false) {
        auto const work = [&] {
            hook watch{folder / name, everything, options{.existing = existing::replace}, rules};
            for (std::uint64_t i = 0; i < 10; ++i) {
                (void)watch.step(train(i), "loss"_t = 1.0 / static_cast<double>(i + 1));
            }
            watch.flush();
            if (kill) { ::raise(SIGKILL); }
        };
        kill ? in_killed_child(work) : work();
    };
    auto const judged_by = [&](std::string const& name, std::string const& more = {}) {
        auto const run = ask("check --json " + folder / name + more).document().at("runs").at(0);
        std::string rules = run.at("packs").get<std::string>() + ":";
        for (auto const& each : run.at("rules")) { rules += ' ' + each.at("rule").get<std::string>(); }
        return rules + ' ';
    };
    constexpr auto has = [](std::string const& all, std::string_view rule) {
        return all.find(' ' + std::string{rule} + ' ') != all.npos;
    };
    record("supervised", packs::supervised);
    record("rl", on(any("loss", maximum > 1e9), stop) || packs::rl);
    record("killed", packs::boosting | severity::info, true);
    record("both", packs::system || packs::sagemaker);
    record("own", any("loss", maximum > 1e9));
    CHECK(judged_by("supervised").starts_with("supervised:"));
    std::string const rl = judged_by("rl");
    CHECK((rl.starts_with("rl:") && has(rl, "rl_kl") && !has(rl, "overfit")));
    std::string const killed = judged_by("killed");
    CHECK((killed.starts_with("boosting:") && has(killed, "tree_depth") && !has(killed, "dead_relu")));
    std::string const both = judged_by("both");
    CHECK((both.starts_with("system sagemaker:") && has(both, "straggler") && has(both, "confusion")));
    std::string const own = judged_by("own");  // of a rule of its own the record has no more than the name
    CHECK((own.starts_with(":") && has(own, "no_better_than_guessing")));
    std::string const named = judged_by("rl", " --rules boosting");
    CHECK((named.starts_with(":") && has(named, "tree_depth") && !has(named, "rl_kl")));
    tool_output const rl_text = ask("check " + folder / "rl");
    CHECK(rl_text.says("(finished), by the pack of the run: rl\n"));
    CHECK(rl_text.says("  the run's other rules are not applied here: any. Give them by --rules\n"));
    CHECK(ask("check " + folder / "both").says("(finished), by the packs of the run: system sagemaker\n"));
    tool_output const own_text = ask("check " + folder / "own");
    CHECK(own_text.says("(finished), by supervised: the run names no pack\n"));
    CHECK(own_text.says("are not applied here: any. "));
    tool_output const supervised_text = ask("check " + folder / "supervised");
    CHECK(supervised_text.says("(finished)\n"));
    CHECK(!supervised_text.says("not applied"));
    CHECK(!ask("check " + folder / "own" + " --rules rl").says("not applied"));
    CHECK(ask("info --json " + folder / "rl").document().dump().find("packs") != std::string::npos);
    CHECK(open(folder / "both").environment().ends_with("\npacks system sagemaker"));
}

TEST_CASE("check: rules come from a file; what is wrong with it is named and ends with 2") {
    temporary_folder const folder;
    record_loop(folder / "run", 7);
    std::string const file = folder / "rules.json";
    std::ofstream{file} << R"({"rules": [{"any": "grad/*", "where": "l2 > 100",
         "adapt": ["once", {"named": "large"}, {"severity": "error"}]}]})";
    tool_output const it = ask("check " + folder / "run" + " --rules " + file + " --rules dead_relu");
    CHECK(it.code == 1);
    CHECK(it.says("error: large: holds for a tensor at train(7), \"grad/w\": l2 20000 > 100 [stop]"));
    CHECK(it.says("dead_relu: no tensor matched"));
    std::ofstream{file} << R"({"rules": [{"rule": "dead_relu", "sampels": 3}]})";
    tool_output const bad = ask("check " + folder / "run" + " --rules " + file);
    CHECK(bad.code == 2);
    CHECK(bad.err.find("sampels of rules[0]: unknown parameter: did you mean samples?") != bad.err.npos);
    CHECK(ask("check " + folder / "run" + " --rules dead_reul").code == 2);
    CHECK(ask("check " + folder / "run" + " --rules " + folder / "none.json").code == 4);
}

TEST_CASE("check: a run against the learnt envelope of healthy ones") {
    temporary_folder const folder;
    record_loop(folder / "healthy", 100);
    record_loop(folder / "same", 100);
    record_loop(folder / "other", 5);
    std::string const against = " --rules non_finite --against " + folder / "healthy";
    CHECK(ask("check " + folder / "same" + against).code == 0);
    tool_output const it = ask("check " + folder / "other" + against);
    CHECK(it.code == 1);
    CHECK(it.says("outside_envelope"));
    CHECK(it.says("\"grad/w\""));
    CHECK(ask("check " + folder / "same" + " --against " + folder / "none").code == 3);
}

TEST_CASE("check: against healthy runs of the same plan, what the records lack is named, with its tensors") {
    temporary_folder const folder;
    // Statistics at every other step; a rule has others written between.
    plan const keep{collection{"losses", "loss"}, collection{"gradients", "grad/*", every{2}, stats(mean, l2)}};
    for (std::string const name : {"healthy", "run"}) {
        hook watch{folder / name, keep, any("*", maximum > 1e9)};
        for (std::uint64_t i = 0; i < 20; ++i) {
            std::vector<double> const gradient(4, 0.1);
            watch.begin(train(i));
            watch.scalar("loss", 1.0);
            for (char const* each : {"grad/a", "grad/b", "grad/c", "grad/d", "grad/e"}) {
                watch.observe(each, view_of(gradient, {4}));
            }
            if (name == "run") { watch.scalar("more", 1.0); }
            (void)watch.end();
        }
    }
    tool_output const it = ask("check " + folder / "run" + " --against " + folder / "healthy --rules non_finite");
    INFO(it.out);
    CHECK(it.says("  not all could be judged: 50 of "));
    CHECK(it.says(" of \"grad/a\", \"grad/b\", \"grad/c\", and 2 more, first at train(1)\n"));
    CHECK(it.says("have no statistics of them: \"more\"\n"));
    CHECK_FALSE(it.says("unknown_to"));
    CHECK_FALSE(it.says("trouble"));
    auto const one =
        ask("check --json " + folder / "run" + " --against " + folder / "healthy").document().at("runs").at(0);
    CHECK(one.at("not_in_healthy") == nlohmann::json{"more"});
    CHECK(one.at("lacking").at(0).at("tensor") == "grad/a");
}

TEST_CASE("check: JUnit has a suite a run and a case a rule, whatever names are called") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything};
        for (std::uint64_t i = 0; i < 3; ++i) {
            (void)watch.step(train(i), "a<b>&\"c\"\x01\xFF"_t = std::vector<double>(3, 1e9));
        }
    }
    std::string const rules = folder / "rules.json", file = folder / "junit.xml";
    std::ofstream{rules} << R"({"rules": [{"any": "*", "where": "l2 > 1"}, "dead_relu", "stalled_training"]})";
    CHECK(ask("check " + folder / "run" + " --rules " + rules + " --junit " + file).code == 1);
    std::vector<char> const bytes = read_file(file);
    std::string const text{bytes.begin(), bytes.end()};
    CHECK(text.find("tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\"") != text.npos);
    CHECK(text.find("<failure message=\"warning: any: holds for a tensor at train(0), "
                    "&#34;a&#60;b&#62;&#38;&#34;c&#34;\\x01\\xff") != text.npos);
    CHECK(text.find("<skipped message=\"no tensor matched\"/>") != text.npos);
    if (std::system("command -v python3 >/dev/null") == 0) {
        CHECK(std::system(("python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' " + file).c_str()) ==
              0);
    }
    CHECK(ask("check " + folder / "run" + " --junit /no/such/folder/junit.xml").code == 4);
}

TEST_CASE("check: every worker is judged for itself, or all against each other") {
    temporary_folder const folder;
    {
        hook first{folder / "run", everything, replica_divergence{}};
        auto second = first.worker(1);
        for (std::uint64_t i = 0; i < 10; ++i) {
            std::vector<double> const same(4, 1.0), other(4, i < 5 ? 1.0 : 2.0);
            first.begin(train(i)), first.observe("w", view_of(same.data(), {2, 2}), role::weight), (void)first.end();
            second.begin(train(i)), second.observe("w", view_of(other.data(), {2, 2}), role::weight),
                (void)second.end();
        }
    }
    tool_output const apart = ask("check --rules replica_divergence " + folder / "run");
    CHECK(apart.code == 7);  // for itself a worker cannot be judged by it
    CHECK(apart.says("2 records: 0 with findings\n"));
    tool_output const beside = ask("check --side-by-side --rules replica_divergence " + folder / "run");
    CHECK(beside.code == 1);
    CHECK(beside.says("replica_divergence"));
    CHECK(beside.says("train(5)"));
}

TEST_CASE("check: runs that are live, killed, damaged, empty or not there") {
    temporary_folder const folder;
    {
        hook watch{folder / "live", everything};
        (void)watch.step(train(0), "loss"_t = 1.0);
        watch.flush();
        tool_output const live = ask("check " + folder / "live");
        CHECK(live.code == 0);
        CHECK(live.says("1 step (running)"));
    }
    in_killed_child([&] {
        hook watch{folder / "killed", everything};
        for (std::uint64_t i = 0; i < 5; ++i) { (void)watch.step(train(i), "x"_t = weights_at(i)); }
        watch.flush();
        ::raise(SIGKILL);
    });
    tool_output const killed = ask("check " + folder / "killed");
    CHECK(killed.code == 6);
    CHECK(killed.says("5 steps (died)"));
    { hook watch{folder / "empty", everything}; }
    CHECK(ask("check " + folder / "empty").code == 7);
    CHECK(ask("check " + folder / "none").code == 3);
    CHECK(ask("check").code == 2);
    record_small(folder / "damaged");
    spoil(folder / "damaged/000000.spot");
    tool_output const damaged =
        ask("check --rules non_finite " + folder / "damaged" + " --junit " + folder / "junit.xml");
    CHECK(damaged.code == 5);
    CHECK(damaged.says("  trouble: "));  // in a tensor's values; damaged rows are reported by their place
    std::vector<char> const junit = read_file(folder / "junit.xml");
    CHECK(std::string{junit.begin(), junit.end()}.find("name=\"record\" time=\"0\"><failure") != std::string::npos);
}

TEST_CASE("check: --list says what has to be given") {
    CHECK(ask("check --list").says("  max_entropy            has to be given\n  low                    0.1\n"));
    std::string all;
    auto const document = ask("check --list --json").document();
    for (auto const& each : document.at("rules")) {
        if (!each.at("required").empty()) { all += each.at("rule").get<std::string>() + each.at("required").dump(); }
    }
    CHECK(all == R"(drift["healthy"]gradient_noise_scale["batch_small","batch_big"]initial_loss["expected"])"
                 R"(outside_envelope["healthy"]rl_entropy_collapse["max_entropy"])");
}

TEST_CASE("check: --list says every rule, with what can be set") {
    tool_output const text = ask("check --list");
    CHECK(text.code == 0);
    CHECK(text.says("packs: supervised rl boosting system sagemaker\n"));
    CHECK(text.says("exploding_gradient\n  select                 \"gradient\"\n  max_mean_abs           10.0\n  "
                    "patience               3\n"));
    CHECK(ask("check --list --json").document().at("rules").size() == 77);
}

TEST_CASE("check: a run that died or failed is never \"nothing found\": its last open step is reported") {
    temporary_folder const folder;
    in_killed_child([&] {
        hook watch{folder / "killed", everything};
        for (std::uint64_t i = 0; i < 5; ++i) { (void)watch.step(train(i), "loss"_t = 1.0); }
        std::vector<float> bad = weights_at(5);
        bad[3] = bad[4] = std::bit_cast<float>(0x7FC00000U);
        watch.begin(train(5));
        watch.observe("fc1/w", view_of(bad.data(), {height, width}));
        watch.observe("fc2/w", view_of(weights_at(5).data(), {height, width}));
        watch.flush();
        ::raise(SIGKILL);
    });
    tool_output const killed = ask("check --rules loss_spike --rules stalled_training " + folder / "killed");
    CHECK(killed.code == 6);
    CHECK(killed.says("killed: no finding before its bad end, in 6 steps (died)\n"));
    CHECK_FALSE(killed.says("nothing found"));
    CHECK(killed.says(
        "  died: the process that wrote it ended without a word; train(5) was open: 2 tensors observed; not finite: "
        "\"fc1/w\" (2 elements)\n"));
    auto const run = ask("check --json --rules loss_spike " + folder / "killed").document().at("runs").at(0);
    REQUIRE(run.at("open_steps").size() == 1);
    CHECK(run.at("open_steps").at(0).at("step") == nlohmann::json{{"mode", "train"}, {"index", 5}});
    CHECK(run.at("open_steps").at(0).at("tensors").at(0).at("nonfinite") == 2.0);
    CHECK(run.at("bad_end").get<std::string>().starts_with("died: "));
    CHECK(ask("info --check " + folder / "killed").code == 6);
    CHECK(ask("info " + folder / "killed").says("  ended     died: the process that wrote it ended"));
    CHECK(ask("info " + folder / "killed").code == 0);
    {
        hook watch{folder / "failed", everything};
        (void)watch.step(train(0), "loss"_t = 1.0);
        watch.fail("the GPU fell out");
    }
    tool_output const failed = ask("check --rules non_finite " + folder / "failed --junit " + folder / "junit.xml");
    CHECK(failed.code == 6);
    CHECK(failed.says("  failed: the GPU fell out\n"));
    std::vector<char> const junit = read_file(folder / "junit.xml");
    CHECK(std::string{junit.begin(), junit.end()}.find(
              "name=\"record\" time=\"0\"><failure message=\"failed: the GPU fell out") != std::string::npos);
}

TEST_CASE("check: a run in which nothing could be judged is no success, and says why") {
    temporary_folder const folder;
    { hook watch{folder / "no_step", plan{}, packs::supervised}; }
    {
        hook watch{folder / "no_tensor", everything};
        for (std::uint64_t i = 0; i < 3; ++i) { watch.begin(train(i)), (void)watch.end(); }
    }
    record_small(folder / "no_rule");
    for (auto const& [name, why] : {std::pair{"no_step", "no step was closed"},
                                    {"no_tensor", "no tensor was recorded"},
                                    {"no_rule", "no rule could judge"}}) {
        std::string const path = folder / name;
        tool_output const it = ask("check --rules rl_kl " + path);
        INFO(it.out);
        CHECK(it.code == 7);
        CHECK(it.says(": nothing could be judged in "));
        CHECK(it.says(std::string{"  nothing could be judged: "} + why + '\n'));
        CHECK_FALSE(it.says("nothing found"));
        CHECK(ask("check --json --rules rl_kl " + path).document().at("runs").at(0).at("unjudged") == why);
        CHECK(ask("info --check " + path).code == 7);
        CHECK(ask("info " + path).code == 0);
    }
    record_loop(folder / "good", 100);
    CHECK(ask("check --rules non_finite " + folder / "good " + folder / "no_step").code == 7);
    record_loop(folder / "bad", 3);
    CHECK(ask("check --rules exploding_gradient " + folder / "bad " + folder / "no_step").code == 1);
}

TEST_CASE(
    "check and info: findings of a rule that differ in strength are one line, as strong as the strongest of them") {
    temporary_folder const folder;
    // A rule of one name that is a hint at first, then an error that asks to stop.
    auto const hints = any("loss", maximum > 1.0) | named{"loud"} | severity::info;
    auto const errors = on(any("loss", maximum > 10.0) | named{"loud"} | severity::error, stop);
    {
        hook watch{folder / "run", everything, hints, errors};
        for (std::uint64_t i = 0; i < 40; ++i) { (void)watch.step(train(i), "loss"_t = i < 3 ? 5.0 : 20.0); }
    }
    tool_output const it = ask("info " + folder / "run");
    INFO(it.out);
    CHECK(it.says("  error: loud: holds for a tensor at train(3), \"loss\": maximum 20 > 10 [stop]\n"));
    CHECK(it.says(" errors, "));
    CHECK(it.says(", first at train(0), last at train(39)\n"));
    CHECK_FALSE(it.says("note: loud"));
    CHECK(ask("info --check " + folder / "run").code == 1);
    std::string const rules = folder / "rules.json";
    std::ofstream{rules} << R"({"rules": [
        {"any": "loss", "where": "maximum > 1", "adapt": [{"named": "loud"}, {"severity": "note"}]},
        {"any": "loss", "where": "maximum > 10", "adapt": [{"named": "loud"}, {"severity": "error"}]}]})";
    tool_output const checked = ask("check " + folder / "run --rules " + rules);
    INFO(checked.out);
    CHECK(checked.code == 1);
    CHECK(checked.says("  error: loud: holds for a tensor at train(3), \"loss\": maximum 20 > 10 [stop]; "));
    CHECK(checked.says("37 errors, "));
    CHECK(checked.says("first at train(0), last at train(39)"));
    CHECK(ask("report -o - " + folder / "run").says("1 error: loud at train(3) in loss"));
}

TEST_CASE("check: shards judge each record once, and merge says what one check would have") {
    temporary_folder const folder;
    std::string names;
    for (int i = 0; i < 7; ++i) {
        std::string const path = folder / "run" + std::to_string(i);
        record_loop(path, i == 4 ? 7 : 100);
        names += ' ' + path;
    }
    std::string const rules = " --rules exploding_gradient --json";
    auto const whole = ask("check" + names + rules).document();
    std::string parts;
    for (std::string const part : {"3", "1", "2"}) {
        tool_output const it = ask("check" + names + rules + " --shard " + part + "/3");
        CHECK(it.code == (part == "2" ? 1 : 0));
        CHECK(it.document().at("runs").size() == (part == "1" ? 3U : 2U));
        std::ofstream{folder / "part" + part} << it.out;
        parts += ' ' + (folder / "part" + part);
    }
    tool_output const merged = ask("merge --json" + parts);
    CHECK(merged.code == 1);
    CHECK(merged.document().at("runs") == whole.at("runs"));
    tool_output const text = ask("merge" + parts);
    CHECK(text.code == 1);
    CHECK(text.says("7 records: 1 with findings\n"));
    CHECK(text.says("exploding_gradient"));
    CHECK_FALSE(text.says("nothing found"));
    for (std::string const rank :
         {"OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=3", "PMI_RANK=1 PMI_SIZE=3", "SLURM_PROCID=1 SLURM_NTASKS=3"}) {
        std::string const tool = std::string{SPOTTER_TOOL} + " check" + names + rules + " --shard rank";
        CHECK(run_shell("env " + rank + ' ' + tool).out == text_of(folder / "part2"));
    }
    for (std::string const wrong : {"4/3", "0/3", "3", "a/b", "-1/3", "1/"}) {
        tool_output const it = ask("check" + names + " --shard " + wrong);
        CHECK(it.code == 2);
        CHECK(it.complains("a part of how many"));
    }
    CHECK(ask("merge " + folder / "nothing").code == 3);
    std::ofstream{folder / "other"} << R"({"verb": "info", "runs": []})";
    std::ofstream{folder / "half"} << text_of(folder / "part1").substr(0, 200);
    CHECK(ask("merge " + folder / "other").complains("is no document of `spotter check --json`"));
    CHECK(ask("merge " + folder / "half").code == 2);
}

TEST_CASE("check: a worker that never began, or whose record cannot be read, is none that is well") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    for (std::uint32_t const worker : {0U, 1U, 2U}) { record_small(path, options{.worker = worker, .workers = 3}); }
    CHECK(ask("check --rules non_finite " + path).code == 0);
    SECTION("its folder is not there") {
        std::filesystem::remove_all(path + "/worker-2");
        tool_output const it = ask("check --rules non_finite " + path);
        CHECK(it.code == 6);
        CHECK(it.says(path + " worker 2: it never began: the run has no record of it\n"));
        auto const runs = ask("check --json --rules non_finite " + path).document().at("runs");
        REQUIRE(runs.size() == 3);
        CHECK(runs[1].at("code") == 0);
        CHECK(runs[2].at("code") == 6);
        CHECK(runs[2].at("worker") == 2);
        // Each of its records is judged once, whatever the parts.
        CHECK(ask("check --rules non_finite --shard 2/2 " + path).code == 0);
        CHECK(ask("check --rules non_finite --shard 1/2 " + path).code == 6);
    }
    SECTION("while the others still run, it may begin yet") {
        std::filesystem::remove_all(path);
        hook live{path, everything, options{.workers = 3}};
        hook second = live.worker(1);
        for (std::uint64_t i = 0; i < 3; ++i) {
            (void)live.step(train(i), "x"_t = 1.0);
            (void)second.step(train(i), "x"_t = 1.0);
        }
        live.flush();
        second.flush();
        CHECK(ask("check --rules non_finite " + path).code == 0);
    }
    SECTION("its segment cannot be read") {
        std::filesystem::remove(path + "/worker-2/000000.spot");
        std::filesystem::create_directory(path + "/worker-2/000000.spot");
        tool_output const it = ask("check --rules non_finite " + path);
        CHECK(it.code == 5);
        CHECK(it.says(path + " worker 2: none of its segments can be read\n"));
    }
    SECTION("its folder cannot be read") {
        if (::geteuid() == 0) { return; }  // root reads every folder
        std::filesystem::permissions(path + "/worker-2", std::filesystem::perms::none);
        tool_output const it = ask("check --rules non_finite " + path);
        CHECK(it.code == 5);
        CHECK(it.says(path + " worker 2: could not list"));
        std::filesystem::permissions(path + "/worker-2", std::filesystem::perms::owner_all);
    }
}

TEST_CASE("compact: the workers of a run in one file") {
    temporary_folder const folder;
    for (std::uint32_t worker = 0; worker < 3; ++worker) {
        record_small(folder / "run", options{.worker = worker, .workers = 3});
    }
    tool_output const before = ask("ls " + folder / "run");
    tool_output const it = ask("compact " + folder / "run");
    CHECK(it.code == 0);
    CHECK(it.says("3 of 3 workers in "));
    CHECK(ask("compact --json " + folder / "run").document().at("workers") == 3);
    CHECK(ask("ls " + folder / "run").out == before.out);
    CHECK(ask("verify " + folder / "run").code == 0);
    CHECK(ask("compact " + folder / "run/worker-1").complains("one worker of several"));
    CHECK(ask("compact " + folder / "nothing").code == 3);
}

TEST_CASE("sync, and places in an object store: what is missing is reported before anything is sent") {
    temporary_folder const folder;
    record_small(folder / "run");
    for (char const* const each : {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE",
                                   "AWS_SHARED_CREDENTIALS_FILE", "AWS_CONFIG_FILE"}) {
        ::unsetenv(each);
    }
    ::setenv("HOME", (folder / "").c_str(), 1);
    tool_output const refused = ask("sync " + folder / "run s3://bucket/run");
    CHECK(refused.code == 2);
    if (refused.complains("built without")) { SPOTTER_SKIP("the tool was built without libcurl and OpenSSL"); }
    CHECK(refused.complains("AWS_ACCESS_KEY_ID"));
    CHECK(ask("ls s3://bucket/run").complains("AWS_ACCESS_KEY_ID"));
    CHECK(ask("sync " + folder / "run " + folder / "copy").complains("the other a place"));
    CHECK(ask("sync s3://bucket/run " + folder / "copy --remove").complains("--remove is for"));
    CHECK(ask("compact s3://bucket/run").complains("only read"));
    CHECK(ask("capture s3://bucket/run --names x").complains("only read"));
    CHECK(ask("recover s3://bucket/run").complains("only read"));
    CHECK(ask("sync " + folder / "nothing s3://bucket/run").code == 3);
}
