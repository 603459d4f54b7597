// SPDX-License-Identifier: Apache-2.0
// What the command line shows on a terminal while it works, and which colours it takes. A terminal is made by
// script(1).
#include <tests/tools/tool.hpp>

#include <fstream>

using namespace spotter;
using namespace spotter_test;

namespace {

bool has_terminal() { return std::system("script -qec true /dev/null </dev/null >/dev/null 2>&1") == 0; }

// All that a terminal is sent, by both streams.
std::string on_terminal(std::string const& arguments, std::string const& environment = "") {
    return run_shell("TERM=xterm COLUMNS=80 " + environment + " script -qec \"stty cols 100 2>/dev/null; " +
                     std::string{SPOTTER_TOOL} + ' ' + arguments + "\" /dev/null </dev/null")
        .out;
}
constexpr char at_once[] = "SPOTTER_PROGRESS_AFTER=0";

// Long enough that a bar is seen of each verb.
void record_a_long_run(std::string const& path) {
    hook watch{path, plan{collection{"all", "*", always{}}}, large_loss};
    for (std::uint64_t i = 0; i < 40'000; ++i) {
        (void)watch.step(train(i), "loss"_t = 1.0 / static_cast<double>(i + 2), "other"_t = 0.5);
    }
}

}  // namespace

TEST_CASE("progress: a bar with count, rate and time left on a terminal, for every verb that takes long") {
    if (!has_terminal()) { return; }
    temporary_folder const folder;
    std::string const run = folder / "run";
    record_a_long_run(run);
    auto const shows = [&](std::string const& arguments, std::string const& verb, std::string const& what) {
        std::string const seen = on_terminal(arguments, at_once);
        INFO(arguments + "\n" + seen);
        CHECK(seen.find(verb + " [") != seen.npos);
        CHECK(seen.find("%  ") != seen.npos);
        CHECK(seen.find(what) != seen.npos);
        CHECK(seen.find("\r\x1b[K") != seen.npos);  // and is cleared
    };
    shows("check " + run, "check", " of ");
    shows("check --against " + run + ' ' + run, "check: learns from healthy runs", " of ");
    shows("check --self-test --rules non_finite " + run, "check --self-test", " of ");
    shows("report " + run + " -o " + folder / "page.html", "report", " of ");
    shows("info " + run, "info", " of ");
    shows("verify " + run, "verify", " of ");
    shows("recover " + run, "recover", " of ");
    shows("compact " + run, "compact", " of 1 worker,");
    shows("diff " + run + ' ' + run, "diff", " of 40000 steps");
    shows("export " + run + ' ' + folder / "a.csv", "export", " of 40000 rows");
    for (char const* const name : {"a.jsonl", "a.parquet", "a.mcap", "a.json", "a.pftrace"}) {
        shows("export " + run + ' ' + folder / name, "export", " of ");
    }
    shows("export --format tensorboard " + run + ' ' + folder / "tb", "export", " of ");
    shows("export " + run + ' ' + folder / "a.npz", "export", " of 80000 values");
}

TEST_CASE("progress: what waits shows that it does; nothing with --quiet, and nothing where there is no terminal") {
    if (!has_terminal()) { return; }
    temporary_folder const folder;
    std::ofstream{folder / "part"} << R"({"verb": "check", "runs": []})";
    auto const merged = [&](std::string const& options) {
        return run_shell("TERM=xterm script -qec \"(sleep 1; cat '" + folder / "part" + "') | " + SPOTTER_TOOL +
                         " merge " + options + "\" /dev/null </dev/null")
            .out;
    };
    CHECK(merged("-").find("0 of 1 document,") != std::string::npos);
    CHECK(merged("- --quiet").find("document") == std::string::npos);
    CHECK(merged("- 2>'" + folder / "err'").find("document") == std::string::npos);
    CHECK(text_of(folder / "err").empty());
    CHECK(on_terminal("--quiet info '" + folder / "nothing'", at_once).find("does not exist") != std::string::npos);
}

TEST_CASE("colours: the severity on a terminal, none with NO_COLOR or into a file; --color decides first") {
    temporary_folder const folder;
    std::string const run = folder / "run";
    record_small(run, large_loss);
    constexpr char yellow[] = "\x1b[1;33mwarning:\x1b[0m";
    CHECK(!ask("info " + run).says("\x1b["));
    CHECK(ask("info --color always " + run).says(yellow));
    CHECK(ask("--color=always info " + run).says(yellow));
    CHECK(!ask("info --color always --json " + run).says("\x1b["));
    tool_output const wrong = ask("check --color sometimes " + run);
    CHECK(wrong.code == 2);
    CHECK(wrong.complains("there is no way to colour \"sometimes\": there are auto, always, never"));
    if (!has_terminal()) { return; }
    CHECK(on_terminal("info " + run).find(yellow) != std::string::npos);
    CHECK(on_terminal("info " + run, "NO_COLOR=1").find("\x1b[") == std::string::npos);
    CHECK(on_terminal("info " + run, "NO_COLOR=").find(yellow) != std::string::npos);
    CHECK(on_terminal("info --color never " + run).find("\x1b[") == std::string::npos);
    CHECK(on_terminal("info --color always " + run, "NO_COLOR=1").find(yellow) != std::string::npos);
}
