// SPDX-License-Identifier: Apache-2.0
// Command line, `completion`: completes verbs, options and their values in a shell, from the parser's own tree.
#include "command_tree.hpp"
#include "output.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace spotter_tool {

namespace {

// The suggestions for its value.
[[nodiscard]] std::vector<std::string> const& words_for(option_words const& it) {
    return it.choices.empty() ? it.offers : it.choices;
}
// Whether the positional argument is a tensor of the run before it.
[[nodiscard]] bool takes_tensor(verb_words const& verb) {
    for (option_words const& each : verb.options) {
        if (each.names.empty() && each.offers_tensors) { return true; }
    }
    return false;
}
[[nodiscard]] std::string all_names(verb_words const& verb) { return joined(verb.option_names(), " "); }
[[nodiscard]] std::string verb_names(command_tree const& tree, std::string_view between) {
    std::vector<std::string> names;
    for (verb_words const& each : tree.verbs) { names.push_back(each.name); }
    return joined(names, between);
}

// Without suggestions bash completes file names.
[[nodiscard]] std::string for_bash(command_tree const& tree) {
    std::string text =
        "# Completion of spotter for bash: source it, or put it into share/bash-completion/completions/spotter.\n"
        "# Names of a run are compared and quoted, never expanded: a record may come from anywhere.\n"
        "_spotter_tensors() {\n"
        "    local name\n"
        "    [[ -n $run ]] || return\n"
        "    while IFS= read -r name; do\n"
        "        if [[ $name == \"$word\"* ]]; then COMPREPLY+=(\"$(printf %q \"$name\")\"); fi\n"
        "    done < <(\"${COMP_WORDS[0]}\" ls \"$run\" --names 2>/dev/null)\n"
        "}\n"
        "_spotter() {\n"
        "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb= words= run= i\n"
        "    COMPREPLY=()\n"
        "    for ((i = 1; i < COMP_CWORD; ++i)); do\n"
        "        if [[ ${COMP_WORDS[i]} == -* ]]; then continue; fi\n"
        "        if [[ -z $verb ]]; then verb=${COMP_WORDS[i]};\n"
        "        elif [[ -z $run && -d ${COMP_WORDS[i]} ]]; then run=${COMP_WORDS[i]}; fi\n"
        "    done\n"
        "    case \"$verb $before\" in\n";
    for (verb_words const& verb : tree.verbs) {
        for (option_words const& each : verb.options) {
            if (!each.takes_value || each.names.empty()) { continue; }
            std::vector<std::string> ways;
            for (std::string const& name : each.names) { ways.push_back('"' + verb.name + ' ' + name + '"'); }
            if (each.offers_tensors) {
                text += fmt::format("    {}) _spotter_tensors; return ;;\n", joined(ways, "|"));
                continue;
            }
            text += fmt::format("    {}) COMPREPLY=($(compgen -W {} -- \"$word\")); return ;;\n", joined(ways, "|"),
                                shell_text(joined(words_for(each), " ")));
        }
    }
    text += "    esac\n    case \"$verb\" in\n";
    text += fmt::format("    \"\") words={} ;;\n", shell_text(verb_names(tree, " ") + ' ' + all_names(tree.program)));
    for (verb_words const& verb : tree.verbs) {
        std::string offered = all_names(verb);
        std::string places;
        for (option_words const& each : verb.options) {
            if (each.names.empty() && !each.choices.empty()) { places += ' ' + joined(each.choices, " "); }
        }
        text += fmt::format("    {}) [[ $word == -* ]] && words={}", verb.name, shell_text(offered));
        text += !places.empty()      ? fmt::format(" || words={} ;;\n", shell_text(places.substr(1)))
                : takes_tensor(verb) ? std::string{" || _spotter_tensors ;;\n"}
                                     : std::string{" ;;\n"};
    }
    return text + "    esac\n"
                  "    [[ -n $words ]] && COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
                  "}\n"
                  "complete -o bashdefault -o default -F _spotter spotter\n";
}

[[nodiscard]] std::string for_zsh(command_tree const& tree) {
    constexpr std::string_view marks = "[]:\\";
    std::string text = "#compdef spotter\n"
                       "# Completion of spotter for zsh: source it, or put it into share/zsh/site-functions/_spotter.\n"
                       "_spotter_tensors() {\n"
                       "    local run word\n"
                       "    local -a names\n"
                       "    for word in ${words[2,-1]}; do\n"
                       "        if [[ $word != -* && -d ${(Q)word} ]]; then run=${(Q)word}; break; fi\n"
                       "    done\n"
                       "    [[ -n $run ]] || return 1\n"
                       "    names=(${(f)\"$(command spotter ls \"$run\" --names 2>/dev/null)\"})\n"
                       "    compadd -a names\n"
                       "}\n"
                       "_spotter() {\n"
                       "    if (( CURRENT == 2 )); then\n"
                       "        local -a verbs=(\n";
    for (verb_words const& verb : tree.verbs) {
        text += "            " + shell_text(verb.name + ':' + verb.what) + '\n';
    }
    text += "        )\n"
            "        _describe verb verbs\n"
            "        return\n"
            "    fi\n"
            "    shift words\n"
            "    (( CURRENT-- ))\n"
            "    case $words[1] in\n";
    for (verb_words const& verb : tree.verbs) {
        text += fmt::format("    {}) _arguments", verb.name);
        bool has_files = false;
        for (option_words const& each : verb.options) {
            if (each.names.empty()) {
                if (each.offers_tensors) {
                    continue;  // handled below
                } else if (each.choices.empty()) {
                    has_files = true;
                } else {
                    text += fmt::format(" \\\n        '*:{}:({})'", each.place, joined(each.choices, " "));
                }
                continue;
            }
            for (std::string const& name : each.names) {
                std::string const what = shell_text(each.what, marks);
                text += fmt::format(" \\\n        '{}{}['{}']", each.repeats ? "*" : "", name, what);
                if (each.takes_value) {
                    text += each.offers_tensors       ? std::string{":tensor:_spotter_tensors"}
                            : words_for(each).empty() ? std::string{":word:_files"}
                                                      : fmt::format(":word:({})", joined(words_for(each), " "));
                }
                text += '\'';
            }
        }
        text += takes_tensor(verb) ? " \\\n        '1:run:_files' \\\n        '2:tensor:_spotter_tensors' ;;\n"
                : has_files        ? " \\\n        '*:file:_files' ;;\n"
                                   : " ;;\n";
    }
    return text + "    esac\n"
                  "}\n"
                  "if [[ $funcstack[1] == _spotter ]]; then _spotter \"$@\"; else compdef _spotter spotter; fi\n";
}

[[nodiscard]] std::string fish_line(std::string const& when, option_words const& it) {
    std::string line = "complete -c spotter -n " + when;
    for (std::string const& name : it.names) {
        line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    std::vector<std::string> const& words = words_for(it);
    bool const is_place = it.names.empty();
    if (it.takes_value && !is_place) { line += words.empty() && !it.offers_tensors ? " -r" : " -x"; }
    if (!words.empty()) { line += " -a " + shell_text(joined(words, " ")); }
    if (it.offers_tensors) { line += " -a '(__spotter_tensors)'"; }
    return line + " -d " + shell_text(it.what, "\\") + '\n';
}

[[nodiscard]] std::string for_fish(command_tree const& tree) {
    std::string text =
        "# Completion of spotter for fish: source it, or put it into share/fish/vendor_completions.d/spotter.fish.\n"
        "function __spotter_tensors\n"
        "    for word in (commandline -opc)[3..-1]\n"
        "        if not string match -q -- '-*' $word; and test -d $word\n"
        "            command spotter ls $word --names 2>/dev/null\n"
        "            return\n"
        "        end\n"
        "    end\n"
        "end\n";
    std::string const no_verb = fmt::format("'not __fish_seen_subcommand_from {}'", verb_names(tree, " "));
    for (verb_words const& verb : tree.verbs) {
        text +=
            fmt::format("complete -c spotter -f -n {} -a {} -d {}\n", no_verb, verb.name, shell_text(verb.what, "\\"));
    }
    for (option_words const& each : tree.program.options) { text += fish_line(no_verb, each); }
    for (verb_words const& verb : tree.verbs) {
        for (option_words const& each : verb.options) {
            if (each.names.empty() && each.choices.empty() && !each.offers_tensors) { continue; }  // files
            text += fish_line(fmt::format("'__fish_seen_subcommand_from {}'", verb.name), each);
        }
    }
    return text;
}

}  // namespace

std::string completion_of(command_tree const& tree, std::string const& shell) {
    return shell == "bash" ? for_bash(tree) : shell == "zsh" ? for_zsh(tree) : for_fish(tree);
}

}  // namespace spotter_tool
