// SPDX-License-Identifier: Apache-2.0
// Records with right checksums and false content: cases that a fuzzer found or could find, one test each.
#include <tests/fault/frozen_files.hpp>
#include <tests/fault/loop.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

// A segment of one row frame.
template <class Add>
contents segment_of(Add const& add, std::uint16_t version = layout::version, std::uint32_t number = 0,
                    std::uint32_t attempt = 0) {
    byte_buffer out;
    segment_head head{};
    head.version = version;
    head.number = number;
    head.attempt = attempt;
    REQUIRE_FALSE(encode_head(head, out));
    row_frame_builder rows;
    add(rows);
    REQUIRE(out.append(rows.seal(layout::head_bytes, layout::head_bytes, 0)));
    return {out.view().begin(), out.view().end()};
}
template <class Row>
void add_row(row_frame_builder& rows, row_kind kind, Row const& row) {
    byte_buffer body;
    byte_writer out{body.prepare(4096), 4096};
    encode(out, row);
    REQUIRE(rows.add(kind, out.view()));
}
void add_begin(row_frame_builder& rows) { add_row(rows, row_kind::run_begin, rows::run_begin{}); }
void add_declare(row_frame_builder& rows, tensor_id id, std::string_view name, dtype type) {
    rows::declare row{};
    row.tensor.id = id;
    row.tensor.name = name;
    row.tensor.type = type;
    add_row(rows, row_kind::declare, row);
}

}  // namespace

TEST_CASE(
    "an observation that claims more values than any memory holds is corrupt, and nothing is taken for it [T14]") {
    frozen_files files;
    files.files["run/000000.spot"] = segment_of([](row_frame_builder& rows) {
        add_begin(rows);
        add_declare(rows, 0, "x", dtype::f32);
        rows::observe row{};
        row.id = 0;
        row.step = train(1);
        row.has_values = true;
        row.type = dtype::f32;
        row.shape = extents{std::uint64_t{1} << 30, std::uint64_t{1} << 20};
        row.place = {64, 13, {1}};
        byte_buffer body;
        byte_writer out{body.prepare(4096), 4096};
        encode(out, row, summary{}, 0);
        encode_place(out, row.place);
        REQUIRE(rows.add(row_kind::observe, out.view()));
        rows::close closed{};
        closed.step = train(1);
        add_row(rows, row_kind::close, closed);
    });
    trial const run = open_in(files, frozen_files::folder);
    CHECK(run["x"].at(train(1)).error().code == errc::corrupt);
    CHECK(run["x"].stat(train(1), l2).error().code == errc::corrupt);
    CHECK(run["x"].history(l2).size() == 1);
    CHECK_FALSE(replay(run, any("x", l2 > 1.0)).whole);
}

TEST_CASE("a declaration with an id beyond reason is damage, and takes no memory [T14]") {
    frozen_files files;
    files.files["run/000000.spot"] = segment_of([](row_frame_builder& rows) {
        add_begin(rows);
        add_declare(rows, no_tensor - 1, "x", dtype::f32);
        add_declare(rows, 1, "y", dtype::f32);
    });
    trial const run = open_in(files, frozen_files::folder);
    CHECK(run.damage().size() == 1);
    CHECK(run.index().find("x") == nullptr);
    CHECK(run.index().find("y") != nullptr);
}

TEST_CASE("a malformed feature under a right checksum is damage; its observation stands without it [T14]") {
    frozen_files files;
    files.files["run/000000.spot"] = segment_of([](row_frame_builder& rows) {
        add_begin(rows);
        add_declare(rows, 0, "x", dtype::f32);
        std::byte const odd[] = {std::byte{0}, std::byte{0}, std::byte{1}};
        REQUIRE(rows.add(row_kind::feature, {odd, sizeof odd}));
        rows::observe row{};
        row.id = 0;
        row.step = train(1);
        byte_buffer body;
        byte_writer out{body.prepare(4096), 4096};
        encode(out, row, summary{}, 0);
        REQUIRE(rows.add(row_kind::observe, out.view()));
        rows::close closed{};
        closed.step = train(1);
        byte_writer end{body.prepare(4096), 4096};
        encode(end, closed);
        encode_stamp(end, 0, 1.0);
        REQUIRE(rows.add(row_kind::close, end.view()));
    });
    trial const run = open_in(files, frozen_files::folder);
    CHECK(run.damage().size() == 1);
    CHECK(run["x"].shape(train(1)));
    CHECK_FALSE(replay(run, any("x", l2 > 1.0)).whole);
}

TEST_CASE("a truth value that is neither 0 nor 1 reads as true [T14]") {
    frozen_files files;
    files.files["run/000000.spot"] = segment_of([](row_frame_builder& rows) {
        add_begin(rows);
        add_declare(rows, 0, "x", dtype::boolean);
        std::byte const odd{213};
        rows::scalar row{};
        row.id = 0;
        row.has_step = true;
        row.step = train(0);
        row.type = dtype::boolean;
        row.value = {&odd, 1};
        add_row(rows, row_kind::scalar, row);
    });
    trial const run = open_in(files, frozen_files::folder);
    CHECK(run["x"].at(train(0)).to<bool>().value_or(false));
    CHECK(run["x"].stat(train(0), maximum).value_or(0) == 1);
}

TEST_CASE("a later segment of another format version is not read as if it were of this one, but reported [T14]") {
    auto const rows_of = [](char const* name) {
        return [=](row_frame_builder& rows) {
            add_begin(rows);
            add_declare(rows, 0, name, dtype::f64);
            double const value = 2.5;
            rows::scalar row{};
            row.id = 0;
            row.has_step = true;
            row.step = train(0);
            row.type = dtype::f64;
            row.value = bytes_of(&value, 1);
            add_row(rows, row_kind::scalar, row);
        };
    };
    frozen_files files;
    files.files["run/000000.spot"] = segment_of(rows_of("x"));
    files.files["run/000001.spot"] = segment_of(rows_of("y"), layout::version + 1, 1, 1);
    trial run = open_in(files, frozen_files::folder);
    for (int round = 0; round < 2; ++round) {
        CHECK(run.names() == names_list{"x"});
        REQUIRE(run.damage().size() == 1);
        CHECK(run.damage()[0].file == "run/000001.spot");
        CHECK(replay(run, any("y", maximum > 1.0)).findings.empty());
        REQUIRE_FALSE(run.refresh());
    }
    files.files["run/000000.spot"] = files.files["run/000001.spot"];
    CHECK(open_trial(frozen_files::folder, files).error().code == errc::unknown_version);
}
