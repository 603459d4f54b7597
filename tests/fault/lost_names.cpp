// SPDX-License-Identifier: Apache-2.0
// Damage to tensor declarations in a resumed or replaced run. Rows get their names back where the declaration is
// repeated. Until then they hide older values, because they may be newer values of the same tensors.
#include <tests/fault/frames.hpp>
#include <tests/fault/frozen_files.hpp>
#include <tests/fault/loop.hpp>
#include <tests/trial/runs.hpp>

#include <spotter/format/sidecar.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t recorded_steps = 120;
constexpr std::string_view names[] = {"n/x", "n/y", "v/w"};

// Records two attempts over the same steps. Each value is 1000 times the attempt plus the step.
void record(std::string const& path, std::uint64_t steps = recorded_steps) {
    for (std::uint32_t k = 0; k < 2; ++k) {
        hook watch{
            path, everything,
            options{.existing = k == 0 ? existing::replace : existing::resume, .flush_milliseconds = only_when_asked}};
        for (std::uint64_t i = 0; i < steps; ++i) {
            double const value = 1000.0 * k + static_cast<double>(i);
            watch.begin(train(i));
            watch.observe("n/x", value);
            watch.observe("n/y", value);
            if (i % 4 == 0) { watch.observe("v/w", std::vector<float>(8, static_cast<float>(value))); }
            (void)watch.end();
            if (i % 10 == 9) { watch.flush(); }
        }
        watch.finish();
    }
}
std::vector<row_frame> declaring(std::vector<char> const& bytes) {
    auto all = frames_of(std::as_bytes(std::span{bytes}));
    std::erase_if(all, [](row_frame const& each) { return (each.flags & layout::has_declares) == 0; });
    return all;
}

struct verdict {
    std::size_t right = 0, wrong = 0, corrupt = 0, other = 0;

    void take(recorded_value const& value, double wanted) {
        if (!value) {
            ++(value.error().code == errc::corrupt ? corrupt : other);
            return;
        }
        double const got =
            value.type() == dtype::f32 ? value.to<std::vector<float>>().value().front() : value.to<double>().value();
        ++(got == wanted ? right : wrong);
    }
};
constexpr std::size_t all_values = 2 * recorded_steps + recorded_steps / 4;

verdict latest(trial const& run) {
    verdict found;
    for (std::uint64_t i = 0; i < recorded_steps; ++i) {
        for (std::string_view const name : names) {
            if (name != "v/w" || i % 4 == 0) { found.take(run[name].at(train(i)), 1000.0 + static_cast<double>(i)); }
        }
    }
    return found;
}
verdict of_attempt(trial const& run, std::uint32_t number) {
    verdict found;
    for (std::uint64_t i = 0; i < recorded_steps; ++i) {
        for (std::string_view const name : names) {
            double const wanted = 1000.0 * number + static_cast<double>(i);
            if (name != "v/w" || i % 4 == 0) { found.take(run[name].at(train(i), attempt{number}), wanted); }
        }
    }
    return found;
}

// A hand-made segment of an attempt with packed observations that keep only their counts.
struct made_segment {
    byte_buffer bytes{};
    std::vector<std::uint64_t> frames{};  // offsets
    std::uint64_t ordinal;

    made_segment(std::uint32_t number, std::uint64_t first_ordinal) : ordinal{first_ordinal} {
        segment_head head{};
        head.number = head.attempt = number;
        head.run_id = 7;
        head.first_ordinal = first_ordinal;
        REQUIRE_FALSE(encode_head(head, bytes));
        rows::run_begin begin{};
        begin.run_id = 7;
        begin.attempt = number;
        put(row_kind::run_begin, begin);
    }
    void declare(tensor_id tensors) {
        for (tensor_id id = 0; id < tensors; ++id) {
            std::string const name = "x/" + std::to_string(id);
            rows::declare row{};
            row.tensor.id = id;
            row.tensor.name = name;
            row.tensor.type = dtype::f32;
            put(row_kind::declare, row);
        }
    }
    void steps(std::uint64_t first, std::uint64_t steps, tensor_id tensors) {
        byte_buffer body, items;
        byte_writer out{body.prepare(64), 64};
        out.varint(steps);
        out.varint(ordinal);
        out.fixed(1.0);
        out.fixed(1.0);
        out.varint(1);
        out.fixed(mode::train);
        out.varint(first);
        out.varint(1);
        out.varint(steps);
        out.varint(1);
        for (tensor_id id = 0; id < tensors; ++id) {
            byte_writer item{items.prepare(32), 32};
            item.fixed(layout::packed::summary);
            item.varint(id);
            item.varint(0);
            item.varint(9);
            items.grow_by(item.size());
        }
        out.varint(items.size());
        body.grow_by(out.size());
        REQUIRE(body.append(items.view()));
        steps_outline const outline{body.view()};
        REQUIRE(outline.is_dense());
        REQUIRE(frame_.add(row_kind::steps, body.view()));
        frame_.count_packed(static_cast<std::uint32_t>(steps), static_cast<std::uint32_t>(steps * tensors));
        closes_ += steps;
    }
    void seal() {
        frames.push_back(bytes.size());
        REQUIRE(bytes.append(frame_.seal(bytes.size(), bytes.size(), ordinal)));
        frame_.reset();
        ordinal += std::exchange(closes_, 0);
    }
    [[nodiscard]] contents whole() const { return {bytes.view().begin(), bytes.view().end()}; }
    // The segment with a wrong bit in one frame.
    [[nodiscard]] contents damaged(std::size_t frame) const {
        contents changed = whole();
        changed[static_cast<std::size_t>(frames[frame]) + 9] ^= std::byte{1};
        return changed;
    }

private:
    template <class Row>
    void put(row_kind kind, Row const& row) {
        byte_buffer body;
        byte_writer out{body.prepare(4096), 4096};
        encode(out, row);
        REQUIRE(frame_.add(kind, out.view()));
    }

    row_frame_builder frame_;
    std::uint64_t closes_ = 0;
};

constexpr tensor_id tensors = 12;

// The error at a step: `no_payload` if an observation is found, since no values were kept.
errc found_at(trial const& run, std::uint64_t index) { return run["x/3"].at(train(index)).error().code; }
errc found_at(trial const& run, std::uint64_t index, std::uint32_t number) {
    return run["x/3"].at(train(index), attempt{number}).error().code;
}

}  // namespace

TEST_CASE("a flipped bit in a frame that declares, in a run that was resumed, costs the steps of that frame and gives "
          "none of another attempt") {
    temporary_folder const folder;
    std::string const run_path = folder / "run";
    record(run_path);
    for (std::uint32_t const number : {0U, 1U}) {
        std::string const file = run_path + "/00000" + std::to_string(number) + ".spot";
        std::vector<char> const whole = read_file(file);
        std::vector<char> const side = read_file(file + "x");
        auto const frames = declaring(whole);
        REQUIRE(frames.size() > 2);
        for (bool const with_side : {true, false}) {
            if (!with_side) { fs::remove(file + "x"); }
            for (row_frame const& frame : frames) {
                std::vector<char> bytes = whole;
                bytes[static_cast<std::size_t>(frame.offset) + 9] ^= 1;
                write_file(file, bytes);
                INFO("segment " << number << " frame at " << frame.offset << " with a sidecar " << with_side);
                trial const fresh = open(run_path);
                CHECK(fresh.attempts() == 2);
                CHECK(fresh.collections().size() == 1);
                verdict const few = latest(fresh);
                trial const read = open(run_path);
                (void)read.steps();
                verdict const all = latest(read);
                CHECK(few.wrong + all.wrong == 0);
                CHECK(few.right == all.right);
                CHECK(few.other + all.other == 0);
                verdict const its = of_attempt(read, number), others = of_attempt(read, 1 - number);
                CHECK(its.wrong == 0);
                CHECK(others.right == all_values);
                CHECK(its.right + 3 * (frame.closes + 2) >= all_values);
                if (number == 0) { CHECK(all.right == all_values); }
                if (number == 1) { CHECK(all.right + 3 * (frame.closes + 2) >= all_values); }
                bool const last = frame.end() == whole.size();
                CHECK((last || read.damage().size() == 1));
            }
        }
        write_file(file, whole);
        write_file(file + "x", side);
    }
}

TEST_CASE("rows that nothing names yet may be a later value; once they have their names the older one is gone and "
          "theirs is read") {
    temporary_folder const folder;
    std::string const run_path = folder / "run";
    record(run_path);
    std::string const file = run_path + "/000001.spot";
    std::vector<char> bytes = read_file(file);
    fs::remove(file + "x");
    auto const frames = declaring(bytes);
    REQUIRE(frames.size() > 2);
    REQUIRE(frames[0].closes == 0);  // it holds run_begin alone
    REQUIRE(frames[1].closes > 0);
    bytes[static_cast<std::size_t>(frames[1].offset) + 9] ^= 1;
    auto const cut = static_cast<std::size_t>(frames[2].offset);
    write_file(file, {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(cut)});
    trial run = open(run_path);
    verdict const before = latest(run);
    CHECK(before.wrong > 0);  // steps that the second attempt did not reach have the first attempt's values
    std::size_t nameless = 0;
    for (step_id const step : run.steps()) { nameless += run["n/x"].at(step).error().code == errc::corrupt ? 1U : 0U; }
    CHECK(before.corrupt > 2 * frames[1].closes);
    CHECK(nameless > frames[1].closes);
    for (std::uint64_t i = 0; i < nameless - 1; ++i) {
        CHECK(run["n/x"].at(train(i)).error().code == errc::corrupt);
        CHECK(run["n/x"].at(train(i), attempt{0}).to<double>().value() == static_cast<double>(i));
    }
    CHECK(run.damage().size() > 1);

    std::FILE* const live = std::fopen(file.c_str(), "ab");
    std::fwrite(bytes.data() + cut, 1, bytes.size() - cut, live);
    std::fclose(live);
    REQUIRE_FALSE(run.refresh());
    verdict const after = latest(run);
    CHECK(after.wrong == 0);
    CHECK(after.other == 0);
    CHECK(after.right + 3 * (frames[1].closes + 2) >= all_values);
    CHECK(run.damage().size() == 1);
    CHECK(of_attempt(run, 0).right == all_values);
}

TEST_CASE(
    "a run in the place of another, beside which a sidecar of that one was left, is read by its own declarations") {
    temporary_folder const folder;
    std::string const run_path = folder / "run";
    record(run_path, 400);
    std::vector<char> const sides[] = {read_file(run_path + "/000000.spotx"), read_file(run_path + "/000001.spotx")};
    trial run = open(run_path);
    CHECK(run.steps().size() == 400);
    record(run_path);
    for (std::uint32_t number = 0; number < 2; ++number) {
        write_file(run_path + "/00000" + std::to_string(number) + ".spotx", sides[number]);
    }
    auto const check = [](trial const& it) {
        CHECK(it.steps().size() == recorded_steps);
        CHECK(latest(it).right == all_values);
        CHECK(of_attempt(it, 0).right == all_values);
        CHECK(it.damage().empty());
    };
    CHECK(run.refresh().code == errc::replaced);
    check(run);
    check(open(run_path));
}

TEST_CASE("packed steps behind a frame that is lost bound what it held, and what they say of their own steps stands") {
    made_segment first{0, 0}, second{1, 200};
    first.declare(tensors);
    first.steps(0, 200, tensors);
    first.seal();
    second.declare(tensors);
    second.seal();
    second.steps(0, 80, tensors);
    second.seal();
    second.steps(80, 80, tensors);
    second.seal();
    frozen_files files;
    files.files["run/000000.spot"] = first.whole();
    files.files["run/000001.spot"] = second.damaged(1);
    for (bool const all_read : {false, true}) {
        trial const run = open_in(files, frozen_files::folder);
        if (all_read) { (void)run.steps(); }
        CHECK(found_at(run, 0) == errc::corrupt);
        CHECK(found_at(run, 79) == errc::corrupt);
        CHECK(found_at(run, 81) == errc::no_payload);
        CHECK(found_at(run, 159) == errc::no_payload);
        CHECK(found_at(run, 160) == errc::no_payload);  // from the first attempt; the second did not reach it
        CHECK(found_at(run, 199) == errc::no_payload);
        CHECK(found_at(run, 79, 0) == errc::no_payload);
        CHECK(found_at(run, 79, 1) == errc::corrupt);
        CHECK(found_at(run, 159, 1) == errc::no_payload);
        CHECK(run.damage().size() == 1);
    }
}

TEST_CASE("packed rows that nothing names hide what they may have taken the place of, until they are declared") {
    made_segment first{0, 0}, second{1, 200};
    first.declare(tensors);
    first.steps(0, 200, tensors);
    first.seal();
    second.seal();
    second.declare(tensors);
    second.steps(0, 80, tensors);
    second.seal();
    second.steps(80, 80, tensors);
    second.seal();
    std::size_t const cut = second.bytes.size();
    second.declare(tensors);
    second.steps(160, 80, tensors);
    second.seal();
    frozen_files files;
    files.files["run/000000.spot"] = first.whole();
    contents const whole = second.damaged(1);
    contents& live = files.files["run/000001.spot"];
    live = {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut)};
    for (bool const all_read : {false, true}) {
        trial const run = open_in(files, frozen_files::folder);
        if (all_read) { (void)run.steps(); }
        for (std::uint64_t const index : {0U, 79U, 81U, 159U}) { CHECK(found_at(run, index) == errc::corrupt); }
        CHECK(found_at(run, 199) == errc::no_payload);
        CHECK(found_at(run, 100, 0) == errc::no_payload);
        CHECK(found_at(run, 100, 1) == errc::corrupt);
        CHECK(run.damage().size() == 2);
    }
    trial run = open_in(files, frozen_files::folder);
    CHECK(found_at(run, 81) == errc::corrupt);
    live = whole;
    REQUIRE_FALSE(run.refresh());
    CHECK(found_at(run, 79) == errc::corrupt);
    for (std::uint64_t const index : {81U, 159U, 199U, 239U}) {
        CHECK(found_at(run, index) == errc::no_payload);
        CHECK(found_at(run, index, 1) == errc::no_payload);
    }
    CHECK(run["x/3"].history(l2).size() == 200 + 160);
    CHECK(run.damage().size() == 1);
}

TEST_CASE("a record of packed steps that is cut while it is read kills no reader") {
    constexpr std::uint64_t rows = 400;
    made_segment whole{0, 0};
    whole.declare(tensors);
    for (std::uint64_t i = 0; i < rows; ++i) {
        whole.steps(100 * i, 100, tensors);
        if (i % 20 == 19) { whole.seal(); }
    }
    REQUIRE(whole.bytes.size() > 16384);
    temporary_folder const folder;
    std::string const file = folder / "run/000000.spot";
    fs::create_directory(folder / "run");
    contents const bytes = whole.whole();
    auto const letters = reinterpret_cast<char const*>(bytes.data());
    write_file(file, {letters, letters + bytes.size()});
    trial const run = open(folder / "run");
    CHECK(run["x/3"].history(l2).size() == 100 * rows);
    fs::resize_file(file, whole.frames[2]);
    CHECK(run["x/3"].steps().size() < 100 * rows);
    CHECK(run["x/3"].history(l2).size() < 100 * rows);
    CHECK(found_at(run, 5) == errc::no_payload);
    CHECK(found_at(run, 100 * rows - 5) != errc::no_payload);
    CHECK(found_at(run, 100 * rows - 5, 0) != errc::no_payload);
}
