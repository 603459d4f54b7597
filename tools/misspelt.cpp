// SPDX-License-Identifier: Apache-2.0
// Command line: a verb or an option that is not there, and the one that was probably meant.
#include "command_tree.hpp"
#include "nearest.hpp"
#include "output.hpp"

namespace spotter_tool {

namespace {

[[nodiscard]] std::string with_guess(std::string sentence, std::string_view written,
                                     std::vector<std::string> const& words, std::string_view help) {
    auto const meant = nearest(written, words);
    return meant ? fmt::format("{}: did you mean {}?", sentence, *meant)
                 : fmt::format("{}: `{}` lists what there is", sentence, help);
}

[[nodiscard]] option_words const* option_named(verb_words const& verb, std::string_view name) {
    for (option_words const& each : verb.options) {
        if (std::find(each.names.begin(), each.names.end(), name) != each.names.end()) { return &each; }
    }
    return nullptr;
}

}  // namespace

std::string misspelt(command_tree const& tree, std::vector<std::string> const& arguments) {
    if (arguments.empty() || arguments.front().starts_with('-')) { return {}; }
    std::vector<std::string> names;
    verb_words const* verb = nullptr;
    for (verb_words const& each : tree.verbs) {
        names.push_back(each.name);
        if (each.name == arguments.front()) { verb = &each; }
    }
    if (verb == nullptr) {
        return with_guess(fmt::format("there is no verb \"{}\"", plain(arguments.front())), arguments.front(), names,
                          "spotter --help");
    }
    names.clear();
    for (option_words const& each : verb->options) { names.insert(names.end(), each.names.begin(), each.names.end()); }
    for (std::size_t i = 1; i < arguments.size() && arguments[i] != "--"; ++i) {
        if (!arguments[i].starts_with("--")) { continue; }
        std::string const name = arguments[i].substr(0, arguments[i].find('='));
        option_words const* const known = option_named(*verb, name);
        if (known == nullptr) {
            return with_guess(fmt::format("`spotter {}` has no option {}", verb->name, plain(name)), name, names,
                              "spotter " + verb->name + " --help");
        }
        if (known->takes_value && arguments[i].size() == name.size()) { ++i; }  // the next word is its value
    }
    return {};
}

}  // namespace spotter_tool
