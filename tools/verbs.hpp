// SPDX-License-Identifier: Apache-2.0
// Command line: the verbs and what each can be told. One file a verb; every one returns an exit code.
#pragma once

#include <string>
#include <vector>

namespace spotter_tool {

struct info_options {
    std::string path{};
    bool json = false;
    bool check = false;  // 1 where a rule found something, or the record is damaged
};
[[nodiscard]] int info(info_options const& wanted);

struct ls_options {
    std::string path{};
    std::string pattern{};
    std::string collection{};
    std::string mode{};
    std::string step{};
    bool steps = false;  // steps instead of names
    bool json = false;
};
[[nodiscard]] int ls(ls_options const& wanted);

struct show_options {
    std::string path{};
    std::string name{};
    std::string step{};  // empty: its history
    std::string stat{};
    std::string as{};
    std::string mode{};
    bool all = false;  // every number
    bool ascii = false;
    bool json = false;
};
[[nodiscard]] int show(show_options const& wanted);

struct verify_options {
    std::string path{};
    bool json = false;
};
[[nodiscard]] int verify(verify_options const& wanted);

struct recover_options {
    std::string path{};
    bool cut = false;
    bool dry_run = false;
    bool json = false;
};
[[nodiscard]] int recover(recover_options const& wanted);

struct export_options {
    std::string path{};
    std::string out{};
    std::vector<std::string> names{};  // globs; none: all
    std::string step{};
    std::string mode{};
    std::vector<std::string> stats{};
    std::string format{};
    bool widen = false;
    bool force = false;
    bool json = false;
};
[[nodiscard]] int export_to(export_options const& wanted);

}  // namespace spotter_tool
