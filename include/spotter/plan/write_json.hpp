// SPDX-License-Identifier: Apache-2.0
// Plan (L2): writes a plan as JSON, piece by piece, without a library. ext/json.hpp reads it.
#pragma once

#include <spotter/core/utf8.hpp>
#include <spotter/plan/dynamic_plan.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Names of contents that are not statistics.
struct named_terms {
    std::string_view name;
    stats_mask what;
};
inline constexpr named_terms other_contents[] = {{"payload", stats_mask::payload},
                                                 {"shape", stats_mask::shape},
                                                 {"change", stats_mask::change},
                                                 {"hash", stats_mask::hash},
                                                 {"unit_activity", stats_mask::unit_activity},
                                                 {"quantiles", stats_mask::quantiles | stats_mask::nonfinite},
                                                 {"histogram", stats_mask::histogram | stats_mask::nonfinite}};

// The name of a run option in a file, and its values: one of up to four words, whose position is the value, or an
// integer.
struct run_option_info {
    std::string_view name;
    std::string_view words[4]{};
    std::int64_t least = 0, most = 0;
    bool is_bytes = false;  // the number may have a unit
};
inline constexpr std::int64_t tebibyte = std::int64_t{1} << 40;
inline constexpr run_option_info run_options[run_option_count] = {{"existing", {"next", "refuse", "replace", "resume"}},
                                                                  {"overflow", {"block", "thin", "drop"}},
                                                                  {"copying", {"automatic", "cached", "streaming"}},
                                                                  {"disk_sync", {"never", "segments", "flushes"}},
                                                                  {"ring_bytes", {}, 65536, tebibyte, true},
                                                                  {"segment_bytes", {}, 1, 1024 * tebibyte, true},
                                                                  {"run_bytes", {}, 0, 1024 * tebibyte, true},
                                                                  {"flush_milliseconds", {}, 0, 3'600'000},
                                                                  {"compression_level", {}, -7, 22},
                                                                  {"compressors", {}, 1, 16},
                                                                  {"workers", {}, 0, 1'000'000},
                                                                  {"keep", {"all", "one"}},
                                                                  {"flight_bytes", {}, 0, tebibyte, true},
                                                                  {"flight_steps_after", {}, 0, 1'000'000'000},
                                                                  {"ring_in", {"memory", "shared_memory"}}};

// Every built-in statistic, those of |x| after the plain ones. The counts, which come with any other, are last.
template <class Use>
constexpr void each_statistic(Use&& use) noexcept {
    for (int id = 0; id <= static_cast<int>(statistic_id::neg_inf); ++id) {
        statistic const plain{static_cast<statistic_id>(id)};
        use(plain);
        if (plain.id <= statistic_id::product) { use(of_abs(plain)); }
    }
}

template <class Put>
class json_plan_writer {
public:
    json_plan_writer(dynamic_plan const& plan, Put& put) noexcept : plan_{plan}, put_{put} {}

    void write() {
        put_("{\n");
        if (plan_.dry_run) { put_("  \"dry_run\": true,\n"); }
        if (!plan_.run.empty()) { object_of_options(); }
        put_("  \"collections\": [");
        for (std::size_t i = 0; i < plan_.size(); ++i) {
            put_(i == 0 ? "\n    {\"name\": " : ",\n    {\"name\": ");
            quote(plan_.name(i));
            put_(", \"pattern\": ");
            write(plan_[i].which);
            put_(", \"when\": ");
            write(plan_[i].when);
            put_(", \"what\": [");
            contents(plan_[i].what);
            put_("]}");
        }
        put_(plan_.size() == 0 ? "]\n}\n" : "\n  ]\n}\n");
    }

private:
    using part = dynamic_plan::part;

    void number(std::uint64_t value) {
        text<20> digits;
        digits << value;
        put_(digits.view());
    }
    void quote(std::string_view letters) { put_quoted(letters, put_); }
    void write(part at) {
        question const& it = plan_.at_node(at);
        if (it.what == asked::negated) {
            return object("not", [&] { write(part{it.left}); });
        }
        if (it.what != asked::both && it.what != asked::either) { return leaf(it); }
        object(it.what == asked::both ? "and" : "or", [&] {
            put_("[");
            operands(it);
            put_("]");
        });
    }
    void leaf(question const& it) {
        switch (it.what) {
            case asked::glob:
                return quote(plan_.text(it));
            case asked::regex:
                return object("regex", [&] { quote(plan_.text(it)); });
            case asked::role:
                return object("role", [&] { quote(name_of(static_cast<role>(it.first))); });
            case asked::names:
                return object("names",
                              [&] { items(it.second, [&](std::size_t i) { quote(plan_.name_of_list(it, i)); }); });
            case asked::always:
                return quote("always");
            case asked::every:
                return object("every", [&] { number(it.first); });
            case asked::from:
                return object("from", [&] { number(it.first); });
            case asked::before:
                return object("before", [&] { number(it.first); });
            case asked::between:
                return object("between",
                              [&] { items(2, [&](std::size_t i) { number(i == 0 ? it.first : it.second); }); });
            case asked::at:
                return object("at", [&] { items(it.second, [&](std::size_t i) { number(plan_.indices(it)[i]); }); });
            case asked::during:
                return object("during", [&] { quote(name_of(static_cast<mode>(it.first))); });
            case asked::never:
                return quote("never");
            case asked::both:
            case asked::either:
            case asked::negated:
                return;  // these are no leaves
        }
    }
    void object_of_options() {
        char const* before = "  \"options\": {";
        for (std::size_t i = 0; i < run_option_count; ++i) {
            auto const which = static_cast<run_option>(i);
            if (!plan_.run.has(which)) { continue; }
            put_(before);
            quote(run_options[i].name);
            put_(": ");
            std::int64_t const value = plan_.run[which];
            if (!run_options[i].words[0].empty()) {
                quote(run_options[i].words[value & 3]);
            } else {
                if (value < 0) { put_("-"); }
                number(static_cast<std::uint64_t>(value < 0 ? -value : value));
            }
            before = ", ";
        }
        put_("},\n");
    }
    // (a && b) && c is one list of three: a reader joins from the left.
    void operands(question const& it) {
        question const& left = plan_.at_node(part{it.left});
        if (left.what == it.what) {
            operands(left);
        } else {
            write(part{it.left});
        }
        put_(", ");
        write(part{it.right});
    }
    template <class Value>
    void object(std::string_view key, Value&& value) {
        put_("{\"");
        put_(key);
        put_("\": ");
        value();
        put_("}");
    }
    template <class Item>
    void items(std::uint64_t count, Item&& item) {
        put_("[");
        for (std::size_t i = 0; i < count; ++i) {
            if (i > 0) { put_(", "); }
            item(i);
        }
        put_("]");
    }
    // All terms that can be read back. The counts are named only without other terms, which include them.
    void contents(stats_mask what) {
        bool first = true;
        auto const say = [&](std::string_view name) {
            put_(first ? "" : ", ");
            quote(name);
            first = false;
        };
        bool counted = !has(what, stats_mask::nonfinite);
        for (named_terms const& each : other_contents) {
            if (!has(what, each.what)) { continue; }
            say(each.name);
            counted = counted || has(each.what, stats_mask::nonfinite);
        }
        each_statistic([&](statistic each) {
            if (each.needs() == stats_mask::nonfinite || !has(what, each.needs())) { return; }
            say(each.name());
            counted = true;
        });
        if (!counted) { say("nonfinite"); }
        if (unsigned const chain = chain_of(what); chain > 0) {
            put_(", ");
            object("delta", [&] { number(chain); });
        }
    }

    dynamic_plan const& plan_;
    Put& put_;
};

}  // namespace detail

// Calls put(string_view) with the pieces. Texts should be UTF-8.
template <class Put>
void write_json(dynamic_plan const& plan, Put&& put) {
    detail::json_plan_writer{plan, put}.write();
}

}  // namespace spotter::inline SPOTTER_ABI
