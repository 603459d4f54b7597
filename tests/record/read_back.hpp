// SPDX-License-Identifier: Apache-2.0
// Reads a run's segments with format/ alone, as text that a test can compare, and counts their contents.
#pragma once

#include <spotter/format/record.hpp>
#include <spotter/format/walker.hpp>
#include <spotter/format/zstd_codec.hpp>
#include <spotter/record/folder.hpp>
#include <spotter/record/recorder.hpp>
#include <spotter/record/run_recording.hpp>

#include <tests/catch.hpp>
#include <tests/file/faulty_files.hpp>
#include <tests/temporary_folder.hpp>

#include <map>
#include <string>
#include <vector>

namespace spotter_test {

struct stored_value {
    spotter::rows::observe row{};
    spotter::summary stats{};
    std::vector<std::byte> values{};
    std::vector<std::uint32_t> active{}, finite{};
};
struct stored_scalar {
    spotter::rows::scalar row{};
    std::vector<std::byte> value{};
};

struct stored_feature {
    spotter::rows::feature row{};
    std::vector<double> numbers{};
};

struct run_on_disk {
    std::vector<stored_value> values;
    std::vector<stored_scalar> scalars;
    std::vector<stored_feature> features;
    std::vector<spotter::rows::close> closes;
    std::map<spotter::tensor_id, std::string> names;  // of the last segment's declarations
    std::vector<std::string> findings;                // rule names
    std::vector<std::string> collections;             // of the last segment
    std::vector<std::uint32_t> attempts;              // of each segment
    spotter::rows::drops drops{};
    spotter::rows::run_end end{};
    std::string why;
    std::vector<std::string> coverages;
    bool ended = false;
    std::size_t segments = 0;
    std::uint64_t torn = 0, damaged = 0;
    std::uint64_t last_marked = 0;  // segments whose last frame is marked as the last
};

inline void read_rows(spotter::byte_view segment, spotter::row_frame const& frame, run_on_disk& run) {
    using namespace spotter;
    row_reader rows{frame.body};
    for (row_view row{}; rows.next(row);) {
        error why{};
        switch (row.kind) {
            case row_kind::run_begin: {
                rows::run_begin it{};
                why = decode(row, it);
                run.attempts.push_back(it.attempt);
                run.collections.clear();
                run.names.clear();
                rows::collection each{};
                while (read_collection(it.list, each)) { run.collections.emplace_back(each.what); }
                break;
            }
            case row_kind::declare: {
                rows::declare it{};
                why = decode(row, it);
                run.names[it.tensor.id] = it.tensor.name;
                break;
            }
            case row_kind::observe: {
                stored_value it{};
                why = decode(row, it.row, it.stats);
                REQUIRE(run.names.count(it.row.id) == 1);
                if (it.row.has_values) {
                    it.values.resize(static_cast<std::size_t>(it.row.shape.elements()) * size_of(it.row.type));
                    REQUIRE_FALSE(decode_payload(segment, it.row, it.values));
                }
                it.active.resize(it.row.units);
                it.finite.resize(it.row.units);
                if (it.row.units > 0) {
                    std::memcpy(it.active.data(), it.row.active.data(), it.row.active.size());
                    std::memcpy(it.finite.data(), it.row.finite.data(), it.row.finite.size());
                }
                run.values.push_back(it);
                break;
            }
            case row_kind::scalar: {
                stored_scalar it{};
                why = decode(row, it.row);
                it.value.assign(it.row.value.begin(), it.row.value.end());
                run.scalars.push_back(it);
                break;
            }
            case row_kind::close: {
                rows::close it{};
                why = decode(row, it);
                run.closes.push_back(it);
                break;
            }
            case row_kind::finding: {
                rows::finding it{};
                why = decode(row, it);
                run.findings.emplace_back(it.rule);
                break;
            }
            case row_kind::drops:
                why = decode(row, run.drops);
                break;
            case row_kind::feature: {
                stored_feature it{};
                why = decode(row, it.row);
                each_number(it.row, [&](double each) { it.numbers.push_back(each); });
                REQUIRE(run.names.count(it.row.id) == 1);
                run.features.push_back(it);
                break;
            }
            case row_kind::heartbeat:
            case row_kind::steps:
            case row_kind::drained:
            case row_kind::times:
            case row_kind::stay:
                break;
            case row_kind::run_end: {
                why = decode(row, run.end);
                run.why = run.end.why;
                rows::coverage each{};
                byte_view list = run.end.list;
                while (read_coverage(list, each)) { run.coverages.emplace_back(each.rule); }
                run.ended = true;
                break;
            }
        }
        REQUIRE_FALSE(why);
    }
    REQUIRE_FALSE(rows.bad());
}

inline run_on_disk read_run(std::string const& folder) {
    using namespace spotter;
    machine_file_system files;
    run_on_disk run;
    for (std::uint32_t number = 0;; ++number) {
        char name[24];
        auto const mapped =
            files.map(folder + "/" + std::string{name, name_segment(number, layout::data_suffix, name)});
        if (!mapped) { break; }
        ++run.segments;
        frame_walker walk{mapped->bytes};
        std::uint32_t flags = 0;
        for (walked what = walk.next(); what != walked::end; what = walk.next()) {
            if (what == walked::corrupt) { run.damaged += walk.damage().bytes; }
            if (what != walked::rows) { continue; }
            flags = walk.frame().flags;
            read_rows(mapped->bytes, walk.frame(), run);
        }
        run.torn += walk.torn();
        run.last_marked += (flags & layout::last_of_segment) != 0 ? 1U : 0U;

        // Every place of the sidecar leads to frames, and a closed segment's sidecar equals the one rebuilt from the
        // segment.
        auto const side = files.map(folder + "/" + std::string{name, name_segment(number, layout::side_suffix, name)});
        if (side) {
            byte_buffer rebuilt;
            REQUIRE_FALSE(rebuild_sidecar(mapped->bytes, rebuilt));
            if ((flags & layout::last_of_segment) != 0 && side->bytes.size() == rebuilt.size() && !rebuilt.empty()) {
                CHECK(std::memcmp(side->bytes.data(), rebuilt.data(), rebuilt.size()) == 0);
            }
            for (std::uint64_t i = 0; i < side_places(side->bytes); ++i) {
                auto const place = decode_side_place(side->bytes, i, mapped->bytes.size());
                REQUIRE(place);
                REQUIRE(decode_row_frame(mapped->bytes, place->offset));
            }
            files.unmap(*side);
        }
        files.unmap(*mapped);
    }
    return run;
}

inline spotter::tensor_info tensor_named(spotter::tensor_id id, std::string_view name) {
    spotter::tensor_info it{};
    it.id = id;
    it.name = name;
    return it;
}
inline spotter::summary summary_of(std::uint64_t count, double sum) {
    spotter::summary stats{};
    stats.has = spotter::stats_mask::sum | spotter::stats_mask::nonfinite;
    stats.count = count;
    stats.sum = sum;
    return stats;
}

}  // namespace spotter_test
