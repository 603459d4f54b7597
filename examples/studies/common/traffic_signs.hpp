// SPDX-License-Identifier: Apache-2.0
// German traffic signs, 32 x 32 in colour (GTSRB; Stallkamp et al., Neural Networks 32, 2012), 43 classes in the
// benchmark's order.
#pragma once

#include "pictures.hpp"

#include <array>
#include <string>
#include <string_view>

namespace studies::traffic_signs {

inline constexpr std::int64_t class_count = 43;

inline constexpr std::array<std::string_view, class_count> class_names{"limit 20",
                                                                       "limit 30",
                                                                       "limit 50",
                                                                       "limit 60",
                                                                       "limit 70",
                                                                       "limit 80",
                                                                       "end of limit 80",
                                                                       "limit 100",
                                                                       "limit 120",
                                                                       "no overtaking",
                                                                       "no overtaking, lorries",
                                                                       "right of way",
                                                                       "priority road",
                                                                       "yield",
                                                                       "stop",
                                                                       "no vehicles",
                                                                       "no lorries",
                                                                       "no entry",
                                                                       "danger",
                                                                       "bend left",
                                                                       "bend right",
                                                                       "double bend",
                                                                       "bumpy road",
                                                                       "slippery road",
                                                                       "road narrows",
                                                                       "road works",
                                                                       "traffic lights",
                                                                       "pedestrians",
                                                                       "children",
                                                                       "bicycles",
                                                                       "ice",
                                                                       "wild animals",
                                                                       "end of limits",
                                                                       "turn right",
                                                                       "turn left",
                                                                       "straight on",
                                                                       "straight or right",
                                                                       "straight or left",
                                                                       "keep right",
                                                                       "keep left",
                                                                       "roundabout",
                                                                       "end of no overtaking",
                                                                       "end of no overtaking, lorries"};

// The names, one a line, in the form that `watch.scalar("class_names", …)` needs.
[[nodiscard]] inline std::string names_text() {
    std::string text;
    for (std::string_view each : class_names) { text += (text.empty() ? "" : "\n") + std::string{each}; }
    return text;
}

inline constexpr char const* usage = "TRAIN-IMAGES TRAIN-LABELS TEST-IMAGES TEST-LABELS ";
inline constexpr char const* origin =
    "The files are traffic_signs-{train,test}-{images,labels}.idx, the training pictures of the German Traffic Sign "
    "Recognition Benchmark\n(https://benchmark.ini.rub.de) as 32 x 32 x 3 bytes and their classes, in IDX format; "
    "docs/studies/README.md tells how they are made.";

[[nodiscard]] inline split load(std::vector<std::string> const& files) {
    return load_split(files, class_count, origin);
}

}  // namespace studies::traffic_signs
