// SPDX-License-Identifier: Apache-2.0
// A short loop with tensors of every role, run while allocations fail.
#pragma once

#include <tests/catch.hpp>
#include <tests/fault/failing_memory.hpp>

#include <spotter/hook.hpp>
#include <spotter/rules.hpp>

#include <bit>
#include <cstring>
#include <string>
#include <vector>

namespace spotter_test {

using namespace spotter;

struct seen_tensor {
    std::string name;
    extents shape;
    dtype type = dtype::f32;
    flag flags = flag::none;
};

// A tensor of every role that the catalogue watches.
inline std::vector<seen_tensor> const& every_role() {
    static std::vector<seen_tensor> const all{
        {"loss", {}},
        {"input", {8, 3}},
        {"input/image", {4, 3, 2, 2}},
        {"input/tokens", {8, 4}, dtype::i64},
        {"obs", {8, 4}},
        {"labels", {8}, dtype::i64},
        {"pre/1", {8, 5}, dtype::f32, activated_by(activation_kind::tanh)},
        {"act/1", {8, 5}, dtype::f32, activated_by(activation_kind::tanh)},
        {"relu/2", {8, 6}, dtype::f32, activated_by(activation_kind::relu)},
        {"pred", {8, 3}, dtype::f32, flag::logits},
        {"fc1/w", {4, 6}},
        {"target/fc1/w", {4, 6}},
        {"fc2/w", {3, 2}, dtype::bf16},
        {"grad/fc1/w", {4, 6}},
        {"grad/fc2/w", {3, 2}},
        {"metric/approx_kl", {}},
        {"metric/entropy", {}},
        {"metric/clip_fraction", {}},
        {"metric/explained_variance", {}},
        {"metric/episode_return", {}},
        {"metric/loss_scale", {}},
        {"metric/step_skipped", {}},
        {"metric/grad_sq_small", {}},
        {"metric/grad_sq_big", {}},
        {"time/step", {}, dtype::f64},
        {"time/wait", {}, dtype::f64},
        {"feature_importance/gain", {7}},
        {"trees/0/id", {5}, dtype::i64},
        {"attention/1", {1, 2, 4, 4}},
        {"sys/cpu", {4}},
        {"sys/io_wait", {}},
        {"sys/gpu_util/0", {}},
        {"sys/gpu_util/1", {}},
        {"sys/gpu_mem/0", {}},
        {"sys/memory", {}},
        {"sys/pressure/io", {}},
        {"sys/other_cpu", {}},
        {"sys/step", {}},
        {"sys/loader_workers", {}},
        {"sys/initialization", {}},
    };
    return all;
}

// Fills a tensor for a step; at step 2 `act/1` holds a NaN.
inline tensor_ref fill(seen_tensor const& it, std::uint64_t step, std::vector<double>& numbers) {
    std::size_t const count = static_cast<std::size_t>(it.shape.elements());
    numbers.assign(count, 0);
    tensor_ref view;
    view.type = it.type, view.shape = it.shape, view.count = count;
    auto* const raw = reinterpret_cast<unsigned char*>(numbers.data());
    for (std::size_t i = 0; i < count; ++i) {
        std::uint64_t const mixed = (i + 3 * step + it.name.size()) % 5;
        if (it.type == dtype::f32) {
            std::uint32_t bits = std::bit_cast<std::uint32_t>(0.25F * static_cast<float>(mixed) - 0.25F);
            if (step == 2 && i == 1 && it.name == "act/1") { bits = 0x7FC00000U; }
            std::memcpy(raw + 4 * i, &bits, 4);
        } else if (it.type == dtype::bf16) {
            auto const bits = static_cast<std::uint16_t>(0x3F80U + mixed);
            std::memcpy(raw + 2 * i, &bits, 2);
        } else if (it.type == dtype::f64) {
            numbers[i] = 0.1 * static_cast<double>(mixed + 1);
        } else {
            auto const whole = static_cast<std::int64_t>(mixed % 3);
            std::memcpy(raw + 8 * i, &whole, 8);
        }
    }
    view.values.raw = raw;
    return view;
}

constexpr std::uint64_t steps = 4;

// What a run reported, as text; built after the failures.
struct outcome {
    std::uint64_t closed = 0;
    std::vector<std::size_t> findings;
    std::vector<std::string> coverage;
    bool named = false;  // a lack of memory, in health or in a rule's coverage
    bool operator==(outcome const& other) const {
        return closed == other.closed && findings == other.findings && coverage == other.coverage;
    }
};

template <class Hook>
void run_steps(Hook& watch, std::vector<std::vector<double>>& buffers, outcome& reported) {
    std::vector<seen_tensor> const& all = every_role();
    for (std::uint64_t step = 0; step < steps; ++step) {
        watch.begin(step % 4 == 3 ? eval(step) : train(step));
        for (std::size_t i = 0; i < all.size(); ++i) {
            tensor_ref view;
            memory.active = false;
            view = fill(all[i], step, buffers[i]);
            memory.active = true;
            if (all[i].flags == flag::none) {
                watch.observe(all[i].name, view);
            } else {
                watch.observe(all[i].name, view, all[i].flags);
            }
        }
        reported.findings[static_cast<std::size_t>(step)] = watch.end().size();
    }
    reported.closed = watch.health().steps;
}

template <class Hook>
void look(Hook const& watch, outcome& reported) {
    error const first = watch.health().first_error;
    reported.named = reported.named || first.code == errc::out_of_memory ||
                     first.what.view().find("memory") != std::string_view::npos;
    watch.coverage_of_rules([&](coverage const& each) {
        reported.coverage.push_back(std::string{each.rule} + ' ' + std::to_string(each.matched) + ' ' +
                                    std::to_string(each.judged) + ' ' + std::to_string(each.undecided) + ' ' +
                                    std::to_string(each.fired));
        reported.named = reported.named || each.reason.find("memory") != each.reason.npos;
    });
}

// Runs a hook that `make(use)` makes, with the n-th allocation failing; returns the number of allocations.
template <class Make>
std::size_t run_with(std::size_t fails_at, outage how, outcome& reported, Make const& make) {
    std::vector<std::vector<double>> buffers(every_role().size());
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        buffers[i].reserve(static_cast<std::size_t>(every_role()[i].shape.elements()));
    }
    reported.findings.assign(steps, 0);
    return allocations_of(fails_at, how, [&] {
        make([&](auto& watch) {
            run_steps(watch, buffers, reported);
            std::size_t const asked = memory.asked;
            memory.active = false;
            look(watch, reported);
            memory.active = true;
            memory.asked = asked;
        });
    });
}

// Whichever allocation fails, every step is closed; the outcome is unchanged, or the lack is named.
template <class Make>
void fail_each(std::string const& what, Make const& make, std::size_t stride = 1) {
    INFO(what);
    outcome whole;
    std::size_t const needed = run_with(0, outage::once, whole, make);
    REQUIRE(whole.closed == steps);
    REQUIRE_FALSE(whole.named);
    REQUIRE(needed > 0);
    for (std::size_t n = 1; n <= needed; n += stride) {
        for (outage const how : {outage::once, outage::for_good}) {
            if (how == outage::for_good && n % 4 != 1) { continue; }
            outcome reported;
            (void)run_with(n, how, reported, make);
            if (reported.closed != steps || (!reported.named && !(reported == whole))) {
                FAIL_CHECK("allocation " << n << " of " << needed
                                         << (how == outage::once ? " failed" : " and all after it failed")
                                         << ": closed " << reported.closed << ", named " << reported.named);
            }
        }
    }
    SUCCEED();
}

}  // namespace spotter_test
