// SPDX-License-Identifier: Apache-2.0
// Repeated declarations: where they are, and what they cost.
#include <spotter/spotter.hpp>

#include <spotter/file/memory.hpp>
#include <spotter/format/record.hpp>
#include <spotter/format/sidecar.hpp>

#include <tests/catch.hpp>

#include <map>
#include <string>
#include <vector>

using namespace spotter;

namespace {

constexpr options by_hand{.drain = drain::poll, .flush_milliseconds = 1'000'000};

// Counts of the first segment.
struct restated {
    std::map<std::uint64_t, std::vector<std::uint64_t>>
        frames{};                       // by tensor id: the offsets of the row frames that declare it
    std::uint64_t rows = 0, bytes = 0;  // of repeated declarations
    std::uint64_t first_bytes = 0;      // of first declarations
    std::uint64_t all_bytes = 0;        // of the segment and its sidecar
};

restated look_at(memory_file_system& files, std::string const& folder) {
    restated found;
    auto const mapped = files.map(folder + "/000000.spot");
    REQUIRE(mapped);
    frame_walker walk{mapped->bytes};
    for (walked what = walk.next(); what != walked::end; what = walk.next()) {
        if (what != walked::rows) { continue; }
        row_reader rows{walk.frame().body};
        for (row_view row; rows.next(row);) {
            bool again = false;
            if (row.kind == row_kind::declare) {
                rows::declare reported;
                REQUIRE_FALSE(decode(row, reported));
                auto& in = found.frames[reported.tensor.id];
                again = !in.empty();
                if (!again) { found.first_bytes += row.body.size() + 2; }
                in.push_back(walk.frame().offset);
            }
            if (again) { ++found.rows, found.bytes += row.body.size() + 2; }
        }
    }
    found.all_bytes = mapped->bytes.size();
    files.unmap(*mapped);
    if (auto const side = files.map(folder + "/000000.spotx")) {
        found.all_bytes += side->bytes.size();
        files.unmap(*side);
    }
    return found;
}

}  // namespace

TEST_CASE("what is said again of the declarations of 100 series costs less than a hundredth of their scalars [T9]") {
    memory_file_system files;
    std::vector<std::string> names;
    for (int i = 0; i < 100; ++i) { names.push_back("metric/" + std::to_string(i)); }
    constexpr std::uint64_t steps = 6000;
    {
        recorder record{"run", by_hand, files};
        hook watch{record, plan{collection{"all", "*", always{}, payload}}};
        for (std::uint64_t i = 0; i < steps; ++i) {
            watch.begin(train(i));
            for (std::string const& name : names) { watch.observe(name, 1.0F / static_cast<float>(i + 1)); }
            (void)watch.end();
            watch.poll();
        }
        watch.finish();
        REQUIRE(watch.health().good());
    }
    restated const found = look_at(files, "run");
    double const payload_bytes = static_cast<double>(steps * 100 * sizeof(float));
    CHECK(found.frames.size() == 100);
    for (auto const& [id, in] : found.frames) { CHECK(in.size() >= 3); }  // twice for safety, and at intervals
    CHECK(static_cast<double>(found.bytes) <= 0.01 * payload_bytes);
    CHECK(static_cast<double>(found.all_bytes) <= 1.1 * payload_bytes);
    std::printf("T9 declarations of 100 series said again: %.4f x the scalars; the whole record %.4f x\n",
                static_cast<double>(found.bytes) / payload_bytes, static_cast<double>(found.all_bytes) / payload_bytes);
}

TEST_CASE(
    "with a finding that is flushed every declaration stands in two row frames, and in no more for many findings") {
    memory_file_system files;
    recorder record{"run", by_hand, files};
    hook watch{record, plan{collection{"all", "*", always{}, payload}}, any("loss", minimum > 0.5)};
    auto const step = [&](std::uint64_t i, float loss) {
        (void)watch.step(train(i), "loss"_t = loss, "rate"_t = 0.25F, "other"_t = 1.0);
        watch.poll();
        watch.flush();
    };
    for (std::uint64_t i = 0; i < 4; ++i) { step(i, 0.25F); }
    auto const copies = [&] {
        std::vector<std::size_t> counts;
        for (auto const& [id, in] : look_at(files, "run").frames) { counts.push_back(in.size()); }
        return counts;
    };
    CHECK(copies() == std::vector<std::size_t>{1, 1, 1});
    step(4, 1.0F);
    CHECK(copies() == std::vector<std::size_t>{2, 2, 2});
    for (std::uint64_t i = 5; i < 100; ++i) { step(i, 1.0F); }
    CHECK(copies() == std::vector<std::size_t>{2, 2, 2});
    watch.finish();
    CHECK(copies() == std::vector<std::size_t>{2, 2, 2});
}

TEST_CASE(
    "a run that fits one row frame says nothing twice, a longer one has each declaration in two frames at its end") {
    for (std::uint64_t const steps : {std::uint64_t{3}, std::uint64_t{20}}) {
        memory_file_system files;
        recorder record{"run", by_hand, files};
        hook watch{record, plan{collection{"all", "*", always{}, payload}}};
        for (std::uint64_t i = 0; i < steps; ++i) {
            (void)watch.step(train(i), "loss"_t = 0.5F);
            watch.poll();
            if (steps > 3) { watch.flush(); }
        }
        watch.finish();
        restated const found = look_at(files, "run");
        REQUIRE(found.frames.size() == 1);
        auto const& in = found.frames.begin()->second;
        CHECK(in.size() == (steps > 3 ? 2 : 1));
        CHECK((in.size() == 1 || in.front() != in.back()));
    }
}

TEST_CASE("tensors that come one by one are each said twice: no declaration waits for the next") {
    memory_file_system files;
    recorder record{"run", by_hand, files};
    hook watch{record, plan{collection{"all", "*", always{}, payload}}};
    std::vector<float> const values(64, 0.5F);
    for (std::uint64_t i = 0; i < 200; ++i) {
        watch.begin(train(i));
        watch.observe("v/" + std::to_string(i), values);
        watch.observe("loss", 0.5F);
        (void)watch.end();
        watch.poll();
    }
    restated const open = look_at(files, "run");
    watch.finish();
    restated const found = look_at(files, "run");
    REQUIRE(found.frames.size() == 201);
    std::size_t alone = 0;  // tensors declared in one frame only, which is not the last
    std::uint64_t last = 0;
    for (auto const& [id, in] : found.frames) { last = (std::max)(last, in.back()); }
    for (auto const& [id, in] : found.frames) { alone += in.size() == 1 && in.front() != last; }
    CHECK(alone == 0);
    std::size_t waiting = 0;
    for (auto const& [id, in] : open.frames) { waiting += in.size() == 1; }
    CHECK(waiting < 40);
    CHECK(found.bytes <= 2 * found.first_bytes + found.all_bytes / 64);
}
