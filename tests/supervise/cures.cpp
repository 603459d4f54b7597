// SPDX-License-Identifier: Apache-2.0
// Which cure the supervisor tries next, and when there is none: trainings as plain functions.
#include <tests/supervise/attempts.hpp>

#include <stdexcept>

using namespace spotter;
using namespace spotter_test;
using list = std::vector<std::string>;

TEST_CASE("a training that is stable is run once") {
    temporary_folder const folder;
    std::vector<cure> const cures{{"*", "again", {}}};
    healing const outcome = supervise([](supervised_attempt const& now) { return training{}(now.run, now); }, cures,
                                      {.folder = folder / "heal"});
    CHECK(outcome.stable());
    CHECK(outcome.why.empty());
    REQUIRE(outcome.attempts.size() == 1);
    CHECK(outcome.attempts[0].asked.run == folder / "heal/01");
    CHECK(outcome.attempts[0].verdict.stable());
    CHECK(outcome.attempts[0].verdict.closed_steps == 5);
    CHECK(outcome.attempts[0].seconds > 0);
    CHECK(open(folder / "heal/01").names("healing/*") == list{"healing/attempt"});
}

TEST_CASE("the first cure for the cause that was not tried yet comes next, and settings add up") {
    temporary_folder const folder;
    std::vector<cure> const cures{{"vanishing_gradient", "not this one", {"--no"}},
                                  {"{exploding_gradient,too_steep}", "warm-up", {"--warmup=200"}},
                                  {"non_finite", "smaller steps", {"--lr=0.1"}},
                                  {"too_*", "normalisation", {"--norm"}},
                                  {"*", "again", {}}};
    std::vector<list> settings;
    healing const outcome = supervise(
        [&](supervised_attempt const& now) {
            settings.push_back(now.settings);
            training const each[] = {{.gradient = 500}, {.gradient = 200}, {.loss = not_a_number}, {}};
            return each[now.number - 1](now.run, now);
        },
        cures, {.attempts = 4, .folder = folder / "heal"});
    CHECK(outcome.stable());
    CHECK(causes(outcome) == list{"too_steep", "too_steep", "non_finite", ""});
    CHECK(names_of_cures(outcome) == list{"", "warm-up", "normalisation", "smaller steps"});
    CHECK(settings ==
          std::vector<list>{{}, {"--warmup=200"}, {"--warmup=200", "--norm"}, {"--warmup=200", "--norm", "--lr=0.1"}});
    CHECK(outcome.attempts[2].verdict.at == train(2));
    CHECK(outcome.attempts[3].asked.because == outcome.attempts[2].verdict.line());

    trial const third = open(folder / "heal/03");
    CHECK(third["healing/attempt"].loose().at(0).to<std::uint32_t>().value() == 3);
    CHECK(third["healing/cure"].loose().at(0).to<std::string>().value() == "normalisation");
    std::string const because = third["healing/because"].loose().at(0).to<std::string>().value();
    CHECK(because.find("too_steep") != because.npos);
    CHECK(because.find("200 > 100") != because.npos);
    CHECK(because.find('\n') == because.npos);
}

TEST_CASE("without a cure for the cause the supervision ends and says which cause") {
    temporary_folder const folder;
    std::vector<cure> const cures{{"too_steep", "warm-up", {"--warmup"}}};
    healing const outcome =
        supervise([](supervised_attempt const& now) { return training{.gradient = 200}(now.run, now); }, cures,
                  {.folder = folder / "heal"});
    CHECK(outcome.how == healed::no_cure_left);
    CHECK(outcome.why.find("too_steep") != outcome.why.npos);
    CHECK(outcome.attempts.size() == 2);
}

TEST_CASE("no more attempts are made than the limit says") {
    temporary_folder const folder;
    std::vector<cure> const cures{{"*", "again", {}}, {"*", "again", {}}, {"*", "again", {}}};
    healing const outcome =
        supervise([](supervised_attempt const& now) { return training{.gradient = 200}(now.run, now); }, cures,
                  {.attempts = 3, .folder = folder / "heal"});
    CHECK(outcome.how == healed::out_of_attempts);
    CHECK(outcome.why.find("\"again\"") != outcome.why.npos);
    CHECK(outcome.attempts.size() == 3);
}

TEST_CASE("a plan that makes no sense starts nothing") {
    bool started = false;
    auto const launch = [&](supervised_attempt const& now) {
        started = true;
        return now.run;
    };
    auto const why = [&](std::vector<cure> const& cures, supervise_options within = {}) {
        healing const outcome = supervise(launch, cures, std::move(within));
        CHECK(outcome.how == healed::bad_plan);
        CHECK(outcome.attempts.empty());
        return outcome.why;
    };
    CHECK(why({}, {.attempts = 0}) == "supervise_options::attempts is 0: nothing would ever be run");
    CHECK(why({}, {.folder = ""}) == "supervise_options::folder is empty: say where the records are to go");
    CHECK(why({{"died", "", {}}}) == "the cure for \"died\" has no name");
    CHECK(why({{"", "again", {}}}) == "the cure \"again\" has no cause; \"*\" is any");
    CHECK(why({{"[a", "again", {}}}) == "the cause of the cure \"again\" is no glob: [a");
    CHECK(why({{"died", "less", {"-1"}}, {"died", "less", {"-1"}}}) == "the cure \"less\" is there twice for \"died\"");
    CHECK_FALSE(started);
}

TEST_CASE("a folder with a run in it is not judged in place of the attempt") {
    temporary_folder const folder;
    (void)training{}(folder / "heal/01", {});
    bool started = false;
    healing const outcome = supervise(
        [&](supervised_attempt const& now) {
            started = true;
            return now.run;
        },
        {}, {.folder = folder / "heal"});
    CHECK(outcome.how == healed::run_exists);
    CHECK(outcome.why.find("heal/01") != outcome.why.npos);
    CHECK_FALSE(started);
}

TEST_CASE("one record is not judged for two attempts") {
    temporary_folder const folder;
    std::vector<cure> const cures{{"*", "again", {}}};
    healing const outcome = supervise(
        [&](supervised_attempt const& now) {
            if (now.number == 1) { return training{.gradient = 200}(folder / "mine", now); }
            return folder / "../" + std::filesystem::path{folder / ""}.parent_path().filename().string() + "/mine";
        },
        cures, {.folder = folder / "heal"});
    CHECK(outcome.how == healed::same_run);
    CHECK(outcome.attempts.size() == 2);
}

TEST_CASE("a function that throws has failed, and its record says why if it has one") {
    temporary_folder const folder;
    std::vector<cure> const cures{{"failed", "again", {}}};
    healing const outcome = supervise(
        [](supervised_attempt const& now) -> std::string {
            if (now.number == 2) { return training{}(now.run, now); }
            throw std::runtime_error{"no such batch"};
        },
        cures, {.folder = folder / "heal"});
    CHECK(outcome.stable());
    CHECK(causes(outcome) == list{"failed", ""});
    CHECK(outcome.attempts[1].asked.because == "failed: threw: no such batch");
}

TEST_CASE("without a record, or without rules in it, nothing is called stable") {
    temporary_folder const folder;
    healing const none =
        supervise([](supervised_attempt const& now) { return now.run; }, {}, {.folder = folder / "none"});
    CHECK(none.how == healed::no_verdict);
    CHECK(none.why.find("none/01") != none.why.npos);

    healing const unjudged = supervise(
        [](supervised_attempt const& now) {
            using namespace spotter::literals;
            hook watch{now.run, keep_losses};
            (void)watch.step(train(0), "loss"_t = 1.0F);
            watch.finish();
            return now.run;
        },
        {}, {.folder = folder / "unjudged"});
    CHECK(unjudged.how == healed::no_verdict);
    CHECK(unjudged.why.find("no rule judged anything") != unjudged.why.npos);
}

TEST_CASE("a record that goes on is no verdict") {
    temporary_folder const folder;
    hook watch{folder / "elsewhere", keep_losses, any("loss", nonfinite > 0)};
    healing const outcome = supervise(
        [&](supervised_attempt const&) {
            using namespace spotter::literals;
            (void)watch.step(train(0), "loss"_t = 1.0F);
            watch.flush();
            return std::string{watch.path()};
        },
        {}, {.folder = folder / "heal"});
    CHECK(outcome.how == healed::no_verdict);
    CHECK(outcome.why.find("finish()") != outcome.why.npos);
}

TEST_CASE("a damaged record that asks for no stop is not called stable") {
    temporary_folder const folder;
    healing const outcome = supervise(
        [](supervised_attempt const& now) {
            std::string const run = training{.steps = 2000}(now.run, now);
            for (auto const& each : std::filesystem::directory_iterator{run}) {
                if (each.path().extension() != ".spot") { continue; }
                std::vector<char> bytes = read_file(each.path().string());
                bytes[bytes.size() / 2] ^= 1;
                write_file(each.path().string(), bytes);
            }
            return run;
        },
        {}, {.folder = folder / "heal"});
    CHECK(outcome.how == healed::no_verdict);
    CHECK(outcome.why.find("cannot be read") != outcome.why.npos);
}

TEST_CASE("a run that its loop reported as failed, and a stop that a loop did not heed") {
    temporary_folder const folder;
    {
        using namespace spotter::literals;
        hook watch{folder / "failed", keep_losses, any("loss", nonfinite > 0)};
        (void)watch.step(train(0), "loss"_t = 1.0F);
        watch.fail("the disk of the data is gone");
    }
    CHECK(verdict_of(open(folder / "failed")).value().said == "failed: the disk of the data is gone");
    {
        using namespace spotter::literals;
        hook watch{folder / "deaf", keep_losses, on(any("loss", nonfinite > 0), stop)};
        for (std::uint64_t i = 0; i < 3; ++i) { (void)watch.step(train(i), "loss"_t = i == 1 ? not_a_number : 1.0F); }
    }
    run_verdict const deaf = verdict_of(open(folder / "deaf")).value();
    CHECK_FALSE(deaf.stable());
    CHECK(deaf.at == train(1));
    CHECK(deaf.closed_steps == 3);
}
