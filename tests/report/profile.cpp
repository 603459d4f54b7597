// SPDX-License-Identifier: Apache-2.0
// Where the time of a run's steps went: shares of sections, slow steps and what they did, and the sentence that says
// it.
#include <tests/catch.hpp>
#include <tests/temporary_folder.hpp>

#include <spotter/ext/system.hpp>
#include <spotter/spotter.hpp>
#include <spotter/workbench/page.hpp>
#include <spotter/workbench/profile.hpp>

#include <cmath>
#include <filesystem>

using namespace spotter;
using namespace spotter_test;

namespace {

double profile_clock = 1'700'000'000;
double tell_profile_clock() noexcept { return profile_clock; }
void spend(double seconds) { profile_clock += seconds; }

constexpr plan kept_losses{collection{"loss", "loss"}};

struct step_costs {
    double data = 0, forward = 0, conv = 0, rest = 0;
};
template <class Costs>
void record_profile(std::string const& path, std::uint64_t steps, Costs&& costs, std::uint32_t number = 0) {
    hook watch{path, kept_losses,
               options{.existing = existing::resume,
                       .drain = drain::poll,
                       .worker = number,
                       .workers = number + 1,
                       .clock = &tell_profile_clock}};
    for (std::uint64_t i = 0; i < steps; ++i) {
        step_costs const each = costs(i);
        if (each.data > 0) {
            auto const part = watch.section("data");
            spend(each.data);
        }
        watch.begin(i);
        if (each.forward > 0) {
            auto const part = watch.section("forward");
            spend(each.forward);
            auto const inner = watch.section("conv");
            spend(each.conv);
        }
        spend(each.rest);
        watch.observe("loss", 1.0F);
        (void)watch.end();
        watch.poll();
    }
}
run_profile profile_at(std::string const& path) { return profile_of(open_trial(path).value()); }

// Beside it samples of a machine of two cores, one a second from the time at the begin on: `fill(load, second)`.
void sample_beside(std::string const& path, std::uint64_t seconds, double begin,
                   void (*fill)(system_load&, int second)) {
    static thread_local struct {
        void (*fill)(system_load&, int);
        int second;
    } now;
    now = {fill, 0};
    system_sampler machine{system_options{.fill = [](system_load& it, void*) noexcept {
        it = {};
        it.cores = 2;
        it.learn(system_load::part::cpu);
        it.learn(system_load::part::own_cpu);
        now.fill(it, now.second);
    }}};
    options own{};
    own.clock = &tell_profile_clock;
    profile_clock = begin;
    machine.begin(path, own, 0);
    for (std::uint64_t i = 1; i <= seconds; ++i) {
        profile_clock += 1;
        now.second = static_cast<int>(i) - 1;
        (void)machine.work(1000 * i, {});
    }
    machine.end();
}
void use_cores(system_load& it, float first, float second, float own) {
    it.cpu[0] = first, it.cpu[1] = second;
    it.busy = (first + second) / 2;
    it.own_cores = own;
}
// 101 steps of 0.1 s with 0.06 s in section data; the profile's verdict on them beside ten such samples.
std::string verdict_beside(void (*fill)(system_load&, int second)) {
    temporary_folder const folder;
    double const begin = profile_clock;
    record_profile(folder / "run", 101, [](std::uint64_t) { return step_costs{0.06, 0.02, 0.01, 0.01}; });
    sample_beside(folder / "run", 10, begin, fill);
    return profile_at(folder / "run").verdict;
}
bool near_to(double a, double b) { return std::fabs(a - b) < 1e-4; }

}  // namespace

TEST_CASE("a step waits for its data: the shares, and the sentence that says so") {
    temporary_folder const folder;
    record_profile(folder / "run", 101, [](std::uint64_t) { return step_costs{0.06, 0.02, 0.01, 0.01}; });
    auto const it = profile_at(folder / "run");
    REQUIRE(it.workers.size() == 1);
    REQUIRE(it.workers[0].modes.size() == 1);
    mode_profile const& train = it.workers[0].modes[0];
    CHECK(train.steps.count == 100);
    CHECK(near_to(train.steps.median, 0.1));
    REQUIRE(train.sections.size() == 3);
    CHECK(train.sections[0].path == "data");
    CHECK(near_to(train.sections[0].share, 0.6));
    CHECK(train.sections[1].path == "forward");
    CHECK(near_to(train.sections[1].share, 0.3));
    CHECK(train.sections[2].path == "forward/conv");
    CHECK(near_to(train.named, 0.9));
    CHECK(train.slow_steps == 0);
    CHECK(it.verdict.starts_with("60 % of a train step is section data: read ahead"));
    std::string const text = describe(it);
    CHECK(text.find("     60 %  data: median 60 ms") != std::string::npos);
    CHECK(text.find("     10 %  in no section") != std::string::npos);
}

TEST_CASE("a step that computes is not asked to read ahead") {
    temporary_folder const folder;
    record_profile(folder / "run", 50, [](std::uint64_t) { return step_costs{0.001, 0.02, 0.06, 0.001}; });
    CHECK(profile_at(folder / "run").verdict.find("most of it, 98 %, is section forward.") != std::string::npos);
}

TEST_CASE("slow steps are named with the section that was longer than usual") {
    temporary_folder const folder;
    record_profile(folder / "run", 200, [](std::uint64_t i) {
        return step_costs{i == 70 ? 0.5 : 0.01, 0.02, i == 120 ? 0.8 : 0.03, i == 150 ? 0.3 : 0.001};
    });
    mode_profile const train = profile_at(folder / "run").workers.at(0).modes.at(0);
    CHECK(train.slow_steps == 3);
    REQUIRE(train.slow.size() == 3);
    CHECK(train.slow[0].step == spotter::train(120));
    CHECK(train.slow[0].section == "forward/conv");
    CHECK(train.slow[1].step == spotter::train(70));
    CHECK(train.slow[1].section == "data");
    CHECK(near_to(train.slow[1].beyond, 0.49));
    CHECK(train.slow[2].step == spotter::train(150));
    CHECK(train.slow[2].section.empty());
}

TEST_CASE("one slow rank of four is named") {
    temporary_folder const folder;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        record_profile(
            folder / "run", 40, [&](std::uint64_t) { return step_costs{0.01, 0.01, 0.01, rank == 2 ? 0.05 : 0.01}; },
            rank);
    }
    auto const it = profile_at(folder / "run");
    REQUIRE(it.workers.size() == 4);
    CHECK(it.verdict.starts_with("Worker 2 is slow: a step of its takes 80 ms, 2 times the 40 ms of the others."));
}

TEST_CASE("without sections, and without times, the sentence says what is missing") {
    temporary_folder const folder;
    record_profile(folder / "run", 30, [](std::uint64_t) { return step_costs{0, 0, 0, 0.25}; });
    CHECK(profile_at(folder / "run").verdict == "A train step takes 250 ms (median); its parts have no names: "
                                                "name them with watch.section(\"data\").");
    record_profile(folder / "short", 1, [](std::uint64_t) { return step_costs{0, 0, 0, 0.25}; });
    CHECK(profile_at(folder / "short").verdict == "The record does not say how long its steps took.");
    CHECK(profile_at(folder / "short").workers.at(0).modes.empty());
}

TEST_CASE("most of a step in no section is reported as such") {
    temporary_folder const folder;
    record_profile(folder / "run", 30, [](std::uint64_t) { return step_costs{0, 0.01, 0.01, 0.25}; });
    CHECK(profile_at(folder / "run").verdict.find("93 % of it is in no section: name more of its parts.") !=
          std::string::npos);
}

TEST_CASE("what to do about waiting for data depends on what the machine did meanwhile") {
    CHECK(verdict_beside([](system_load& it, int) { use_cores(it, 0.3F, 0.1F, 0.4F); }) ==
          "60 % of a train step is section data; no core is above 30 %: read ahead with 2 threads.");
    CHECK(verdict_beside([](system_load& it, int) { use_cores(it, 0.9F, 0.1F, 1); }) ==
          "60 % of a train step is section data; of all cores 50 % are at work: read ahead with 2 threads.");
    CHECK(verdict_beside([](system_load& it, int) { use_cores(it, 1, 0.9F, 1.9F); }) ==
          "60 % of a train step is section data; all cores are 95 % busy: make batches cheaper or prepare them "
          "beforehand, more threads will not help.");
    CHECK(verdict_beside([](system_load& it, int) {
              use_cores(it, 0.3F, 0.1F, 0.4F);
              it.io_wait = 0.45F;
          }) == "60 % of a train step is section data; tasks wait for disks 45 % of the time: read ahead, or keep the "
                "data on a faster disk or in memory.");
    CHECK(verdict_beside([](system_load& it, int) {
              use_cores(it, 0.3F, 0.1F, 0.4F);
              it.waits_memory = {0.4F, 0.3F};
              it.learn(system_load::part::pressure_memory);
          }).starts_with("Tasks wait for memory 40 % of the time"));
}

TEST_CASE("beside a GPU that is always at work a wait is for its kernels, and beside an idle one it is for data") {
    static float at_work;
    auto const verdict = [&](float share) {
        at_work = share;
        return verdict_beside([](system_load& it, int) {
            use_cores(it, 0.3F, 0.1F, 0.4F);
            it.gpu_count = 2;
            it.gpus[0].busy = 0.1F, it.gpus[1].busy = at_work;
            it.learn(system_load::part::gpu);
        });
    };
    CHECK(verdict(0.97F) == "60 % of a train step is section data; GPU 1 is at work 97 % of the time: kernels are what "
                            "the loop waits for, and reading ahead will not help.");
    CHECK(verdict(0.4F) == "60 % of a train step is section data; no core is above 30 %: read ahead with 2 threads.");
}

constexpr plan kept_times{collection{"loss", "loss"}, collection{"times", "time/*"}};

TEST_CASE("the time of the loop's kernels says what it waits for beside a busy GPU") {
    temporary_folder const folder;
    auto const profile_with = [&](float kernels, float at_work) {
        static float busy;
        busy = at_work;
        std::string const path = folder / ("run" + std::to_string(kernels) + std::to_string(at_work));
        double const begin = profile_clock;
        {
            hook watch{path, kept_times, options{.drain = drain::poll, .clock = &tell_profile_clock}};
            for (std::uint64_t i = 0; i < 101; ++i) {
                watch.begin(i);
                watch.observe("time/forward", kernels, flag::of_kernels);
                watch.begin_section("wait"), spend(0.06), watch.end_section("wait");
                spend(0.04);
                (void)watch.end("loss"_t = 1.0F);
                watch.poll();
            }
        }
        sample_beside(path, 10, begin, [](system_load& it, int) {
            use_cores(it, 0.3F, 0.1F, 0.4F);
            it.gpu_count = 1, it.gpus[0].busy = busy;
            it.learn(system_load::part::gpu);
        });
        return profile_at(path);
    };
    run_profile const own = profile_with(0.09F, 0.97F);
    CHECK(own.verdict ==
          "60 % of a train step is section wait; the loop's kernels take 90 % of the step: they are what "
          "it waits for, and reading ahead will not help.");
    mode_profile const& train = own.workers.at(0).modes.at(0);
    CHECK((near_to(train.kernels, 0.9) && near_to(train.named, 0.6)));  // kernels run beside what the processor does
    CHECK(describe(own).find("forward (kernels): median 90 ms") != std::string::npos);
    CHECK(profile_with(0.02F, 0.97F)
              .verdict.starts_with("60 % of a train step is section wait; GPU 0 is at work 97 % of the time, and the "
                                   "kernels of named sections take "
                                   "20 % of the step: name the others, or see what else runs there"));
    CHECK(profile_with(0.02F, 0.2F).verdict ==
          "60 % of a train step is section wait; no core is above 30 %: read ahead with 2 threads.");
}

TEST_CASE("what neighbours do is no advice to the program: its own share says whose it is") {
    constexpr std::string_view look = "see what else runs there (top), move it or this run away, or give the run a "
                                      "share of its own (taskset, cgroups).";
    auto const says = [&](std::string const& verdict, std::string const& begin) {
        INFO(verdict);
        CHECK(verdict == "60 % of a train step is section data; " + begin + std::string{look});
    };
    says(verdict_beside([](system_load& it, int) { use_cores(it, 1, 1, 0.06F); }),
         "all cores are 100 % busy, and this process has 3 %: ");
    auto const disks = [](system_load& it, double own) {
        use_cores(it, 0.3F, 0.1F, 0.4F);
        it.waits_io = {0.9F, 0.3F};
        it.own_read = own, it.disk_read = 10e6;
        for (auto const each : {system_load::part::pressure_io, system_load::part::own_io, system_load::part::disk}) {
            it.learn(each);
        }
    };
    static decltype(disks) const* with = &disks;
    says(verdict_beside([](system_load& it, int) { (*with)(it, 1e6); }),
         "tasks wait for disks 90 % of the time, and 90 % of what goes over them is others': ");
    CHECK(verdict_beside([](system_load& it, int) {
              (*with)(it, 9e6);
          }).find("read ahead, or keep the data on a faster disk") != std::string::npos);
    auto const memory = [](system_load& it, double held, double own) {
        (*with)(it, own);
        it.waits_memory = {0.4F, 0.3F};
        it.held = held, it.memory = 1e9;
        for (auto const each : {system_load::part::pressure_memory, system_load::part::memory}) { it.learn(each); }
    };
    static decltype(memory) const* short_of = &memory;
    CHECK(verdict_beside([](system_load& it, int) { (*short_of)(it, 0.03e9, 0); }) ==
          "Tasks wait for memory 40 % of the time, and this process has 3 % of it at most: " + std::string{look});
    for (bool const mapped : {false, true}) {  // it holds the memory, or maps and reads files that do not fit
        auto const reported = mapped ? verdict_beside([](system_load& it, int) { (*short_of)(it, 0.03e9, 9e6); })
                                     : verdict_beside([](system_load& it, int) { (*short_of)(it, 0.9e9, 1e6); });
        CHECK(reported.find("Make its batch or its cache smaller") != std::string::npos);
    }
}

TEST_CASE("a step that computes while others have the processor is reported with that") {
    temporary_folder const folder;
    for (bool const mine : {false, true}) {
        std::string const path = folder / (mine ? "mine" : "theirs");
        double const begin = profile_clock;
        record_profile(path, 101, [](std::uint64_t) { return step_costs{0.001, 0.02, 0.06, 0.001}; });
        sample_beside(
            path, 8, begin, mine ? [](system_load& it, int) { use_cores(it, 1, 1, 1.9F); } : [](system_load& it, int) {
                use_cores(it, 1, 1, 0.1F);
            });
        std::string const verdict = profile_at(path).verdict;
        INFO(verdict);
        CHECK((verdict.find(" Meanwhile others had 95 % of all cores: see what else runs there") ==
               std::string::npos) == mine);
    }
}

TEST_CASE("a slow step is reported with what the machine did then, and the page draws it") {
    temporary_folder const folder;
    double const begin = profile_clock;
    record_profile(folder / "run", 60, [](std::uint64_t i) { return step_costs{0.1, 0.2, 0.1, i == 30 ? 1.6 : 0.1}; });
    sample_beside(folder / "run", 32, begin, [](system_load& it, int second) {
        bool const busy = second == 15 || second == 16;  // the step lasts from 15.5 to 17.1
        use_cores(it, busy ? 1 : 0.5F, busy ? 1 : 0.1F, 0.4F);
    });
    auto const run = open_trial(folder / "run").value();
    run_profile const it = profile_of(run);
    REQUIRE(it.workers.size() == 1);
    machine_profile const& machine = it.workers[0].machine;
    CHECK((machine.cores == 2 && machine.times.size() == 32));
    REQUIRE(machine.find("cpu") != nullptr);
    CHECK(near_to(machine.mean_of("cpu"), (30 * 0.3 + 2 * 1) / 32));
    CHECK(near_to(machine.find("busiest_core")->most, 1));
    CHECK(near_to(machine.find("other_cpu")->p95, 0.8));
    CHECK((machine.find("io_wait") != nullptr && machine.find("memory") == nullptr));
    REQUIRE(it.workers[0].modes.at(0).slow.size() == 1);
    CHECK(it.workers[0].modes[0].slow[0].beside == "others had 80 % of the processor");
    std::string const text = describe(it);
    CHECK(text.find("machine: 2 cores, 32 samples in 31.0 s\n     34 %  of all cores at work; 95 % below 100 %\n") !=
          std::string::npos);
    std::string const page = to_html(run);
    CHECK(page.find("What the machine did meanwhile") != std::string::npos);
    CHECK(page.find("Processor, % of all cores") != std::string::npos);
    CHECK(page.find("GPUs, %") == std::string::npos);
    CHECK(unusual_between(machine, begin + 100, begin + 200).empty());
}

TEST_CASE("each worker has its own samples, and a run without any says nothing of the machine") {
    temporary_folder const folder;
    double const begin = profile_clock;
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        record_profile(folder / "run", 30, [](std::uint64_t) { return step_costs{0.01, 0.01, 0.01, 0.2}; }, rank);
    }
    sample_beside(folder / "run/worker-1", 5, begin, [](system_load& it, int) { use_cores(it, 1, 0, 1); });
    auto const it = profile_at(folder / "run");
    REQUIRE(it.workers.size() == 2);
    CHECK(it.workers[0].machine.empty());
    CHECK(it.workers[1].machine.times.size() == 5);
    auto const alone = profile_at(folder / "run/worker-1");
    CHECK(alone.workers.at(0).machine.times.size() == 5);
    CHECK(describe(it.workers[0].machine).empty());
}

TEST_CASE("a run opened by a relative path has its profile from another folder, too") {
    temporary_folder const folder;
    std::filesystem::path const here = std::filesystem::current_path();
    std::filesystem::current_path(folder / "");
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
        record_profile("run", 30, [](std::uint64_t) { return step_costs{0.01, 0.01, 0.01, 0.2}; }, rank);
    }
    auto const run = open_trial("run");
    std::filesystem::current_path(here);
    REQUIRE(run);
    CHECK(profile_of(*run).workers.size() == 2);
}
