// SPDX-License-Identifier: Apache-2.0
// Which rank it was: of those that died, are behind, never came or are slow.
#include <tests/trial/runs.hpp>

#include <spotter/report/ranks.hpp>

#include <chrono>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

using namespace spotter;
using namespace spotter_test;

namespace {

options rank_options(std::uint32_t number, std::uint32_t all) {
    return {.worker = number, .workers = all};
}
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
    return std::any_of(it.sentences.begin(), it.sentences.end(), [&](std::string const& each) { return each.find(words) != each.npos; });
}

}  // namespace

TEST_CASE("ranks that ended together are well") {
    temporary_folder const folder;
    for (std::uint32_t number = 0; number < 3; ++number) {
        hook watch{folder / "run", keep_losses, rank_options(number, 3)};
        close_steps(watch, 0, 5);
    }
    ranks_report const told = ranks_of(open_trial(folder / "run").value());
    CHECK((told.ranks.size() == 3 && told.sentences.empty() && told.never_came.empty()));
    CHECK(told.ranks[1].last == train(4));
    CHECK(describe(told).find("no rank is behind or slow") != std::string::npos);
}

TEST_CASE("a rank that died in a step is named first, with the tensor that it had shown last; who never came is named, too") {
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
    ranks_report const told = ranks_of(open_trial(folder / "run").value());
    REQUIRE(told.ranks.size() == 3);
    CHECK((told.ranks[2].status == run_status::died && told.ranks[2].is_open && told.ranks[2].open == train(12) && told.ranks[2].reached == "act/2"));
    CHECK(told.never_came == std::vector<std::uint32_t>{3});
    REQUIRE(told.sentences.size() == 2);
    CHECK(told.sentences[0] == "rank 2 died behind train(11), in train(12), where it had shown act/2 last; the furthest is behind train(29)");
    CHECK(told.sentences[1] == "rank 3 never began");
}

TEST_CASE("a rank that goes on and is behind is told with its silence, one that failed with its reason") {
    temporary_folder const folder;
    hook first{folder / "run", keep_losses, rank_options(0, 3)}, second{folder / "run", keep_losses, rank_options(1, 3)};
    hook third{folder / "run", keep_losses, rank_options(2, 3)};
    close_steps(first, 0, 20);
    close_steps(second, 0, 8);
    close_steps(third, 0, 20);
    third.fail("no more data");
    third.finish();
    first.flush(), second.flush();
    ranks_report const told = ranks_of(open_trial(folder / "run").value());
    CHECK(tells(told, "rank 2 failed behind train(19): no more data"));
    CHECK(tells(told, "rank 1 is behind train(7), silent for "));
    CHECK(!tells(told, "rank 0"));
}

TEST_CASE("a rank whose own work takes longer is slow, and so is one that has become slower") {
    temporary_folder const folder;
    using std::chrono::microseconds;
    for (std::uint32_t number = 0; number < 3; ++number) {
        hook watch{folder / "run", keep_losses, rank_options(number, 3)};
        close_steps(watch, 0, 50, microseconds{number == 1 ? 10000 : 1000});
        close_steps(watch, 50, 100, microseconds{number == 1 ? 10000 : number == 2 ? 5000 : 1000});
    }
    ranks_report const told = ranks_of(open_trial(folder / "run").value());
    CHECK(tells(told, "rank 1 is slow: a step of its own takes "));
    CHECK((told.ranks[2].own < slow_rank && told.ranks[2].relative < slow_rank));
    CHECK(told.ranks[0].relative == 1);
    CHECK(told.ranks[1].relative < 0.4);
}
