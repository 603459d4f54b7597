// SPDX-License-Identifier: Apache-2.0
// Command line: CLI11's messages in our own words. Included only by main.cpp, which knows CLI11.
#pragma once

#include "nearest.hpp"
#include "output.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace spotter_tool {

// `there is no format "npzz": did you mean npz?`
[[nodiscard]] inline std::string no_such_word(std::string_view kind, std::string_view written,
                                              std::vector<std::string> const& words) {
    auto const meant = nearest(written, words);
    return fmt::format("there is no {} \"{}\": {}", kind, plain(written.substr(0, 60)),
                       meant ? fmt::format("did you mean {}?", *meant) : "there are " + joined(words));
}

// Accepts one of these words. Help, completion and manual pages list them.
[[nodiscard]] inline CLI::Validator one_of(std::string kind, std::vector<std::string> words) {
    std::string const shown = joined(words, ",");
    return {[kind = std::move(kind), words = std::move(words)](std::string& written) {
                bool const known = std::find(words.begin(), words.end(), written) != words.end();
                return known ? std::string{} : no_such_word(kind, written, words);
            },
            '{' + shown + '}'};
}
[[nodiscard]] inline CLI::Validator above_zero() {
    return {[](std::string& written) {
                double number = 0;
                bool const is_number = CLI::detail::lexical_cast(written, number);
                return is_number && number > 0
                           ? std::string{}
                           : fmt::format("\"{}\" is not a number above 0", plain(written.substr(0, 60)));
            },
            "POSITIVE"};
}

namespace detail {

// The text after `--wait: `, CLI11's prefix.
[[nodiscard]] inline std::string_view behind_name(std::string_view text) {
    std::size_t const cut = text.find(": ");
    return cut == text.npos ? text : text.substr(cut + 2);
}
[[nodiscard]] inline std::string name_of_option(CLI::Option const& it) {
    return it.get_positional() ? it.get_name(true) : it.get_name();
}

// What CLI11 misses: a positional argument, an option or a verb.
[[nodiscard]] inline std::string missing_words(CLI::App const& verb) {
    for (CLI::Option const* const each : verb.get_options()) {
        if (!each->get_required() || each->count() > 0) { continue; }
        return fmt::format("{} ({})", name_of_option(*each), each->get_description());
    }
    return "a verb";
}
// The option whose value could not be read as a number, with that value; empty where none is known.
[[nodiscard]] inline std::string wrong_number_words(CLI::App const& verb, std::string_view text) {
    for (CLI::Option const* const each : verb.get_options()) {
        if (each->count() == 0 || text.find(each->get_name()) == text.npos) { continue; }
        return fmt::format("{}: \"{}\" is not a number that it takes", name_of_option(*each),
                           plain(each->results().front().substr(0, 60)));
    }
    return {};
}
// The option that was given too many values or none, with what it takes; empty where none is known.
[[nodiscard]] inline std::string mismatch_words(CLI::App const& verb, std::string_view text) {
    for (CLI::Option const* const each : verb.get_options()) {
        if (!text.starts_with(each->get_name() + ':')) { continue; }
        std::string_view const takes = each->get_items_expected_max() == 0 ? "takes no value"
                                       : each->count() > 1                 ? "takes one value, and is given once"
                                                                           : "takes a value";
        return fmt::format("{}: it {}", name_of_option(*each), takes);
    }
    return {};
}

}  // namespace detail

// Why the arguments of `verb` were refused, and where to find its help.
[[nodiscard]] inline std::string in_our_words(CLI::App const& verb, CLI::ParseError const& why) {
    std::string const called = verb.get_parent() == nullptr ? "spotter" : "spotter " + verb.get_name();
    std::string const help = fmt::format("`{} --help` says what there is", called);
    std::string_view const text = why.what();
    if (dynamic_cast<CLI::RequiredError const*>(&why) != nullptr) {
        return fmt::format("`{}` needs {}: {}", called, detail::missing_words(verb), help);
    }
    if (dynamic_cast<CLI::ExtrasError const*>(&why) != nullptr) {
        std::vector<std::string> const left = verb.remaining();
        return fmt::format("`{}` does not know what \"{}\" is: {}", called,
                           left.empty() ? std::string{} : plain(left.front().substr(0, 60)), help);
    }
    if (dynamic_cast<CLI::ValidationError const*>(&why) != nullptr) {
        return fmt::format("`{}`, {}: {}", called, text.substr(0, (std::min)(text.find(": "), text.size())),
                           detail::behind_name(text));
    }
    std::string words;
    if (dynamic_cast<CLI::ConversionError const*>(&why) != nullptr) { words = detail::wrong_number_words(verb, text); }
    if (dynamic_cast<CLI::ArgumentMismatch const*>(&why) != nullptr) { words = detail::mismatch_words(verb, text); }
    return words.empty() ? fmt::format("`{}`: {}", called, plain(text)) : fmt::format("`{}`, {}", called, words);
}

}  // namespace spotter_tool
