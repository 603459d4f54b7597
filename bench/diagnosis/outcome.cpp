// SPDX-License-Identifier: Apache-2.0
// Outcomes as lines of text and back.
#include "outcome.hpp"

#include "fields.hpp"

#include <cstdio>
#include <cstdlib>
#include <istream>

namespace diagnosis {

namespace {

namespace sd = spotter::detail;
constexpr auto sign_count = static_cast<std::size_t>(sd::sign::count);

std::string number(double value) {
    char text[40];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
}
std::vector<std::string> list_of(std::string const& field) {
    return field.empty() ? std::vector<std::string>{} : parts_of(field, ';');
}
std::string joined(std::vector<reported_finding> const& list) {
    std::string made;
    for (reported_finding const& each : list) {
        made += (made.empty() ? "" : ";") + plain(each.rule) + '|' + plain(each.reason) + '|' + plain(each.tensor) +
                '|' + std::to_string(each.step) + '|' + number(each.measured) + '|' + plain(each.other);
    }
    return made;
}
std::vector<reported_finding> findings_in(std::string const& field) {
    std::vector<reported_finding> made;
    for (std::string const& each : list_of(field)) {
        std::vector<std::string> const words = parts_of(each, '|');
        if (words.size() != 6) { continue; }
        made.push_back({words[0], words[1], words[2], std::strtoull(words[3].c_str(), nullptr, 10),
                        std::strtod(words[4].c_str(), nullptr), words[5]});
    }
    return made;
}
// Signs by their names: their numbers change when one is added.
std::string joined(sd::signs const& seen) {
    std::string made;
    for (std::size_t i = 0; i < sign_count; ++i) {
        auto const each = static_cast<sd::sign>(i);
        if (seen.has(each)) { (made += made.empty() ? "" : ";") += sd::name_of(each); }
    }
    return made;
}
sd::signs signs_in(std::string const& field) {
    sd::signs made;
    for (std::string const& name : list_of(field)) {
        for (std::size_t i = 0; i < sign_count; ++i) {
            auto const each = static_cast<sd::sign>(i);
            made.add(each, sd::name_of(each) == name);
        }
    }
    return made;
}
std::string joined(std::vector<std::string> const& list) {
    std::string made;
    for (std::string const& each : list) { made += (made.empty() ? "" : ";") + plain(each); }
    return made;
}

constexpr std::string_view no_fault = "none";
std::string_view name_of(fault what) { return what == fault::none ? no_fault : info_of(what).name; }
bool fault_named(std::string_view name, fault& into) {
    if (name == no_fault) { return true; }
    for (fault_info const& each : faults) {
        if (each.name == name) {
            into = each.what;
            return true;
        }
    }
    return false;
}

std::uint64_t whole(std::string const& field) { return std::strtoull(field.c_str(), nullptr, 10); }
double real(std::string const& field) { return std::strtod(field.c_str(), nullptr); }

constexpr std::size_t of_training = 13, of_pack = 15;  // fields of a line

}  // namespace

std::string csv_header() {
    return "family,fault,variant,seed,steps,badness,finite,first_loss,last_loss,planted,planted_at,seconds,candidates,"
           "pack,alarmed,mode,step,stopped,stopped_at,skips,first_alarm,rules,too_early,bad_value,bad_value_at,"
           "could_not_run,acts,signs\n";
}

std::string csv_lines(outcome const& it) {
    std::string made;
    for (std::size_t p = 0; p < pack_names.size(); ++p) {
        verdict const& said = it.packs[p];
        std::array<std::string, of_training + of_pack> const fields{it.what.family,
                                                                    std::string{name_of(it.what.broken)},
                                                                    std::to_string(it.what.variant),
                                                                    std::to_string(it.what.seed),
                                                                    std::to_string(it.steps),
                                                                    number(it.badness),
                                                                    it.finite ? "1" : "0",
                                                                    number(it.first_loss),
                                                                    number(it.last_loss),
                                                                    it.planted,
                                                                    std::to_string(it.planted_at),
                                                                    number(it.seconds),
                                                                    it.candidates,
                                                                    std::string{pack_names[p]},
                                                                    said.alarmed ? "1" : "0",
                                                                    said.mode,
                                                                    std::to_string(said.step),
                                                                    said.stopped ? "1" : "0",
                                                                    std::to_string(said.stopped_at),
                                                                    std::to_string(said.skips),
                                                                    joined(said.first),
                                                                    joined(said.rules),
                                                                    joined(said.too_early),
                                                                    said.bad_value,
                                                                    std::to_string(said.bad_value_at),
                                                                    joined(said.not_judged),
                                                                    std::to_string(it.acts),
                                                                    joined(said.seen)};
        std::string line;
        for (std::size_t i = 0; i < fields.size(); ++i) { line += (i == 0 ? "" : ",") + fields[i]; }
        made += line + '\n';
    }
    return made;
}

std::vector<outcome> read_csv(std::istream& from) {
    std::vector<outcome> made;
    for (std::string line; std::getline(from, line);) {
        std::vector<std::string> const fields = parts_of(line, ',');
        if (fields.size() != of_training + of_pack) { continue; }
        std::size_t pack = 0;
        while (pack < pack_names.size() && pack_names[pack] != fields[of_training]) { ++pack; }
        fault broken = fault::none;
        if (pack == pack_names.size() || !fault_named(fields[1], broken)) { continue; }
        if (pack == 0) {
            outcome next;
            next.what = {fields[0], broken, static_cast<std::size_t>(whole(fields[2])), whole(fields[3])};
            next.steps = whole(fields[4]);
            next.badness = real(fields[5]);
            next.finite = fields[6] == "1";
            next.first_loss = real(fields[7]);
            next.last_loss = real(fields[8]);
            next.planted = fields[9];
            next.planted_at = whole(fields[10]);
            next.seconds = real(fields[11]);
            next.candidates = fields[12];
            next.acts = static_cast<std::size_t>(whole(fields[26]));
            made.push_back(std::move(next));
        }
        if (made.empty()) { continue; }
        verdict& said = made.back().packs[pack];
        said.alarmed = fields[14] == "1";
        said.mode = fields[15];
        said.step = whole(fields[16]);
        said.stopped = fields[17] == "1";
        said.stopped_at = whole(fields[18]);
        said.skips = whole(fields[19]);
        said.first = findings_in(fields[20]);
        said.rules = findings_in(fields[21]);
        said.too_early = findings_in(fields[22]);
        said.bad_value = fields[23];
        said.bad_value_at = whole(fields[24]);
        said.not_judged = list_of(fields[25]);
        said.seen = signs_in(fields[27]);
    }
    return made;
}

}  // namespace diagnosis
