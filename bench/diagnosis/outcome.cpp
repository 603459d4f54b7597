// SPDX-License-Identifier: Apache-2.0
// Outcomes as lines of text and back.
#include "outcome.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace diagnosis {

namespace {

// No field of ours holds a comma, a semicolon or a bar; a reason that does has it replaced.
std::string plain(std::string_view text) {
    std::string made{text};
    for (char& each : made) { each = each == ',' || each == ';' || each == '|' || each == '\n' ? ' ' : each; }
    return made;
}
std::string number(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
}
std::vector<std::string> parts_of(std::string const& line, char between) {
    std::vector<std::string> made{{}};
    for (char const each : line) {
        if (each == between) {
            made.emplace_back();
        } else {
            made.back() += each;
        }
    }
    return made;
}
std::vector<std::string> list_of(std::string const& field) {
    return field.empty() ? std::vector<std::string>{} : parts_of(field, ';');
}
std::string joined(std::vector<told> const& list) {
    std::string made;
    for (told const& each : list) {
        made += (made.empty() ? "" : ";") + plain(each.rule) + '|' + plain(each.reason) + '|' + plain(each.tensor) +
                '|' + std::to_string(each.step) + '|' + number(each.measured);
    }
    return made;
}
std::vector<told> told_of(std::string const& field) {
    std::vector<told> made;
    for (std::string const& each : list_of(field)) {
        std::vector<std::string> const words = parts_of(each, '|');
        if (words.size() != 5) { continue; }
        made.push_back({words[0], words[1], words[2], std::strtoull(words[3].c_str(), nullptr, 10),
                        std::strtod(words[4].c_str(), nullptr)});
    }
    return made;
}
std::string joined(std::vector<std::string> const& list) {
    std::string made;
    for (std::string const& each : list) { made += (made.empty() ? "" : ";") + plain(each); }
    return made;
}

}  // namespace

std::string csv_header() {
    return "program,fault,variant,seed,badness,finite,first_loss,last_loss,planted,planted_at,seconds,pack,alarmed,"
           "mode,"
           "step,first_alarm,rules,too_early,bad_value,bad_value_at,could_not_run\n";
}

std::string csv_lines(outcome const& it) {
    std::string made;
    for (std::size_t p = 0; p < pack_names.size(); ++p) {
        verdict const& said = it.packs[p];
        std::vector<std::string> const fields{std::string{it.what.program},
                                              std::to_string(static_cast<int>(it.what.broken)),
                                              std::to_string(static_cast<int>(it.what.shape)),
                                              std::to_string(it.what.seed),
                                              number(it.badness),
                                              it.finite ? "1" : "0",
                                              number(it.first_loss),
                                              number(it.last_loss),
                                              it.planted,
                                              std::to_string(it.planted_at),
                                              number(it.seconds),
                                              std::string{pack_names[p]},
                                              said.alarmed ? "1" : "0",
                                              said.mode,
                                              std::to_string(said.step),
                                              joined(said.first),
                                              joined(said.rules),
                                              joined(said.too_early),
                                              said.bad_value,
                                              std::to_string(said.bad_value_at),
                                              joined(said.not_judged)};
        std::string line;
        for (std::size_t i = 0; i < fields.size(); ++i) { line += (i == 0 ? "" : ",") + fields[i]; }
        made += line + '\n';
    }
    return made;
}

std::vector<outcome> read_csv(std::string const& path) {
    std::vector<outcome> made;
    std::ifstream file{path};
    for (std::string line; std::getline(file, line);) {
        std::vector<std::string> const fields = parts_of(line, ',');
        if (fields.size() != 21 || fields[0].size() != 1) { continue; }
        std::size_t pack = 0;
        while (pack < pack_names.size() && pack_names[pack] != fields[11]) { ++pack; }
        if (pack == pack_names.size()) { continue; }
        if (pack == 0) {
            outcome next;
            next.what = {fields[0][0], static_cast<fault>(std::atoi(fields[1].c_str())),
                         static_cast<variant>(std::atoi(fields[2].c_str())),
                         std::strtoull(fields[3].c_str(), nullptr, 10)};
            next.badness = std::strtod(fields[4].c_str(), nullptr);
            next.finite = fields[5] == "1";
            next.first_loss = std::strtod(fields[6].c_str(), nullptr);
            next.last_loss = std::strtod(fields[7].c_str(), nullptr);
            next.planted = fields[8];
            next.planted_at = std::strtoull(fields[9].c_str(), nullptr, 10);
            next.seconds = std::strtod(fields[10].c_str(), nullptr);
            made.push_back(std::move(next));
        }
        if (made.empty()) { continue; }
        verdict& said = made.back().packs[pack];
        said.alarmed = fields[12] == "1";
        said.mode = fields[13];
        said.step = std::strtoull(fields[14].c_str(), nullptr, 10);
        said.first = told_of(fields[15]);
        said.rules = told_of(fields[16]);
        said.too_early = told_of(fields[17]);
        said.bad_value = fields[18];
        said.bad_value_at = std::strtoull(fields[19].c_str(), nullptr, 10);
        said.not_judged = list_of(fields[20]);
    }
    return made;
}

}  // namespace diagnosis
