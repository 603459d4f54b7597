// SPDX-License-Identifier: Apache-2.0
// Ranks that decide together: what each of four ranks reports when one asks for a stop, is corrupted, gets ahead or
// does not arrive.
#include <spotter/trial.hpp>

#include <tests/catch.hpp>
#include <tests/temporary_folder.hpp>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr std::uint32_t ranks = 4;

// The line that each rank printed, in order of ranks.
std::vector<std::string> said_in(std::string const& what, std::string const& folder, std::uint32_t count = ranks,
                                 std::string const& program = SPOTTER_RANKS) {
    std::string const command = "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "
                                "OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1 "
                                "OMPI_MCA_btl_base_warn_component_unused=0 timeout 100 " SPOTTER_MPIEXEC " -n " +
                                std::to_string(count) + " " + program + " " + what + " " + folder + " > " + folder +
                                "/out 2>&1";
    int const code = std::system(command.c_str());
    std::ifstream out{folder + "/out"};
    INFO(std::string(std::istreambuf_iterator<char>{out}, {}));
    if (what != "hangs") { CHECK(code == 0); }
    std::vector<std::string> said;
    for (std::uint32_t rank = 0; rank < count; ++rank) {
        std::ifstream file{folder + "/said-" + std::to_string(rank)};
        std::string line;
        std::getline(file, line);
        CHECK((!line.empty() || what == "hangs"));  // mpirun ends a rank that was too late
        said.push_back(line);
    }
    return said;
}
bool has(std::string const& line, std::string_view part) { return line.find(part) != line.npos; }
std::string count_reported(std::string const& folder, std::uint32_t rank) {
    auto const run = open_trial(folder + "/run", worker{rank});
    REQUIRE(run);
    std::string all;
    for (auto const& each : (*run)["collective"].loose()) { all += std::string{each.bytes} + "\n"; }
    return all;
}

}  // namespace

TEST_CASE("four ranks that agree: no findings, and each is a worker of the run") {
    temporary_folder const folder;
    // Replicas were compared at each agreement.
    for (std::string const& each : said_in("well", folder / "")) { CHECK(has(each, "of 4; last 39")); }
    auto const run = open_trial(folder / "run");
    REQUIRE(run);
    CHECK(
        (run->workers().size() == ranks && run->expected_workers() == ranks && run->status() == run_status::finished));
    CHECK(run->names("collective").empty());
}

TEST_CASE("one rank asks to stop, and all stop at that step; where they agree seldom, at the next one") {
    for (bool const seldom : {false, true}) {
        temporary_folder const folder;
        for (std::string const& each : said_in(seldom ? "seldom" : "stops", folder / "")) {
            INFO(each);
            CHECK(has(each, seldom ? "stopped by 1; last 15" : "stopped by 1; last 12"));
        }
        CHECK(count_reported(folder / "", 3) ==
              (seldom ? "train(15) rank 1 asks for stop\n" : "train(12) rank 1 asks for stop\n"));
    }
}

TEST_CASE("a gradient that one rank got wrong is left out by all, before it is averaged") {
    temporary_folder const folder;
    std::vector<std::string> const all = said_in("corrupt", folder / "");
    for (std::string const& each : all) {
        INFO(each);
        CHECK(has(each, "skipped by 2; last 39"));
        CHECK(!has(each, "nan"));
        CHECK(each.substr(each.find("; last")) == all[0].substr(all[0].find("; last")));  // equal weights
    }
    auto const run = open_trial(folder / "run").value();
    REQUIRE(run.findings().size() == 1);
    CHECK((run.findings()[0].worker == 2 && run.findings()[0].tensor == "grad/fc/w" &&
           run.findings()[0].step == train(9)));
}

TEST_CASE("a replica with one other bit is named, at the step, by every rank") {
    temporary_folder const folder;
    for (std::string const& each : said_in("flips", folder / "")) {
        INFO(each);
        CHECK(has(each, "odd 3/1 at 7; last 7"));
    }
    CHECK(count_reported(folder / "", 0) == "train(7); replicas differ: rank 3\n");
}

TEST_CASE("so is one with another bit in a bias, or in a single number that is learnt") {
    temporary_folder const folder;
    for (std::string const& each : said_in("flips_bias", folder / "")) {
        INFO(each);
        CHECK(has(each, "odd 1/1 at 5; last 5"));
    }
    temporary_folder const other;
    for (std::string const& each : said_in("flips_number", other / "")) {
        INFO(each);
        CHECK(has(each, "odd 2/1 at 3; last 3"));
    }
}

TEST_CASE("where a rank shows no tensor of a replica, replicas are not compared, which is reported once") {
    for (bool const one : {false, true}) {
        temporary_folder const folder;
        for (std::string const& each : said_in(one ? "unseen_by_one" : "unseen", folder / "")) {
            INFO(each);
            CHECK(has(each, " not compared; last 39"));
            CHECK(!has(each, "odd"));
        }
        CHECK(count_reported(folder / "", 3) ==
              (one ? "train(4); replicas are not compared: rank 2 has shown no weight or bias\n"
                   : "train(0); replicas are not compared: rank 0 has shown no weight or bias\n"));
        auto const run = open_trial(folder / "run", worker{2}).value();
        bool named = false;
        for (auto const& each : run.coverages()) {
            named = named || (each.rule == "rank_digest" && each.judged == (one ? 4U : 0U));
        }
        CHECK(named);
    }
}

TEST_CASE("ranks that show their tensors in another order are the same") {
    temporary_folder const folder;
    for (std::string const& each : said_in("any_order", folder / "")) { CHECK(has(each, "of 4; last 39")); }
}

TEST_CASE("a rank that is a step ahead is named") {
    temporary_folder const folder;
    for (std::string const& each : said_in("ahead", folder / "")) {
        INFO(each);
        CHECK(has(each, "ahead 1 at 21 not compared; last 20"));  // replicas of different steps differ anyway
    }
    CHECK(count_reported(folder / "", 2) == "train(20); rank 1 is at train(21)\n");
}

TEST_CASE("a missing rank is waited for until the time limit, and then reported") {
    temporary_folder const folder;
    std::vector<std::string> const all = said_in("hangs", folder / "");
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        if (rank == 2) { continue; }
        CHECK(has(all[rank], "alone: rank " + std::to_string(rank) +
                                 " waited 300 ms at train(6) for ranks that did not come, overwritten 0; last 6"));
    }
    CHECK(has(count_reported(folder / "", 0), "train(6) rank 0 waited 300 ms"));
}

TEST_CASE("one rank alone agrees with itself") {
    temporary_folder const folder;
    CHECK(has(said_in("well", folder / "", 1)[0], "rank 0 of 1; last 39"));
}

#if defined(SPOTTER_LATE_RANKS)
TEST_CASE("replicas in devices are compared at the latest step that all ranks have judged, however late one is") {
    for (char const* const what : {"late", "late_flips", "late_seldom"}) {
        temporary_folder const folder;
        for (std::string const& each : said_in(what, folder / "", 3, SPOTTER_LATE_RANKS)) {
            INFO(what << ": " << each);
            bool const sound = std::string_view{what} == "late";
            CHECK(has(each, sound ? "; compared 29, health 0" : " odd 2/1 of step 9; compared "));
        }
        CHECK(count_reported(folder / "", 0) == (std::string_view{what} == "late" ? ""
                                                 : std::string_view{what} == "late_flips"
                                                     ? "train(10); replicas differ: rank 2 at step 9\n"
                                                     : "train(12); replicas differ: rank 2 at step 9\n"));
    }
}
#endif
