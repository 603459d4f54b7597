// SPDX-License-Identifier: Apache-2.0
// All that can be read from a record, as a map of texts. Comparing two readings shows what one of them lacks or has
// different.
#pragma once

#include <tests/trial/runs.hpp>

#include <spotter/replay.hpp>
#include <spotter/rules.hpp>

#include <map>

namespace spotter_test {

// What was read, by key. An item that gave an error is its code in brackets.
using picture = std::map<std::string, std::string>;

inline std::string error_item(spotter::error const& why) { return "[" + std::string{name_of(why.code)} + "]"; }
inline bool is_error(std::string const& item) { return item.starts_with('['); }

inline std::string bits_item(double value) { return std::to_string(std::bit_cast<std::uint64_t>(value)); }

inline std::string value_item(spotter::recorded_value const& value) {
    if (!value) { return error_item(value.error()); }
    spotter::tensor_ref const& view = value.view();
    std::string item = std::string{spotter::name_of(view.type)} + " " + std::to_string(static_cast<int>(view.layout));
    for (std::size_t axis = 0; axis < view.shape.rank; ++axis) { item += " " + std::to_string(view.shape.size[axis]); }
    item += ':';
    if (view.bytes() > 0) {
        item.append(static_cast<char const*>(view.values.raw), static_cast<std::size_t>(view.bytes()));
    }
    return item;
}
inline std::string distribution_item(spotter::result<spotter::distribution> const& found) {
    if (!found) { return error_item(found.error()); }
    std::string item = bits_item(found->low) + " " + bits_item(found->high);
    for (double each : found->quantiles) { item += " " + bits_item(each); }
    for (std::uint64_t each : found->bins) { item += " " + std::to_string(each); }
    return item;
}

// Adds every observation of a tensor: values, statistics, distribution, shape and time.
inline void add_track(picture& into, std::string const& before, spotter::track const& track) {
    using namespace spotter;
    std::map<step_id, std::size_t> met;
    for (point const& each : track.history(mean)) {
        std::size_t const which = met[each.step]++;
        std::string const key = before + Catch::StringMaker<step_id>::convert(each.step) + " ";
        into[key + std::to_string(which)] = value_item(track.at(each.step, nth{which}));
        if (which > 0) { continue; }
        int number = 0;
        for (statistic const stat : std::initializer_list<statistic>{minimum, maximum, mean, stddev, sum, product, l1,
                                                                     l2, nonfinite, zeros, mean_abs}) {
            auto const found = track.stat(each.step, stat);
            into[key + "stat " + std::to_string(number++)] = found ? bits_item(*found) : error_item(found.error());
        }
        into[key + "distribution"] = distribution_item(track.distribution(each.step));
        auto const shape = track.shape(each.step);
        into[key + "shape"] =
            shape ? std::to_string(shape->rank) + "/" + std::to_string(shape->elements()) : error_item(shape.error());
        auto const time = track.time(each.step);
        into[key + "time"] = time ? bits_item(*time) : error_item(time.error());
    }
    for (loose_scalar const& each : track.loose()) {
        into[before + "between " + bits_item(each.value) + " " + std::to_string(each.before_ordinal)] =
            bits_item(each.time);
    }
}

inline void add_findings(picture& into, spotter::trial const& run) {
    using namespace spotter;
    for (finding const& each : run.findings()) {
        std::string const key = std::to_string(each.worker) + " finding " +
                                Catch::StringMaker<step_id>::convert(each.step) + " " + std::string{each.rule} + " " +
                                std::string{each.tensor};
        into[key] = std::string{each.reason} + "|" + std::string{each.remedy} + "|" + std::string{each.detail.view()} +
                    "|" + bits_item(each.measured) + bits_item(each.threshold) +
                    std::to_string(static_cast<int>(each.severity)) + std::to_string(each.others);
    }
}

inline picture picture_of(spotter::trial const& run) {
    using namespace spotter;
    picture found;
    for (std::uint32_t const number : run.workers()) {
        std::string const whose = std::to_string(number) + " ";
        for (std::string const& name : run.names(filter{.worker = worker{number}})) {
            add_track(found, whose + name + " ", run[name].of(worker{number}));
        }
        for (step_id const step : run.steps(worker{number})) {
            found[whose + "closed " + Catch::StringMaker<step_id>::convert(step)] = "yes";
        }
    }
    add_findings(found, run);
    return found;
}

// The number of observations and scalars that can be read, with or without a step.
inline std::uint64_t entries_of(spotter::trial const& run) {
    std::uint64_t count = 0;
    for (std::uint32_t const number : run.workers()) {
        for (std::string const& name : run.names(spotter::filter{.worker = spotter::worker{number}})) {
            auto const track = run[name].of(spotter::worker{number});
            count += track.history(spotter::mean).size() + track.loose().size();
        }
    }
    return count;
}

// The items of a damaged or cut record, compared with those of the whole one.
struct difference {
    std::uint64_t same = 0;
    std::uint64_t lacking = 0;   // missing
    std::uint64_t refused = 0;   // a named error instead
    std::uint64_t wrong = 0;     // a different item
    std::uint64_t invented = 0;  // missing in the whole record
    std::string first{};         // the first wrong or invented item

    [[nodiscard]] bool sound() const noexcept { return wrong == 0 && invented == 0; }
    [[nodiscard]] bool whole() const noexcept { return sound() && lacking == 0 && refused == 0; }
};
inline difference compare(picture const& seen, picture const& whole) {
    difference found;
    for (auto const& [key, item] : whole) {
        auto const at = seen.find(key);
        if (at == seen.end()) {
            ++found.lacking;
        } else if (at->second == item) {
            ++found.same;
        } else if (is_error(at->second)) {
            ++found.refused;
        } else {
            ++found.wrong;
            found.first = found.first.empty() ? key : found.first;
        }
    }
    for (auto const& [key, item] : seen) {
        if (whole.contains(key)) { continue; }
        ++found.invented;
        found.first = found.first.empty() ? key + "=" + item : found.first;
    }
    return found;
}

}  // namespace spotter_test
