// SPDX-License-Identifier: Apache-2.0
// Small records that stand for very many steps and rows: a reader's memory follows their size in bytes, until a caller
// asks for all steps.
#include <tests/fault/frozen_files.hpp>
#include <tests/fault/loop.hpp>

#include <spotter/format/steps_packer.hpp>

#include <algorithm>
#include <fstream>

#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace spotter;
using namespace spotter_test;

namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr bool sanitized = true;
#else
constexpr bool sanitized = false;
#endif
#else
constexpr bool sanitized = false;
#endif

// Heap bytes of this process; 0 if the C library does not report them.
std::size_t heap_bytes() {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    auto const now = ::mallinfo2();
    return now.uordblks + now.hblkhd;
#else
    return 0;
#endif
}

// One row of packed steps.
struct steps_row {
    byte_buffer bytes{};
    std::uint64_t steps = 0;

    explicit steps_row(std::uint64_t ordinal, std::uint64_t count = layout::packed_steps_limit) : steps{count} {
        byte_writer out{bytes.prepare(64), 64};
        out.varint(count);
        out.varint(ordinal);
        out.fixed(1.0);
        out.fixed(1.0);
        out.varint(1);
        out.fixed(mode::train);
        out.varint(ordinal);
        out.varint(1);
        out.varint(count);
        bytes.grow_by(out.size());
    }
    void number(std::uint64_t value) {
        byte_writer out{bytes.prepare(varint_limit), varint_limit};
        out.varint(value);
        bytes.grow_by(out.size());
    }
    // A template of observations that keep only their counts.
    void counts_of(std::uint64_t tensors) {
        byte_buffer items;
        for (std::uint64_t id = 0; id < tensors; ++id) {
            byte_writer out{items.prepare(32), 32};
            out.fixed(layout::packed::summary);
            out.varint(id);
            out.varint(0);
            out.varint(9);
            items.grow_by(out.size());
        }
        number(items.size());
        REQUIRE(bytes.append(items.view()));
    }
};

contents segment_of(std::vector<steps_row> const& rows, tensor_id names) {
    byte_buffer out;
    REQUIRE_FALSE(encode_head(segment_head{}, out));
    row_frame_builder frame;
    byte_buffer body;
    auto const add = [&](row_kind kind, auto const& row) {
        byte_writer into{body.prepare(4096), 4096};
        encode(into, row);
        REQUIRE(frame.add(kind, into.view()));
    };
    add(row_kind::run_begin, rows::run_begin{});
    for (tensor_id id = 0; id < names; ++id) {
        std::string const name = "x/" + std::to_string(id);
        rows::declare row{};
        row.tensor.id = id;
        row.tensor.name = name;
        row.tensor.type = dtype::f32;
        add(row_kind::declare, row);
    }
    for (steps_row const& each : rows) {
        REQUIRE(frame.add(row_kind::steps, each.bytes.view()));
        frame.count_packed(static_cast<std::uint32_t>(each.steps), 0);
    }
    REQUIRE(out.append(frame.seal(layout::head_bytes, layout::head_bytes, 0)));
    return {out.view().begin(), out.view().end()};
}

// 8 kB of rows whose steps kept nothing; or two rows whose steps kept as many observations as fit.
contents many_closings() {
    std::vector<steps_row> rows;
    for (std::uint64_t i = 0; i < 200; ++i) {
        steps_row& row = rows.emplace_back(i * layout::packed_steps_limit);
        row.number(1);
        row.number(0);
    }
    return segment_of(rows, 0);
}
contents many_rows(std::uint64_t tensors) {
    std::vector<steps_row> rows;
    for (std::uint64_t i = 0; i < 2; ++i) {
        steps_row& row = rows.emplace_back(i * layout::packed_steps_limit);
        row.number(1);
        row.counts_of(tensors);
    }
    return segment_of(rows, static_cast<tensor_id>(tensors));
}
// Two templates, one of them with the tensors, in irregular order: nothing that an outline could summarise.
contents unordered_rows(std::uint64_t tensors) {
    constexpr std::uint64_t count = 2000;
    std::vector<steps_row> rows;
    steps_row& row = rows.emplace_back(0, count);
    row.number(2);
    row.counts_of(tensors);
    row.number(0);
    std::uint32_t state = 1;
    for (std::uint64_t i = 0; i < count; ++i) {
        state = state * 1664525U + 1013904223U;
        row.number(i == 0 ? 0 : state >> 31);
    }
    return segment_of(rows, static_cast<tensor_id>(tensors));
}

}  // namespace

TEST_CASE("8 kB of packed steps stand for 13 million closings, and opening them takes less than 1 MB [T14]") {
    frozen_files files;
    files.files["run/000000.spot"] = many_closings();
    REQUIRE(files.files["run/000000.spot"].size() < 10'000);
    std::size_t const before = heap_bytes();
    trial const run = open_in(files, frozen_files::folder);
    CHECK(run.closed_steps() == 200 * layout::packed_steps_limit);
    CHECK(run.damage().empty());
    CHECK(run.step_at(70'000).value_or(step_id{}) == train(70'000));
    CHECK(run.index().steps()[12'000'000].step == train(12'000'000));
    CHECK(run.index().steps().back().ordinal == 200 * layout::packed_steps_limit - 1);
    CHECK(run.step_at(200 * layout::packed_steps_limit).error().code == errc::no_such_step);
    CHECK(heap_bytes() < before + (1U << 20));
}

TEST_CASE("packed steps in which every tensor costs nothing are taken in by their bytes, and read all the same [T14]") {
    auto const check = [](contents const& segment, std::uint64_t tensors) {
        frozen_files files;
        files.files["run/000000.spot"] = segment;
        std::size_t const before = heap_bytes();
        trial const run = open_in(files, frozen_files::folder);
        CHECK(run.names().size() == tensors);
        CHECK(run.damage().empty());
        CHECK(run["x/7"].shape(train(0)));
        CHECK(run["x/7"].stat(train(0), nonfinite).error().code == errc::no_payload);
        CHECK_FALSE(run["x/7"].shape(train(200'000)));
        CHECK(heap_bytes() < before + 1500 * tensors + 64 * segment.size());
    };
    contents const ordered = many_rows(400), unordered = unordered_rows(400);
    CHECK(ordered.size() < 20'000);
    CHECK(unordered.size() < 20'000);
    check(ordered, 400);
    check(unordered, 400);
}

TEST_CASE("what is asked for of dense packed steps is what stands in them") {
    frozen_files files;
    files.files["run/000000.spot"] = unordered_rows(12);
    trial const run = open_in(files, frozen_files::folder);
    std::vector<step_id> const steps = run["x/3"].steps();
    CHECK(steps.size() > 800);
    CHECK(steps.size() < 1200);
    CHECK(run.steps() == steps);  // the other steps kept nothing
    CHECK(run["x/3"].history(l2).size() == steps.size());
    std::size_t met = 0;
    for (std::uint64_t i = 0; i < 100; ++i) { met += run["x/11"].shape(train(i)) ? 1U : 0U; }
    CHECK(met == static_cast<std::size_t>(std::lower_bound(steps.begin(), steps.end(), train(100)) - steps.begin()));
    CHECK(run.names(filter{.step = steps[5]}).size() == 12);
}

TEST_CASE("where memory does not suffice for what was asked, the library says so in words [T14]") {
    if (sanitized) { SPOTTER_SKIP("a sanitizer needs the address space"); }
    frozen_files files;
    std::vector<steps_row> rows;
    for (std::uint64_t i = 0; i < 32; ++i) {
        steps_row& row = rows.emplace_back(i * layout::packed_steps_limit);
        row.number(1);
        row.counts_of(1);
    }
    files.files["run/000000.spot"] = segment_of(rows, 1);
    pid_t const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        rlimit little{};
        (void)::getrlimit(RLIMIT_AS, &little);
        auto opened = open_trial(frozen_files::folder, files);
        if (!opened) { ::_exit(2); }
        std::uint64_t pages = 0;
        if (!(std::ifstream{"/proc/self/statm"} >> pages)) { ::_exit(0); }
        little.rlim_cur = pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) + (16U << 20);
        if (::setrlimit(RLIMIT_AS, &little) != 0) { ::_exit(3); }
        try {
            std::size_t const count = opened->steps().size();
            ::_exit(count > 0 ? 4 : 5);
        } catch (std::bad_alloc const& why) {
            std::string_view const text{why.what()};
            ::_exit(text.find("no memory") == std::string_view::npos ? 6 : 0);
        }
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
}
