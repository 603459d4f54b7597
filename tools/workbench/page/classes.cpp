// SPDX-License-Identifier: Apache-2.0
// Workbench, page: the bodies of classes.hpp.
#include "page/classes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace spotter::inline SPOTTER_ABI::html::detail {

std::string class_text(names_of_classes const& names, std::uint32_t which) {
    bool const named = which < names.size() && !names[which].empty();
    return named ? fmt::format("{} {}", which, escape(names[which])) : fmt::format("{}", which);
}

// Cells are shaded by their share of the row, the samples with this label.
[[nodiscard]] static std::string confusion_table(class_counts const& it, std::set<std::uint32_t> const& classes,
                                                 names_of_classes const& names) {
    std::string head, rows;
    for (std::uint32_t const each : classes) {
        head += fmt::format("<th><span{}>{}</span></th>", names.empty() ? "" : " class=\"upright\"",
                            class_text(names, each));
    }
    for (std::uint32_t const label : classes) {
        auto const given = it.labels.find(label);
        double const row = given == it.labels.end() ? 0 : static_cast<double>(given->second);
        rows += fmt::format("<tr><th class=\"label\">{}</th>", class_text(names, label));
        for (std::uint32_t const said : classes) {
            std::uint64_t const count = it.of(label, said);
            int const shade = count == 0 ? 0 : 1 + static_cast<int>(static_cast<double>(count) / row * 7.999);
            rows +=
                fmt::format(R"(<td class="{}{}"{}>{}</td>)", label == said ? "hit s" : "miss s", (std::min)(shade, 8),
                            count == 0 ? ""
                                       : fmt::format(R"( title="{} taken for {}: {} of {}")", class_text(names, label),
                                                     class_text(names, said), count, row),
                            count == 0 ? std::string{"·"} : fmt::format("{}", count));
        }
        rows += fmt::format("<td class=\"sum\">{}</td></tr>\n",
                            row > 0 ? percent_text(static_cast<double>(it.of(label, label)) / row) : "");
    }
    return fmt::format(
        "<figure class=\"plain\"><figcaption><b>Confusion matrix</b> <span class=\"note\">rows: label; columns: "
        "prediction; "
        "at the end the share that is right</span></figcaption><div class=\"wide\"><table class=\"confusion\">"
        "<thead><tr><th></th>{}<th></th></tr></thead><tbody>\n{}</tbody></table></div></figure>\n",
        head, rows);
}

// Precision, recall and F1 of each class.
[[nodiscard]] static std::string rates_table(class_counts const& it, std::set<std::uint32_t> const& classes,
                                             names_of_classes const& names) {
    constexpr std::size_t most = 64;
    double sums[3] = {0, 0, 0};
    std::string rows;
    std::size_t shown = 0;
    for (std::uint32_t const each : classes) {
        double const rates[] = {it.precision(each), it.recall(each), it.f1(each)};
        for (std::size_t i = 0; i < 3; ++i) { sums[i] += rates[i] / static_cast<double>(classes.size()); }
        if (++shown > most) { continue; }
        auto const given = it.labels.find(each);
        rows += fmt::format("<tr><th>{}</th><td>{:.3f}</td><td>{:.3f}</td><td>{:.3f}</td><td>{}</td></tr>\n",
                            class_text(names, each), rates[0], rates[1], rates[2],
                            given == it.labels.end() ? 0 : given->second);
    }
    return fmt::format(
        "<figure class=\"plain\"><figcaption><b>Precision, recall, F1</b>{}</figcaption><div class=\"wide\">"
        "<table class=\"plain rates\"><thead><tr><th>class</th><td>precision</td><td>recall</td><td>F1</td>"
        "<td>samples</td></tr></thead><tbody>\n{}<tr class=\"sum\"><th>mean of classes</th><td>{:.3f}</td>"
        "<td>{:.3f}</td><td>{:.3f}</td><td>{}</td></tr>\n</tbody></table></div></figure>\n",
        classes.size() > most
            ? fmt::format(" <span class=\"note\">the first {} of {} classes</span>", most, classes.size())
            : "",
        rows, sums[0], sums[1], sums[2], it.total);
}

// Hits are 0 or 1, so only their means are drawn.
[[nodiscard]] static series shares_of(series const& hits) {
    series shares{64};
    for (series::bucket const& each : hits.buckets()) {
        if (each.count > 0) { shares.add(each.first, each.mean()); }
    }
    return shares;
}

// All samples, and the five classes with the lowest final share.
[[nodiscard]] static std::string hits_chart(class_hits const& it, names_of_classes const& names) {
    constexpr std::size_t most = 5;
    series const all = shares_of(it.all());
    if (all.size() < 2) { return {}; }
    std::map<std::uint32_t, series> shares;
    std::vector<std::pair<double, std::uint32_t>> ends;
    for (auto const& [which, hits] : it.of_class()) {
        series const& data = shares.emplace(which, shares_of(hits)).first->second;
        ends.emplace_back(data.last_value().value_or(0), which);
    }
    std::sort(ends.begin(), ends.end());
    chart picture{.title = "Accuracy by class", .may_be_log = false, .ceiling = 1};
    if (ends.size() > most) { picture.note = fmt::format("the {} of {} classes that end lowest", most, ends.size()); }
    picture.lines.push_back({&all, "all", 5, 1});
    for (std::size_t i = 0; i < ends.size() && i < most; ++i) {
        std::uint32_t const which = ends[i].second;
        bool const named = which < names.size() && !names[which].empty();
        picture.lines.push_back(
            {&shares.at(which), named ? names[which] : fmt::format("class {}", which), static_cast<unsigned>(i)});
    }
    for (line& each : picture.lines) { each.band = false; }
    return draw(picture);
}

// Shows each pair with its reverse: if both are frequent, the two classes look alike, or the preprocessing makes them
// alike.
[[nodiscard]] static std::string worst_pairs(class_counts const& it, names_of_classes const& names) {
    constexpr std::size_t most = 20;
    auto const wrong = it.confused();
    std::string rows;
    for (std::size_t i = 0; i < wrong.size() && i < most; ++i) {
        auto const& [label, said] = wrong[i];
        auto const labels = static_cast<double>(it.labels.at(label));
        std::uint64_t const count = it.of(label, said);
        rows += fmt::format("<tr><th>{}</th><th>{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                            class_text(names, label), class_text(names, said), count,
                            percent_text(static_cast<double>(count) / labels), it.of(said, label));
    }
    if (rows.empty()) { return {}; }
    return fmt::format(
        "<figure class=\"plain\"><figcaption><b>Most frequent mistakes</b> <span class=\"note\">{} of {} pairs of "
        "classes</span></figcaption><div class=\"wide\"><table class=\"plain pairs\"><thead><tr><th>label</th>"
        "<th>taken for</th><td>samples</td><td>of the label</td><td>other way round</td></tr></thead><tbody>\n{}"
        "</tbody></table></div></figure>\n",
        (std::min)(most, wrong.size()), wrong.size(), rows);
}

// Bars of how often a class was the label and, thinner, the prediction.
[[nodiscard]] static std::string balance_table(class_balance const& labels, class_balance const& predictions,
                                               std::string_view title, names_of_classes const& names) {
    constexpr std::size_t rows_shown = 64;
    std::uint64_t most = 1, total = 0;
    std::set<std::uint32_t> classes;
    for (class_balance const* const each : {&labels, &predictions}) {
        for (auto const& [which, count] : *each) { most = (std::max)(most, count), classes.insert(which); }
    }
    for (auto const& [which, count] : labels) { total += count; }
    std::string rows;
    auto const of = [](class_balance const& from, std::uint32_t which) {
        auto const it = from.find(which);
        return it == from.end() ? std::uint64_t{0} : it->second;
    };
    std::size_t shown = 0;
    for (std::uint32_t const each : classes) {
        if (++shown > rows_shown) { break; }
        std::uint64_t const given = of(labels, each), said = of(predictions, each);
        auto const width = [&](std::uint64_t count) {
            return 100.0 * static_cast<double>(count) / static_cast<double>(most);
        };
        rows += fmt::format(R"(<tr><th>{}</th><td class="bars"><i class="bar c0" style="width:{:.1f}%"></i>)",
                            class_text(names, each), width(given));
        if (!predictions.empty()) {
            rows += fmt::format(R"(<i class="bar thin c5" style="width:{:.1f}%"></i>)", width(said));
        }
        rows += fmt::format("</td><td>{}{}</td></tr>\n", given, predictions.empty() ? "" : fmt::format(" / {}", said));
    }
    if (rows.empty()) { return {}; }
    return fmt::format(
        "<figure class=\"plain\"><figcaption><b>{}</b> <span class=\"key\"><i class=\"c0\"></i>label</span> {}"
        "<span class=\"note\">{}{}</span></figcaption><table "
        "class=\"balance{}\"><tbody>\n{}</tbody></table></figure>\n",
        title, predictions.empty() ? "" : "<span class=\"key\"><i class=\"c5\"></i>prediction</span> ",
        plural(total, "sample"),
        classes.size() > rows_shown ? fmt::format(", the first {} of {} classes", rows_shown, classes.size()) : "",
        names.empty() ? "" : " named", rows);
}

std::string gallery(judged_samples const& it, names_of_classes const& names) {
    std::string cells;
    std::size_t shown = 0;
    for (mistake const& each : it.mistakes) {
        if (each.image.width == 0) { continue; }
        ++shown;
        std::string const text =
            fmt::format("{} taken for {}", class_text(names, each.label), class_text(names, each.said));
        cells +=
            fmt::format(R"(<figure class="sample"><img alt="{0}" src="{1}"><figcaption>{0}{2}</figcaption></figure>)"
                        "\n",
                        text, data_uri(each.image),
                        each.certainty > 0 ? fmt::format(", {:.0f}&#160;%&#160;sure", 100 * each.certainty) : "");
    }
    if (cells.empty()) { return {}; }
    return fmt::format(
        "<h3>Mistakes <span class=\"note\">of the most frequent pairs, then the surest: {} of {}; {}</span></h3>\n<div "
        "class=\"gallery\">\n{}</div>\n",
        shown, it.counts.total - it.counts.right, escape(it.drawn_as), cells);
}

}  // namespace spotter::inline SPOTTER_ABI::html::detail

namespace spotter::inline SPOTTER_ABI::html {

section classes_section(run_story const& story, judged_samples const& judged) {
    constexpr std::size_t table_classes = 24;
    class_counts const& counts = judged.counts;
    detail::names_of_classes const& names = story.class_names;
    std::string body, figures;
    if (counts.total > 0) {
        std::set<std::uint32_t> classes;
        for (auto const& [pair, count] : counts.pairs) { classes.insert(pair.first), classes.insert(pair.second); }
        body += fmt::format("<p><b>{}</b> of {} right: {} of {}.</p>\n",
                            percent_text(static_cast<double>(counts.right) / static_cast<double>(counts.total)),
                            plural(counts.total, "sample"), counts.right, escape(judged.from));
        figures += classes.size() <= table_classes ? detail::confusion_table(counts, classes, names)
                                                   : detail::worst_pairs(counts, names);
        figures += detail::rates_table(counts, classes, names);
        figures += detail::hits_chart(judged.hits, names);
        figures += draw(judged.rocs, judged.from);
        figures += detail::balance_table(counts.labels, counts.predictions, "Balance", names);
    }
    if (!story.train_labels.empty()) {
        figures += detail::balance_table(story.train_labels, {}, "Labels over the whole training", names);
    }
    return {"classes", "Classes", body + grid_of(figures) + detail::gallery(judged, names)};
}

}  // namespace spotter::inline SPOTTER_ABI::html
