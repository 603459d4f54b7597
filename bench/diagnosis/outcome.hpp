// SPDX-License-Identifier: Apache-2.0
// What came of one training, as one line a pack: of the program's own pack, of sagemaker's, of that at every 500th
// step, and of the rules of the program's own pack, each for itself.
#pragma once

#include "faults.hpp"

#include <spotter/diagnosis/signs.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace diagnosis {

inline constexpr std::array<std::string_view, 4> pack_names{"spotter", "sagemaker", "sagemaker at 500", "rules alone"};
inline constexpr std::size_t own_pack = 0, each_rule_alone = 3;  // places there

// A finding of severity warning or above.
struct reported_finding {
    std::string rule{}, reason{}, tensor{};
    std::uint64_t step = 0;
    double measured = 0;
    std::string other{};  // the rule that its detail names beside it: "or OTHER: to distinguish them, …"
};

// What one pack said of a training. The first alarm is everything that was found at the first such step, strongest
// first.
struct verdict {
    bool alarmed = false;
    std::string mode{};
    std::uint64_t step = 0;
    bool stopped = false;  // a decision of the hook would have been to stop, first at this step
    std::uint64_t stopped_at = 0;
    std::uint64_t skips = 0;  // decisions to skip the update
    std::vector<reported_finding> first{};
    spotter::detail::signs seen{};              // at the first alarm, where the table of causes named it
    std::vector<reported_finding> rules{};      // of each rule that alarmed its first, in that order
    std::vector<reported_finding> too_early{};  // the same of alarms before there was anything wrong
    std::string bad_value{};                    // the first tensor reported as non-finite, and when
    std::uint64_t bad_value_at = 0;
    std::vector<std::string> not_judged{};  // rules that could not run, with the reason
};

struct outcome {
    assignment what{};
    std::uint64_t steps = 0;
    double badness = 0;     // after the last step, on data not trained on: 0 perfect, about 1 nothing learnt
    bool finite = true;     // no loss and no weight was non-finite
    double first_loss = 0;  // on the training data, smoothed: for tuning a program
    double last_loss = 0;
    std::string planted{};  // where the NaN was put, and when
    std::uint64_t planted_at = 0;
    double seconds = 0;        // of computing
    std::string candidates{};  // results with other limits, if asked for (limits.hpp)
    std::size_t acts = 0;      // of the cures that it followed
    std::array<verdict, pack_names.size()> packs{};
};

// Lines of text with commas between the fields; findings within a field are separated by `;`, their parts by `|`.
[[nodiscard]] std::string csv_header();
[[nodiscard]] std::string csv_lines(outcome const& it);
// What csv_lines wrote; lines that are none are skipped.
[[nodiscard]] std::vector<outcome> read_csv(std::istream& from);

}  // namespace diagnosis
