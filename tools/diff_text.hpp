// SPDX-License-Identifier: Apache-2.0
// Command line, `diff`: the result in words and tables.
#pragma once

#include "numbers.hpp"
#include "output.hpp"

#include <spotter/core/sentence.hpp>
#include <spotter/workbench/diff.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace spotter_tool {

// Cells of a table with titles; the first column is left-aligned, the others right-aligned.
class text_table {
public:
    explicit text_table(std::vector<std::string> titles) { rows_.push_back(std::move(titles)); }
    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
    [[nodiscard]] bool empty() const noexcept { return rows_.size() < 2; }
    [[nodiscard]] std::string text() const {
        std::vector<std::size_t> widths;
        for (auto const& row : rows_) {
            widths.resize((std::max)(widths.size(), row.size()));
            for (std::size_t i = 0; i < row.size(); ++i) { widths[i] = (std::max)(widths[i], row[i].size()); }
        }
        std::string all;
        for (auto const& row : rows_) {
            std::string line = fmt::format("  {:<{}}", row[0], widths[0]);
            for (std::size_t i = 1; i < row.size(); ++i) { line += fmt::format("  {:>{}}", row[i], widths[i]); }
            line.resize(line.find_last_not_of(' ') + 1);
            all += line + '\n';
        }
        return all;
    }

private:
    std::vector<std::vector<std::string>> rows_{};
};

namespace detail {

using namespace spotter;

// Three digits, as in a finding's evidence.
[[nodiscard]] inline std::string short_number(double const& value) {
    return std::string{(spotter::text<32>{} << value).view()};
}
[[nodiscard]] inline std::string ulp_text(tensor_errors const& it) {
    if (!it.has_ulp) { return "-"; }
    return it.ulp < 1'000'000 ? std::to_string(it.ulp) : short_number(static_cast<double>(it.ulp));
}
[[nodiscard]] inline std::string index_text(extents const& index) {
    std::string text;
    for (std::uint64_t const each : index.view()) { text += (text.empty() ? "" : ", ") + std::to_string(each); }
    return '[' + text + ']';
}
[[nodiscard]] inline std::string both_names(std::string const& a, std::string const& b) {
    return plain(a) + (a == b ? "" : " = " + plain(b));
}

// Where the two are of another kind, or have special values that the other has not.
inline void remark_on_kinds(compared_tensor const& it, std::vector<std::string>& remarks) {
    if (it.type_a != dtype::none && it.other_type()) {
        remarks.push_back(fmt::format("{} in A, {} in B", name_of(it.type_a), name_of(it.type_b)));
    }
    if (it.other_shape() && it.type_a != dtype::text) {
        remarks.push_back(fmt::format("{} in A, {} in B", shape_text(it.shape_a), shape_text(it.shape_b)));
    }
    for (auto const& [count, what] : {std::pair{it.errors.nan_mismatches, "NaN on one side only"},
                                      std::pair{it.errors.inf_mismatches, "infinity on one side only"},
                                      std::pair{it.errors.zero_signs, "zeros of the other sign"}}) {
        if (count > 0) { remarks.push_back(fmt::format("{}: {}", what, count)); }
    }
}
// Where hashes or statistics were compared in place of values.
inline void remark_on_statistics(compared_tensor const& it, std::vector<std::string>& remarks) {
    if (it.by_hash && it.hash_a != it.hash_b) {
        remarks.push_back(fmt::format("the hash of its bits is {:016x} in A, {:016x} in B", it.hash_a, it.hash_b));
    }
    if (it.verdict == verdict::not_kept) {
        remarks.push_back("not compared: nothing that decides was kept on both sides");
    }
    if (it.by_hash && it.hash_a == it.hash_b) { return remarks.push_back("by hash"); }
    if (it.verdict == verdict::same_statistics) {
        remarks.push_back("only statistics were kept on both sides, so that the values are not known");
    } else if (it.by_statistics && !it.by_hash && it.verdict != verdict::not_kept) {
        remarks.push_back("by statistics");
    }
    for (statistic_difference const& each : it.statistics) {
        remarks.push_back(
            fmt::format("{} {} and {}", each.which.name(), float_text(each.a, true), float_text(each.b, true)));
    }
}
// Remarks on one tensor besides its numbers.
[[nodiscard]] inline std::string remark_on(compared_tensor const& it) {
    std::vector<std::string> remarks;
    if (it.verdict == verdict::unreadable) { remarks.push_back(plain(it.trouble.what.view())); }
    if (it.verdict == verdict::only_a) { remarks.push_back("B has nothing of it at this step"); }
    if (it.verdict == verdict::only_b) { remarks.push_back("A has nothing of it at this step"); }
    remark_on_kinds(it, remarks);
    if (it.verdict == verdict::differs && it.type_a == dtype::text) {
        remarks.push_back(fmt::format("\"{}\" in A, \"{}\" in B", plain(it.text_a), plain(it.text_b)));
    }
    remark_on_statistics(it, remarks);
    if (it.swapped_axes) { remarks.push_back("the same numbers with axes swapped (--transpose)"); }
    return joined(remarks, "; ");
}
[[nodiscard]] inline std::vector<std::string> error_cells(tensor_errors const& it) {
    return {fmt::format("{} of {}", it.differing, it.elements),
            ulp_text(it),
            short_number(it.absolute),
            short_number(it.relative),
            short_number(it.relative_l2),
            fmt::format("{:.9g}", it.cosine)};
}

// The worst element of the first tensor that differs.
[[nodiscard]] inline std::string worst_text(diff_report const& it) {
    for (compared_tensor const& each : it.at_first) {
        if (each.a != it.first_tensor || each.errors.worst == no_index) { continue; }
        std::string const where = each.worst.rank > 0 ? " at " + index_text(each.worst) : "";
        return fmt::format(":{} {} in A, {} in B", where, exact_text(each.type_a, each.errors.worst_a),
                           exact_text(each.type_b, each.errors.worst_b));
    }
    return {};
}

[[nodiscard]] inline std::string table_at(diff_report const& it) {
    text_table table{{"tensor", "is", "differing", "ulp", "max abs", "max rel", "rel L2", "cosine", "worst at"}};
    std::string remarks;
    for (compared_tensor const& each : it.at_first) {
        std::vector<std::string> row{both_names(each.a, each.b), std::string{name_of(each.verdict)}};
        if (each.errors.elements > 0) {
            for (std::string& cell : error_cells(each.errors)) { row.push_back(std::move(cell)); }
            row.push_back(each.worst.rank > 0 ? index_text(each.worst) : "");
        }
        table.add(std::move(row));
        if (std::string const remark = remark_on(each); !remark.empty()) {
            remarks += fmt::format("  {}: {}\n", plain(each.a), remark);
        }
    }
    return table.text() + remarks;
}
[[nodiscard]] inline std::string table_over_time(diff_report const& it) {
    text_table table{
        {"tensor", "steps", "differ at", "first", "differing", "ulp", "max abs", "max rel", "rel L2", "cosine"}};
    std::string remarks;
    for (tensor_history const& each : it.tensors) {
        std::vector<std::string> row{both_names(each.a, each.b), std::to_string(each.steps),
                                     std::to_string(each.differing_steps), each.first ? step_text(*each.first) : "-"};
        if (each.worst.elements > 0) {
            for (std::string& cell : error_cells(each.worst)) { row.push_back(std::move(cell)); }
        }
        table.add(std::move(row));
        auto const remark = [&](std::uint64_t count, std::string_view one, std::string_view many,
                                std::string_view what) {
            if (count > 0) {
                remarks += fmt::format("  {}: {} {} {}\n", plain(each.a), count, count == 1 ? one : many, what);
            }
        };
        auto const at_steps = [&](std::uint64_t count, std::string_view what) { remark(count, "step", "steps", what); };
        remark(each.worst.nan_mismatches, "NaN", "NaN", "on one side only");
        remark(each.worst.inf_mismatches, "infinity", "infinities", "on one side only");
        at_steps(each.by_hash, "by hash");
        at_steps(each.by_statistics - each.same_statistics, "by statistics");
        at_steps(each.same_statistics, "with the same statistics, values not known");
        at_steps(each.not_compared, "where there is nothing to compare");
        std::string_view const why = each.trouble.what.view();
        at_steps(each.unreadable,
                 fmt::format("where its values cannot be read{}{}", why.empty() ? "" : ": ", plain(why)));
    }
    return table.text() + remarks;
}
// How far each side is from the reference, to show whether B is worse than A or merely different.
[[nodiscard]] inline std::string table_of_reference(diff_report const& it) {
    text_table table{{"tensor", "steps", "A: rel L2", "ulp", "B: rel L2", "ulp", "B is"}};
    constexpr double clearly = 2;
    for (tensor_history const& each : it.tensors) {
        if (each.with_reference == 0) { continue; }
        double const a = each.reference_a, b = each.reference_b;
        std::string_view const is = b > clearly * a ? "worse" : a > clearly * b ? "better" : "as good";
        table.add({both_names(each.a, each.b), std::to_string(each.with_reference), short_number(a),
                   std::to_string(each.reference_ulp_a), short_number(b), std::to_string(each.reference_ulp_b),
                   std::string{is}});
    }
    if (table.empty()) { return "  no tensor and step of A and B is in the reference\n"; }
    return table.text();
}

// Two values that differ, each cut for display. What both begin with is cut first, so that the difference is shown.
[[nodiscard]] inline std::string cut_value(std::string_view side, std::string_view other) {
    constexpr std::size_t before = 40, most = 200;
    if (side.empty()) { return "nothing"; }
    std::size_t same = 0;
    while (same < (std::min)(side.size(), other.size()) && side[same] == other[same]) { ++same; }
    bool const cut = same > before && side.size() > most;
    if (cut) { side.remove_prefix(spotter::detail::cut_before(side, (std::min)(same, side.size() - 1) - before)); }
    return (cut ? "..." : "") + plain(spotter::detail::shortened(side).view());
}

[[nodiscard]] inline std::string settings_text(diff_report const& it) {
    std::string text;
    for (setting_difference const& each : it.settings) {
        auto const value = [&](std::string const& side) { return cut_value(side, &side == &each.a ? each.b : each.a); };
        text += fmt::format("  {}: {} in A, {} in B\n", plain(each.what), value(each.a), value(each.b));
    }
    return text;
}
[[nodiscard]] inline std::string lonely_text(diff_report const& it) {
    std::string text;
    auto const names = [&](std::vector<std::string> const& all, char side) {
        if (!all.empty()) { text += fmt::format("only in {}: {}\n", side, some_of(all, quoted)); }
    };
    auto const steps = [&](std::vector<step_id> const& all, char side) {
        if (all.empty()) { return; }
        text += fmt::format("{} only in {}: {}\n", plural(all.size(), "step"), side, some_of(all, step_text));
    };
    names(it.names_only_a, 'A'), names(it.names_only_b, 'B');
    steps(it.steps_only_a, 'A'), steps(it.steps_only_b, 'B');
    if (!it.left_out.empty()) {
        text += fmt::format("not compared, as no two runs have them alike: {} (--strict, or --name, compares them)\n",
                            some_of(it.left_out, quoted));
    }
    if (it.steps_awaited > 0) {
        text += fmt::format("{} may still come: a side is being written\n", plural(it.steps_awaited, "step"));
    }
    return text;
}

[[nodiscard]] inline bool has_tolerance(diff_report const& it) {
    return it.tolerance.ulp > 0 || it.tolerance.relative > 0 || it.tolerance.absolute > 0;
}
// What only has statistics in common, and what would show whether its values are equal.
[[nodiscard]] inline std::string unknown_text(diff_report const& it) {
    if (!it.unknown_step) { return {}; }
    auto const count = static_cast<std::uint64_t>(
        std::count_if(it.tensors.begin(), it.tensors.end(), [](auto const& each) { return each.same_statistics > 0; }));
    std::string text = fmt::format(
        "\nthe same statistics{}, values not known: {}, first \"{}\" at {}\n"
        "  Statistics do not show, for example, rows in another order.{}\n",
        has_tolerance(it) ? " within the tolerance" : "", plural(count, "tensor"), plain(it.unknown_tensor),
        step_text(*it.unknown_step),
        it.first_step && it.unknown_before_first ? " So A and B may part before the first difference above." : "");
    return text + (has_tolerance(it)
                       ? "  To know, keep values in both runs: collection{\"all\", \"*\", always{}, payload}\n"
                       : "  To know, keep a hash of all values in both runs: collection{\"all\", \"*\", "
                         "always{}, stats_mask::hash}\n");
}

// Says "equal" only of what was compared.
[[nodiscard]] inline std::string verdict_text(diff_report const& it) {
    if (it.has_difference()) { return "A and B differ"; }
    std::string_view const equal = has_tolerance(it) ? "equal within the tolerance" : "equal";
    if (it.compared == 0 && it.same_statistics > 0) {
        return "not known whether A and B are equal: statistics are all that both have";
    }
    if (it.compared == 0) { return "not compared: A and B have nothing in common that decides"; }
    std::string text;
    if (it.not_kept > 0) {
        text =
            fmt::format("not compared: {} without anything comparable on both sides; ", plural(it.not_kept, "value"));
    }
    if (it.has_losses()) { return text + "A and B do not differ in what can be read, and not all of it can be"; }
    if (it.same_statistics > 0) {
        return fmt::format("{}not known whether A and B are equal: the values of some tensors are not known; the "
                           "others are {}",
                           text, equal);
    }
    return fmt::format("{}{} {}", text, it.not_kept > 0 ? "the others are" : "A and B are", equal);
}

}  // namespace detail

[[nodiscard]] inline std::string diff_text(spotter::diff_report const& it, bool has_reference) {
    using namespace detail;
    std::string text;
    if (!it.settings.empty()) { text += "settings that differ\n" + settings_text(it); }
    text += lonely_text(it);
    for (auto const& [count, side] : {std::pair{it.damage_a, 'A'}, std::pair{it.damage_b, 'B'}}) {
        if (count == 0) { continue; }
        text += fmt::format("{} is damaged at {}, so that some of it is missing: `spotter verify`\n", side,
                            plural(count, "place"));
    }
    text += fmt::format("{} at {} in both\n", plural(it.pairs, "tensor"), plural(it.steps, "step"));
    if (it.first_step) {
        text += fmt::format("\nfirst difference: {}, \"{}\"{}\n\nat {}, in program order\n", step_text(*it.first_step),
                            plain(it.first_tensor), worst_text(it), step_text(*it.first_step));
        text += table_at(it);
    }
    text += "\nover all steps\n" + table_over_time(it);
    if (has_reference) { text += "\nagainst the reference, the largest of all steps\n" + table_of_reference(it); }
    if (it.unreadable > 0) {
        bool const damaged = std::any_of(it.tensors.begin(), it.tensors.end(),
                                         [](tensor_history const& each) { return each.trouble.code == errc::corrupt; });
        text += fmt::format("\n{} cannot be read{}\n", plural(it.unreadable, "value"),
                            damaged ? ": `spotter verify` says where a run is damaged" : "");
    }
    text += unknown_text(it);
    return text + '\n' + verdict_text(it) + '\n';
}

}  // namespace spotter_tool
