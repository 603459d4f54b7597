// SPDX-License-Identifier: Apache-2.0
// Pictures with labels, read from a pair of IDX files.
#pragma once

#include "idx.hpp"
#include "torch.hpp"

#include <string>
#include <utility>
#include <vector>

namespace studies {

struct pictures {
    torch::Tensor pixels{};  // bytes [count, channels, height, width]
    torch::Tensor labels{};  // 64-bit integers [count]
    std::string problem{};   // why there are none

    [[nodiscard]] std::int64_t size() const { return labels.size(0); }

    // The pictures with these indices, 64-bit integers [n].
    [[nodiscard]] pictures at(torch::Tensor const& chosen) const {
        return {pixels.index_select(0, chosen), labels.index_select(0, chosen), {}};
    }
};

// Bytes as the input of a net: floats from -2 to 2.
[[nodiscard]] inline torch::Tensor as_input(torch::Tensor const& bytes) {
    return bytes.to(torch::kFloat).div_(63.75F).sub_(2.0F);
}

// Pictures [count, height, width] or [count, height, width, channels] with their labels [count], each below `classes`.
// `origin` says where to get the files; it is part of the error.
[[nodiscard]] inline pictures load_pictures(std::string const& images, std::string const& labels, std::int64_t classes,
                                            std::string const& origin) {
    auto const refuse = [](std::string why) { return pictures{{}, {}, std::move(why)}; };
    idx_file shown = read_idx(images), said = read_idx(labels);
    for (idx_file const* each : {&shown, &said}) {
        if (!each->problem.empty()) { return refuse(each->problem + "\n" + origin); }
    }
    if (shown.sizes.size() == 3) { shown.sizes.push_back(1); }
    if (shown.sizes.size() != 4 || said.sizes.size() != 1 || shown.sizes[0] != said.sizes[0] || said.sizes[0] == 0) {
        return refuse(images + ", " + labels + ": are not pictures and as many labels\n" + origin);
    }
    torch::Tensor const bytes = torch::from_blob(shown.values.data(), shown.sizes, torch::kByte);
    pictures result{bytes.permute({0, 3, 1, 2}).contiguous().clone(),
                    torch::from_blob(said.values.data(), said.sizes, torch::kByte).to(torch::kLong),
                    {}};
    if (result.labels.max().item<std::int64_t>() >= classes) {
        return refuse(labels + ": has a class of " + std::to_string(classes) + " or more\n" + origin);
    }
    return result;
}

// Training and test pictures, from four files: pictures and labels of the first, then of the second.
struct split {
    pictures train{}, test{};

    [[nodiscard]] std::string problem() const { return !train.problem.empty() ? train.problem : test.problem; }
};
[[nodiscard]] inline split load_split(std::vector<std::string> const& files, std::int64_t classes,
                                      std::string const& origin) {
    return {load_pictures(files[0], files[1], classes, origin), load_pictures(files[2], files[3], classes, origin)};
}

}  // namespace studies
