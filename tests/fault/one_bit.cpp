// SPDX-License-Identifier: Apache-2.0
// One wrong bit in a row frame costs only the steps of that frame: every declaration is repeated in another frame.
#include <tests/fault/frames.hpp>
#include <tests/fault/frozen_files.hpp>
#include <tests/fault/loop.hpp>

#include <spotter/format/sidecar.hpp>

#include <algorithm>
#include <cstdio>
#include <set>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr std::uint64_t step_count = 200;

// Records scalars of several series, tensors with values and with statistics only, one declared late, findings. Each
// row frame holds many steps, and each segment many frames.
folder_contents record(options choices, bool finishes) {
    choices.clock = &ticks;
    memory_file_system files;
    recorder record{frozen_files::folder, choices, files};
    constexpr auto keep = plan{collection{"values", "v/*", every{4}, payload},
                               collection{"statistics", "s/*", always{}, stats(l2, maximum)},
                               collection{"numbers", "n/*", always{}, payload}};
    hook watch{record, keep, any("n/loss", maximum > 0.9) | cooldown{40}};
    frozen_files frozen;
    line_model net;
    for (std::uint64_t i = 0; i < step_count; ++i) {
        float const loss = i % 50 == 20 ? 1.0F : 0.5F / static_cast<float>(i + 1);
        (void)net.forward_backward();
        watch.begin(train(i));
        watch.observe("n/loss", loss);
        watch.observe("n/rate", 1.0 / static_cast<double>(i + 1));
        watch.observe("n/count", static_cast<std::int64_t>(i * i));
        watch.observe("v/w", net.w);
        watch.observe("v/mask", net.mask);
        watch.observe("s/gradient", net.gradient);
        if (i >= step_count / 2) { watch.observe("s/late", net.w); }
        (void)watch.end();
        net.update();
        watch.poll();
        if (i % 5 == 4) { watch.flush(); }
    }
    auto const take = [&] {
        for (int number = 0;; ++number) {
            char name[32];
            std::snprintf(name, sizeof name, "run/%06d.spot", number);
            auto const mapped = files.map(name);
            if (!mapped) { return; }
            frozen.files[name] = {mapped->bytes.begin(), mapped->bytes.end()};
            files.unmap(*mapped);
            auto const side = files.map(std::string{name} + "x");
            if (!side) { continue; }
            frozen.files[std::string{name} + "x"] = {side->bytes.begin(), side->bytes.end()};
            files.unmap(*side);
        }
    };
    if (!finishes) { take(); }  // what a process leaves that is killed here
    watch.finish();
    if (finishes) { take(); }
    return frozen.files;
}

// All that can be read, by step.
std::map<std::uint64_t, std::string> steps_of(trial const& run) {
    std::map<std::uint64_t, std::string> found;
    for (step_id const step : run.steps()) { found[step.index] = "closed"; }
    for (char const* const name : {"n/count", "n/loss", "n/rate", "s/gradient", "s/late", "v/mask", "v/w"}) {
        auto const track = run[name];
        for (point const& each : track.history(maximum)) {
            found[each.step.index] += std::string{' '} + name + "=" + bits_item(each.value);
        }
        if (name[0] != 'v') { continue; }
        for (step_id const step : track.payload_steps()) { found[step.index] += value_item(track.at(step)); }
    }
    return found;
}

// The steps with rows in a frame.
std::set<std::uint64_t> steps_in(row_frame const& frame) {
    std::set<std::uint64_t> steps;
    row_reader rows{frame.body};
    for (row_view row; rows.next(row);) {
        rows::observe seen;
        summary stats;
        rows::scalar number;
        rows::close end;
        if (row.kind == row_kind::observe && !decode(row, seen, stats)) { steps.insert(seen.step.index); }
        if (row.kind == row_kind::scalar && !decode(row, number)) { steps.insert(number.step.index); }
        if (row.kind == row_kind::close && !decode(row, end)) { steps.insert(end.step.index); }
    }
    return steps;
}

struct flips {
    std::size_t count = 0, fewest = step_count, frames = 0, declaring = 0;
};

// Flips one bit at three places of every row frame of every segment: only steps of that frame are lost.
void flip_each(folder_contents const& whole, char const* what, bool without_sidecars = false) {
    frozen_files files;
    files.files = whole;
    auto const before = steps_of(open_in(files, frozen_files::folder));
    REQUIRE(before.size() > step_count / 2);
    flips all;
    for (auto const& [name, bytes] : whole) {
        if (name.ends_with('x') && without_sidecars) { files.files.erase(name); }
    }
    for (auto const& [name, bytes] : whole) {
        if (name.ends_with('x')) { continue; }
        contents& changed = files.files.find(name)->second;
        for (row_frame const& frame : frames_of(bytes)) {
            ++all.frames;
            all.declaring += (frame.flags & layout::has_declares) != 0;
            auto const mine = steps_in(frame);
            for (std::uint64_t const at : {frame.offset + 4, frame.offset + frame.bytes / 2, frame.end() - 1}) {
                changed[at] ^= std::byte{0x10};
                trial const run = open_in(files, frozen_files::folder);
                auto const found = steps_of(run);
                std::size_t same = 0;
                for (auto const& [step, item] : before) {
                    auto const it = found.find(step);
                    bool const equal = it != found.end() && it->second == item;
                    same += equal;
                    if (!equal && !mine.contains(step)) {
                        INFO(name << " byte " << at << " step " << step << " frame " << frame.offset << " to "
                                  << frame.end() << " flags " << frame.flags);
                        FAIL("a step that is not in the damaged frame is not what it was");
                    }
                }
                INFO(name << " byte " << at);
                bool const last = frame.end() == bytes.size();  // may read as a torn tail
                REQUIRE((last || !run.damage().empty()));
                REQUIRE(same + mine.size() >= before.size());
                all.fewest = (std::min)(all.fewest, same);
                ++all.count;
                changed[at] ^= std::byte{0x10};
            }
        }
    }
    std::printf("one wrong bit in each of %zu row frames (%zu declare), %s: at least %zu of %zu steps stay readable\n",
                all.frames, all.declaring, what, all.fewest, before.size());
    CHECK(all.declaring >= 2);
    CHECK(all.fewest + before.size() / 4 >= before.size());
}

// Flips a bit in every row frame with a declaration.
void flip_declarations(contents& segment) {
    for (row_frame const& frame : frames_of(segment)) {
        if ((frame.flags & layout::has_declares) != 0) { segment[frame.offset + 9] ^= std::byte{1}; }
    }
}

options with_segments_of(std::uint64_t bytes) {
    options choices = small_record;
    choices.segment_bytes = bytes;
    return choices;
}

}  // namespace

TEST_CASE("one wrong bit in any row frame of a run's only segment costs the steps of that frame [T14]") {
    auto const whole = record(with_segments_of(1 << 20), true);
    flip_each(whole, "one segment");
    flip_each(whole, "one segment without its sidecar", true);
}

TEST_CASE("one wrong bit in any row frame of a run that was killed costs the steps of that frame [T14]") {
    flip_each(record(with_segments_of(1 << 20), false), "a killed run");
}

TEST_CASE("one wrong bit in any row frame of many segments costs the steps of that frame, as the other segments of the "
          "attempt say what its tensors are [T14]") {
    flip_each(record(with_segments_of(8 << 10), true), "many segments");
}

TEST_CASE(
    "what a closed segment declares stands beside it too: with every frame of it that declares damaged, the others are "
    "read [T14]") {
    frozen_files files;
    files.files = record(with_segments_of(1 << 20), true);
    auto const before = steps_of(open_in(files, frozen_files::folder));
    std::set<std::uint64_t> gone;
    contents& segment = files.files.find("run/000000.spot")->second;
    for (row_frame const& frame : frames_of(segment)) {
        if ((frame.flags & layout::has_declares) != 0) { gone.merge(steps_in(frame)); }
    }
    REQUIRE(gone.size() < step_count / 2);
    flip_declarations(segment);
    auto const check = [&](bool readable) {
        trial const run = open_in(files, frozen_files::folder);
        auto const after = steps_of(run);
        for (auto const& [step, item] : before) {
            if (gone.contains(step)) { continue; }
            INFO("step " << step);
            REQUIRE(after.contains(step));
            REQUIRE((after.at(step) == item) == readable);
        }
        REQUIRE_FALSE(run.damage().empty());
        REQUIRE(run.collections().size() == (readable ? 3 : 0));
    };
    check(true);
    // The sidecar of another run or attempt is ignored.
    auto const side = files.files.find("run/000000.spotx");
    contents const sound = side->second;
    side->second = record(with_segments_of(1 << 20), true).find("run/000000.spotx")->second;
    check(false);
    side->second = sound;
    for (std::size_t at = sound.size() / 2; at < sound.size(); ++at) {
        if (load<std::uint32_t>(&side->second[at - 4]) == layout::row_magic) { side->second[at] ^= std::byte{1}; }
    }
    check(false);
    files.files.erase(side);
    check(false);
}

TEST_CASE("a reader of a live run that could not name rows takes them in once their tensors are declared again [T14]") {
    auto const whole = record(with_segments_of(1 << 20), true);
    contents const& all = whole.find("run/000000.spot")->second;
    frozen_files files;
    files.files = whole;
    auto const before = steps_of(open_in(files, frozen_files::folder));
    files.files.erase("run/000000.spotx");
    contents damaged = all;
    std::vector<row_frame> const frames = frames_of(all);
    std::vector<row_frame> declaring;
    for (row_frame const& each : frames) {
        if ((each.flags & layout::has_declares) != 0) { declaring.push_back(each); }
    }
    REQUIRE(declaring.size() > 2);
    auto const lost = steps_in(declaring[1]);  // the first one holds run_begin alone
    damaged[declaring[1].offset + 9] ^= std::byte{1};
    contents& live = files.files.find("run/000000.spot")->second;
    live = {damaged.begin(), damaged.begin() + static_cast<std::ptrdiff_t>(declaring[2].offset)};
    trial run = open_in(files, frozen_files::folder);
    CHECK(run.names().empty());
    CHECK(run.damage().size() > 1);
    CHECK_FALSE(run.steps().empty());
    live = damaged;
    REQUIRE_FALSE(run.refresh());
    auto const after = steps_of(run);
    for (auto const& [step, item] : before) {
        if (lost.contains(step)) { continue; }
        INFO("step " << step);
        REQUIRE(after.contains(step));
        REQUIRE(after.at(step) == item);
    }
    CHECK(run.damage().size() == 1);
}

TEST_CASE("rules judge again what they saw, though the frame that declared its tensors first is damaged [T14]") {
    constexpr auto rule = any("n/loss", maximum > 0.9);
    frozen_files files;
    files.files = record(with_segments_of(1 << 20), true);
    auto const before = replay(open_in(files, frozen_files::folder), rule).findings;
    REQUIRE(before.size() == 4);
    contents& segment = files.files.find("run/000000.spot")->second;
    std::vector<row_frame> const frames = frames_of(segment);
    REQUIRE((frames[1].flags & layout::has_declares) != 0);
    REQUIRE_FALSE(steps_in(frames[1]).contains(before.front().step.index));
    segment[frames[1].offset + 9] ^= std::byte{1};
    auto const after = replay(open_in(files, frozen_files::folder), rule).findings;
    REQUIRE(after.size() == before.size());
    for (std::size_t i = 0; i < before.size(); ++i) { CHECK(after[i].step == before[i].step); }
}
