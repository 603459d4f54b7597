// SPDX-License-Identifier: Apache-2.0
// Command line, `manual`: pages for man(1), from the parser's own tree.
#include "command_tree.hpp"
#include "new_file.hpp"
#include "output.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace spotter_tool {

namespace {

// Escapes text for troff: a line that begins with a dot or a quote would be a request, a minus would become a hyphen.
[[nodiscard]] std::string troff(std::string_view text) {
    std::string safe;
    bool line_begins = true;
    for (char const letter : text) {
        if (line_begins && (letter == '.' || letter == '\'')) { safe += "\\&"; }
        if (letter == '\\') {
            safe += "\\e";
        } else if (letter == '-') {
            safe += "\\-";
        } else if (letter == '\'') {
            safe += "\\(aq";
        } else {
            safe += letter;
        }
        line_begins = letter == '\n';
    }
    return safe;
}

[[nodiscard]] std::string value_of(option_words const& it) {
    if (it.choices.empty()) { return "VALUE"; }
    std::string text;
    for (std::string const& each : it.choices) { text += (text.empty() ? "" : "|") + each; }
    return text;
}

[[nodiscard]] std::string synopsis_of(verb_words const& verb) {
    std::string text = ".B spotter " + troff(verb.name) + '\n';
    for (option_words const& each : verb.options) {
        if (!each.names.empty()) { continue; }
        std::string const word = "\\fI" + troff(each.place) + "\\fR" + (each.repeats ? " ..." : "");
        text += each.required ? word + '\n' : '[' + word + "]\n";
    }
    return text + "[\\fIoptions\\fR]\n";
}

[[nodiscard]] std::string options_of(verb_words const& verb) {
    std::string text;
    for (option_words const& each : verb.options) {
        text += ".TP\n";
        if (each.names.empty()) {
            text += ".I " + troff(each.place) + '\n';
        } else {
            std::string names;
            for (std::string const& name : each.names) {
                names += (names.empty() ? "\\fB" : ", \\fB") + troff(name) + "\\fR";
            }
            text += names + (each.takes_value ? " \\fI" + troff(value_of(each)) + "\\fR" : "") + '\n';
        }
        text += troff(each.what) + '\n';
    }
    return text;
}

}  // namespace

std::string manual_of(command_tree const& tree, verb_words const& verb, std::string const& version) {
    bool const is_program = verb.name.empty();
    std::string const page = is_program ? "spotter" : "spotter-" + verb.name;
    std::string text = fmt::format(".TH \"{}\" 1 \"\" \"spotter {}\" \"spotter\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n",
                                   troff(page), version, troff(page), troff(verb.what));
    if (is_program) {
        text += ".B spotter\n\\fIverb\\fR [\\fIarguments\\fR]\n.SH VERBS\n";
        for (verb_words const& each : tree.verbs) {
            text += fmt::format(".TP\n.BR spotter\\-{} (1)\n{}\n", troff(each.name), troff(each.what));
        }
    } else {
        text += synopsis_of(verb);
    }
    text += ".SH OPTIONS\n" + options_of(verb);
    text += ".SH EXIT STATUS\n.nf\n" + troff(tree.exit_codes) + "\n.fi\n";
    if (!verb.example.empty()) { text += ".SH EXAMPLES\n.nf\n" + troff(verb.example) + "\n.fi\n"; }
    return text + (is_program ? "" : ".SH SEE ALSO\n.BR spotter (1)\n");
}

int describe_self(command_tree const& tree, self_description_options const& given, std::string const& version) {
    std::vector<verb_words const*> pages{&tree.program};
    for (verb_words const& each : tree.verbs) { pages.push_back(&each); }
    if (given.into.empty()) {
        for (verb_words const* const each : pages) {
            if (each->name != given.verb) { continue; }
            say(manual_of(tree, *each, version));
            return fine;
        }
        spotter::error why{spotter::errc::bad_config, "there is no verb \""};
        why.what << std::string_view{given.verb}.substr(0, 60) << '"';
        return fail(why, false, "manual", {});
    }
    for (verb_words const* const each : pages) {
        std::string const path = given.into + "/spotter" + (each->name.empty() ? "" : '-' + each->name) + ".1";
        spotter::error const why = write_file(path, manual_of(tree, *each, version), true);
        if (why) { return fail(why, false, "manual", {}); }
    }
    return fine;
}

}  // namespace spotter_tool
