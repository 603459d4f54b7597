// SPDX-License-Identifier: Apache-2.0
// Command line: the exit code of a verb, and the report of what a record lacks, for all verbs.
#pragma once

#include "output.hpp"

#include <spotter/report/losses.hpp>
#include <spotter/trial/trial.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace spotter_tool {

// The stronger of two, in the order: a finding, a loss, a bad end, nothing judged.
[[nodiscard]] inline exit_code stronger(exit_code a, exit_code b) noexcept {
    constexpr std::array weakest_first{fine, not_judged, ended_badly, something_lost, found};  // before all others
    auto const place = [&](exit_code code) { return std::find(weakest_first.begin(), weakest_first.end(), code); };
    return place(b) > place(a) ? b : a;
}

[[nodiscard]] inline json loss_json(spotter::run_losses const& it) {
    if (!it.any()) { return {}; }
    json const ends = json_list(it.ends, [](spotter::lost_end const& each) -> json {
        return {{"file", each.file}, {"offset", each.offset}, {"bytes", each.bytes}, {"remembered", each.remembered}};
    });
    return {{"steps", it.steps},     {"places", it.places},
            {"bytes", it.bytes},     {"ends", ends},
            {"dropped", it.dropped}, {"thinned", it.thinned},
            {"closes", it.closes},   {"trouble", it.trouble ? json(std::string{it.trouble.what.view()}) : json()}};
}

// The last line of `check`.
[[nodiscard]] inline std::string records_line(std::size_t records, std::size_t ill) {
    return fmt::format("{}: {} with findings\n", plural(records, "record"), ill);
}

class outcome {
public:
    explicit outcome(std::string_view verb) : verb_{verb} {}

    // Reports what a record lacks on standard error, and returns it for the document.
    json look_at(spotter::trial const& run) {
        spotter::run_losses const lost = run.losses();
        if (!lost.any()) { return {}; }
        note(something_lost);
        say(loss_line(verb_, run, lost), stderr);
        return loss_json(lost);
    }
    [[nodiscard]] static std::string loss_line(std::string_view verb, spotter::trial const& run,
                                               spotter::run_losses const& lost) {
        return fmt::format("spotter {}: {} is not whole: {}{}\n", verb, plain(run.path()), plain(describe(lost)),
                           lost.damaged() && verb != "verify" ? " (`spotter verify` says where)" : "");
    }
    void note(exit_code what) noexcept { code_ = stronger(code_, what); }
    [[nodiscard]] exit_code code() const noexcept { return code_; }
    // For an error that ends the verb. A missing item may be part of what was lost.
    [[nodiscard]] exit_code code(exit_code failure) const noexcept {
        return failure == absent && code_ == something_lost ? something_lost : stronger(failure, code_);
    }

private:
    std::string_view verb_;
    exit_code code_ = fine;
};

}  // namespace spotter_tool
