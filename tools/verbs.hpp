// SPDX-License-Identifier: Apache-2.0
// Command line: the verbs and their options. Each verb is in a file of its own and returns an exit code.
#pragma once

#include <spotter/hook/control.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace spotter_tool {

// What has no options of its own.
struct run_and_json {
    std::string path{};
    bool json = false;
};
[[nodiscard]] int compact(run_and_json const& wanted);
[[nodiscard]] int list_checkpoints(run_and_json const& wanted);
[[nodiscard]] int profile(run_and_json const& wanted);
[[nodiscard]] int verify(run_and_json const& wanted);
[[nodiscard]] int who(run_and_json const& wanted);

struct info_options {
    std::string path{};
    bool json = false;
    bool check = false;  // exit code also 1, 6 or 7, by findings and the run's end
};
[[nodiscard]] int info(info_options const& wanted);

struct ls_options {
    std::string path{};
    std::string pattern{};
    std::string collection{};
    std::string mode{};
    std::string step{};
    bool steps = false;  // steps instead of names
    bool names = false;  // names alone, one a line
    bool json = false;
};
[[nodiscard]] int ls(ls_options const& wanted);

struct show_options {
    std::string path{};
    std::string name{};
    std::string step{};  // or a range; empty: its history
    std::string stat{};
    std::string as{};
    std::string mode{};
    bool all = false;  // every number
    bool ascii = false;
    bool json = false;
};
[[nodiscard]] int show(show_options const& wanted);

struct control_options {
    std::string path{};
    std::string names{};  // for capture
    std::uint64_t steps = 100;
    std::string file{};  // for plan and rules
    std::string by{};
    double wait = 10;  // seconds
    bool json = false;
};
[[nodiscard]] int control(control_options const& wanted, spotter::control_verb what);

struct recover_options {
    std::string path{};
    bool cut = false;
    bool dry_run = false;
    bool json = false;
};
[[nodiscard]] int recover(recover_options const& wanted);

struct sync_options {
    std::string from{}, to{};
    bool remove = false;
    bool json = false;
};
[[nodiscard]] int sync(sync_options const& wanted);

struct merge_options {
    std::vector<std::string> paths{};
    bool json = false;
};
[[nodiscard]] int merge(merge_options const& wanted);

struct export_options {
    std::string path{};
    std::string out{};
    std::vector<std::string> names{};  // globs; none: all
    std::string step{};
    std::string mode{};
    std::vector<std::string> stats{};
    std::string format{};
    std::vector<std::string> images{};  // globs, with =HEIGHTxWIDTH
    bool widen = false;
    bool force = false;
    bool follow = false;  // until the run ends
    bool json = false;
};
[[nodiscard]] int export_to(export_options const& wanted);
[[nodiscard]] std::vector<std::string> export_formats();  // their names
[[nodiscard]] std::string export_endings();               // of file names that select a format: ".npy, .npz or ..."
[[nodiscard]] std::string export_followers();             // formats that a live run can be followed into

struct check_options {
    std::vector<std::string> paths{};
    std::vector<std::string> rules{};    // files, packs, rules
    std::vector<std::string> against{};  // healthy runs
    std::string fail_on = "warning";
    std::string junit{};  // a file
    std::string shard{};  // 3/16, or rank
    bool side_by_side = false;
    bool self_test = false;
    bool list = false;
    bool json = false;
};
[[nodiscard]] int check(check_options const& wanted);
// For --self-test.
[[nodiscard]] int self_test_runs(check_options const& wanted);

struct run_options {
    std::vector<std::string> command{};
    std::vector<std::string> retries{};  // [CAUSE:]NAME[=SETTINGS]
    std::vector<std::string> rules{};    // files, packs, rules; empty: those of the program's hook
    std::string folder = "runs/heal";
    std::uint32_t attempts = 4;
    double patience = 0;  // seconds; 0: no limit
    std::string sweep{};  // a file with a line of settings for each training
    std::uint32_t slots = 1;
    bool json = false;
};
[[nodiscard]] int run_training(run_options const& wanted);

struct twin_options {
    std::vector<std::string> command{};
    std::string folder = "runs/twin";
    double patience = 0;  // seconds; 0: no limit
    bool json = false;
};
[[nodiscard]] int twin(twin_options const& wanted);

struct watch_options {
    std::vector<std::string> paths{};
    std::vector<std::string> rules{};
    bool stop = false;
    std::string command{};
    std::string alerts{};   // a file
    double stalled = 1800;  // seconds
    double time = 0;        // seconds; 0: until all runs have ended
    bool keep = false;
    bool ascii = false;
    bool json = false;
};
[[nodiscard]] int watch(watch_options const& wanted);

struct diff_arguments {
    std::string path{};       // A
    std::string other{};      // B
    std::string reference{};  // empty: none
    std::vector<std::string> maps{};
    std::vector<std::string> names{};       // globs; none: all
    std::vector<std::string> transposed{};  // globs of names of A
    std::string step{};
    std::string mode{};
    std::uint64_t ulp = 0;
    double relative = 0;
    double absolute = 0;
    bool strict = false;
    bool json = false;
};
[[nodiscard]] int diff(diff_arguments const& given);

struct new_options {
    std::string folder{};
    std::string kind = "plain";  // or torch, c
};
[[nodiscard]] int new_project(new_options const& wanted);

struct report_options {
    std::vector<std::string> paths{};     // several runs are shown side by side
    std::string out{};                    // -: standard output; empty: report.html, or - for a table
    std::vector<std::string> sections{};  // ids; none: all
    std::string as = "page";              // or csv: the table of the runs
    std::vector<std::string> rules{};     // judge the record anew; empty: the recorded findings
    bool self_test = false;
    bool force = false;
    bool json = false;
};
[[nodiscard]] int report(report_options const& wanted);

struct serve_options {
    std::string folder = ".";
    std::string host = "127.0.0.1";
    int port = 6007;     // 0: any free port
    bool token = false;  // required even if only this machine can connect
    bool json = false;
};
[[nodiscard]] int serve(serve_options const& wanted);

}  // namespace spotter_tool
