// SPDX-License-Identifier: Apache-2.0
// The steps that a place of a sidecar may hold, the first and the last included: a reader looks for a step nowhere
// else.
#include <spotter/format/record.hpp>
#include <spotter/format/sidecar.hpp>

#include <tests/catch.hpp>

#include <vector>

using namespace spotter;

TEST_CASE("a place of a sidecar holds the first and the last of its steps, of each mode for itself") {
    std::vector<step_id> const closed = {train(5), train(6), eval(2), train(9), eval(7)};
    row_frame_builder frame;
    for (step_id const step : closed) {
        std::byte memory[100];
        byte_writer out{memory, sizeof memory};
        encode(out, rows::close{step, 0, 0, 0});
        encode_stamp(out, 0, 1.0);
        REQUIRE(frame.add(row_kind::close, out.view()));
    }
    byte_buffer bytes;
    REQUIRE_FALSE(encode_head({}, bytes));
    REQUIRE(bytes.append(frame.seal(bytes.size(), layout::head_bytes, 0)));
    byte_buffer side;
    REQUIRE_FALSE(rebuild_sidecar(bytes.view(), side));
    REQUIRE(side.size() == layout::place_bytes);
    result<side_place> const place = decode_side_place(side.view(), 0, bytes.size());
    REQUIRE(place);
    CHECK(place->closes == closed.size());
    for (step_id const step : closed) { CHECK(place->may_hold(step)); }
    for (step_id const step : {train(4), train(10), train(0), eval(1), eval(8), predict(5), predict(0)}) {
        CHECK_FALSE(place->may_hold(step));
    }
    CHECK((place->may_hold(train(7)) && place->may_hold(eval(5))));  // a span has no gaps
}
