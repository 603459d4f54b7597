// SPDX-License-Identifier: Apache-2.0
// Forward declarations of hook (L3).
#pragma once

#include <spotter/plan/fwd.hpp>
#include <spotter/rule/fwd.hpp>

namespace spotter::inline SPOTTER_ABI {

enum class drain : std::uint8_t;
enum class ending : std::uint8_t;
enum class existing : std::uint8_t;
enum class instant : std::uint8_t;
enum class overflow : std::uint8_t;
enum class workers : std::uint8_t;

class name_list;
class observer;
class registry;
class tensor_table;
struct named_tensor;
struct null_hook;
struct null_sink;
struct options;
struct run_end;
struct sink_health;
struct tensor_name;

template <class Sink, class Plan, class... Arguments>
class hook;

}  // namespace spotter::inline SPOTTER_ABI
