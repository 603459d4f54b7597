// SPDX-License-Identifier: Apache-2.0
// The content of a segment as text, a line a row: README.md has the grammar.
#pragma once

#include <spotter/format/checksum.hpp>
#include <spotter/format/record.hpp>
#include <spotter/format/walker.hpp>
#include <spotter/format/zstd_codec.hpp>
#include <spotter/stat/summary.hpp>

#include <bit>
#include <string>
#include <vector>

namespace spotter_test {

class segment_text {
public:
    explicit segment_text(spotter::byte_view segment) : segment_{segment} {
        using namespace spotter;
        frame_walker walk{segment};
        for (walked what = walk.next(); what != walked::end; what = walk.next()) {
            if (what == walked::head) { head(walk.head()); }
            if (what == walked::corrupt) { line("damage", walk.damage().offset, walk.damage().bytes); }
            if (what == walked::rows) { frame(walk.frame()); }
        }
        if (walk.torn() > 0) { line("torn", walk.torn()); }
    }
    [[nodiscard]] std::string const& text() const noexcept { return text_; }

private:
    struct hex {
        std::uint64_t value;
    };

    static std::string digits(std::uint64_t value, int count) {
        std::string found(static_cast<std::size_t>(count), '0');
        for (int i = count; i > 0; --i, value >>= 4) {
            found[static_cast<std::size_t>(i - 1)] = "0123456789abcdef"[value & 15];
        }
        return found;
    }
    static std::string bytes(spotter::byte_view from) {
        std::string found;
        for (std::byte const each : from) { found += digits(static_cast<std::uint64_t>(each), 2); }
        return found.empty() ? "-" : found;
    }
    static std::string form(double value) { return digits(std::bit_cast<std::uint64_t>(value), 16); }
    static std::string form(hex value) { return digits(value.value, 16); }
    static std::string form(std::uint64_t value) { return std::to_string(value); }
    static std::string form(char const* word) { return word; }
    static std::string form(std::string const& word) { return word; }
    static std::string form(std::string_view letters) {
        std::string found = "\"";
        for (char const each : letters) {
            bool const plain = each >= 0x20 && each <= 0x7E && each != '"' && each != '\\';
            found += plain ? std::string{each} : "\\x" + digits(static_cast<unsigned char>(each), 2);
        }
        return found + '"';
    }
    static std::string form(spotter::step_id step) {
        static constexpr char const* names[] = {"train", "eval", "predict"};
        return std::string{names[static_cast<std::size_t>(step.mode)]} + '(' + std::to_string(step.index) + ')';
    }
    static std::string form(spotter::extents const& shape) {
        std::string found = "[";
        for (std::uint64_t const each : shape.view()) { found += (found.size() > 1 ? "," : "") + std::to_string(each); }
        return found + ']';
    }
    template <class Enum>
        requires std::is_enum_v<Enum>
    static std::string form(Enum value) {
        return std::to_string(static_cast<std::uint64_t>(value));
    }

    template <class First, class... More>
    void line(First const& first, More const&... more) {
        text_ += form(first);
        ((text_ += ' ' + form(more)), ...);
        text_ += '\n';
    }

    void head(spotter::segment_head const& it) {
        line("head", std::uint64_t{it.version}, std::uint64_t{it.draft}, std::uint64_t{it.number}, hex{it.run_id},
             it.first_ordinal, std::uint64_t{it.worker}, std::uint64_t{it.attempt}, it.time);
    }
    void frame(spotter::row_frame const& it) {
        line("rows", it.offset, it.previous_end, it.first_ordinal, std::uint64_t{it.rows}, std::uint64_t{it.closes},
             std::uint64_t{it.values}, std::uint64_t{it.flags});
        spotter::row_reader rows{it.body};
        for (spotter::row_view row; rows.next(row);) { take(row); }
    }
    void take(spotter::row_view row) {
        using namespace spotter;
        switch (row.kind) {
            case row_kind::run_begin: {
                rows::run_begin it;
                if (decode(row, it)) { return line("malformed"); }
                line("run_begin", hex{it.run_id}, std::uint64_t{it.attempt}, std::uint64_t{it.worker}, it.time,
                     std::uint64_t{it.instant}, it.version, std::uint64_t{it.workers});
                rows::collection each;
                while (read_collection(it.list, each)) { line("collection", each.name, each.what); }
                if (!it.environment.empty()) { line("environment", it.environment); }
                return;
            }
            case row_kind::declare: {
                rows::declare it;
                if (decode(row, it)) { return line("malformed"); }
                tensor_info const& tensor = it.tensor;
                line("declare", std::uint64_t{tensor.id}, tensor.name, tensor.role, tensor.partner_role,
                     tensor.partner == no_tensor ? std::string{"-"} : std::to_string(tensor.partner), tensor.flags,
                     tensor.activation, tensor.type, tensor.shape, hex{tensor.collections});
                return;
            }
            case row_kind::observe:
                return observe(row);
            case row_kind::scalar: {
                rows::scalar it;
                if (decode(row, it)) { return line("malformed"); }
                return line("scalar", std::uint64_t{it.id}, it.has_step ? form(it.step) : std::string{"-"}, it.type,
                            bytes(it.value), it.has_time ? form(it.time) : std::string{"-"});
            }
            case row_kind::close: {
                rows::close it;
                if (decode(row, it)) { return line("malformed"); }
                return line("close", it.step, std::uint64_t{it.left_out}, it.ordinal, it.time);
            }
            case row_kind::finding: {
                rows::finding it;
                if (decode(row, it)) { return line("malformed"); }
                return line("finding", it.step, it.rule, it.reason, it.tensor, it.measure, it.remedy, it.detail,
                            it.measured, it.threshold, std::uint64_t{it.how}, std::uint64_t{it.severity},
                            std::uint64_t{it.decision}, std::uint64_t{it.decision_is_set}, std::uint64_t{it.others});
            }
            case row_kind::drops: {
                rows::drops it;
                if (decode(row, it)) { return line("malformed"); }
                return line("drops", it.dropped, it.thinned, it.closes);
            }
            case row_kind::heartbeat: {
                rows::heartbeat it;
                if (decode(row, it)) { return line("malformed"); }
                return line("heartbeat", it.time);
            }
            case row_kind::run_end: {
                rows::run_end it;
                if (decode(row, it)) { return line("malformed"); }
                line("run_end", std::uint64_t{it.how}, it.why, it.refused, it.stored, it.dropped, it.thinned, it.closes,
                     it.time);
                rows::coverage each;
                while (read_coverage(it.list, each)) {
                    line("coverage", each.rule, each.matched, each.judged, each.undecided, each.fired, each.reason);
                }
                return;
            }
            case row_kind::drained: {
                rows::drained it;
                if (decode(row, it)) { return line("malformed"); }
                if (it.bytes == 0) { return line("drained", it.position); }
                return line("drained", it.position, it.bytes, std::uint64_t{it.form.bits}, bytes(it.observe));
            }
            case row_kind::feature: {
                rows::feature it;
                if (decode(row, it)) { return line("malformed"); }
                line("feature", std::uint64_t{it.id}, it.step, hex{it.key}, it.count);
                text_.pop_back();
                each_number(it, [&](double each) { text_ += ' ' + form(each); });
                text_ += '\n';
                return;
            }
            case row_kind::times: {
                times_reader it{row.body};
                if (it.bad()) { return line("malformed"); }
                line("times", it.first_ordinal(), it.count());
                text_.pop_back();
                for (step_time each; it.next(each);) { text_ += ' ' + form(each.begun) + ' ' + form(each.closed); }
                text_ += '\n';
                return;
            }
            case row_kind::stay: {
                rows::stay it;
                if (decode(row, it)) { return line("malformed"); }
                return line("stay", it.time, it.seconds, it.section);
            }
            case row_kind::steps:
                break;
        }
        line("unknown", std::uint64_t{static_cast<std::uint8_t>(row.kind)});
    }
    void observe(spotter::row_view row) {
        using namespace spotter;
        rows::observe it;
        summary stats;
        if (decode(row, it, stats)) { return line("malformed"); }
        line("observe", static_cast<std::uint64_t>(row.body[0]), std::uint64_t{it.id}, it.step,
             static_cast<std::uint64_t>(stats.has), stats.count);
        text_.pop_back();
        auto const field = [&](std::string_view name, auto const& value) {
            text_ += ' ' + std::string{name} + '=' + form(value);
        };
        if (has(stats.has, stats_mask::nonfinite)) {
            field("nan", stats.nan), field("pos_inf", stats.pos_inf), field("neg_inf", stats.neg_inf);
            if (stats.nonfinite() > 0) { field("first_bad", stats.first_bad); }
        }
        if (has(stats.has, stats_mask::zeros)) { field("zeros", stats.zeros); }
        if (has(stats.has, stats_mask::range)) { field("minimum", stats.minimum), field("maximum", stats.maximum); }
        if (has(stats.has, stats_mask::abs_range)) {
            field("abs_minimum", stats.abs_minimum), field("abs_maximum", stats.abs_maximum);
        }
        if (has(stats.has, stats_mask::sum)) { field("sum", stats.sum); }
        if (has(stats.has, stats_mask::sum_abs)) { field("sum_abs", stats.sum_abs); }
        if (has(stats.has, stats_mask::sum_squares)) { field("sum_squares", stats.sum_squares); }
        if (has(stats.has, stats_mask::variance)) { field("moment2", stats.moment2); }
        if (has(stats.has, stats_mask::product)) { field("product", stats.product); }
        if (has(stats.has, stats_mask::change)) {
            field("has_previous", std::uint64_t{stats.has_previous});
            if (stats.has_previous) {
                field("previous_index", stats.previous_index);
                field("previous_sum_squares", stats.previous_sum_squares);
                field("delta_sum_squares", stats.delta_sum_squares);
                field("dot", stats.dot);
                field("changed", stats.changed);
            }
        }
        if (has(stats.has, stats_mask::hash)) { field("hash", hex{stats.hash}); }
        text_ += '\n';
        if (it.units > 0) {
            line("units", std::uint64_t{it.axis}, it.units);
            text_.pop_back();
            for (byte_view const side : {it.active, it.finite}) {
                for (std::size_t i = 0; i < it.units; ++i) {
                    text_ += ' ' + std::to_string(load<std::uint32_t>(side.data() + 4 * i));
                }
            }
            text_ += '\n';
        }
        if (it.quantiles > 0) {
            line("quantiles", it.quantiles);
            text_.pop_back();
            for (std::size_t i = 0; i < it.quantiles; ++i) {
                text_ += ' ' + form(load<double>(it.levels.data() + 8 * i));
            }
            text_ += '\n';
        }
        if (it.bins > 0) {
            line("histogram", it.bins, it.low, it.high);
            text_.pop_back();
            for (byte_reader in{it.counts}; in.left() > 0;) { text_ += ' ' + std::to_string(in.varint()); }
            text_ += '\n';
        }
        if (it.has_shape) { line("shape", it.shape); }
        if (it.has_values) { values(it); }
    }
    void values(spotter::rows::observe const& it) {
        using namespace spotter;
        std::vector<std::byte> values(static_cast<std::size_t>(it.shape.elements()) * size_of(it.type));
        auto const laid = std::uint64_t{it.place.form.bits};
        if (it.links > 0) {
            line("bases", it.links);
            text_.pop_back();
            byte_view list = it.bases;
            payload_place base = it.place;
            while (!list.empty() && read_base(list, base)) {
                text_ += ' ' + form(base.offset) + ' ' + form(base.bytes) + ' ' + form(std::uint64_t{base.form.bits});
            }
            text_ += '\n';
        }
        if (decode_payload(segment_, it, values)) { return line("corrupt", it.type, it.layout, it.shape, laid); }
        line("values", it.type, it.layout, it.shape, laid,
             values.size() <= 1024 ? bytes(values) : "crc64:" + form(hex{checksum(values)}));
    }

    spotter::byte_view segment_;
    std::string text_;
};

}  // namespace spotter_test
