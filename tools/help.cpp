// SPDX-License-Identifier: Apache-2.0
// Command line, `help`: help for the program, or for a verb.
#include "command_tree.hpp"
#include "output.hpp"

namespace spotter_tool {

int help(help_options const& given, command_tree const& tree,
         std::function<std::string(std::string const&)> const& of) {
    if (std::string const why = given.verb.empty() ? std::string{} : misspelt(tree, {given.verb}); !why.empty()) {
        say("spotter: " + why + '\n', stderr);
        return bad_usage;
    }
    say(of(given.verb));
    return fine;
}

}  // namespace spotter_tool
