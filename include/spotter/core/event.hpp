// SPDX-License-Identifier: Apache-2.0
// Core (L0): the events of a run. A hook makes them from memory, a replay from a record; a sink sees no difference.
#pragma once

#include <spotter/core/role.hpp>
#include <spotter/core/sentence.hpp>
#include <spotter/core/step.hpp>
#include <spotter/core/tensor_ref.hpp>

#include <span>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// No tensor has this id.
inline constexpr tensor_id no_tensor = 0xFFFFFFFFU;

// When a loop observes its tensors, relative to the weight update: decides which update a gradient belongs to.
enum class instant : std::uint8_t { before_update, after_update };

// Declared when a name is observed for the first time, and again if its role, flags or partner become known later.
// `name` lives as long as the source (hook or trial); `shape` is that of the first observation.
struct tensor_info {
    tensor_id id = no_tensor;  // unique within the source
    std::string_view name{};
    spotter::role role = spotter::role::other;          // given by the user, or guessed from the name
    spotter::role partner_role = spotter::role::other;  // of a gradient: the role of its tensor
    tensor_id partner = no_tensor;  // gradient and weight: each other; evaluation loss or metric: the training one
    flag flags = flag::none;        // given with the first observation
    activation_kind activation = activation_kind::unknown;       // of an activation, if it was given
    dtype type = dtype::none;                                    // of the elements
    extents shape{};                                             // in elements, with a batch's axis
    std::uint64_t collections = 0;                               // bit i: member of the run's collection i
    spotter::instant instant = spotter::instant::before_update;  // from the run's options
};

// Counters for each unit of a layer, the feature behind dead_relu. Spans of `units` values each, valid during the call;
// empty if no rule or collection wants them.
struct unit_activity {
    std::span<std::uint32_t const> active{};  // elements of each unit that are finite and not zero
    std::span<std::uint32_t const> finite{};  // elements of each unit that are finite
    int axis = -1;                            // the axis that counts the units
};

// A tensor at a step. References and pointers are valid during the call only.
struct observation {
    tensor_info const& tensor;  // the observed tensor
    step_id step;               // at this step
    summary const& stats;       // has at least the terms that rules and plan want; stat/summary.hpp
    tensor_ref view{};          // absent in a replay without recorded values; the shape is still set
    unit_activity units{};      // empty if not wanted
    spotter::distribution const* distribution = nullptr;  // null if not wanted
    feature_list* features = nullptr;                     // null where there is only `view`
    std::uint32_t stream = 0;                             // which run or worker of a joint replay; 0 in a loop
};

// Samples along the batch axis, the first by default. A vector is a single sample, unless its axis is stated to be that
// of the batch (`batch_axis(0)`); one number is a single sample.
[[nodiscard]] constexpr std::uint64_t samples_of(extents const& shape, flag flags) noexcept {
    int const stated = batch_axis_of(flags);
    std::size_t const axis = stated < 0 ? 0 : static_cast<std::size_t>(stated);
    return axis < shape.rank && (stated >= 0 || shape.rank > 1) ? shape.size[axis] : 1;
}
[[nodiscard]] constexpr std::uint64_t samples_of(observation const& it) noexcept {
    return samples_of(it.view.shape, it.tensor.flags);
}

// A collection as it is recorded.
struct collection_info {
    std::string_view name;
    sentence what;  // pattern, policy and contents
};

// What a sink receives at the start of a run.
struct run_info {
    std::span<collection_info const> collections{};  // of the plan, in order
    std::string_view packs{};                        // names of the rule packs that judge it, separated by blanks
};

}  // namespace spotter::inline SPOTTER_ABI
