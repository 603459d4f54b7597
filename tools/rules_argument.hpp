// SPDX-License-Identifier: Apache-2.0
// Command line: the rules of --rules.
#pragma once

#include "output.hpp"

#include <spotter/core/result.hpp>
#include <spotter/replay/envelope.hpp>
#include <spotter/rule/dynamic_rule.hpp>
#include <spotter/trial/trial.hpp>

#include <memory>
#include <string>
#include <vector>

namespace spotter_tool {

// Each word is a rules file (its name ends in .json), a pack or a rule of the catalogue; without words it is the pack
// `supervised`. Returns all of them as one rule.
[[nodiscard]] spotter::result<spotter::dynamic_rule> read_rules(std::vector<std::string> const& words);
// Without `words`, the packs of the catalogue that the run itself had; otherwise `given`.
[[nodiscard]] spotter::dynamic_rule rules_for(spotter::trial const& run, std::vector<std::string> const& words,
                                              spotter::dynamic_rule const& given);
// The packs that judged a run while it was recorded: names separated by blanks, as in the record.
[[nodiscard]] std::string packs_of_run(spotter::trial const& run);

// `rules` and outside_envelope; the returned rule shares ownership of the envelope.
[[nodiscard]] spotter::dynamic_rule against_envelope(spotter::dynamic_rule const& rules,
                                                     std::shared_ptr<spotter::envelope const> const& healthy);

// Names of all packs, then of all rules.
[[nodiscard]] std::vector<std::string> rule_words();
// Every rule of the catalogue with its parameters and their defaults, and the packs.
[[nodiscard]] std::string rules_text();
[[nodiscard]] json rules_json();

// The rules of the catalogue that, with default parameters, extract the feature with this key (rows of kind feature);
// "" where there are none. Keys of rules that extract from memory depend on that memory, so they are not found.
[[nodiscard]] std::string rules_of_feature(std::uint64_t key);

}  // namespace spotter_tool
