// SPDX-License-Identifier: Apache-2.0
// Several threads compress for one writer: the same bytes in the same order, whatever fails or stops on the way.
#include <tests/record/read_back.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

std::vector<float> values_at(std::uint64_t step, std::size_t count) {
    std::vector<float> values(count);
    std::uint64_t state = step + 1;
    for (float& each : values) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        each = static_cast<float>(state >> 40) * 0x1p-24F - 0.5F;
    }
    return values;
}

}  // namespace

TEST_CASE("a pool gives the frames of its blocks in their order, the same as one packer alone") {
    payload_form const form = payload_packer::form_for(dtype::f32, 1U << 20);
    for (unsigned const threads : {1U, 2U, 4U}) {
        payload_packer alone{1}, own{1};
        byte_buffer expected, made;
        packer_pool pool;
        pool.start(threads, 1);
        CHECK(pool.works() == (threads > 1));
        for (std::uint64_t i = 0; i < 40; ++i) {
            std::vector<float> const values = values_at(i, 1000 + static_cast<std::size_t>(i) % 7 * 4000);
            byte_view const block = bytes_of(values.data(), values.size());
            REQUIRE_FALSE(alone.pack(block, form, expected));
            if (!pool.works()) { continue; }
            if (pool.full()) { REQUIRE_FALSE(pool.take(own, made)); }
            REQUIRE(pool.give(block, form));
            if (i % 11 == 10) {
                while (!pool.empty()) { REQUIRE_FALSE(pool.take(own, made)); }
            }
        }
        while (!pool.empty()) { REQUIRE_FALSE(pool.take(own, made)); }
        if (pool.works()) {
            REQUIRE(made.size() == expected.size());
            CHECK(std::memcmp(made.data(), expected.data(), made.size()) == 0);
        }
    }
    // A pool that is destroyed with unfinished work.
    packer_pool pool;
    pool.start(3, 1);
    std::vector<float> const values = values_at(0, 65536);
    while (!pool.full()) { REQUIRE(pool.give(bytes_of(values.data(), values.size()), form)); }
}

namespace {

// Records steps with one tensor each, of several blocks or of less than one.
sink_health record(std::string_view path, unsigned compressors, file_system& files) {
    options choices{};
    choices.existing = existing::replace;
    choices.compressors = compressors;
    choices.segment_bytes = 6U << 20;
    choices.flush_milliseconds = 1'000'000;  // so that row frames do not depend on time
    choices.clock = +[]() noexcept { return 1.0; };
    recorder sink{path, choices, files};
    sink.start({});
    tensor_info weights{};
    weights.id = 0;
    weights.name = "w";
    sink.declare(weights);
    for (std::uint64_t step = 0; step < 12; ++step) {
        std::vector<float> const values = values_at(step, step % 3 == 0 ? 9000 : 400'000);
        sink.observe({weights, train(step), summary{}, view_of(values.data(), {values.size()}), {}},
                     stats_mask::payload | stats_mask::shape);
        sink.close(train(step), {});
    }
    sink.finish({});
    return sink.health();
}

}  // namespace

TEST_CASE("several compressors write what one writes") {
    temporary_folder const folder;
    REQUIRE(record(folder / "one", 1, system_files()).first_error.code == errc::none);
    REQUIRE(record(folder / "four", 4, system_files()).first_error.code == errc::none);
    run_on_disk const one = read_run(folder / "one"), four = read_run(folder / "four");
    REQUIRE((one.values.size() == 12 && four.values.size() == 12 && four.segments == one.segments));
    for (std::size_t step = 0; step < 12; ++step) {
        CHECK(one.values[step].row.place.offset == four.values[step].row.place.offset);
        CHECK(one.values[step].row.place.bytes == four.values[step].row.place.bytes);
        std::vector<float> const values = values_at(step, step % 3 == 0 ? 9000 : 400'000);
        byte_view const bytes = bytes_of(values.data(), values.size());
        CHECK(std::equal(bytes.begin(), bytes.end(), four.values[step].values.begin(), four.values[step].values.end()));
    }
}

TEST_CASE("with several compressors a write that fails ends the record and nothing else") {
    temporary_folder const folder;
    for (std::uint64_t n = 1; n < 200; n += 7) {
        faulty_file_system files{n, true};
        sink_health const health = record(folder / "run", 3, files);
        CHECK(health.stored + health.dropped == 12);
        if (health.first_error.code == errc::none) { break; }
    }
}
