// SPDX-License-Identifier: Apache-2.0
// watch: live runs judged by another process, and stopped by it.
#include <tests/tools/tool.hpp>

#include <spotter/rule/builtin/non_finite.hpp>

#include <bit>
#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

using namespace spotter;
using namespace spotter_test;

namespace {

using namespace std::chrono_literals;

// The lines of a watch that goes on while the test records; `finish` waits for its end.
class watching {
public:
    explicit watching(std::string const& arguments) {
        thread_ = std::thread{[this, arguments] { it_ = ask("watch --time 60 " + arguments); }};
    }
    watching(watching const&) = delete;
    watching& operator=(watching const&) = delete;
    ~watching() {
        if (thread_.joinable()) { thread_.join(); }
    }
    tool_output const& finish() {
        thread_.join();
        std::istringstream lines{it_.out};
        for (std::string line; std::getline(lines, line);) { events_.push_back(nlohmann::json::parse(line)); }
        INFO(it_.err);
        return it_;
    }
    [[nodiscard]] std::vector<nlohmann::json> events(std::string_view what, std::string_view run = "") const {
        std::vector<nlohmann::json> found;
        for (auto const& each : events_) {
            bool const its =
                run.empty() || (each.contains("path") && each.at("path").get<std::string>().ends_with(run));
            if (each.at("event") == what && its) { found.push_back(each); }
        }
        return found;
    }

private:
    std::thread thread_{};
    tool_output it_{};
    std::vector<nlohmann::json> events_{};
};

// A loop of a millisecond a step whose loss is NaN from `bad` on; how far it came until somebody stopped it.
template <class Hook>
std::uint64_t train_on(Hook& watch, std::uint64_t bad, std::uint64_t most, std::uint64_t first = 0) {
    for (std::uint64_t i = first; i < most; ++i) {
        double const loss = i < bad ? 1.0 / static_cast<double>(i + 1) : std::bit_cast<double>(0x7FF8000000000000ULL);
        if (watch.step(train(i), "loss"_t = loss).decision() == decision::stop) { return i; }
        std::this_thread::sleep_for(1ms);
    }
    return most;
}

}  // namespace

TEST_CASE("watch: a bad run is stopped from another process, a good one goes on") {
    temporary_folder const folder;
    watching other{"--stop --rules non_finite --alerts " + folder / "alerts.jsonl" + " " + folder / "runs"};
    std::this_thread::sleep_for(100ms);  // it waits for runs that are not there yet
    std::uint64_t good_end = 0, bad_end = 0;
    {
        hook good{folder / "runs/good", everything};
        std::thread beside{[&] { good_end = train_on(good, ~std::uint64_t{0}, 3000); }};
        hook bad{folder / "runs/bad", everything};
        bad_end = train_on(bad, 50, 30'000);
        beside.join();
    }
    CHECK(other.finish().code == 1);
    CHECK(good_end == 3000);
    CHECK(bad_end < 30'000);
    CHECK(bad_end >= 50);
    auto const found = other.events("finding", "bad");
    REQUIRE(!found.empty());
    CHECK(found[0].at("rule") == "non_finite");
    CHECK(found[0].at("step").at("index") == 50);
    CHECK(found[0].at("path") == folder / "runs/bad");
    CHECK(found[0].at("worker") == 0);
    CHECK(found[0].at("attempt") == 0);
    CHECK(other.events("stop", "bad").size() == 1);
    CHECK(other.events("finding", "good").empty());
    REQUIRE(other.events("status", "bad").size() == 2);
    CHECK(other.events("status", "bad")[0].at("status") == "running");
    CHECK(other.events("status", "bad")[1].at("status") == "finished");
    CHECK(other.events("end") == std::vector<nlohmann::json>{{{"event", "end"}, {"runs", 2}, {"ill", 1}}});
    std::string line;
    REQUIRE(std::getline(std::ifstream{folder / "alerts.jsonl"}, line));
    nlohmann::json const alert = nlohmann::json::parse(line);
    CHECK(alert.at("rule") == "non_finite");
    CHECK(alert.at("run") == folder / "runs/bad");
    CHECK(alert.at("worker") == 0);
    CHECK(alert.at("attempt") == 0);
    CHECK(alert.at("time") > 1e9);
    // The record says who stopped it and why.
    auto const run = open_trial(folder / "runs/bad");
    REQUIRE(run);
    REQUIRE(!run->findings().empty());
    // The alert's time is that of the step's close.
    CHECK(same_bits(found[0].at("time").get<double>(), (*run)["loss"].time(train(50)).value()));
    CHECK(found[0].at("time").get<double>() == Approx(alert.at("time").get<double>()).margin(1e-3));
    CHECK(run->findings().back().rule == "stop_file");
    CHECK(run->findings().back().id == rule_id::stop_file);  // a record holds the name alone
    CHECK(run->findings().back().detail.view().find("non_finite") != std::string_view::npos);
}

TEST_CASE("watch: verdicts are those of the loop, over rotation, and the run's death is reported") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    watching other{"--rules non_finite " + path};
    in_killed_child([&] {
        hook watch{path, everything, non_finite{}, options{.segment_bytes = 4096}};
        (void)train_on(watch, 150, 200);
        watch.flush();
        ::raise(SIGKILL);
    });
    REQUIRE(std::filesystem::exists(path + "/000001.spot"));
    CHECK(other.finish().code == 1);
    auto const status = other.events("status");
    REQUIRE(!status.empty());
    CHECK(status.back().at("status") == "died");
    auto const run = open_trial(path);
    REQUIRE(run);
    auto const found = other.events("finding");
    REQUIRE(found.size() == run->findings().size());
    CHECK(found.size() == 50);
    for (std::size_t i = 0; i < found.size(); ++i) {
        finding const& inside = run->findings()[i];
        CHECK(found[i].at("rule") == std::string{inside.rule});
        CHECK(found[i].at("step").at("index") == inside.step.index);
        CHECK(found[i].at("measured") == inside.measured);
    }
}

TEST_CASE("watch: what went wrong before a run was resumed does not stop it again") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    options resumed;
    resumed.existing = existing::resume;
    {
        hook watch{path, everything, resumed};
        CHECK(train_on(watch, 5, 10) == 10);
    }
    {
        hook watch{path, everything, resumed};
        (void)watch.step(train(5), "loss"_t = 1.0);
        watch.flush();
        watching other{"--stop --rules non_finite " + path};
        CHECK(train_on(watch, ~std::uint64_t{0}, 500, 6) == 500);
        watch.finish();
        CHECK(other.finish().code == 0);
        CHECK(other.events("finding").size() == 5);
        CHECK(other.events("stop").empty());
    }
}

TEST_CASE(
    "watch: the next training into the same folder is another run, judged from its beginning and stopped in its turn") {
    temporary_folder const folder;
    hook other_run{folder / "runs/other", everything};  // the watch goes on while this one does
    (void)other_run.step(train(0), "loss"_t = 1.0);
    other_run.flush();
    watching other{"--stop --rules non_finite " + folder / "runs"};
    std::uint64_t came[3] = {0, 0, 0};
    std::uint64_t const bad[3] = {200, 20, 20};
    for (std::size_t k = 0; k < 3; ++k) {
        {
            hook watch{folder / "runs/a", everything, options{.existing = existing::replace}};
            came[k] = train_on(watch, bad[k], 30'000);
        }
        std::this_thread::sleep_for(100ms);
    }
    other_run.finish();
    CHECK(other.finish().code == 1);  // and not by a signal
    for (std::size_t k = 0; k < 3; ++k) {
        INFO(k);
        CHECK(came[k] >= bad[k]);
        CHECK(came[k] < 30'000);
    }
    CHECK(other.events("replaced", "a").size() == 2);
    CHECK(other.events("stop", "a").size() == 3);
    CHECK(other.events("replaced", "other").empty());
    std::vector<std::uint64_t> firsts;
    std::uint64_t before = ~std::uint64_t{0};
    for (auto const& each : other.events("finding", "a")) {
        auto const index = each.at("step").at("index").get<std::uint64_t>();
        if (index <= before) { firsts.push_back(index); }
        before = index;
    }
    CHECK(firsts == std::vector<std::uint64_t>{200, 20, 20});
}

TEST_CASE("watch: a loop that hangs is reported once, by the time since its last step") {
    temporary_folder const folder;
    hook watch{folder / "run", everything};
    (void)watch.step(train(0), "loss"_t = 1.0);
    watch.flush();
    watching other{"--stalled 1 --command 'cat > " + folder / "reported" + "' " + folder / "run"};
    std::this_thread::sleep_for(2500ms);
    (void)watch.step(train(1), "loss"_t = 1.0);
    watch.finish();
    CHECK(other.finish().code == 1);
    REQUIRE(other.events("finding").size() == 1);
    CHECK(other.events("finding")[0].at("rule") == "stalled_training");
    std::vector<char> const text = read_file(folder / "reported");
    CHECK(nlohmann::json::parse(text.begin(), text.end()).at("rule") == "stalled_training");
}

TEST_CASE("watch: finished, empty and absent runs, and wrong rules, end at once or in time") {
    temporary_folder const folder;
    record_small(folder / "done");
    CHECK(ask("watch --rules non_finite " + folder / "done").code == 0);
    { hook watch{folder / "empty", everything}; }
    CHECK(ask("watch " + folder / "empty").code == 0);
    tool_output const none = ask("watch --time 0.2 " + folder / "none");
    CHECK(none.code == 3);
    CHECK(none.says("{\"event\":\"waiting\""));
    CHECK(ask("watch --rules nope " + folder / "done").code == 2);
    CHECK(ask("watch").code == 2);
    spoil(folder / "done/000000.spot");
    CHECK(ask("watch --rules non_finite " + folder / "done").code == 5);
}

TEST_CASE("watch: who watches one worker stops the run that it belongs to") {
    temporary_folder const folder;
    hook first{folder / "run", everything};
    auto second = first.worker(1);
    watching other{"--stop --rules non_finite " + folder / "run/worker-1"};
    CHECK(train_on(second, 20, 30'000) < 30'000);
    CHECK(train_on(first, ~std::uint64_t{0}, 5000) < 5000);
    first.finish();
    second.finish();
    CHECK(other.finish().code == 1);
    CHECK(std::filesystem::exists(folder / "run/stop"));
}

TEST_CASE("watch: a terminal gets a screen") {
    if (std::system("script -qec true /dev/null </dev/null >/dev/null 2>&1") != 0) {
        SPOTTER_SKIP("`script` gives no terminal here");
    }
    temporary_folder const folder;
    record_small(folder / "run");
    std::string const out = folder / "screen";
    std::string const command = "TERM=xterm script -qec \"" + std::string{SPOTTER_TOOL} +
                                " watch --ascii --rules non_finite " + folder / "run" + "\" " + out +
                                " </dev/null >/dev/null";
    CHECK(std::system(command.c_str()) == 0);
    std::vector<char> const bytes = read_file(out);
    std::string const text{bytes.begin(), bytes.end()};
    CHECK(text.find("/run  finished  12 steps  no finding") != text.npos);
    CHECK(text.find("  loss #") != text.npos);
    // A finding has the time of its step in front, and of several workers each is named.
    {
        hook first{folder / "two", everything};
        auto second = first.worker(1);
        (void)second.step(train(0), "loss"_t = 1.0);
        (void)first.step(train(0), "loss"_t = std::bit_cast<double>(0x7FF8000000000000ULL));
    }
    std::string const again = "TERM=xterm TZ=UTC script -qec \"" + std::string{SPOTTER_TOOL} +
                              " watch --ascii --rules non_finite " + folder / "two" + "\" " + out +
                              " </dev/null >/dev/null";
    CHECK(std::system(again.c_str()) == 256);  // a finding: 1
    std::vector<char> const more = read_file(out);
    std::string const screen{more.begin(), more.end()};
    std::size_t const at = screen.find(" worker 0: ");
    REQUIRE(at != screen.npos);
    CHECK((screen[at - 3] == ':' && screen[at - 6] == ':'));
}
