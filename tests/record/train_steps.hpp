// SPDX-License-Identifier: Apache-2.0
// Shared by tests of killed recorders: steps that are counted as they are recorded, and checks of the record
// afterwards.
#pragma once

#include <spotter/record/recover.hpp>

#include <tests/record/read_back.hpp>

#include <atomic>

namespace spotter_test {

using namespace spotter;

// The counts are in memory that outlives the recording process.
struct tally {
    std::atomic<std::uint64_t> records{0}, closes{0};
};

inline options shared(drain how = drain::thread, std::uint64_t segment_bytes = 256ULL << 20) {
    options choices{};
    choices.ring_bytes = 64 << 10;
    choices.segment_bytes = segment_bytes;
    choices.drain = how;
    choices.ring_in = ring_in::shared_memory;
    return choices;
}
inline std::vector<float> values_of(std::uint64_t step, std::size_t count) {
    std::vector<float> values(count);
    std::uint64_t state = step * 0x9E3779B97F4A7C15ULL + count;
    for (float& each : values) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        each = static_cast<float>(state >> 40);
    }
    return values;
}
inline void observe(recorder& sink, tensor_id id, std::uint64_t step, std::size_t count) {
    auto const values = values_of(step, count);
    summary const stats = summary_of(count, static_cast<double>(step));
    sink.observe({tensor_named(id, ""), train(step), stats, view_of(values.data(), {count}), {}},
                 stats_mask::sum | stats_mask::payload);
}
inline void scalar(recorder& sink, std::uint64_t step, double value) {
    step_id const at = train(step);
    sink.scalar(tensor_named(0, "s"), &at, view_of(&value, extents{}), nullptr);
}
inline void declare(recorder& sink) {
    sink.start({});
    sink.declare(tensor_named(0, "s"));
    sink.declare(tensor_named(1, "t"));
}

// Element counts: values inside their entry, values in blocks, and sometimes more than the ring holds.
inline constexpr std::size_t sizes[] = {10, 6'000, 10, 30'000};
inline void train_steps(recorder& sink, std::uint64_t first, std::uint64_t end, tally& done) {
    for (std::uint64_t step = first; step < end; ++step) {
        scalar(sink, step, static_cast<double>(step));
        ++done.records;
        observe(sink, 1, step, sizes[step % 4]);
        ++done.records;
        sink.close(train(step), {});
        ++done.closes;
        sink.poll();
    }
}

inline void check_record(run_on_disk const& run, tally const& done) {
    CHECK(run.damaged == 0);
    std::size_t const records = run.scalars.size() + run.values.size();
    CHECK((records >= done.records && records <= done.records + 1));
    CHECK((run.closes.size() >= done.closes && run.closes.size() <= done.closes + 1));
    for (std::size_t i = 0; i < run.scalars.size(); ++i) { REQUIRE(run.scalars[i].row.step == train(i)); }
    for (std::size_t i = 0; i < run.closes.size(); ++i) {
        REQUIRE((run.closes[i].step == train(i) && run.closes[i].ordinal == i));
        REQUIRE((i == 0 || run.closes[i].time >= run.closes[i - 1].time));
    }
    for (std::size_t i = 0; i < run.values.size(); ++i) {
        REQUIRE(run.values[i].row.step == train(i));
        bool const last = i + 1 == run.values.size() && run.closes.size() <= i;
        if (last && run.values[i].row.thinned) { continue; }
        auto const expected = values_of(i, sizes[i % 4]);
        REQUIRE(run.values[i].values.size() == expected.size() * sizeof(float));
        REQUIRE(std::memcmp(run.values[i].values.data(), expected.data(), run.values[i].values.size()) == 0);
    }
}

}  // namespace spotter_test
