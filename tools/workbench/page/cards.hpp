// SPDX-License-Identifier: Apache-2.0
// Workbench, page: findings as cards, one a cause, with what it explains behind it.
#pragma once
#include "page/evidence_chart.hpp"

namespace spotter::inline SPOTTER_ABI::html {

struct card {
    struct part {                        // one finding
        evidence const* what = nullptr;  // of the story
        detail::evidence_chart drawn{};  // what there is to draw of it
    };
    part head{};                 // the cause
    std::vector<part> behind{};  // in the order of time
};

// In the order of time. Behind an alarm are the notes that were reported at its close, and the notes that say that they
// are because of it. Cards that would draw the same are one, under the strongest of them. Points into the story.
[[nodiscard]] std::vector<card> cards_of(run_story const& story);

}  // namespace spotter::inline SPOTTER_ABI::html
