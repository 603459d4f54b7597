// SPDX-License-Identifier: Apache-2.0
// Fashion-MNIST (Xiao, Rasul and Vollgraf 2017): 28 x 28, grey, ten classes of ten thousand.
#pragma once

#include "pictures.hpp"

namespace studies::fashion {

inline constexpr std::int64_t class_count = 10;
inline constexpr char const* names_text =
    "T-shirt\ntrousers\npullover\ndress\ncoat\nsandal\nshirt\ntrainer\nbag\nankle boot";

inline constexpr char const* usage = "TRAIN-IMAGES TRAIN-LABELS TEST-IMAGES TEST-LABELS ";
inline constexpr char const* origin =
    "The files are {train,t10k}-{images-idx3,labels-idx1}-ubyte of Fashion-MNIST, on Debian and Ubuntu in\n"
    "/usr/share/datasets/fashion-mnist after apt-get install dataset-fashion-mnist (packed: gzip -dc FILE.gz > FILE).";

[[nodiscard]] inline split load(std::vector<std::string> const& files) {
    return load_split(files, class_count, origin);
}

}  // namespace studies::fashion
