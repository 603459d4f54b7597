// SPDX-License-Identifier: Apache-2.0
// A data-parallel training over four MPI ranks in which one rank fails or misbehaves, and the findings of spotter:
//     study_ranks DIGITS.CSV --mpiexec=PROGRAM [--quick] [--kills=N] [--seed=N] [--out=FOLDER]
// Options for the ranks that mpirun starts: [--fault=NAME] [--deaf] (ignores decisions). docs/studies/ranks.md. Exit
// code: 0 when the claims of that page hold, 1 when not, 2 when the command line or a file is wrong.
#include "../common/arguments.hpp"
#include "../common/results.hpp"
#include "training.hpp"

#include <spotter/record/recover.hpp>
#include <spotter/trial.hpp>
#include <spotter/workbench/ranks.hpp>

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace {

using namespace ranks_study;

struct said {
    bool to_end = false;
    std::string weights{};
    double accuracy = 0;
};
// The result of rank 0, and whether all ranks have the same weights.
struct outcome_of_run {
    said first{};
    bool alike = true;
    std::string path{};
};

class launcher {
public:
    launcher(std::string mpiexec, std::string data, std::string out)
        : mpiexec_{std::move(mpiexec)}, data_{std::move(data)}, out_{std::move(out)} {}

    [[nodiscard]] outcome_of_run run(std::string_view name, std::uint64_t seed, bool deaf = false) const {
        std::string const folder = fmt::format("{}/{}{}-{}", out_, name, deaf ? "-deaf" : "", seed);
        std::filesystem::remove_all(folder);
        std::filesystem::create_directories(folder);
        std::string const self = std::filesystem::read_symlink("/proc/self/exe").string();
        std::string const command =
            fmt::format("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 "
                        "OMPI_MCA_mpi_yield_when_idle=1 "
                        "OMPI_MCA_btl_base_warn_component_unused=0 timeout 120 '{}' -n {} '{}' '{}' --fault={} "
                        "--seed={} --out='{}'{} > '{}/out' 2>&1",
                        mpiexec_, rank_count, self, data_, name, seed, folder, deaf ? " --deaf" : "", folder);
        (void)std::system(command.c_str());  // mpirun reports a killed rank in its own way
        outcome_of_run came{.path = folder + "/run"};
        for (int rank = 0; rank < rank_count; ++rank) {
            said its;
            std::ifstream in{fmt::format("{}/said-{}", folder, rank)};
            in >> its.to_end >> its.weights >> its.accuracy;
            if (rank == 0) { came.first = its; }
            came.alike = came.alike && its.weights == came.first.weights && !its.weights.empty();
        }
        return came;
    }

private:
    std::string mpiexec_, data_, out_;
};

// All common decisions of the ranks, as one rank recorded them.
[[nodiscard]] std::string agreed(sp::trial const& run, std::uint32_t rank) {
    std::string all;
    for (auto const& each : run["collective"].of(sp::worker{rank}).loose()) {
        all += fmt::format("{}\n", std::string_view{each.bytes});
    }
    return all;
}

class claims {
public:
    void claim(bool is_so, std::string const& what) {
        if (!is_so) { fmt::print("it does not hold that {}\n", what); }
        hold_ = hold_ && is_so;
    }
    [[nodiscard]] bool hold() const noexcept { return hold_; }

private:
    bool hold_ = true;
};

void line(std::string& table, std::string_view what, std::uint64_t seed, std::string const& planted,
          std::string const& reported, std::string const& came) {
    table += fmt::format("| {} | {} | {} | {} | {} |\n", what, seed, planted, reported, came);
}

void healthy(launcher const& begin, std::uint64_t seed, std::string& table, claims& all, double& accuracy) {
    outcome_of_run const came = begin.run("none", seed);
    auto const run = sp::open_trial(came.path);
    all.claim(run && run->status() == sp::run_status::finished && came.alike,
              "a healthy training ends with the same weights in all ranks");
    if (!run) { return; }
    bool quiet = agreed(*run, 0).empty() && sp::ranks_of(*run).sentences.empty();
    for (auto const& each : run->findings()) { quiet = quiet && each.severity < sp::severity::warning; }
    all.claim(quiet, "nothing is reported for a healthy training");
    accuracy = came.first.accuracy;
    line(table, "nothing", seed, "", quiet ? "nothing" : "something", fmt::format("{:.1f} % right", 100 * accuracy));
}

void corrupt(launcher const& begin, std::uint64_t seed, double healthy_accuracy, std::string& table, claims& all) {
    mishap const it{fault::corrupt, seed};
    outcome_of_run const came = begin.run("corrupt", seed), deaf = begin.run("corrupt", seed, true);
    auto const run = sp::open_trial(came.path);
    if (!run) { return all.claim(false, "there is a record"); }
    std::string reported;
    for (auto const& each : run->findings()) {
        if (each.severity < sp::severity::warning || !reported.empty()) { continue; }
        reported = fmt::format("rank {}, train({}), {}: {}", each.worker, each.step.index, each.tensor, each.rule);
        all.claim(each.worker == static_cast<std::uint32_t>(it.rank) && each.step == sp::train(it.step) &&
                      each.tensor == "grad/" + it.weight(),
                  fmt::format("the corrupted gradient of rank {} at train({}) is named first, and not {}", it.rank,
                              it.step, reported));
    }
    std::string const together = fmt::format("train({}) rank {} asks for skip_update", it.step, it.rank);
    for (std::uint32_t rank = 0; rank < rank_count; ++rank) {
        all.claim(agreed(*run, rank).starts_with(together), "all ranks skip that update: " + together);
    }
    all.claim(came.alike && came.first.accuracy > healthy_accuracy - 0.03,
              "the training goes on as if nothing had been");
    line(table, "one gradient, one bit", seed,
         fmt::format("rank {}, train({}), grad/{}", it.rank, it.step, it.weight()), reported,
         fmt::format("all skip it: {:.1f} % right; applied: {:.1f} %", 100 * came.first.accuracy,
                     100 * deaf.first.accuracy));
}

void replica(launcher const& begin, std::uint64_t seed, std::string& table, claims& all) {
    mishap const it{fault::replica, seed};
    outcome_of_run const came = begin.run("replica", seed);
    auto const run = sp::open_trial(came.path);
    if (!run) { return all.claim(false, "there is a record"); }
    std::string reported = agreed(*run, (static_cast<std::uint32_t>(it.rank) + 1) % rank_count);
    reported = reported.substr(0, reported.find('\n'));
    all.claim(reported.find(fmt::format("train({})", it.step)) == 0 &&
                  reported.find(fmt::format("replicas differ: rank {}", it.rank)) != reported.npos,
              fmt::format("the replica of rank {} is named at train({}), and not: {}", it.rank, it.step, reported));
    all.claim(!came.first.to_end, "the training is stopped there");
    line(table, fmt::format("one weight, bit {}", it.bit), seed,
         fmt::format("rank {}, train({}), {}", it.rank, it.step, it.weight()), reported, "stopped at that step");
}

void slow(launcher const& begin, std::uint64_t seed, std::string& table, claims& all) {
    mishap const it{fault::slow, seed};
    outcome_of_run const came = begin.run("slow", seed);
    auto const run = sp::open_trial(came.path);
    if (!run) { return all.claim(false, "there is a record"); }
    std::vector<std::string> const sentences = sp::ranks_of(*run).sentences;
    all.claim(sentences.size() == 1 && sentences[0].starts_with(fmt::format("rank {} ", it.rank)) &&
                  sentences[0].find("slow") != std::string::npos,
              fmt::format("rank {} is reported as slow, and no other: {}", it.rank,
                          sentences.empty() ? "nothing" : sentences[0]));
    line(table, "3 ms more a step", seed, fmt::format("rank {}, from train({}) on", it.rank, it.step),
         sentences.empty() ? "" : sentences[0], "");
}

// Kills at random times: every closed step is in the record, and the killed rank is named first.
struct kills {
    std::uint64_t all = 0, first = 0, lost = 0;
};
void dies(launcher const& begin, std::uint64_t seed, std::string* table, kills& count, claims& all) {
    mishap const it{fault::dies, seed};
    outcome_of_run const came = begin.run("dies", seed);
    auto const back = sp::recover(came.path);
    auto const run = sp::open_trial(came.path);
    if (!back || back->first_error || !run) {
        return all.claim(false, "what the killed ranks left can be brought into the record");
    }
    for (std::uint32_t rank = 0; rank < rank_count; ++rank) {
        std::uint64_t closed = 0;
        std::ifstream in{fmt::format("{}/../closed-{}", came.path, rank), std::ios::binary};
        if (!in.read(reinterpret_cast<char*>(&closed), sizeof closed)) { continue; }
        std::size_t const there = run->steps(sp::worker{rank}).size();
        if (there > closed) { continue; }
        ++count.lost;
        fmt::print("seed {}: rank {} had closed train({}), and {} steps are there\n", seed, rank, closed, there);
    }
    std::vector<std::string> const sentences = sp::ranks_of(*run).sentences;
    std::string const first = sentences.empty() ? "nothing" : sentences[0];
    ++count.all, count.first += first.starts_with(fmt::format("rank {} died", it.rank)) ? 1 : 0;
    if (table != nullptr) {
        line(*table, "killed", seed, fmt::format("rank {}, after {} ms", it.rank, it.after.count() / 1000), first, "");
    }
}

[[nodiscard]] int study(launcher const& begin, studies::arguments const& chosen, std::uint64_t wanted_kills) {
    std::string table = "| what happened | seed | to whom | reported first | result |\n|---|---|---|---|---|\n";
    claims all;
    kills count;
    std::uint64_t const seeds = chosen.quick ? 1 : 3;
    for (std::uint64_t seed = chosen.seed; seed < chosen.seed + seeds; ++seed) {
        double accuracy = 0;
        healthy(begin, seed, table, all, accuracy);
        corrupt(begin, seed, accuracy, table, all);
        replica(begin, seed, table, all);
        slow(begin, seed, table, all);
        dies(begin, seed, &table, count, all);
    }
    for (std::uint64_t seed = chosen.seed + seeds; count.all < wanted_kills; ++seed) {
        dies(begin, seed, nullptr, count, all);
    }
    table += fmt::format("\nOf {} kills of one rank at a random instant {} named that rank first; {} ranks lacked a "
                         "step that they had closed.\n",
                         count.all, count.first, count.lost);
    all.claim(count.lost == 0, "no closed step of any rank is lost");
    all.claim(2 * count.first > count.all, "more often than not the killed rank is named first");
    fmt::print("{}", table);
    std::string const problem = studies::write_results(chosen.out, table);
    if (!problem.empty()) { fmt::print(stderr, "study_ranks: {}\n", problem); }
    return all.hold() && problem.empty() ? 0 : 1;
}

}  // namespace

int main(int count, char** given) {
    auto const chosen = studies::parse(count, given, "ranks", "DIGITS.CSV --mpiexec=PROGRAM ", 1,
                                       {"--mpiexec", "--fault", "--kills", "--deaf"});
    if (!chosen) { return 2; }
    digits::load_result const loaded = digits::load(chosen->data[0]);
    if (!loaded.problem.empty()) {
        fmt::print(stderr, "study_ranks: {}\n", loaded.problem);
        return 2;
    }
    if (auto const name = chosen->choice("--fault")) {
        for (auto const& [known, kind] : faults) {
            if (known != *name) { continue; }
            bool const deaf = std::find(chosen->own.begin(), chosen->own.end(), "--deaf") != chosen->own.end();
            return train_rank(digits::split_dataset(loaded.data), mishap{kind, chosen->seed}, chosen->seed, !deaf,
                              chosen->out);
        }
        fmt::print(stderr, "study_ranks: there is no fault {}\n", *name);
        return 2;
    }
    auto const mpiexec = chosen->choice("--mpiexec");
    if (!mpiexec) {
        fmt::print(stderr, "study_ranks: --mpiexec= says how ranks are begun\n");
        return 2;
    }
    std::uint64_t const wanted =
        std::strtoull(chosen->choice("--kills").value_or(chosen->quick ? "3" : "50").c_str(), nullptr, 10);
    return study({*mpiexec, chosen->data[0], std::filesystem::absolute(chosen->out).string()}, *chosen, wanted);
}
