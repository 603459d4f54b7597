// SPDX-License-Identifier: Apache-2.0
// Rules on samples of the machine: each example of the catalogue, exactly.
#include <tests/rule/features.hpp>
#include <tests/rule/stage.hpp>

#include <tests/catch.hpp>

#include <cmath>

using namespace spotter;
using namespace stage;

namespace {

// The sample at which a rule that sees one tensor first says yes; no_index where it never does.
template <rule Rule, class Value>
std::uint64_t first_yes(run<Rule>& it, std::string_view name, std::uint64_t samples, Value value) {
    for (std::uint64_t i = 0; i < samples; ++i) {
        if (it.step(predict(i), name, {static_cast<float>(value(i))}) == truth::yes) { return i; }
    }
    return no_index;
}

template <rule Rule>
truth cores_sample(run<Rule>& it, std::uint64_t i, float gpu, std::initializer_list<float> cores) {
    it.see(predict(i), "sys/gpu_util/0", {gpu});
    it.see(predict(i), "sys/cpu", cores);
    return it.close(predict(i));
}

template <rule Rule>
truth disk_sample(run<Rule>& it, std::uint64_t i, float gpu, float waiting) {
    it.see(predict(i), "sys/gpu_util/0", {gpu});
    it.see(predict(i), "sys/io_wait", {waiting});
    return it.close(predict(i));
}

constexpr bool idles() {
    run it{io_bottleneck{.patience = 2}};
    truth last = truth::undecided;
    for (std::uint64_t i = 0; i < 3; ++i) {
        it.see(predict(i), "sys/gpu_util/0", {0.0625F});
        it.see(predict(i), "sys/io_wait", {0.75F});
        last = it.close(predict(i));
    }
    return last == truth::yes && it.found[0].measured == 1;
}
static_assert(idles());

}  // namespace

TEST_CASE("cpu_bottleneck: of 200 samples 120 with an idle GPU and all cores busy are 0.6", "[cpu_bottleneck]") {
    run it{cpu_bottleneck{}};
    truth last = truth::undecided;
    for (std::uint64_t i = 0; i < 200; ++i) {
        bool const both = i % 5 < 3;
        last = cores_sample(it, i, both ? 0.05F : 0.9F, {0.95F, 0.95F, 0.95F, 0.95F});
        if (i < 120) { CHECK(last == truth::undecided); }
    }
    REQUIRE(last == truth::yes);
    CHECK((it.found[0].measured == Approx(0.6) && it.found[0].threshold == 0.5 &&
           it.found[0].tensor == "sys/gpu_util/0"));
    CHECK(it.found[0].severity == severity::warning);
}

TEST_CASE("cpu_bottleneck: one of eight cores is not the processor; with Amazon's values it is", "[cpu_bottleneck]") {
    std::initializer_list<float> const cores{0.95F, 0, 0, 0, 0, 0, 0, 0};
    run ours{cpu_bottleneck{}}, theirs{cpu_bottleneck::sagemaker_defaults()};
    for (std::uint64_t i = 0; i < 1001; ++i) {
        CHECK(cores_sample(ours, i, 0.05F, cores) == (i < 120 ? truth::undecided : truth::no));
        CHECK(cores_sample(theirs, i, 0.05F, cores) == (i < 1000 ? truth::undecided : truth::yes));
    }
    CHECK(theirs.found[0].measured == 1);
}

TEST_CASE("cpu_bottleneck: a GPU that never was at work is none; samples without one say nothing", "[cpu_bottleneck]") {
    run it{cpu_bottleneck{.patience = 2}};
    for (std::uint64_t i = 0; i < 10; ++i) { CHECK(cores_sample(it, i, 0, {1, 1}) == truth::undecided); }
    CHECK(it.covered().reason == "no GPU was at work: its samples are `sys/gpu_util/0`");
    CHECK(cores_sample(it, 10, nan_f, {1, 1}) == truth::undecided);
    CHECK(cores_sample(it, 11, 0.01F, {1, 1}) == truth::undecided);
    CHECK(cores_sample(it, 12, 0, {1, nan_f}) == truth::undecided);
    CHECK(cores_sample(it, 13, 0, {1, 1}) == truth::yes);
    CHECK(it.step(predict(14), "sys/cpu", {1, 1}) == truth::undecided);
    CHECK(judges_without_values(cpu_bottleneck{.patience = 2}, [](auto& one, auto tell) {
        for (std::uint64_t i = 0; i < 6; ++i) { tell(cores_sample(one, i, 0.05F, {1, i % 2 == 0 ? 1.0F : 0.0F, 0})); }
    }));
    CHECK((cpu_bottleneck{.select = "["}.malformed() == "[" && cpu_bottleneck{.gpu = "["}.malformed() == "["));
}

TEST_CASE("io_bottleneck: as the processor, by what its cores wait", "[io_bottleneck]") {
    run it{io_bottleneck{}};
    truth last = truth::undecided;
    for (std::uint64_t i = 0; i < 121; ++i) { last = disk_sample(it, i, 0.05F, i % 10 < 6 ? 0.6F : 0.1F); }
    REQUIRE(last == truth::yes);
    CHECK(it.found[0].measured == Approx(73.0 / 121));
    run busy{io_bottleneck{}};
    for (std::uint64_t i = 0; i < 200; ++i) { CHECK(disk_sample(busy, i, 0.5F, 0.6F) != truth::yes); }
    run theirs{io_bottleneck::sagemaker_defaults()};
    for (std::uint64_t i = 0; i < 1001; ++i) {
        CHECK(disk_sample(theirs, i, 0.05F, 0.6F) == (i < 1000 ? truth::undecided : truth::yes));
    }
    CHECK((io_bottleneck{.select = "["}.malformed() == "[" && io_bottleneck{.gpu = "["}.malformed() == "["));
}

TEST_CASE("low_gpu_utilization: never busy, or idle again and again", "[low_gpu_utilization]") {
    run low{low_gpu_utilization{}};
    CHECK(first_yes(low, "sys/gpu_util/0", 600, [](auto) { return 0.6; }) == 499);
    CHECK((low.found[0].reason == "the GPU has too little to do" && low.found[0].measured == Approx(0.6)));
    run jumps{low_gpu_utilization{}};  // 5 % of 500 are 25: the 5th percentile is the 25th smallest
    CHECK(first_yes(jumps, "sys/gpu_util/0", 600, [](auto i) { return i % 20 == 0 ? 0.05 : 0.95; }) == 499);
    CHECK((jumps.found[0].reason == "the GPU idles again and again" && jumps.found[0].measured == Approx(0.05)));
    run fine{low_gpu_utilization{}};
    CHECK(first_yes(fine, "sys/gpu_util/0", 1200, [](auto i) { return i % 21 == 0 ? 0.05 : 0.95; }) == no_index);
    run unused{low_gpu_utilization{}};
    CHECK(first_yes(unused, "sys/gpu_util/0", 1200, [](auto) { return 0; }) == no_index);
    CHECK(unused.covered().reason == "no GPU was at work, or warm-up not reached: `patience`");
    run theirs{low_gpu_utilization::sagemaker_defaults()};
    CHECK(first_yes(theirs, "sys/gpu_util/0", 1200, [](auto) { return 0.6; }) == 999);
    // No number leaves the history as it is.
    run holes{low_gpu_utilization{.window = 4, .patience = 4}};
    CHECK(first_yes(holes, "sys/gpu_util/0", 9, [](auto i) { return i % 2 == 0 ? 0.1F : nan_f; }) == 6);
}

TEST_CASE("gpu_memory_increase: a slow leak is reported in the third window, whatever is given back meanwhile",
          "[gpu_memory_increase]") {
    auto const leak = [](std::uint64_t i) { return 0.3 + 1e-4 * static_cast<double>(i); };
    auto const saw = [](std::uint64_t i) { return 0.1 * static_cast<double>(i % 15) / 15; };
    run it{gpu_memory_increase{}};
    CHECK(first_yes(it, "sys/gpu_mem/0", 1800, leak) == 1799);
    CHECK(it.found[0].measured == Approx(0.057).epsilon(1e-4));
    CHECK(it.found[0].detail.view() == "full in about 5230 samples");  // from 0.477, the least of its last block, on
    run with_saw{gpu_memory_increase{}};
    CHECK(first_yes(with_saw, "sys/gpu_mem/0", 1800, [&](auto i) { return leak(i) + saw(i); }) == 1799);
    run saw_alone{gpu_memory_increase{}};
    CHECK(first_yes(saw_alone, "sys/gpu_mem/0", 6000, [&](auto i) { return 0.3 + saw(i); }) == no_index);
    run step{gpu_memory_increase{}};
    CHECK(first_yes(step, "sys/gpu_mem/0", 6000, [](auto i) { return i < 100 ? 0.3 : 0.5; }) == no_index);
    run later_step{gpu_memory_increase{}};
    CHECK(first_yes(later_step, "sys/gpu_mem/0", 6000, [](auto i) { return i < 1000 ? 0.3 : 0.5; }) == no_index);
    run full{gpu_memory_increase{}};
    CHECK(first_yes(full, "sys/gpu_mem/0", 900, leak) == no_index);
    CHECK(full.covered().judged == 0);
}

TEST_CASE("gpu_memory_increase: with Amazon's values two windows of ten, one behind the other",
          "[gpu_memory_increase]") {
    run it{gpu_memory_increase::sagemaker_defaults()};
    // Means that are ten samples apart differ by ten slopes.
    CHECK(first_yes(it, "sys/gpu_mem/0", 1200, [](auto i) { return 0.0051 * static_cast<double>(i % 150); }) == 999);
    CHECK(it.found[0].measured == Approx(0.051).epsilon(1e-3));
    run slow{gpu_memory_increase::sagemaker_defaults()};
    CHECK(first_yes(slow, "sys/gpu_mem/0", 3000, [](auto i) { return 1e-4 * static_cast<double>(i); }) == no_index);
}

TEST_CASE("memory_leak: found by the 60th sample, and reading data at the start is none", "[memory_leak]") {
    run it{memory_leak{}};
    CHECK(first_yes(it, "sys/memory", 100, [](auto i) { return 0.1 + 2e-4 * static_cast<double>(i); }) == 59);
    run start{memory_leak{}};
    CHECK(first_yes(start, "sys/memory", 600,
                    [](auto i) { return 0.1 + 0.01 * static_cast<double>(i < 35 ? i : 35); }) == no_index);
    run saw{memory_leak{}};
    CHECK(first_yes(saw, "sys/memory", 600, [](auto i) { return 0.1 + 0.01 * static_cast<double>(i % 7); }) ==
          no_index);
    run holes{memory_leak{}};  // a NaN is not a sample
    CHECK(first_yes(holes, "sys/memory", 200, [](auto i) {
              return i % 2 == 0 ? static_cast<float>(0.1 + 1e-4 * static_cast<double>(i)) : nan_f;
          }) == 118);
}

TEST_CASE("load_balancing: one GPU at work and one idle have nothing in common", "[load_balancing]") {
    auto const sample = [](auto& it, std::uint64_t i, std::initializer_list<float> values) {
        static constexpr std::string_view names[] = {"sys/gpu_util/0", "sys/gpu_util/1", "sys/gpu_util/2",
                                                     "sys/gpu_util/3"};
        std::size_t which = 0;
        for (float const each : values) { it.see(predict(i), names[which++], {each}); }
        return it.close(predict(i));
    };
    run apart{load_balancing{}};
    for (std::uint64_t i = 0; i < 120; ++i) { CHECK(sample(apart, i, {1, 0.01F}) == truth::undecided); }
    REQUIRE(sample(apart, 120, {1, 0.01F}) == truth::yes);
    CHECK(apart.found[0].measured == Approx(std::sqrt(std::log(2.0))));
    CHECK((apart.found[0].tensor == "sys/gpu_util/1" && apart.found[0].detail.view() == "from sys/gpu_util/0"));
    run alike{load_balancing{}};
    for (std::uint64_t i = 0; i < 200; ++i) { CHECK(sample(alike, i, {0.5F, 0.5F}) != truth::yes); }
    run four{load_balancing{}};
    truth last = truth::undecided;
    for (std::uint64_t i = 0; i < 121; ++i) { last = sample(four, i, {0.99F, 0.99F, 0.3F, 0.3F}); }
    CHECK((last == truth::yes && four.found[0].measured == Approx(std::sqrt(std::log(2.0)))));
    run unused{load_balancing{}};
    for (std::uint64_t i = 0; i < 200; ++i) { CHECK(sample(unused, i, {0.9F, 0}) == truth::undecided); }
    CHECK(unused.covered().reason == "fewer than two GPUs at work for more than `patience` samples");
    run recovers{load_balancing{.patience = 2, .window = 4}};  // old samples leave the window
    for (std::uint64_t i = 0; i < 4; ++i) { last = sample(recovers, i, {1, 0.01F}); }
    CHECK(last == truth::yes);
    for (std::uint64_t i = 4; i < 8; ++i) { last = sample(recovers, i, {1, 1}); }
    CHECK(last == truth::no);
    CHECK(sample(recovers, 8, {nan_f, pos_infinity_f}) != truth::yes);
    CHECK(load_balancing{.select = "["}.malformed() == "[");
}

TEST_CASE("batch_size: room on the processor, a GPU and its memory together", "[batch_size]") {
    auto const sample = [](auto& it, std::uint64_t i, float cpu, float gpu, float memory) {
        it.see(predict(i), "sys/cpu", {cpu, 0});
        it.see(predict(i), "sys/gpu_util/3", {gpu});
        it.see(predict(i), "sys/gpu_mem/2", {0.01F});
        it.see(predict(i), "sys/gpu_mem/3", {memory});
        return it.close(predict(i));
    };
    auto const last_of = [&](batch_size const& rule, float cpu, float gpu, float memory) {
        run it{rule};
        truth last = truth::undecided;
        for (std::uint64_t i = 0; i < 500; ++i) { last = sample(it, i, cpu, gpu, memory); }
        return last;
    };
    CHECK(last_of({}, 0.9F, 0.6F, 0.6F) == truth::yes);  // 0.45 of two cores
    CHECK(last_of({.cpu_threshold = 0.4}, 0.9F, 0.6F, 0.6F) == truth::no);
    CHECK(last_of({}, 0.9F, 0.8F, 0.6F) == truth::no);
    CHECK(last_of({}, 0.9F, 0.6F, 0.8F) == truth::no);
    CHECK(last_of({}, 0.9F, 0, 0.1F) == truth::undecided);  // never at work
    CHECK(last_of(batch_size::sagemaker_defaults(), 0.9F, 0.6F, 0.6F) == truth::undecided);
    run it{batch_size{.patience = 1}};
    REQUIRE(sample(it, 0, 0.9F, 0.6F, 0.6F) == truth::yes);
    CHECK((it.found[0].severity == severity::info && it.found[0].tensor == "sys/gpu_util/3"));
    CHECK((batch_size{.select = "["}.malformed() == "[" && batch_size{.memory = "["}.malformed() == "["));
    CHECK(batch_size{.cpu = "["}.malformed() == "[");
}

TEST_CASE("batch_size, cpu_bottleneck, io_bottleneck, dataloader: a tensor a core says what one of all cores says, in "
          "any order") {
    // One core is at its limit, the other has nothing to do.
    auto const last_of = [](auto const& rule, std::initializer_list<std::string_view> order, float busy = 1) {
        run it{rule};
        truth last = truth::undecided;
        for (std::uint64_t i = 0; i < 4; ++i) {
            it.see(predict(i), "sys/gpu_util/3", {i == 0 ? 0.5F : 0.05F});
            it.see(predict(i), "sys/gpu_mem/3", {0.5F});
            it.see(predict(i), "sys/loader_workers", {1});
            for (std::string_view const each : order) {
                if (each == "both") {
                    it.see(predict(i), "sys/cores", {busy, 0});
                } else {
                    it.see(predict(i), each, {each == "sys/cores/0" ? busy : 0});
                }
            }
            last = it.close(predict(i));
        }
        return last;
    };
    constexpr char const* cores = "sys/cores{,/*}";
    std::initializer_list<std::string_view> const together{"both"}, forth{"sys/cores/0", "sys/cores/1"},
        back{"sys/cores/1", "sys/cores/0"};
    for (auto const& order : {together, forth, back}) {
        CHECK(last_of(batch_size{.cpu = cores, .patience = 2}, order) == truth::yes);
        CHECK(last_of(batch_size{.cpu = cores, .cpu_threshold = 0.45, .patience = 2}, order) == truth::no);
        CHECK(last_of(cpu_bottleneck{.select = cores, .min_busy = 0.5, .patience = 2}, order) == truth::yes);
        CHECK(last_of(cpu_bottleneck{.select = cores, .min_busy = 0.6, .patience = 2}, order) == truth::no);
        CHECK(last_of(io_bottleneck{.select = cores, .io_threshold = 0.4, .patience = 2}, order) == truth::yes);
        CHECK(last_of(io_bottleneck{.select = cores, .io_threshold = 0.6, .patience = 2}, order) == truth::no);
        CHECK(last_of(dataloader{.cpu = cores, .patience = 2}, order) == truth::yes);  // 0.5 a core
    }
}

TEST_CASE("step_outlier: eleven slow steps of the whole run, however long it was", "[step_outlier]") {
    run it{step_outlier::sagemaker_defaults()};
    std::uint64_t slow = 0, reported = no_index;
    for (std::uint64_t i = 0; i < 2000 && reported == no_index; ++i) {
        bool const is_slow = i % 100 == 50;
        slow += is_slow ? 1U : 0U;
        if (it.step(train(i), "time/step", {is_slow ? 1.0F : 0.1F}) == truth::yes) { reported = i; }
        if (i < 100) { CHECK(reported == no_index); }
    }
    CHECK((slow == 11 && reported == 1050));
    CHECK(it.found[0].measured == 1);
    // Steps that are slow half of the time make the deviation so large that none is: the fault of the measure.
    run half{step_outlier{}};
    CHECK(first_yes(half, "time/step", 2000, [](auto i) { return i % 2 == 0 ? 1.0 : 0.1; }) == no_index);
    run holes{step_outlier{.n_outliers = 1, .patience = 4}};
    CHECK(first_yes(holes, "time/step", 400, [](auto i) {
              return i % 40 == 39 ? 1.0F : i % 2 == 0 ? 0.1F : nan_f;
          }) == 79);
}

TEST_CASE("max_initialization_time: 1200 s are silent, 1200.1 are reported", "[max_initialization_time]") {
    run it{max_initialization_time{}};
    CHECK(it.step(predict(0), "sys/initialization", {1200}) == truth::no);
    CHECK(it.step(predict(1), "sys/initialization", {1200.125F}) == truth::yes);
    CHECK(it.step(predict(2), "sys/initialization", {nan_f}) == truth::undecided);
    CHECK(it.close(predict(3)) == truth::undecided);
}

TEST_CASE("dataloader: a median of workers a core outside of 0.7 to 2", "[dataloader]") {
    auto const first = [](double workers, std::uint64_t samples = 12) {
        run it{dataloader{}};
        for (std::uint64_t i = 0; i < samples; ++i) {
            it.see(predict(i), "sys/cpu", {0, 0, 0, 0});
            if (it.step(predict(i), "sys/loader_workers", {static_cast<float>(workers)}) != truth::yes) { continue; }
            CHECK(it.found[0].severity == severity::info);
            CHECK(it.found[0].measured == workers / 4);
            return i;
        }
        return no_index;
    };
    CHECK(first(2) == 9);
    CHECK(first(9) == 9);
    CHECK(first(3) == no_index);
    CHECK(first(8) == no_index);
    run patient{dataloader{.patience = 100, .window = 60}};
    CHECK(first_yes(patient, "sys/loader_workers", 120, [&](auto i) {
              patient.see(predict(i), "sys/cpu", {0, 0, 0, 0});
              return 1;
          }) == 99);
    run alone{dataloader{}};
    CHECK(first_yes(alone, "sys/loader_workers", 20, [](auto) { return 1; }) == no_index);
    CHECK(alone.covered().reason == "no number of workers beside the cores, or fewer than `patience` samples");
}

TEST_CASE("pressure: by the limit of what is waited for", "[pressure]") {
    auto const first = [](std::string_view name, double share) {
        run it{pressure{}};
        return first_yes(it, name, 40, [&](auto) { return share; });
    };
    CHECK(first("sys/pressure/memory", 0.06) == 19);
    CHECK(first("sys/pressure/memory", 0.04) == no_index);
    CHECK(first("sys/pressure/io", 0.39) == no_index);
    CHECK(first("sys/pressure/io", 0.41) == 19);
    CHECK(first("sys/pressure/cpu", 0.79) == no_index);
    CHECK(first("sys/pressure/cpu", 0.81) == 19);
    CHECK(first("sys/pressure/memory_full", 1) == no_index);
    run it{pressure{}};  // a mean: what comes and goes is held against it as a whole
    CHECK(first_yes(it, "sys/pressure/memory", 40, [](auto i) { return i % 2 == 0 ? 0.25 : 0; }) == 19);
    CHECK((it.found[0].threshold == 0.05 && it.found[0].measured == Approx(0.125)));
}

TEST_CASE("noisy_neighbour: steps that take longer where others have the processor", "[noisy_neighbour]") {
    auto const sample = [](auto& it, std::uint64_t i, float others, float step) {
        it.see(predict(i), "sys/other_cpu", {others});
        it.see(predict(i), "sys/step", {step});
        return it.close(predict(i));
    };
    run it{noisy_neighbour{}};
    for (std::uint64_t i = 0; i < 20; ++i) { CHECK(sample(it, i, 0.01F, 0.1F) == truth::undecided); }
    for (std::uint64_t i = 20; i < 24; ++i) { CHECK(sample(it, i, 0.5F, 0.15F) == truth::undecided); }
    REQUIRE(sample(it, 24, 0.5F, 0.15F) == truth::yes);
    CHECK((it.found[0].measured == Approx(1.5) && it.found[0].tensor == "sys/other_cpu"));
    CHECK(it.found[0].detail.view().starts_with("others have 50 % of it"));
    CHECK(sample(it, 25, 0.01F, 0.1F) == truth::no);  // gone
    run untouched{noisy_neighbour{}};                 // others are busy, and it does not matter
    for (std::uint64_t i = 0; i < 100; ++i) {
        CHECK(sample(untouched, i, i % 20 < 10 ? 0.01F : 0.5F, 0.1F) != truth::yes);
    }
    run own{noisy_neighbour{}};  // slower, and nobody else is there
    for (std::uint64_t i = 0; i < 100; ++i) { CHECK(sample(own, i, 0.02F, i < 50 ? 0.1F : 0.2F) != truth::yes); }
    run always{noisy_neighbour{}};  // there is nothing to compare with
    for (std::uint64_t i = 0; i < 100; ++i) { CHECK(sample(always, i, 0.6F, 0.1F) == truth::undecided); }
    CHECK(always.covered().reason == "fewer than `samples` with others at work, or without them: nothing to compare");
    CHECK(sample(always, 100, nan_f, 1) == truth::undecided);
    for (bool const is_first : {true, false}) {  // of several the largest counts, in any order
        run several{noisy_neighbour{.select = "sys/other_cpu{,/*}"}};
        for (std::uint64_t i = 0; i < 25; ++i) {
            if (is_first) { several.see(predict(i), "sys/other_cpu/1", {0}); }
            several.see(predict(i), "sys/other_cpu", {i < 20 ? 0.01F : 0.5F});
            if (!is_first) { several.see(predict(i), "sys/other_cpu/1", {0}); }
            CHECK((several.step(predict(i), "sys/step", {i < 20 ? 0.1F : 0.15F}) == truth::yes) == (i == 24));
        }
    }
    CHECK((noisy_neighbour{.select = "["}.malformed() == "[" && noisy_neighbour{.step = "["}.malformed() == "["));
}
