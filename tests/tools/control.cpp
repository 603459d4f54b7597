// SPDX-License-Identifier: Apache-2.0
// capture, pause, resume, flush, plan, rules: what a run that goes on is asked for, and what it answers.
#include <spotter/ext/json/live.hpp>
#include <spotter/response.hpp>
#include <spotter/rules.hpp>

#include <tests/tools/tool.hpp>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

using namespace spotter;
using namespace spotter_test;

namespace {

// A loop in a thread of its own, until it is over.
class loop_to_ask {
public:
    explicit loop_to_ask(std::string const& path)
        : watch_{path, live(plan{collection{"a", "a", every{10}}}), live(any("a", maximum > 5.0))}, thread_{[this] {
              std::vector<float> const a(4, 1), b(4, 2);
              for (std::uint64_t i = 0; !over_; ++i) {
                  (void)watch_.step(i, "a"_t = a, "b"_t = b);
                  std::this_thread::sleep_for(std::chrono::milliseconds{1});
              }
          }} {}
    ~loop_to_ask() {
        over_ = true;
        thread_.join();
    }

private:
    using watcher =
        decltype(hook{std::string_view{}, live(plan{collection{"a", "a", every{10}}}), live(any("a", maximum > 5.0))});
    watcher watch_;
    std::atomic<bool> over_{false};
    std::thread thread_;
};

}  // namespace

TEST_CASE("capture, pause, resume and flush are answered, and stand in the record") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    {
        loop_to_ask const loop{path};
        tool_output const captured = ask("capture " + path + " --names 'b*' --steps 12 --by ada");
        CHECK(captured.err == "");
        CHECK(captured.out == "capture b* for 12 steps, asked by ada\n");
        CHECK(captured.code == 0);
        auto const paused = ask("pause " + path + " --by bob --json").document();
        CHECK(paused.at("answers").at(0).at("state") == "done");
        CHECK(paused.at("answers").at(0).at("what") == "pause, asked by bob");
        CHECK(ask("resume " + path).code == 0);
        CHECK(ask("flush " + path).code == 0);
        tool_output const shown = ask("show " + path + " b --as sparkline");
        CHECK(shown.code == 0);  // while it runs
    }
    tool_output const table = ask("ls " + path + " --json");
    CHECK(table.out.find("\"control\"") != std::string::npos);
    CHECK(ask("verify " + path).code == 0);
    CHECK(ask("check " + path).code != 4);
}

TEST_CASE("plan and rules are exchanged, and what is malformed is refused") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    std::ofstream{folder / "plan.json"} << R"({"collections": [{"name": "fresh", "pattern": "b"}]})";
    std::ofstream{folder / "rules.json"} << R"({"rules": [{"any": "b", "where": "maximum > 1"}]})";
    std::ofstream{folder / "bad.json"} << R"({"collections": [{"nam": "fresh"}]})";
    {
        loop_to_ask const loop{path};
        CHECK(ask("plan " + path + ' ' + folder / "plan.json").code == 0);
        CHECK(ask("rules " + path + ' ' + folder / "rules.json").code == 0);
        tool_output const bad = ask("plan " + path + ' ' + folder / "bad.json");
        CHECK(bad.code == 2);
        CHECK(bad.complains("refused: "));
        CHECK(bad.complains("nam"));
        CHECK(ask("plan " + path + ' ' + folder / "nothing.json").code == 4);
        std::this_thread::sleep_for(std::chrono::milliseconds{50});
    }
    tool_output const found = ask("info " + path);
    CHECK(found.says("fresh"));
    CHECK(ask("info --check " + path).code == 1);
}

TEST_CASE("control: a run that is over, and what is no run") {
    temporary_folder const folder;
    { hook watch{folder / "run", plan{collection{"a", "a", always{}}}}; }
    tool_output const over = ask("pause " + folder / "run");
    CHECK(over.code == 3);
    CHECK(over.complains("no process records"));
    CHECK(ask("pause " + folder / "nothing").code == 3);
    CHECK(ask("capture " + folder / "run").code == 2);  // without --names
}

TEST_CASE("a finding of one rank asks the others for the same: the command of a response, on the run that all of them "
          "write") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    std::string const command =
        std::string{SPOTTER_TOOL} + " capture " + path + " --names 'act/*' --steps 40 --by rank0 > /dev/null";
    auto const rank = [&](std::uint32_t number, std::atomic<bool> const& over) {
        options how{.worker = number, .workers = 2};
        hook watch{path, plan{collection{"few", "act/*", every{100} && sampled{number, 2, 1}, payload}}, how,
                   on(non_finite{}, run_command{command.c_str()}) | once};
        std::vector<float> act(8, 1);
        for (std::uint64_t i = 0; !over; ++i) {
            bool const bad = number == 0 && i >= 50;
            act[3] = bad ? std::numeric_limits<float>::quiet_NaN() : 1.0F;
            (void)watch.step(i, "act/1"_t = act);
            std::this_thread::sleep_for(std::chrono::milliseconds{2});
        }
    };
    std::atomic<bool> over{false};
    std::thread first{rank, 0U, std::cref(over)}, second{rank, 1U, std::cref(over)};
    bool captured = false;
    for (int i = 0; i < 400 && !captured; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds{50});
        auto const run = open_trial(path);
        captured = run && run->workers().size() == 2;
        for (std::uint32_t number = 0; number < 2 && captured; ++number) {
            auto const steps = (*run)["act/1"].of(worker{number}).payload_steps();
            captured =
                std::count_if(steps.begin(), steps.end(), [](step_id each) { return each.index % 100 != 0; }) >= 35;
        }
    }
    over = true;
    first.join(), second.join();
    CHECK(captured);
}
