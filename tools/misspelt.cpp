// SPDX-License-Identifier: Apache-2.0
// Command line: an unknown verb or option, and the one that was probably meant.
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

std::size_t place_of_verb(command_tree const& tree, std::vector<std::string> const& arguments) {
    std::size_t place = 0;
    for (; place < arguments.size() && arguments[place].starts_with('-'); ++place) {
        option_words const* const known = option_named(tree.program, arguments[place]);
        if (known != nullptr && known->takes_value) { ++place; }  // its value
    }
    return (std::min)(place, arguments.size());
}

std::string misspelt(command_tree const& tree, std::vector<std::string> const& arguments) {
    auto const name_in = [](std::string const& argument) { return argument.substr(0, argument.find('=')); };
    std::size_t const place = place_of_verb(tree, arguments);
    for (std::size_t i = 0; i < place; ++i) {
        std::string const name = name_in(arguments[i]);
        if (!name.starts_with("--") || option_named(tree.program, name) != nullptr) { continue; }
        return with_guess(fmt::format("`spotter` has no option {}", plain(name)), name, tree.program.option_names(),
                          "spotter --help");
    }
    if (place == arguments.size()) { return {}; }
    auto const verb = std::find_if(tree.verbs.begin(), tree.verbs.end(),
                                   [&](verb_words const& each) { return each.name == arguments[place]; });
    if (verb == tree.verbs.end()) {
        std::vector<std::string> names;
        for (verb_words const& each : tree.verbs) { names.push_back(each.name); }
        return with_guess(fmt::format("there is no verb \"{}\"", plain(arguments[place])), arguments[place], names,
                          "spotter --help");
    }
    for (std::size_t i = place + 1; i < arguments.size() && arguments[i] != "--"; ++i) {
        if (!arguments[i].starts_with("--")) { continue; }
        std::string const name = name_in(arguments[i]);
        option_words const* const known = option_named(*verb, name);
        if (known == nullptr) {
            return with_guess(fmt::format("`spotter {}` has no option {}", verb->name, plain(name)), name,
                              verb->option_names(), "spotter " + verb->name + " --help");
        }
        if (known->takes_value && arguments[i].size() == name.size()) { ++i; }  // the next word is its value
    }
    return {};
}

}  // namespace spotter_tool
