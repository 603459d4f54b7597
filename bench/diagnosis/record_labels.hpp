// SPDX-License-Identifier: Apache-2.0
// The labels of recorded trainings: FOLDER/labels.csv, written before any answer is seen.
#pragma once

#include "fields.hpp"
#include "outcome.hpp"

#include <spotter/rule/list.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace diagnosis {

struct recorded_training {
    std::string run{}, program{}, pack{}, fault{};
    // Accepted as the first line: rules, each perhaps with a part of its reason or of its tensor's name.
    std::vector<std::pair<std::string, std::string>> accepted{};

    [[nodiscard]] bool healthy() const { return fault == "none"; }
    [[nodiscard]] bool accepts(reported_finding const& it) const {
        return std::any_of(accepted.begin(), accepted.end(), [&](auto const& each) {
            bool const named =
                it.reason.find(each.second) != it.reason.npos || it.tensor.find(each.second) != it.tensor.npos;
            return it.rule == each.first && named;
        });
    }
};

inline constexpr std::array<std::string_view, 5> label_columns{"run", "program", "pack", "fault", "accepted"};

// Reads a folder's labels, line by line. `trouble` is empty, or names the line and what to do.
class record_labels {
public:
    explicit record_labels(std::string folder) : folder_{std::move(folder)} { read(); }

    [[nodiscard]] std::vector<recorded_training> const& trainings() const noexcept { return trainings_; }
    [[nodiscard]] std::string const& trouble() const noexcept { return trouble_; }
    [[nodiscard]] std::string path_of(recorded_training const& it) const { return folder_ + "/" + it.run; }

private:
    void read() {
        std::string const name = folder_ + "/labels.csv";
        std::ifstream file{name};
        std::string line;
        auto const next = [&] {
            bool const any = !std::getline(file, line).fail();
            if (line.ends_with('\r')) { line.pop_back(); }
            return any;
        };
        if (!next()) {
            trouble_ = name + " is missing or empty: its first line is run,program,pack,fault,accepted";
            return;
        }
        number_ = 1;
        std::array<std::size_t, label_columns.size()> const places = places_in(parts_of(line, ','));
        while (trouble_.empty() && next()) {
            ++number_;
            if (!line.empty()) { take(parts_of(line, ','), places); }
        }
        if (trouble_.empty() && trainings_.empty()) { complain("no run follows: add a line for each"); }
    }
    std::array<std::size_t, label_columns.size()> places_in(std::vector<std::string> const& header) {
        std::array<std::size_t, label_columns.size()> made{};
        columns_ = header.size();
        for (std::size_t i = 0; i < made.size(); ++i) {
            auto const at = std::find(header.begin(), header.end(), label_columns[i]);
            made[i] = static_cast<std::size_t>(at - header.begin());
            if (at == header.end()) {
                complain("there is no column \"" + std::string{label_columns[i]} + "\": add it to the header");
            }
        }
        return made;
    }
    void take(std::vector<std::string> const& fields, std::array<std::size_t, label_columns.size()> const& places) {
        if (fields.size() != columns_) {
            return complain(std::to_string(fields.size()) + " fields, and the header has " + std::to_string(columns_) +
                            ": no field may hold a comma");
        }
        recorded_training it{fields[places[0]], fields[places[1]], fields[places[2]], fields[places[3]]};
        for (std::string const& each : parts_of(fields[places[4]], '|')) {
            std::size_t const colon = (std::min)(each.find(':'), each.size());
            if (!each.empty()) {
                it.accepted.emplace_back(each.substr(0, colon), each.substr((std::min)(colon + 1, each.size())));
            }
        }
        check(it);
        trainings_.push_back(std::move(it));
    }
    void check(recorded_training const& it) {
        if (it.pack != "supervised" && it.pack != "rl" && it.pack != "boosting") {
            complain("\"" + it.pack + "\" is no pack: write supervised, rl or boosting");
        }
        if (it.fault.empty()) { complain("the fault is empty: write none for a healthy training"); }
        if (it.healthy() != it.accepted.empty()) {
            complain(it.healthy() ? "a healthy training accepts no rule: leave the field empty"
                                  : "no accepted rule: name those that are right as the first line, with | between");
        }
        for (auto const& [rule, unused] : it.accepted) {
            if (spotter::rule_id_named(rule) == spotter::rule_id::other) {
                complain("\"" + rule + "\" is no rule: `spotter check --list` names them");
            }
        }
        auto const same = [&](recorded_training const& each) { return each.run == it.run; };
        if (std::any_of(trainings_.begin(), trainings_.end(), same)) { complain(it.run + " is named twice"); }
        std::error_code why;
        if (it.run.empty() || !std::filesystem::is_directory(path_of(it), why)) {
            complain("there is no run " + path_of(it) + ": record it, or take the line out");
        }
    }
    // The first complaint stays.
    void complain(std::string const& what) {
        if (trouble_.empty()) { trouble_ = folder_ + "/labels.csv, line " + std::to_string(number_) + ": " + what; }
    }

    std::string folder_, trouble_{};
    std::vector<recorded_training> trainings_{};
    std::size_t number_ = 0, columns_ = 0;
};

}  // namespace diagnosis
