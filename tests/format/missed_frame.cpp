// SPDX-License-Identifier: Apache-2.0
// A changed length leads past a row frame, exactly to the next one: the skipped frame is noticed, reported and read.
#include <spotter/format/frame.hpp>
#include <spotter/format/raw_frame.hpp>
#include <spotter/format/walker.hpp>

#include <tests/catch.hpp>

#include <vector>

using namespace spotter;

TEST_CASE("a walk that is led past a row frame to the next one notices, and reads the one between") {
    byte_buffer bytes;
    REQUIRE_FALSE(encode_head({}, bytes));
    std::uint64_t previous = layout::head_bytes;
    std::vector<std::uint64_t> values_at, rows_at;
    for (std::uint64_t step = 0; step < 3; ++step) {
        std::vector<std::byte> const content(40, std::byte{static_cast<unsigned char>(step)});
        values_at.push_back(bytes.size());
        std::byte* const frame = bytes.prepare(raw_frame::bytes_for(content.size()));
        REQUIRE(frame != nullptr);
        raw_frame::put(frame, content);
        bytes.grow_by(raw_frame::bytes_for(content.size()));
        rows_at.push_back(bytes.size());
        row_frame_builder rows;
        REQUIRE(rows.add(row_kind::heartbeat, {}));
        REQUIRE(bytes.append(rows.seal(bytes.size(), previous, step)));
        previous = bytes.size();
    }
    std::vector<std::byte> segment(bytes.view().begin(), bytes.view().end());
    auto const walk_over = [&](std::vector<std::uint64_t>& frames) {
        std::uint64_t damaged = 0;
        frame_walker walk{segment};
        for (walked what = walk.next(); what != walked::end; what = walk.next()) {
            if (what == walked::rows) { frames.push_back(walk.frame().offset); }
            if (what == walked::corrupt) { damaged += walk.damage().bytes; }
        }
        return damaged;
    };
    std::vector<std::uint64_t> frames;
    CHECK(walk_over(frames) == 0);
    CHECK(frames == rows_at);

    // The only block of the second payload gets the length that makes its frame end where the third row frame begins.
    std::size_t const block_at = static_cast<std::size_t>(values_at[1]) + raw_frame::content_at(40) - 3;
    raw_frame::put_block_head(segment.data() + block_at, 40 + static_cast<std::size_t>(rows_at[2] - rows_at[1]), true);
    REQUIRE(measure_frame(segment, values_at[1]).bytes == rows_at[2] - values_at[1]);
    frames.clear();
    CHECK(walk_over(frames) == rows_at[1] - values_at[1]);
    CHECK(frames == rows_at);
}
