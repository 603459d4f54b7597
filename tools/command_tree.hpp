// SPDX-License-Identifier: Apache-2.0
// Command line: verbs and options as plain data, read from the parser itself, so that help, completion and manual pages
// agree.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace spotter_tool {

struct option_words {
    std::vector<std::string> names{};  // "-o", "--out"; empty for a positional argument
    std::string place{};               // name of a positional argument: "run"
    std::string what{};
    std::vector<std::string> choices{};  // empty: any value
    std::vector<std::string> offers{};   // suggestions for the shell where any value is allowed
    bool offers_tensors = false;         // names of the run's tensors
    bool takes_value = false;
    bool repeats = false;
    bool required = false;
};

struct verb_words {
    std::string name{};  // empty: the program itself
    std::string what{};
    std::string example{};
    std::vector<option_words> options{};

    [[nodiscard]] std::vector<std::string> option_names() const {
        std::vector<std::string> names;
        for (option_words const& each : options) { names.insert(names.end(), each.names.begin(), each.names.end()); }
        return names;
    }
};

struct command_tree {
    verb_words program{};
    std::vector<verb_words> verbs{};
    std::string exit_codes{};
};

// Defined in main.cpp, which knows the parser.
[[nodiscard]] verb_words words_of(CLI::App const& verb);

// Fills in `offers` of the verb's options.
void add_offers(verb_words& verb);

// The index of the verb among the arguments, after options of the program; the number of arguments if there is none.
[[nodiscard]] std::size_t place_of_verb(command_tree const& tree, std::vector<std::string> const& arguments);
// The error message for a misspelt or unknown verb or option; otherwise empty.
[[nodiscard]] std::string misspelt(command_tree const& tree, std::vector<std::string> const& arguments);

// For `bash`, `zsh` or `fish`.
[[nodiscard]] std::string completion_of(command_tree const& tree, std::string const& shell);

struct help_options {
    std::string verb{};  // empty: the program
};
// `of` returns the parser's help of a verb.
[[nodiscard]] int help(help_options const& given, command_tree const& tree,
                       std::function<std::string(std::string const&)> const& of);
[[nodiscard]] int version(std::string_view of_program);

struct self_description_options {
    std::string shell{};
    std::string verb{};
    std::string into{};  // a folder
};
// `manual`.
[[nodiscard]] int describe_self(command_tree const& tree, self_description_options const& given,
                                std::string const& version);

// A manual page in troff: of a verb, or of the program.
[[nodiscard]] std::string manual_of(command_tree const& tree, verb_words const& verb, std::string const& version);

}  // namespace spotter_tool
