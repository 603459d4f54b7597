// SPDX-License-Identifier: Apache-2.0
// Workbench, page: findings as cards, one for each cause, with the findings that it explains.
#pragma once
#include "page/evidence_chart.hpp"

namespace spotter::inline SPOTTER_ABI::html {

struct card {
    struct part {                        // one finding
        evidence const* what = nullptr;  // part of the story
        detail::evidence_chart drawn{};  // its drawing
    };
    part head{};                 // the cause
    std::vector<part> behind{};  // by time
};

// By time. A card has an alarm, the notes that were reported at its close, and the notes that name it as their cause.
// Cards with the same drawing are merged under the strongest of them. Points into the story.
[[nodiscard]] std::vector<card> cards_of(run_story const& story);

}  // namespace spotter::inline SPOTTER_ABI::html
