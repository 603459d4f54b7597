// SPDX-License-Identifier: Apache-2.0
// The command line's manners: misspelt words, completion, manual pages, curves by mode, what is there instead, numbers
// alike.
#include <tests/tools/tool.hpp>

#include <fstream>
#include <sstream>

using namespace spotter;
using namespace spotter_test;

namespace {

bool has_program(std::string const& name) { return std::system(("command -v " + name + " >/dev/null").c_str()) == 0; }

std::vector<std::string> verbs_of_the_help() {
    std::vector<std::string> verbs;
    std::istringstream lines{ask("--help").out};
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
        if (line == "Subcommands:") {
            inside = true;
        } else if (inside && line.empty()) {
            break;
        } else if (inside && line.starts_with("  ") && line[2] != ' ') {
            verbs.push_back(line.substr(2, line.find(' ', 2) - 2));
        }
    }
    return verbs;
}

// What bash offers for the last word.
std::string bash_offers(std::string const& words) {
    return run_shell("bash -c 'source <(" + std::string{SPOTTER_TOOL} + " completion bash); COMP_WORDS=(" + words +
                     "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _spotter; echo \"${COMPREPLY[@]}\"'")
        .out;
}

}  // namespace

TEST_CASE(
    "a misspelt verb or option is answered with the nearest, and one that is like nothing with where the list is") {
    tool_output const verb = ask("shwo runs/a loss");
    CHECK(verb.code == 2);
    CHECK(verb.err == "spotter: there is no verb \"shwo\": did you mean show?\n");
    CHECK(ask("verfiy x").complains("did you mean verify?"));
    CHECK(ask("frobnicate x").err ==
          "spotter: there is no verb \"frobnicate\": `spotter --help` lists what there is\n");
    tool_output const option = ask("show --stp train:1");
    CHECK(option.code == 2);
    CHECK(option.err == "spotter: `spotter show` has no option --stp: did you mean --step?\n");
    CHECK(ask("check runs/a --fail-no=warning").complains("did you mean --fail-on?"));
    CHECK(ask("check runs/a --zzzzz").complains("`spotter check --help` lists what there is"));
    // A word behind an option is its value, and what stands behind -- is another program's.
    CHECK(!ask("export --name --stp").complains("no option"));
    CHECK(!ask("twin --fodler x -- ./y --stp").complains("--stp"));
    temporary_folder const folder;
    record_small(folder / "run");
    CHECK(ask("show " + folder / "run los").complains("did you mean \"loss\"?"));
}

TEST_CASE("an unknown verb is an error also beside --help and options of the program") {
    for (char const* const words : {"shwo --help", "shwo -h", "--quiet shwo --help", "--color never shwo --help"}) {
        INFO(words);
        tool_output const it = ask(words);
        CHECK(it.code == 2);
        CHECK(it.out.empty());
        CHECK(it.err == "spotter: there is no verb \"shwo\": did you mean show?\n");
    }
    CHECK(ask("--quite info x").complains("`spotter` has no option --quite: did you mean --quiet?"));
}

TEST_CASE("spotter alone, help, help VERB and version say what there is") {
    tool_output const all = ask("--help");
    CHECK(ask("").out == all.out);
    CHECK(ask("").code == 0);
    CHECK(ask("help").out == all.out);
    CHECK(ask("help show").out == ask("show --help").out);
    CHECK(ask("help show").says("--step"));
    CHECK(ask("help shwo").code == 2);
    CHECK(ask("help shwo").complains("did you mean show?"));
    CHECK(ask("-V").out == ask("--version").out);
    CHECK(ask("version").says("spotter " + ask("--version").out));
    CHECK(ask("version").says("reads records of format version 1 to 2\n"));
}

TEST_CASE("what the parser refuses is said in whole sentences") {
    temporary_folder const folder;
    record_small(folder / "run");
    std::string const run = folder / "run";
    CHECK(ask("show").err == "spotter: `spotter show` needs run (The folder of a run, or of one of its workers): "
                             "`spotter show --help` says what there is\n");
    CHECK(ask("show " + run).complains("`spotter show` needs name (The tensor's name)"));
    CHECK(ask("info " + run + " more").complains("`spotter info` does not know what \"more\" is"));
    CHECK(ask("show " + run + " loss --stat").complains("`spotter show`, --stat: it takes a value"));
    CHECK(ask("diff " + run + ' ' + run + " --ulp few").complains("`spotter diff`, --ulp: \"few\" is not a number"));
    CHECK(ask("watch " + run + " --time -1").complains("`spotter watch`, --time: \"-1\" is not a number above 0"));
    CHECK(ask("show " + run + " loss --as picutre").complains("there is no way to show it \"picutre\": there are "));
}

TEST_CASE("did you mean: formats, rules, sections, statistics, names") {
    temporary_folder const folder;
    record_small(folder / "run");
    std::string const run = folder / "run";
    CHECK(ask("export " + run + " x --format tensorbord").complains("did you mean tensorboard?"));
    CHECK(ask("export " + run + " " + folder / "x.csv --name los").complains("did you mean \"loss\"?"));
    CHECK(ask("check " + run + " --rules supervized")
              .complains("there is no rule or pack \"supervized\": did you mean supervised?"));
    CHECK(ask("check " + run + " --rules nonfinite").complains("did you mean non_finite?"));
    CHECK(ask("report " + run + " -o - --section curvs").complains("did you mean curves?"));
    CHECK(ask("show " + run + " loss --stat averge").complains("there is no statistic \"averge\""));
    CHECK(ask("show " + run + " loss --stat men_abs").complains("did you mean mean_abs?"));
    tool_output const listed = ask("ls " + run + " los");
    CHECK(listed.code == 3);
    CHECK(listed.complains("there is no \"los\" in this run; did you mean \"loss\"?"));
    CHECK(ask("ls " + run + " 'los*'").code == 0);
    std::ofstream{folder / "rules.json"} << R"({"rules": [{"rule": "dead_relu", "sampels": 5}]})";
    CHECK(ask("check " + run + " --rules " + folder / "rules.json").complains("did you mean samples?"));
    CHECK(ask("ls " + run + " --names").out == "fc1/w\ngrad/fc1/w\nloss\n");
}

TEST_CASE("completion offers words of the program, and tensors of the run that was typed, which it never expands") {
    if (!has_program("bash")) { return; }
    temporary_folder const folder;
    record_small(folder / "run");
    {
        hook watch{folder / "hostile", everything};
        std::string const name = "$(touch " + folder / "made" + ")";
        watch.begin(0);
        watch.observe(name, 1.0);
        (void)watch.end();
    }
    std::string const run = folder / "run", tool = SPOTTER_TOOL;
    CHECK(bash_offers("spotter export run x --format parq") == "parquet\n");
    CHECK(bash_offers("spotter check --rules superv") == "supervised\n");
    CHECK(bash_offers("spotter report --section hist") == "histograms\n");
    CHECK(bash_offers("spotter show --stat mean_a") == "mean_abs\n");
    CHECK(bash_offers("spotter show --mode e") == "eval\n");
    CHECK(bash_offers(tool + " show " + run + " lo") == "loss\n");
    CHECK(bash_offers(tool + " export " + run + " x --name fc") == "fc1/w\n");
    CHECK(bash_offers(tool + " show " + folder / "hostile" + " \"\"").find("touch") != std::string::npos);
    CHECK(!std::filesystem::exists(folder / "made"));
    if (has_program("fish")) {
        CHECK(run_shell("fish -c '" + tool + " completion fish | source; complete -C \"spotter check --rules superv\"'")
                  .says("supervised"));
    }
}

TEST_CASE("show takes a range of steps") {
    temporary_folder const folder;
    record_small(folder / "run");
    std::string const run = folder / "run";
    CHECK(ask("show " + run + " loss --as numbers --step 2..4").out ==
          "train(2)\t0.3333333333333333\ntrain(3)\t0.25\ntrain(4)\t0.2\n");
    CHECK(ask("show " + run + " loss --step train:8..")
              .says("2 points; first 0.111111 at train(8); last 0.1 at train(9)"));
    CHECK(ask("show " + run + " loss --as numbers --step eval:..4").out == "eval(4)\t0.5\n");
    CHECK(ask("show --json " + run + " loss --step 2..4").document().at("points").size() == 3);
    tool_output const none = ask("show " + run + " loss --step 50..60");
    CHECK(none.code == 3);
    CHECK(none.complains("\"loss\" has no step in 50..60; it has something at 12 steps"));
    CHECK(ask("show " + run + " loss --step 4..2").code == 2);
    CHECK(ask("show " + run + " loss --step 4..x").complains("is no range of steps"));
}

TEST_CASE("completion: bash, zsh and fish know every verb, its options and their words") {
    std::vector<std::string> const verbs = verbs_of_the_help();
    REQUIRE(verbs.size() > 20);
    for (std::string const shell : {"bash", "zsh", "fish"}) {
        tool_output const script = ask("completion " + shell);
        CHECK(script.code == 0);
        for (std::string const& verb : verbs) {
            INFO(shell + ' ' + verb);
            CHECK(script.says(verb));
        }
    }
    CHECK(ask("completion csh").code == 2);
    if (has_program("bash")) {
        CHECK(bash_offers("spotter ver") == "verify version\n");
        CHECK(bash_offers("spotter show run --as h") == "histogram\n");
        CHECK(bash_offers("spotter show run --a") == "--as --all --ascii\n");
        CHECK(bash_offers("spotter show run lo") == "\n");  // no run of that name
        CHECK(bash_offers("spotter completion \"\"") == "bash zsh fish\n");
    }
    std::string const tool = SPOTTER_TOOL;
    if (has_program("fish")) {
        tool_output const offers =
            run_shell("fish -c '" + tool + " completion fish | source; complete -C \"spotter show --as \"'");
        CHECK(offers.says("histogram"));
        CHECK(!offers.says("--step"));
    }
    if (has_program("zsh")) {
        tool_output const loaded = run_shell("zsh -fc 'autoload -U compinit; compinit -D; source <(" + tool +
                                             " completion zsh); echo $_comps[spotter]'");
        CHECK(loaded.out == "_spotter\n");
    }
}

TEST_CASE("manual: a page of the program and of each verb, which troff takes without a warning") {
    temporary_folder const folder;
    CHECK(ask("manual --into " + folder / "man1").code == 0);
    std::vector<std::string> pages{"spotter"};
    for (std::string const& verb : verbs_of_the_help()) { pages.push_back("spotter-" + verb); }
    for (std::string const& page : pages) {
        INFO(page);
        std::string const text = text_of(folder / "man1/" + page + ".1");
        CHECK(text.find(".SH OPTIONS") != text.npos);
        CHECK(text.find(".SH EXIT STATUS") != text.npos);
        if (has_program("groff")) {
            CHECK(run_shell("groff -man -ww -z '" + folder / "man1/" + page + ".1' 2>&1").out.empty());
        }
    }
    tool_output const show_page = ask("manual show");
    CHECK(show_page.says("\\fB\\-\\-as\\fR \\fInumbers|sparkline|histogram\\fR"));
    CHECK(show_page.says("\\&'") == false);
    CHECK(ask("manual shwo").code == 2);
}

TEST_CASE("show: train and eval are two curves") {
    temporary_folder const folder;
    record_small(folder / "run");
    tool_output const both = ask("show " + folder / "run loss");
    CHECK(both.code == 0);
    CHECK(both.says("mean of loss in train\n█▄▃▂▁▁▁▁▁▁\n10 points; first 1 at train(0); last 0.1 at train(9)"));
    CHECK(both.says("mean of loss in eval\n▁▁\n2 points; first 0.5 at eval(4); last 0.5 at eval(9)"));
    tool_output const bins = ask("show --as histogram " + folder / "run loss");
    CHECK(bins.says("mean of loss in train\n"));
    CHECK(bins.says("mean of loss in eval\n"));
    auto const document = ask("show --json --as histogram " + folder / "run loss").document();
    REQUIRE(document.at("histograms").size() == 2);
    CHECK(document.at("histograms").at(1).at("mode") == "eval");
    CHECK(document.at("histograms").at(1).at("low") == 0.5);
}

TEST_CASE("show: where a step has no values, or a statistic is unknown, it says where they are") {
    temporary_folder const folder;
    record_small(folder / "run");
    std::string const run = folder / "run";
    tool_output const values = ask("show " + run + " fc1/w --step 5");
    CHECK(values.code == 3);
    CHECK(values.complains(
        "it has values at 5 steps: train(0), train(2), train(4), train(6), train(8), the nearest at train(4)"));
    CHECK(ask("show " + run + " loss --step 77")
              .complains(
                  "it has values at 12 steps: train(0), train(1), train(2), ..., eval(9), the nearest at train(9)"));
    CHECK(ask("show " + run + " fc1/w --step 3 --stat l2").complains("it has l2 at 5 steps"));
    CHECK(ask("show --json " + run + " fc1/w --step 5")
              .document()
              .at("error")
              .at("text")
              .get<std::string>()
              .find("the nearest at train(4)") != std::string::npos);
    tool_output const nowhere = ask("show " + run + " grad/fc1/w --stat mean");
    CHECK(nowhere.code == 3);
    CHECK(nowhere.complains("mean of grad/fc1/w is unknown everywhere: "));
    CHECK(nowhere.complains("l2"));
    // Nothing of it has values anywhere: then the sentence alone.
    CHECK(!ask("show " + run + " grad/fc1/w --step 2").complains("it has values"));
}

TEST_CASE("numbers are printed alike: those of a float32 as that, exponents without a zero in front") {
    temporary_folder const folder;
    for (char const* const name : {"a", "b"}) {
        hook watch{folder / name, everything};
        float const values[] = {0.1F, 3e-7F};
        bool const other = name[0] == 'b';
        float const loss = other ? 0.2F : 0.1F;
        (void)watch.step(train(0), "loss"_t = loss, "w"_t = view_of(values, {2}), "tiny"_t = 1e-7, "huge"_t = 1e300);
    }
    std::string const run = folder / "a";
    CHECK(ask("show " + run + " loss --as numbers").out == "train(0)\t0.1\n");
    CHECK(ask("show " + run + " loss --step 0 --stat mean").out == "0.1\n");
    CHECK(ask("show --all " + run + " loss --step 0").says("\n0.1\n"));
    CHECK(ask("show " + run + " loss").says("first 0.1 at train(0)"));
    CHECK(ask("diff " + run + ' ' + folder / "b").says("0.1 in A, 0.2 in B"));
    CHECK(ask("show --all " + run + " w --step 0").says(" 0.1  3e-7\n"));
    CHECK(ask("show " + run + " tiny --as numbers").out == "train(0)\t1e-7\n");
    CHECK(ask("show " + run + " huge --step 0").says("\n1e300\n"));
    CHECK(ask("show " + run + " tiny").says("first 1e-7 at"));
}
