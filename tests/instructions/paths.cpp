// SPDX-License-Identifier: Apache-2.0
// The hot paths, each called often under callgrind, which collects only in them. Prints "name calls" for each, in the
// order of callgrind's dumps. count.py runs it.
#include <bench/bench.hpp>
#include <bench/eight_rules.hpp>

#include <spotter/checkpoints.hpp>
#include <spotter/ext/system.hpp>
#include <spotter/format/zstd_codec.hpp>
#include <spotter/heal.hpp>
#include <spotter/rerun.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/stat/summarize.hpp>

#include <cstdio>
#include <string>
#include <vector>

#include <valgrind/callgrind.h>

using namespace spotter;

namespace {

constexpr std::uint64_t rounds = 500;  // of each path; few enough that all records fit into the ring

// Counts the instructions of `calls` calls that `work(round)` makes; `before` and `after` of each round are not
// counted.
template <class Before, class Work, class After>
void count(char const* name, std::uint64_t calls, Before&& before, Work&& work, After&& after) {
    for (std::uint64_t round = 1; round <= rounds; ++round) {
        before(round);
        CALLGRIND_TOGGLE_COLLECT;
        work(round);
        CALLGRIND_TOGGLE_COLLECT;
        after();
    }
    CALLGRIND_DUMP_STATS_AT(name);
    std::printf("%s %llu\n", name, static_cast<unsigned long long>(calls * rounds));
}
template <class Work>
void count(char const* name, std::uint64_t calls, Work&& work) {
    count(name, calls, [](std::uint64_t) {}, work, [] {});
}

std::vector<float> values_of(std::size_t size) {
    std::vector<float> values(size);
    for (std::size_t i = 0; i < size; ++i) { values[i] = static_cast<float>(i % 61) * 0.125F - 3; }
    return values;
}

// Tensors that are not due, at steps that keep others.
void idle() {
    constexpr std::size_t tensors = 100;
    hook watch{plan{collection{"weights", "*", at{0}, payload}}};
    std::vector<std::string> names;
    for (std::size_t i = 0; i < tensors; ++i) { names.push_back("layer" + std::to_string(i) + "/weight"); }
    std::vector<float> const values = values_of(64);
    std::vector<tensor_handle> handles;
    for (std::string const& name : names) { handles.push_back(watch.tensor(name)); }
    watch.begin(train(0));
    for (std::string const& name : names) { watch.observe(name, values); }
    (void)watch.end();
    auto const begin = [&](std::uint64_t i) { watch.begin(train(i)); };
    auto const end = [&] { bench::do_not_optimise(watch.end()); };

    count(
        "idle_observe_by_handle", tensors, begin,
        [&](std::uint64_t) {
            for (tensor_handle const each : handles) { watch.observe(each, values); }
        },
        end);
    count(
        "idle_observe_by_name", tensors, begin,
        [&](std::uint64_t) {
            for (std::string const& name : names) { watch.observe(name, values); }
        },
        end);
    count("empty_step", 10, [&](std::uint64_t round) {
        for (std::uint64_t i = 0; i < 10; ++i) {
            begin(10 * round + i);
            end();
        }
    });
}

// Records go into the ring; nothing takes them out while counting.
void recorded(std::string const& folder) {
    hook watch{folder + "/run", plan{collection{"all", "*", always{}, payload}},
               options{.drain = drain::poll, .ring_bytes = 8 << 20}};
    std::vector<float> const values = values_of(64);
    float const loss = 0.5F;
    watch.begin(train(0));
    watch.scalar("loss", loss);
    watch.observe("weight", values);
    count("scalar", 10, [&](std::uint64_t) {
        for (int i = 0; i < 10; ++i) { watch.scalar("loss", loss); }
    });
    count("observe_64_floats_payload", 10, [&](std::uint64_t) {
        for (int i = 0; i < 10; ++i) { watch.observe("weight", values); }
    });
    (void)watch.end();
}

// A step with a scalar, with and without a sampler of the machine beside the record: the training thread does the same
// work.
void steps_beside(char const* name, std::string const& folder, writer_task* beside) {
    options choices{};
    choices.drain = drain::poll;
    choices.ring_bytes = 8 << 20;
    choices.beside = beside;
    hook watch{folder, plan<>{}, choices};
    std::uint64_t step = 0;
    (void)watch.step(step++, "loss"_t = 0.5F);
    watch.poll();
    count(name, 10, [&](std::uint64_t) {
        for (int i = 0; i < 10; ++i) {
            watch.begin(step++);
            watch.scalar("loss", 0.5F);
            bench::do_not_optimise(watch.end());
        }
    });
}

void judged() {
    std::vector<float> const values = values_of(64);
    hook watch{plan<>{}, bench::rule_1};
    (void)watch.step(train(0), "weight"_t = values);
    std::uint64_t step = 1;
    count(
        "observe_64_floats_judged", 10, [&](std::uint64_t) { watch.begin(train(step++)); },
        [&](std::uint64_t) {
            for (int i = 0; i < 10; ++i) { watch.observe("weight", values); }
        },
        [&] { (void)watch.end(); });

    auto const composed = bench::rule_1 || bench::rule_2 || bench::rule_3 || bench::rule_4 || bench::rule_5 ||
                          bench::rule_6 || bench::rule_7 || bench::rule_8;
    judges<std::remove_const_t<decltype(composed)>> all_of_them{composed};
    tensor_info tensor{};
    tensor.id = 0;
    tensor.name = "weight";
    tensor.role = role::weight;
    tensor.type = dtype::f32;
    tensor.shape = {64};
    summary const stats = summarize(as_tensor(values), without(pass_terms, stats_mask::hash | stats_mask::product));
    observation const seen{tensor, train(1), stats, as_tensor(values), {}};
    all_of_them.declare(tensor, [](std::size_t, tensor_needs const&) {});
    count("judge_8_composed_rules", 10, [&](std::uint64_t) {
        for (int i = 0; i < 10; ++i) {
            bench::do_not_optimise(seen);
            all_of_them.observe(seen, ~std::uint64_t{0});
        }
    });
    bench::do_not_optimise(all_of_them);
}

// A step of a loop that could act and has no reason to: judged only, computed through a rerun, between two checkpoints,
// under cures.
void acted_upon(std::string const& folder) {
    std::vector<float> const weight = values_of(64), gradient = values_of(64);
    auto const show = [&](auto& see) {
        see.observe("weight", weight);
        see.observe("grad/weight", gradient);
        see.observe("loss", 0.5F);
    };
    auto const step_of = [&](auto& watch, std::uint64_t step) {
        watch.begin(step);
        show(watch);
        return watch.end();
    };
    std::uint64_t step = 0;
    auto const ten = [&](char const* name, auto&& work) {
        work(step++);
        count(name, 10, [&](std::uint64_t) {
            for (int i = 0; i < 10; ++i) { work(step++); }
        });
    };
    hook watch{plan<>{}, non_finite{}};
    ten("judged_step", [&](std::uint64_t i) { bench::do_not_optimise(step_of(watch, i)); });
    rerun again{[] {}, [] {}, [] {}, show};
    ten("judged_step_through_rerun", [&](std::uint64_t i) { bench::do_not_optimise(again.step(watch, train(i))); });
    checkpoints kept{folder + "/kept"};
    (void)kept.save(watch, train(step), "weight"_t = weight);
    ten("judged_step_between_checkpoints", [&](std::uint64_t i) {
        bench::do_not_optimise(step_of(watch, i));
        if (i == 0) { kept.review(watch); }
    });
    heal cures{skip_batch{}, clip_gradients{}, step_back{}, warm_up_again{}};
    hook measured{plan<>{}, non_finite{}, cures.gauge()};
    ten("judged_step_under_a_gauge", [&](std::uint64_t i) { bench::do_not_optimise(step_of(measured, i)); });
    ten("judged_step_under_cures",
        [&](std::uint64_t i) { bench::do_not_optimise(cures.treat(measured, train(i), step_of(measured, i))); });
}

// Four blocks: with a usual share of zeros, and with a NaN in each block.
void summarized() {
    std::vector<float> values = values_of(4096);
    auto const statistics = [&](char const* name) {
        count(name, 1, [&](std::uint64_t) {
            bench::do_not_optimise(
                summarize(as_tensor(values), without(pass_terms, stats_mask::hash | stats_mask::product)));
        });
    };
    statistics("summarize_4096_floats");
    for (float& value : values) { value += 0.0625F; }
    statistics("summarize_4096_floats_without_zeros");
    for (std::size_t i = 0; i < values.size(); i += block_size) { values[i] = std::bit_cast<float>(0x7FC00000U); }
    statistics("summarize_4096_floats_with_nan");
}

// A weight that changes a little at each step, and its gradient, watched by the rules on updates.
void updated() {
    std::vector<float> weight = values_of(65536);
    std::vector<float> const gradient = weight;
    hook watch{plan<>{}, dead_update_path{}, update_direction{}, update_ratio_band{}};
    std::uint64_t step = 0;
    auto const one_step = [&] {
        watch.begin(train(step++));
        watch.observe("fc/weight", view_of(weight.data(), {256, 256}));
        watch.observe("grad/fc/weight", view_of(gradient.data(), {256, 256}));
        bench::do_not_optimise(watch.end());
    };
    one_step();
    count(
        "updates_of_65536_floats", 1, [&](std::uint64_t) { weight[step % weight.size()] += 0.125F; },
        [&](std::uint64_t) { one_step(); }, [] {});
}

// A block of floats: rotated and split into planes, masked where half of it is zero, and unpacked again: the codec
// without zstd's part.
void packed() {
    constexpr std::size_t size = 4096;
    constexpr payload_form form{4 | payload_form::rotated_bit};
    std::vector<float> values = values_of(size);
    auto* const bytes = reinterpret_cast<std::byte*>(values.data());
    std::vector<std::byte> planes(4 * size), said(zero_mask::bytes_for(size)), kept(4 * size + zero_mask::slack);
    std::byte* into[8]{};
    std::byte const* from[8]{};
    for (std::size_t plane = 0; plane < 4; ++plane) { from[plane] = into[plane] = planes.data() + plane * size; }
    count("split_4096_floats", 1, [&](std::uint64_t) { split_planes(bytes, size, form, into); });
    count("join_4096_floats", 1, [&](std::uint64_t) { join_planes(from, size, form, bytes); });
    for (std::size_t i = 0; i < size; i += 2) { values[i] = 0; }
    count("mask_4096_floats", 1,
          [&](std::uint64_t) { bench::do_not_optimise(zero_mask::split(bytes, size, 4, said.data(), kept.data())); });
    count("unmask_4096_floats", 1, [&](std::uint64_t) { zero_mask::join(said, kept.data(), 4, bytes); });
}

}  // namespace

int main(int count_of_arguments, char** arguments) {
    if (count_of_arguments < 2 || RUNNING_ON_VALGRIND == 0) {
        std::fputs("count.py runs this under valgrind, with a folder to record into\n", stderr);
        return 1;
    }
    if (!__builtin_cpu_supports("avx2")) {
        std::puts("SPOTTER_SKIP: the counts are those of the AVX2 path, which this processor does not have");
        return 0;
    }
    idle();
    recorded(arguments[1]);
    std::string const folder = arguments[1];
    steps_beside("recorded_step", folder + "/alone", nullptr);
    system_sampler machine{};
    steps_beside("recorded_step_beside_a_sampler", folder + "/beside", &machine);
    judged();
    acted_upon(folder);
    summarized();
    updated();
    packed();
    return 0;
}
