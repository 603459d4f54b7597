// SPDX-License-Identifier: Apache-2.0
// Core (L0): the events of a run. A hook makes them from memory, a replay from a record; a sink cannot tell which.
#pragma once

#include <spotter/core/role.hpp>
#include <spotter/core/step.hpp>
#include <spotter/core/tensor_ref.hpp>
#include <spotter/core/text.hpp>

#include <span>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// The id of none.
inline constexpr tensor_id no_tensor = 0xFFFFFFFFU;

// When a loop shows its tensors, seen from the weight update: decides which gradient belongs to which update.
enum class instant : std::uint8_t { before_update, after_update };

// Declared when a name is met for the first time, and again if its role, flags or partner become known later.
// `name` lives as long as the source (hook or trial); `shape` is that of the first observation.
struct tensor_info {
    tensor_id id = no_tensor;  // the source's own
    std::string_view name{};
    spotter::role role = spotter::role::other;          // said, or guessed from the name
    spotter::role partner_role = spotter::role::other;  // of a gradient: what it is the gradient of
    tensor_id partner = no_tensor;  // gradient and weight; of a loss or metric in evaluation the one in training
    flag flags = flag::none;        // as said at the first observation
    activation_kind activation = activation_kind::unknown;       // of an activation, as far as it was said
    dtype type = dtype::none;                                    // of the elements
    extents shape{};                                             // in elements; a batch's axis among them
    std::uint64_t collections = 0;                               // bit i: member of the run's collection i
    spotter::instant instant = spotter::instant::before_update;  // as the run's options say
};

// Counters per unit of a layer, the feature behind dead_relu: which elements were active (finite, not zero).
// Spans of `units` values each, valid during the call; empty when nobody asked.
struct unit_activity {
    std::span<std::uint32_t const> active{};  // elements of each unit that are finite and not zero
    std::span<std::uint32_t const> finite{};  // elements of each unit that are finite
    int axis = -1;                            // that counts the units
};

// A tensor at a step. References and pointers are valid during the call only.
struct observation {
    tensor_info const& tensor;  // whose
    step_id step;               // at which
    summary const& stats;       // holds the terms that were asked for; see stat/summary.hpp
    tensor_ref view{};          // absent in a replay whose record has no payload here; it has a shape nevertheless
    unit_activity units{};      // empty when nobody asked
    spotter::distribution const* distribution = nullptr;  // null when nobody asked
    feature_list* features = nullptr;                     // null where there is only `view`
    std::uint32_t stream = 0;                             // of several runs or workers side by side: which; 0 in a loop
};

// One collection as the record remembers it.
struct collection_info {
    std::string_view name;
    text<96> what;  // pattern, policy and contents, as a sentence
};

// What a sink is told of a run before everything.
struct run_info {
    std::span<collection_info const> collections{};  // of its plan, in order
    std::string_view packs{};  // of the catalogue, by which it is judged: names with a blank between
};

}  // namespace spotter::inline SPOTTER_ABI
