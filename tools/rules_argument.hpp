// SPDX-License-Identifier: Apache-2.0
// Command line: the rules that --rules names.
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

// Each word is a rules file (its name ends in .json), a pack or a rule of the catalogue; without any it is the pack
// `supervised`. All together as one rule.
[[nodiscard]] spotter::result<spotter::dynamic_rule> read_rules(std::vector<std::string> const& words);
// Where none are named (`words` is empty) those that the run had itself, as far as they are packs of the catalogue;
// `given` otherwise.
[[nodiscard]] spotter::dynamic_rule rules_for(spotter::trial const& run, std::vector<std::string> const& words,
                                              spotter::dynamic_rule const& given);
// The packs that a run was judged by while it was recorded: names with a blank between, as the record says.
[[nodiscard]] std::string packs_of_run(spotter::trial const& run);

// `rules`, and what healthy runs did not have; the rule holds the envelope.
[[nodiscard]] spotter::dynamic_rule against_envelope(spotter::dynamic_rule const& rules,
                                                     std::shared_ptr<spotter::envelope const> const& healthy);

// Names of all packs, then of all rules.
[[nodiscard]] std::vector<std::string> rule_words();
// Every rule of the catalogue with its parameters and their defaults, and the packs.
[[nodiscard]] std::string rules_text();
[[nodiscard]] json rules_json();

// Whose features have this key (rows of kind feature): the rules of the catalogue that extract it with their defaults,
// or "" where none does. What a rule with a memory extracts has a key of that memory, so that it is nobody's here.
[[nodiscard]] std::string rules_of_feature(std::uint64_t key);

}  // namespace spotter_tool
