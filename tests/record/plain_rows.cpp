// SPDX-License-Identifier: Apache-2.0
// Rows written in the short way have the same bytes as rows encoded from their structs.
#include <tests/catch.hpp>

#include <spotter/format/encode.hpp>
#include <spotter/record/plain_rows.hpp>

#include <cstring>
#include <vector>

using namespace spotter;

namespace {

constexpr std::uint64_t large = ~std::uint64_t{0};
constexpr step_id row_steps[] = {train(0),   train(127),        train(127),  eval(127),
                                 train(128), predict(1U << 20), train(large)};
constexpr tensor_id row_ids[] = {0, 1, 127, 128, 16383, 16384, no_tensor - 1};

// Space for a row; `holds` checks its bytes, and that none behind the row's limit was written.
struct row_room {
    std::vector<std::byte> bytes = std::vector<std::byte>(observe_limit + 64, std::byte{0xEE});
    bool holds(byte_view wanted, std::size_t size) const {
        bool exact = size == wanted.size() && std::memcmp(bytes.data(), wanted.data(), size) == 0;
        for (std::size_t i = observe_limit; i < bytes.size(); ++i) { exact = exact && bytes[i] == std::byte{0xEE}; }
        return exact;
    }
};

}  // namespace

TEST_CASE("the row of a number is that of a scalar, for any id, step and type") {
    plain_rows rows;
    for (step_id const step : row_steps) {
        for (tensor_id const id : row_ids) {
            for (dtype const type :
                 {dtype::f32, dtype::f64, dtype::boolean, dtype::i64, dtype::u16, dtype::c64, dtype::f8_e4m3}) {
                plain_number const value{0x8F7E6D5C4B3A2918U, type, static_cast<std::uint8_t>(size_of(type))};
                rows::scalar row{};
                row.id = id, row.has_step = true, row.step = step, row.type = type;
                row.value = bytes_of(reinterpret_cast<std::byte const*>(&value.bits), value.size);
                std::byte wanted[scalar_limit];
                quick_writer out{wanted};
                encode(out, row);
                row_room room;
                CHECK(room.holds({wanted, out.size()}, rows.number(room.bytes.data(), id, step, value)));
            }
        }
    }
}

TEST_CASE("the row of plain values is that of an observation without statistics, for any shape, type and chain") {
    plain_rows rows;
    extents const shapes[] = {
        {}, {0}, {1}, {127}, {128}, {3, 0, 5}, {2, 300, 70'000}, {1, 2, 3, 4, 5, 6, 7, 8}, {large >> 8U}};
    for (extents const& shape : shapes) {
        for (dtype const type : {dtype::f32, dtype::f64, dtype::bf16, dtype::u8, dtype::c128}) {
            for (stats_mask const keep :
                 {stats_mask::payload, stats_mask::payload | stats_mask::shape, stats_mask{delta{5}}}) {
                tensor_ref view;
                view.shape = shape, view.count = shape.elements(), view.type = type;
                view.layout = shape.rank == 2 ? order::column_major : order::row_major;
                std::uint64_t const bytes = view.bytes();
                step_id const step = row_steps[view.count % 7];
                tensor_id const id = row_ids[shape.rank % 7];
                rows::observe row{};
                row.id = id, row.step = step, row.has_values = true, row.type = type, row.layout = view.layout,
                row.shape = shape;
                std::byte wanted[observe_limit];
                store(wanted, plain_rows::head_for(view, bytes, keep));
                quick_writer out{wanted + sizeof(ring_tag::values_head)};
                encode(out, row, summary{.count = view.count}, static_cast<std::uint32_t>(keep));
                row_room room;
                CHECK(room.holds({wanted, sizeof(ring_tag::values_head) + out.size()},
                                 rows.values(room.bytes.data(), id, step, view, bytes, keep)));
            }
        }
    }
}
