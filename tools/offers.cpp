// SPDX-License-Identifier: Apache-2.0
// Command line: the shell's suggestions for options without a fixed list of values.
#include "arguments.hpp"
#include "command_tree.hpp"
#include "rules_argument.hpp"

#include <spotter/workbench/page.hpp>

#include <algorithm>

namespace spotter_tool {

namespace {

[[nodiscard]] std::vector<std::string> statistic_words() {
    std::vector<std::string> words;
    for (spotter::statistic const& each : all_statistics()) { words.emplace_back(each.name()); }
    return words;
}

}  // namespace

void add_offers(verb_words& verb) {
    std::vector<std::string> const statistics = statistic_words(), rules = rule_words();
    for (option_words& each : verb.options) {
        auto const is = [&](std::string_view name) {
            return each.place == name || std::find(each.names.begin(), each.names.end(), name) != each.names.end();
        };
        if (is("--stat")) { each.offers = statistics; }
        if (is("--mode")) { each.offers = {"train", "eval", "predict"}; }
        if (is("--rules")) { each.offers = rules; }
        if (is("--section")) {
            each.offers.assign(spotter::html::section_ids().begin(), spotter::html::section_ids().end());
        }
        // Names of the run, which the shell requests once it knows the run.
        each.offers_tensors = is("--name") || is("--names") || is("--transpose") || is("name") || is("pattern");
    }
}

}  // namespace spotter_tool
