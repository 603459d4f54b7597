// SPDX-License-Identifier: Apache-2.0
// Export (L5): recorded layers for TensorBoard's embedding projector: points, their labels, and the file that names
// both.
#pragma once

#include <spotter/export/row_major.hpp>

#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// One column of what is known of the points.
struct point_labels {
    std::string title{};               // of the column
    std::vector<std::string> words{};  // one a point; fewer: the rest is empty
};

// A tensor whose first axis counts the points; the others together are the dimensions. Empty where there are fewer than
// two axes. What is not finite is written as 0, and counted in `replaced`: one NaN would keep the projector from
// drawing anything.
[[nodiscard]] std::string projector_points(tensor_ref const& tensor, std::uint64_t& replaced);

// One line a point; a title line where there are several columns, as the projector wants it.
[[nodiscard]] std::string projector_labels(std::vector<point_labels> const& columns, std::size_t points);

// One embedding of projector_config.pbtxt; paths are relative to that file, `labels` may be empty.
[[nodiscard]] std::string projector_entry(std::string_view name, std::string_view points, std::string_view labels);

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/export/projector.ipp>
#endif
