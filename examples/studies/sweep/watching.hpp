// SPDX-License-Identifier: Apache-2.0
// Supervision from outside: each configuration is a process, and `spotter watch` is another, which judges them by a
// file of rules.
#pragma once

#include "training.hpp"

#include <spotter/trial.hpp>

#include <filesystem>
#include <fstream>
#include <string>

#include <csignal>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sweep {

// Trains in a separate process, so that runs cannot affect each other. False where it does not end normally.
[[nodiscard]] inline bool train_apart(configuration const& how, budget const& within, studies::split const& data,
                                      std::uint64_t seed, std::string const& folder, bool heeds) {
    pid_t const child = ::fork();
    if (child == 0) {
        sp::hook watch{folder, keep, sp::options{.existing = sp::existing::replace}};
        (void)train(how, within, data, seed, watch, heeds);
        ::_exit(watch.health().good() ? 0 : 1);
    }
    int status = 0;
    return child > 0 && ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// The rules of a sweep, from the losses of a run that is known to learn. A run is behind if its loss is worse by half
// at the first two checks, or by a quarter later. It does not learn if after fifty steps its loss is no better than
// guessing, ln 10.
[[nodiscard]] inline std::string rules_after(sp::trial const& known) {
    std::string text = R"({"rules": [
    {"rule": "non_finite", "adapt": [{"on": "stop"}]},
    {"any": "loss", "where": "mean > 2.3026", "adapt": [
        {"only": {"and": [{"during": "train"}, {"from": 50}]}}, {"for_steps": 5},
         {"named": "does_not_learn"}, {"on": "stop"}]})";
    for (sp::point const& each : known["loss"].history(sp::mean, sp::during{sp::mode::eval})) {
        std::uint64_t const check = each.step.index;
        text += fmt::format(R"(,
    {{"any": "loss", "where": "mean > {:.4f}", "adapt": [
        {{"only": {{"and": [{{"during": "eval"}}, {{"at": [{}]}}]}}}}, {{"named": "behind"}}, {{"on": "stop"}}]}})",
                            each.value * (check < 2 ? 1.5 : 1.25), check);
    }
    return text + "\n]}\n";
}

// Runs `spotter watch FOLDER --rules RULES --stop` until the object is destroyed; writes its output to the file `says`.
class watcher {
public:
    watcher(std::string const& tool, std::string const& folder, std::string const& rules, std::string const& says) {
        child_ = ::fork();
        if (child_ != 0) { return; }
        int const out = ::open(says.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
        if (out < 0 || ::dup2(out, STDOUT_FILENO) < 0) { ::_exit(127); }
        ::execl(tool.c_str(), tool.c_str(), "watch", folder.c_str(), "--rules", rules.c_str(), "--stop", "--keep",
                "--json", nullptr);
        ::_exit(127);
    }
    watcher(watcher const&) = delete;
    watcher& operator=(watcher const&) = delete;
    ~watcher() {
        if (child_ <= 0) { return; }
        (void)::kill(child_, SIGTERM);
        (void)::waitpid(child_, nullptr, 0);
    }
    // False where it has ended, because of an unknown rule for example.
    [[nodiscard]] bool watches() {
        if (child_ > 0 && ::waitpid(child_, nullptr, WNOHANG) != 0) { child_ = -1; }
        return child_ > 0;
    }

private:
    pid_t child_ = -1;
};

}  // namespace sweep
