// SPDX-License-Identifier: Apache-2.0
// Command line, `serve`: the bodies of api.hpp for one tensor, and parts of the static page.
#include "../arguments.hpp"
#include "../numbers.hpp"
#include "query.hpp"

#include <spotter/export/png.hpp>
#include <spotter/workbench/page.hpp>

#include <algorithm>
#include <span>

namespace spotter_tool::live {

using namespace spotter;

namespace {

constexpr std::size_t most_steps = 2000, most_pictures = 16, most_shown = 256;
constexpr std::uint64_t most_bytes = 256ULL << 20U;  // limit of the values read for one request

[[nodiscard]] std::uint64_t bytes_of(tensor_info const& it) noexcept {
    tensor_ref view{};
    view.type = it.type;
    view.shape = it.shape;
    view.count = it.shape.elements();
    return view.bytes();
}

// A limited number, evenly spaced, including the last.
[[nodiscard]] json some_steps(std::vector<step_id> const& all) {
    json made = json::array();
    std::size_t const count = (std::min)(all.size(), most_steps);
    for (std::size_t i = 0; i < count; ++i) {
        made.push_back(step_text(all[count < 2 ? 0 : i * (all.size() - 1) / (count - 1)]));
    }
    return made;
}

[[nodiscard]] result<std::size_t> pictures_in(extents const& shape) {
    auto const axes = spotter::detail::picture_axes_of(shape, {});
    if (!axes || axes->each.width < 2 || axes->each.height < 2) { return {errc::no_shape, "its axes are no pictures"}; }
    return static_cast<std::size_t>((std::min)(axes->count, std::uint64_t{most_pictures}));
}

// The part of a page between its <main> tags.
[[nodiscard]] std::string main_of(std::string const& page) {
    std::size_t const begin = page.find("<main>"), end = page.rfind("</main>");
    return begin == page.npos || end == page.npos ? std::string{} : page.substr(begin + 6, end - begin - 6);
}

// The first elements, or a text; nothing where there is no value.
void put_values(recorded_value const& value, json& into) {
    if (!value) { return; }
    if (value.type() == dtype::text) {
        into["text"] = value.to<std::string>().value_or("").substr(0, 4000);
        return;
    }
    into["values"] = json::array();
    visit_values(value.view(), [&](auto values) {
        for (std::size_t i = 0; i < (std::min)(values.size(), most_shown); ++i) {
            into["values"].push_back(element_json(values[i]));
        }
    });
    into["count"] = value.view().count;
    into["shape"] = shape_text(value.shape());
}

}  // namespace

answer tensor_answer(run_list& runs, query const& asked) {
    asked_run const of{runs, asked};
    if (!of) { return gone(); }
    std::lock_guard const held{of->lock()};
    (void)of->refresh_if_older(0.1);
    if (of->run() == nullptr) { return refusal(409, of->trouble()); }
    std::string const name = name_in(*of->run(), text_in(asked, "tag"));
    track const its = (*of->run())[name];
    if (!its) { return refusal(404, "the run has no tensor of that name"); }
    tensor_info const info = its.info();
    std::vector<step_id> const steps = its.steps(), kept = its.payload_steps();
    json made = {{"name", name},
                 {"role", std::string{name_of(info.role)}},
                 {"type", std::string{name_of(info.type)}},
                 {"shape", shape_text(info.shape)},
                 {"count", steps.size()},
                 {"kept", kept.size()}};
    made["steps"] = some_steps(steps);
    made["value_steps"] = some_steps(kept);
    made["statistics"] = json::array();
    for (statistic const& each : all_statistics()) {
        if (!steps.empty() && bytes_of(info) <= most_bytes && its.stat(steps.back(), each)) {
            made["statistics"].push_back(std::string{each.name()});
        }
    }
    made["histogram"] = !steps.empty() && bytes_of(info) <= most_bytes &&
                        its.distribution(steps.back(), stats_mask::histogram).has_value();
    auto const pictures = pictures_in(info.shape);
    made["pictures"] = pictures && !kept.empty() ? *pictures : std::size_t{0};
    return {200, dump_utf8(made)};
}

answer values_answer(run_list& runs, query const& asked) {
    asked_run const of{runs, asked};
    if (!of) { return gone(); }
    auto const step = read_step(text_in(asked, "step"));
    if (!step) { return refusal(400, step.error().what.view()); }
    std::lock_guard const held{of->lock()};
    if (of->run() == nullptr) { (void)of->refresh(); }
    if (of->run() == nullptr) { return refusal(409, of->trouble()); }
    track const its = (*of->run())[name_in(*of->run(), text_in(asked, "tag"))];
    if (!its) { return refusal(404, "the run has no tensor of that name"); }
    if (bytes_of(its.info()) > most_bytes) {
        return refusal(413, "more values than a page reads: `spotter show` has them");
    }
    json made = {{"step", step_text(*step)}};
    if (auto const spread = its.distribution(*step, stats_mask::histogram); spread && spread->has_histogram) {
        made["low"] = number(spread->low), made["high"] = number(spread->high);
        made["bins"] = spread->bins;
    } else if (!spread) {
        made["why"] = std::string{spread.error().what.view()};
    }
    made["statistics"] = json::array();
    for (statistic const& each : all_statistics()) {
        if (auto const value = its.stat(*step, each)) {
            made["statistics"].push_back(json::array({std::string{each.name()}, number(*value)}));
        }
    }
    put_values(its.at(*step), made);
    return {200, dump_utf8(made)};
}

answer picture_answer(run_list& runs, query const& asked) {
    asked_run const of{runs, asked};
    if (!of) { return gone(); }
    auto const step = read_step(text_in(asked, "step"));
    if (!step) { return refusal(400, step.error().what.view()); }
    auto const which = static_cast<std::size_t>(number_in(asked, "n", 0));
    std::lock_guard const held{of->lock()};
    if (of->run() == nullptr) { (void)of->refresh(); }
    if (of->run() == nullptr) { return refusal(409, of->trouble()); }
    track const its = (*of->run())[name_in(*of->run(), text_in(asked, "tag"))];
    if (bytes_of(its.info()) > most_bytes) { return refusal(413, "more values than a page reads"); }
    recorded_value const value = its.at(*step);
    if (!value) { return refusal(404, value.error().what.view()); }
    if (which >= most_pictures || !pictures_in(value.shape())) { return refusal(404, "there is no such picture"); }
    auto const all = pictures_of(value.view(), which + 1);
    if (which >= all.size()) { return refusal(404, "there is no such picture"); }
    return {200, png_of(all[which]), "image/png"};
}

answer section_answer(run_list& runs, query const& asked) {
    asked_run const of{runs, asked};
    if (!of) { return gone(); }
    std::string const id = text_in(asked, "id");
    std::lock_guard const held{of->lock()};
    (void)of->refresh_if_older(0.1);
    if (of->run() == nullptr) { return refusal(409, of->trouble()); }
    std::vector<std::string> const wanted{id};
    auto const page = to_html(std::span{of->run(), 1}, std::span{wanted});
    if (!page) { return refusal(404, page.error().what.view()); }
    return {200, main_of(*page), "text/html; charset=utf-8"};
}

}  // namespace spotter_tool::live
