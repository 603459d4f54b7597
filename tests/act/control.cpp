// SPDX-License-Identifier: Apache-2.0
// Control: the run carries out a request from outside at its next close of a step, records it and answers it.
#include <spotter/control.hpp>
#include <spotter/ext/json/live.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <tests/catch.hpp>
#include <tests/temporary_folder.hpp>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

using namespace spotter;
using spotter_test::temporary_folder;

namespace {

using namespace std::chrono_literals;

constexpr auto all_values = plan{collection{"all", "*", always{}}};
constexpr char two_values[] = R"({"collections": [{"name": "fresh", "pattern": "b*", "when": {"every": 2}}]})";

// A loop in its own thread that takes one step a millisecond until it is destroyed.
template <class Hook>
class running {
public:
    explicit running(Hook& watch) : watch_{watch}, thread_{[this] { go_on(); }} {}
    ~running() {
        over_ = true;
        thread_.join();
    }
    [[nodiscard]] std::uint64_t alarms() const { return alarms_; }

private:
    void go_on() {
        std::vector<float> a(8, 1), b(8, 2);
        for (std::uint64_t i = 0; !over_; ++i) {
            if (watch_.step(train(i), "a"_t = a, "b"_t = b)) { ++alarms_; }
            std::this_thread::sleep_for(1ms);
        }
    }
    Hook& watch_;
    std::atomic<bool> over_{false};
    std::atomic<std::uint64_t> alarms_{0};
    std::thread thread_;
};

std::vector<std::string> events_of(trial const& run) {
    std::vector<std::string> all;
    for (step_id const each : run["control"].steps()) {
        all.push_back(run["control"].at(each).to<std::string>().value());
    }
    return all;
}

}  // namespace

TEST_CASE("control: values are captured for some steps, and the record says who asked") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    hook watch{path, plan{collection{"a", "a", every{5}, stats(mean)}}};
    {
        running loop{watch};
        auto const answers = ask_run(path, {.what = control_verb::capture, .names = "b*", .steps = 7, .by = "ada"});
        REQUIRE(answers);
        REQUIRE(answers->size() == 1);
        CHECK((*answers)[0].state == answer_state::done);
        CHECK((*answers)[0].what == "capture b* for 7 steps, asked by ada");
        std::this_thread::sleep_for(60ms);
    }
    watch.finish();
    auto const run = open_trial(path);
    REQUIRE(run);
    CHECK((*run)["b"].steps().size() == 7);
    auto const said = events_of(*run);
    REQUIRE(said.size() == 1);
    step_id const at = (*run)["control"].steps()[0];
    CHECK(said[0] == "train(" + std::to_string(at.index) + ") capture b* for 7 steps, asked by ada");
    CHECK((*run)["b"].steps()[0].index == at.index + 1);
    CHECK(watch.health().first_error.what.view() == "");
    CHECK_FALSE(std::filesystem::exists(path + "/control"));
}

TEST_CASE("control: a pause keeps nothing of the plan, and rules judge on") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    hook watch{path, plan{collection{"a", "a", always{}}}, any("b", maximum > 1.0)};
    {
        running loop{watch};
        CHECK(ask_run(path, {.what = control_verb::pause})->at(0).state == answer_state::done);
        std::uint64_t const reported = loop.alarms();
        std::this_thread::sleep_for(60ms);
        CHECK(loop.alarms() > reported);
        CHECK(ask_run(path, {.what = control_verb::resume})->at(0).state == answer_state::done);
        std::this_thread::sleep_for(60ms);
    }
    watch.finish();
    auto const run = open_trial(path);
    auto const events = (*run)["control"].steps();
    REQUIRE(events.size() == 2);
    std::uint64_t between = 0, behind = 0;
    for (step_id const each : (*run)["a"].steps()) {
        between += each.index > events[0].index && each.index <= events[1].index ? 1 : 0;
        behind += each.index > events[1].index ? 1 : 0;
    }
    CHECK(between == 0);
    CHECK(behind > 0);
}

TEST_CASE("control: a plan is exchanged, and readers know its collections by name") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    hook watch{path, live(plan{collection{"old", "a", always{}}})};
    {
        running loop{watch};
        auto const answers = ask_run(path, {.what = control_verb::plan, .document = two_values});
        REQUIRE(answers);
        CHECK((*answers)[0].what.substr(0, 14) == "plan, asked by");
        CHECK((*answers)[0].state == answer_state::done);
        std::this_thread::sleep_for(60ms);
    }
    watch.finish();
    CHECK(watch.health().first_error.what.view() == "");
    auto const run = open_trial(path);
    std::uint64_t const at = (*run)["control"].steps()[0].index;
    CHECK((*run)["a"].steps().back().index == at);
    REQUIRE((*run)["b"].steps().size() > 3);
    for (step_id const each : (*run)["b"].steps()) { CHECK((each.index > at && each.index % 2 == 0)); }
    CHECK((*run)["b"].at((*run)["b"].steps()[0]).to<std::vector<float>>().value() == std::vector<float>(8, 2));
    REQUIRE(run->collections().size() == 2);
    CHECK(run->collections()[1].name == "fresh");
    CHECK(run->names({.collection = "fresh"}) == std::vector<std::string>{"b"});
    CHECK(run->names({.collection = "old"}) == std::vector<std::string>{"a"});
}

TEST_CASE("control: rules are exchanged, and both kinds are in the coverage") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    hook watch{path, all_values, live(any("a", maximum > 5.0))};
    {
        running loop{watch};
        std::this_thread::sleep_for(30ms);
        CHECK(loop.alarms() == 0);
        auto const bad =
            ask_run(path, {.what = control_verb::rules, .document = R"({"rules": [{"rule": "no_such_rule"}]})"});
        CHECK((*bad)[0].state == answer_state::refused);
        CHECK((*bad)[0].what.find("no_such_rule") != std::string::npos);
        auto const answers = ask_run(
            path, {.what = control_verb::rules, .document = R"({"rules": [{"any": "b", "where": "maximum > 1"}]})"});
        INFO((*answers)[0].what);
        CHECK((*answers)[0].state == answer_state::done);
        std::this_thread::sleep_for(60ms);
        CHECK(loop.alarms() > 3);
    }
    watch.finish();
    CHECK(watch.health().first_error.what.view() == "");
    auto const run = open_trial(path);
    auto const said = events_of(*run);
    REQUIRE(said.size() == 2);
    CHECK(said[0].find("; refused: ") != std::string::npos);
    CHECK(run->coverages().size() == 2);
    CHECK(run->findings()[0].step.index > (*run)["control"].steps()[1].index);
}

TEST_CASE("control: what cannot be done is refused with what to do, and recorded") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    hook watch{path, all_values};
    running loop{watch};
    auto const refused = [&](run_request const& it) {
        auto const answers = ask_run(path, it);
        REQUIRE(answers);
        CHECK((*answers)[0].state == answer_state::refused);
        return (*answers)[0].what;
    };
    CHECK(refused({.what = control_verb::plan, .document = two_values}).find("live(plan)") != std::string::npos);
    CHECK(refused({.what = control_verb::rules, .document = "{}"}).find("live(rules)") != std::string::npos);
    CHECK(refused({.what = control_verb::capture, .names = "a", .steps = 0}).find("from 1 on") != std::string::npos);
    CHECK(refused({.what = control_verb::capture, .names = "[a", .steps = 2}).find("malformed glob") !=
          std::string::npos);
    for (int i = 0; i < 4; ++i) {
        CHECK(ask_run(path, {.what = control_verb::capture, .names = "a" + std::to_string(i), .steps = 100'000})
                  ->at(0)
                  .state == answer_state::done);
    }
    CHECK(refused({.what = control_verb::capture, .names = "b"}).find("four captures") != std::string::npos);
    CHECK(ask_run(path, {.by = "two\nlines"}).error().code == errc::bad_config);
}

TEST_CASE("control: a patience of the longest duration that there is lasts until the answer") {
    temporary_folder const folder;
    hook watch{folder / "run", all_values};
    running const loop{watch};
    auto const answers = ask_run(folder / "run", {.what = control_verb::pause}, std::chrono::milliseconds::max());
    CHECK((*answers)[0].state == answer_state::done);
}

TEST_CASE("control: a folder without a run, or with a finished one, is an error") {
    temporary_folder const folder;
    CHECK(ask_run(folder / "nothing", {}).error().code == errc::not_a_run);
    {
        hook watch{folder / "run", all_values};
        (void)watch.step(0, "a"_t = 1.0F);
    }
    CHECK(ask_run(folder / "run", {}).error().code == errc::no_more_data);
}

TEST_CASE("control: a loop that closes no step is reported as such, and obeys once it closes one") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    hook watch{path, all_values};
    (void)watch.step(0, "a"_t = 1.0F);
    auto const answers = ask_run(path, {.what = control_verb::pause, .by = "ada"}, 600ms);
    CHECK((*answers)[0].state == answer_state::taken);
    (void)watch.step(1, "a"_t = 1.0F);
    (void)watch.step(2, "a"_t = 1.0F);
    watch.finish();
    CHECK(events_of(*open_trial(path)) == std::vector<std::string>{"train(1) pause, asked by ada"});
    CHECK((*open_trial(path))["a"].steps().size() == 2);
}

TEST_CASE("control: a request that no step follows is refused when the run ends") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    hook watch{path, all_values};
    (void)watch.step(0, "a"_t = 1.0F);
    CHECK((*ask_run(path, {.what = control_verb::pause}, 400ms))[0].state == answer_state::taken);
    watch.finish();
    std::ifstream file{path + "/control.answer"};
    std::string const all{std::istreambuf_iterator<char>{file}, {}};
    CHECK(all.find("state refused") != std::string::npos);
    CHECK(all.find("the run ended before") != std::string::npos);
}

TEST_CASE("control: every worker of a run obeys, each once") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    hook first{path, all_values, options{.workers = 2}};
    auto second = first.worker(1);
    {
        running one{first};
        running two{second};
        auto const answers = ask_run(path, {.what = control_verb::pause});
        REQUIRE(answers);
        REQUIRE(answers->size() == 2);
        CHECK((*answers)[0].state == answer_state::done);
        CHECK((*answers)[1].state == answer_state::done);
        CHECK((*answers)[1].worker == 1);
    }
    second.finish();
    first.finish();
    auto const run = open_trial(path);
    CHECK((*run)["control"].of(worker{0}).steps().size() == 1);
    CHECK((*run)["control"].of(worker{1}).steps().size() == 1);
}

TEST_CASE("control: two requests at once are answered one after the other") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    hook watch{path, all_values};
    {
        running loop{watch};
        std::atomic<int> done{0};
        std::vector<std::thread> all;
        for (int i = 0; i < 4; ++i) {
            all.emplace_back([&, i] {
                for (int k = 0; k < 3; ++k) {
                    auto const answers =
                        ask_run(path, {.what = control_verb::flush, .by = "who" + std::to_string(i)}, 30s);
                    done += answers && (*answers)[0].state == answer_state::done &&
                                    (*answers)[0].what == "flush, asked by who" + std::to_string(i)
                                ? 1
                                : 0;
                }
            });
        }
        for (std::thread& each : all) { each.join(); }
        CHECK(done == 12);
    }
    watch.finish();
    CHECK(events_of(*open_trial(path)).size() == 12);
}

TEST_CASE("control: a file that is half written waits until it is whole, and one that stays so is refused") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    hook watch{path, all_values};
    auto const write = [&](std::string const& text) { std::ofstream{path + "/control", std::ios::app} << text; };
    {
        running loop{watch};
        write("spotter control 1\nid x-1\nby bob\nask cap");
        std::this_thread::sleep_for(300ms);
        write("ture\nnames a\nsteps 5\nend\n");
        std::this_thread::sleep_for(300ms);
        std::filesystem::remove(path + "/control");
        write("what is this?");
        std::this_thread::sleep_for(1500ms);
        std::filesystem::remove(path + "/control");
        std::this_thread::sleep_for(150ms);
        std::filesystem::create_directory(path + "/control");
        std::this_thread::sleep_for(150ms);
    }
    watch.finish();
    auto const said = events_of(*open_trial(path));
    REQUIRE(said.size() == 2);
    CHECK(said[0].ends_with(") capture a for 5 steps, asked by bob"));
    CHECK(said[1].find("something, asked by an unknown user; refused: ") != std::string::npos);
    CHECK(watch.health().first_error.what.view().find("is no file") != std::string_view::npos);
}

TEST_CASE("control: with poll(), the polling thread reads the request") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    hook watch{path, all_values, options{.drain = drain::poll}};
    std::atomic<bool> over{false};
    std::thread asking{[&] {
        CHECK(ask_run(path, {.what = control_verb::flush})->at(0).state == answer_state::done);
        over = true;
    }};
    for (std::uint64_t i = 0; !over; ++i) {
        (void)watch.step(i, "a"_t = 1.0F);
        watch.poll();
        std::this_thread::sleep_for(1ms);
    }
    asking.join();
}

TEST_CASE("control: a request of an earlier attempt is passed over") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    { hook watch{path, all_values}; }
    std::ofstream{path + "/control"} << "spotter control 1\nid x-1\nask pause\nend\n";
    hook watch{path, all_values, options{.existing = existing::resume}};
    {
        running loop{watch};
        std::this_thread::sleep_for(300ms);
    }
    watch.finish();
    CHECK(open_trial(path)->names("control").empty());
}

TEST_CASE("control: an answer does not use the file in which another process writes its request") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    hook watch{path, all_values};
    running loop{watch};
    std::ofstream{path + "/control.part"} << "half of a question";  // written by hand, or by a killed process
    REQUIRE(ask_run(path, {.what = control_verb::flush}));
    std::ifstream file{path + "/control.part"};
    CHECK(std::string{std::istreambuf_iterator<char>{file}, {}} == "half of a question");
}
