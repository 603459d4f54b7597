// SPDX-License-Identifier: Apache-2.0
// A small training loop, recorded with every kind of content. Its numbers are known with and without a hook.
#pragma once

#include <tests/fault/picture.hpp>

#include <spotter/file/memory.hpp>

#include <functional>

namespace spotter_test {

// A clock that advances at each reading, so that the same loop always gives the same record.
inline double ticks() noexcept {
    static double now = 0;
    return 1e9 + ++now;
}
inline constexpr spotter::options small_record{
    .drain = spotter::drain::poll, .ring_bytes = 64 << 10, .segment_bytes = 4096, .flush_milliseconds = 1'000'000};

// All bits that the loop computes.
using trace = std::vector<std::uint32_t>;

struct line_model {
    std::vector<float> w = std::vector<float>(200, 0.125F);
    std::vector<float> gradient = std::vector<float>(200);
    std::vector<std::uint8_t> mask = std::vector<std::uint8_t>(70);
    std::uint32_t state = 12345;

    float draw() {
        state = state * 1664525U + 1013904223U;
        return static_cast<float>(state >> 8) / static_cast<float>(1U << 23) - 1;
    }
    float forward_backward() {
        float loss = 0;
        for (std::size_t i = 0; i < w.size(); ++i) {
            float const a = draw();
            float const wrong = (w[i] - 0.5F) * a;
            loss += wrong * wrong;
            gradient[i] = 2 * wrong * a;
        }
        for (auto& each : mask) { each = draw() > 0 ? 1 : 0; }
        return loss;
    }
    void update() {
        for (std::size_t i = 0; i < w.size(); ++i) { w[i] -= 0.05F * gradient[i]; }
    }
};

inline constexpr auto loop_plan = spotter::plan{
    spotter::collection{"losses", "*loss", spotter::always{}, spotter::payload},
    spotter::collection{"weights", "w", spotter::every{3}, spotter::payload | spotter::stats(spotter::l2)},
    spotter::collection{"gradients", "grad/w", spotter::always{}, spotter::stats(spotter::l2, spotter::mean)},
    spotter::collection{"spread", "grad/w", spotter::every{4}, spotter::quantiles | spotter::histogram},
    spotter::collection{"others", "other/*", spotter::every{2}, spotter::payload}};

// Takes steps `begin` to `end`. Calls `watch(step, loss, net)` in each, before the update.
template <class Watch>
trace train_line(std::uint64_t begin, std::uint64_t end, Watch&& watch) {
    line_model net;
    trace bits;
    for (std::uint64_t i = begin; i < end; ++i) {
        float const loss = net.forward_backward();
        bits.push_back(std::bit_cast<std::uint32_t>(loss));
        watch(i, loss, net);
        net.update();
    }
    for (float each : net.w) { bits.push_back(std::bit_cast<std::uint32_t>(each)); }
    return bits;
}
inline trace unwatched(std::uint64_t begin, std::uint64_t end) {
    return train_line(begin, end, [](std::uint64_t, float, line_model const&) {});
}

struct watched {
    trace bits{};
    spotter::health_report health{};
    std::uint64_t came_in = 0;  // observations and scalars that the plan or a rule keeps
    std::size_t found = 0;
    bool sticky = true;  // health kept its first error
    std::string path{};
};

// The loop with a hook that records into `path` of `files`. Calls `at_step(i)` after each step.
inline watched train_watched(spotter::file_system& files, std::string_view path, spotter::options const& choices,
                             std::uint64_t begin, std::uint64_t end,
                             std::function<void(std::uint64_t)> const& at_step = {}) {
    using namespace spotter;
    watched seen;
    recorder record{path, choices, files};
    // Rules with warnings, and one with errors: the writer stores an error before the loop gets it.
    hook watch{record, loop_plan, non_finite{}, any("loss", minimum > 0.0) | cooldown{3},
               any("val_loss", minimum > 0.0) | severity::error};
    error first{};
    seen.bits = train_line(begin, end, [&](std::uint64_t i, float loss, line_model const& net) {
        double const wide = 1.0 / static_cast<double>(i + 1);
        std::int64_t const half[3] = {static_cast<std::int64_t>(i), -1, 7};
        seen.found += watch
                          .step(train(i), "loss"_t = loss, "w"_t = net.w, "grad/w"_t = net.gradient,
                                "other/mask"_t = net.mask, "other/half"_t = view_of(half, {3}), "other/wide"_t = wide)
                          .size();
        watch.scalar("between", static_cast<double>(i) + 0.25);
        seen.came_in += 7;  // a rule sees every tensor, so something is kept of each
        if (i % 5 == 4) {
            (void)watch.step(eval(i), "val_loss"_t = loss / 2);
            watch.scalar("note", std::string_view{"after evaluation"}, static_cast<double>(i));
            seen.came_in += 2;
        }
        if (i % 4 == 3) { watch.flush(); }
        watch.poll();
        error const now = watch.health().first_error;
        if (first && (now.code != first.code || now.what.view() != first.what.view())) { seen.sticky = false; }
        if (!first) { first = now; }
        if (at_step) { at_step(i); }
    });
    watch.finish();
    seen.health = watch.health();
    if (first && seen.health.first_error.what.view() != first.what.view()) { seen.sticky = false; }
    seen.path = watch.path();
    return seen;
}

inline spotter::trial open_in(spotter::file_system& files, std::string_view path) {
    auto run = spotter::open_trial(path, files);
    if (!run) { FAIL(std::string{run.error().what.view()}); }
    return std::move(*run);
}

}  // namespace spotter_test
