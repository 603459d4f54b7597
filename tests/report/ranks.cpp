// SPDX-License-Identifier: Apache-2.0
// Which rank it was: of those that died, are behind, never came or are slow.
#include <tests/trial/runs.hpp>

#include <spotter/record/recover.hpp>
#include <spotter/workbench/ranks.hpp>

#include <chrono>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace spotter;
using namespace spotter_test;

namespace {

options rank_options(std::uint32_t number, std::uint32_t all) { return {.worker = number, .workers = all}; }
template <class Hook>
void close_steps(Hook& watch, std::uint64_t from, std::uint64_t to, std::chrono::microseconds each = {}) {
    for (std::uint64_t i = from; i < to; ++i) {
        watch.begin(train(i));
        if (each.count() > 0) { std::this_thread::sleep_for(each); }
        (void)watch.end("loss"_t = 1.0);
    }
}
constexpr plan keep_losses{collection{"all", "*", always{}, payload}};

bool tells(ranks_report const& it, std::string_view words) {
    return std::any_of(it.sentences.begin(), it.sentences.end(),
                       [&](std::string const& each) { return each.find(words) != each.npos; });
}

}  // namespace

TEST_CASE("ranks that ended together are well") {
    temporary_folder const folder;
    for (std::uint32_t number = 0; number < 3; ++number) {
        hook watch{folder / "run", keep_losses, rank_options(number, 3)};
        close_steps(watch, 0, 5);
    }
    ranks_report const reported = ranks_of(open_trial(folder / "run").value());
    CHECK((reported.ranks.size() == 3 && reported.sentences.empty() && reported.never_came.empty()));
    CHECK(reported.ranks[1].last == train(4));
    CHECK(describe(reported).find("no rank is behind or slow") != std::string::npos);
}

TEST_CASE(
    "a rank that died in a step is named first, with the tensor that it had shown last; who never came is named, too") {
    temporary_folder const folder;
    for (std::uint32_t const number : {0U, 1U}) {
        hook watch{folder / "run", keep_losses, rank_options(number, 4)};
        close_steps(watch, 0, 30);
    }
    pid_t const child = ::fork();
    if (child == 0) {
        hook watch{folder / "run", keep_losses, rank_options(2, 4)};
        close_steps(watch, 0, 12);
        watch.begin(train(12));
        watch.observe("act/1", 1.0F);
        watch.observe("act/2", 1.0F);
        watch.flush();
        ::_exit(0);
    }
    REQUIRE(::waitpid(child, nullptr, 0) == child);
    ranks_report const reported = ranks_of(open_trial(folder / "run").value());
    REQUIRE(reported.ranks.size() == 3);
    CHECK((reported.ranks[2].status == run_status::died && reported.ranks[2].is_open &&
           reported.ranks[2].open == train(12) && reported.ranks[2].reached == "act/2"));
    CHECK(reported.never_came == std::vector<std::uint32_t>{3});
    REQUIRE(reported.sentences.size() == 2);
    CHECK(
        reported.sentences[0] ==
        "rank 2 died behind train(11), in train(12), where it had shown act/2 last; the furthest is behind train(29)");
    CHECK(reported.sentences[1] == "rank 3 never began");
}

TEST_CASE("a rank that goes on and is behind is reported with its silence, one that failed with its reason") {
    temporary_folder const folder;
    hook first{folder / "run", keep_losses, rank_options(0, 3)},
        second{folder / "run", keep_losses, rank_options(1, 3)};
    hook third{folder / "run", keep_losses, rank_options(2, 3)};
    close_steps(first, 0, 20);
    close_steps(second, 0, 8);
    close_steps(third, 0, 20);
    third.fail("no more data");
    third.finish();
    first.flush(), second.flush();
    ranks_report const reported = ranks_of(open_trial(folder / "run").value());
    CHECK(tells(reported, "rank 2 failed behind train(19): no more data"));
    CHECK(tells(reported, "rank 1 is behind train(7), silent for "));
    CHECK(!tells(reported, "rank 0"));
}

TEST_CASE("ranks that are killed together: first is the one that was not in the section where the others wait, though "
          "all are as far") {
    if (!std::filesystem::is_directory("/dev/shm")) { SPOTTER_SKIP("there is no /dev/shm here"); }
    temporary_folder const folder;
    for (std::uint32_t number = 0; number < 4; ++number) {
        pid_t const child = ::fork();
        if (child == 0) {
            options how = rank_options(number, 4);
            how.ring_in = ring_in::shared_memory;
            hook watch{folder / "run", keep_losses, how};
            for (std::uint64_t i = 0; i < 20; ++i) {
                {
                    auto const part = watch.section("forward");
                    (void)watch.step(train(i), "loss"_t = 1.0);
                    if (i == 19 && number == 2) { ::kill(::getpid(), SIGKILL); }
                }
                auto const part = watch.section("allreduce");
                auto const inner = watch.section("wait");
                if (i == 19) { ::kill(::getpid(), SIGKILL); }
            }
        }
        REQUIRE(::waitpid(child, nullptr, 0) == child);
    }
    REQUIRE(recover(folder / "run"));
    REQUIRE(recover(folder / "run").value().rings == 0);
    trial const run = open_trial(folder / "run").value();
    CHECK(run.damage().empty());
    ranks_report const reported = ranks_of(run);
    REQUIRE(reported.ranks.size() == 4);
    CHECK((reported.ranks[0].last == train(19) && reported.ranks[2].last == train(19)));
    CHECK(reported.ranks[0].section == "allreduce/wait");
    CHECK(reported.ranks[2].section == "forward");
    REQUIRE(reported.sentences.size() == 4);
    CHECK(reported.sentences[0] == "rank 2 died behind train(19), in section forward");
    CHECK(reported.sentences[1].starts_with("rank 0 died behind train(19), in section allreduce/wait"));
    for (std::string const& each : reported.sentences) {
        CHECK(each.find("the furthest") == each.npos);  // all are as far
    }
    CHECK(describe(reported).find("rank 3    died      train(19) closed, in section allreduce/wait") !=
          std::string::npos);
}

TEST_CASE("a loop that hangs in a section is reported by its own writer, and no longer once it goes on") {
    temporary_folder const folder;
    hook first{folder / "run", keep_losses, rank_options(0, 3)},
        second{folder / "run", keep_losses, rank_options(1, 3)};
    hook third{folder / "run", keep_losses, rank_options(2, 3)};
    for (auto* each : {&first, &second, &third}) { close_steps(*each, 0, 8); }
    first.begin_section("allreduce"), second.begin_section("allreduce"), third.begin_section("data");
    bool reported = false;
    for (int i = 0; i < 200 && !reported; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds{50});
        ranks_report const now = ranks_of(open_trial(folder / "run").value());
        reported = !now.ranks[0].section.empty() && !now.ranks[1].section.empty() && !now.ranks[2].section.empty();
        if (reported) {
            CHECK(now.ranks[0].in_section >= 2);
            CHECK(now.ranks[0].in_section < 10);
            REQUIRE(now.sentences.size() == 1);
            CHECK(now.sentences[0].starts_with("rank 2 is behind train(7), in section data, silent for "));
            CHECK(now.sentences[0].ends_with(", while the others are in section allreduce"));
        }
    }
    CHECK(reported);
    first.end_section("allreduce"), second.end_section("allreduce"), third.end_section("data");
    for (auto* each : {&first, &second, &third}) { close_steps(*each, 8, 10), each->flush(); }
    ranks_report const now = ranks_of(open_trial(folder / "run").value());
    CHECK((now.ranks[0].section.empty() && now.ranks[2].section.empty() && now.sentences.empty()));
}

TEST_CASE("sections of a forked child, and behind the end of a run, are nobody's") {
    if (!std::filesystem::is_directory("/dev/shm")) { SPOTTER_SKIP("there is no /dev/shm here"); }
    temporary_folder const folder;
    options how = rank_options(0, 1);
    how.ring_in = ring_in::shared_memory;
    hook watch{folder / "run", keep_losses, how};
    close_steps(watch, 0, 3);
    pid_t const child = ::fork();
    if (child == 0) {
        (void)watch.step(train(3), "loss"_t = 1.0);
        for (int i = 0; i < 60; ++i) { auto const part = watch.section("of the child " + std::to_string(i)); }
        ::_exit(0);
    }
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    for (int i = 0; i < 60; ++i) {  // more than have a name
        auto const part =
            watch.section("part " + std::string(100, static_cast<char>('a' + i % 26)) + std::to_string(i));
    }
    watch.finish();
    for (int i = 0; i < 3; ++i) { auto const part = watch.section("behind the end " + std::to_string(i)); }
    CHECK(open_trial(folder / "run").value().status() == run_status::finished);
}

TEST_CASE("a rank whose own work takes longer is slow, and so is one that has become slower") {
    temporary_folder const folder;
    using std::chrono::microseconds;
    for (std::uint32_t number = 0; number < 3; ++number) {
        hook watch{folder / "run", keep_losses, rank_options(number, 3)};
        close_steps(watch, 0, 50, microseconds{number == 1 ? 10000 : 1000});
        close_steps(watch, 50, 100, microseconds{number == 1 ? 10000 : number == 2 ? 5000 : 1000});
    }
    ranks_report const reported = ranks_of(open_trial(folder / "run").value());
    CHECK(tells(reported, "rank 1 is slow: a step of its own takes "));
    CHECK((reported.ranks[2].own < slow_rank && reported.ranks[2].relative < slow_rank));
    CHECK(reported.ranks[0].relative == 1);
    CHECK(reported.ranks[1].relative < 0.4);
}
