// SPDX-License-Identifier: Apache-2.0
// Hook (L3): `"loss"_t = x`, a name with its values, and arguments that hand over many by `visit_tensors`.
#pragma once

#include <spotter/core/event.hpp>
#include <spotter/core/fwd.hpp>
#include <spotter/core/source.hpp>

namespace spotter::inline SPOTTER_ABI {

// A view of `values` under a name, valid during the call that it is an argument of.
struct named_tensor {
    std::string_view name;
    offered values;  // a view, or a source to copy from
};

// A name without its values yet: `"loss"_t = loss`.
struct tensor_name {
    std::string_view name;

    template <class Tensor>
    [[nodiscard]] constexpr named_tensor operator=(Tensor const& values) const noexcept {
        return {name, offer(values)};
    }
};

inline namespace literals {
// `using namespace spotter::literals;`
[[nodiscard]] consteval tensor_name operator""_t(char const* name, std::size_t size) noexcept { return {{name, size}}; }
}  // namespace literals

namespace detail {

template <class Argument, class Visit>
concept visitable = requires(Argument const& argument, Visit visit) { visit_tensors(argument, visit); };

// Visits an argument of a step that is not a named tensor. Where it cannot be visited, the compiler error says why.
template <class Argument, class Visit>
void visit_each(Argument const& argument, Visit visit) {
    constexpr bool lacks_name = tensor<Argument> || tensor_source<Argument>;
    static_assert(visitable<Argument, Visit> || !lacks_name,
                  "spotter: a tensor in a step has a name: \"fc1/w\"_t = values, or observe(\"fc1/w\", values).");
    static_assert(
        visitable<Argument, Visit> || lacks_name,
        "spotter: a step takes names with values (\"loss\"_t = loss), and what has a free function in its own "
        "namespace: template <class Visit> void visit_tensors(my_net const& net, Visit visit), with that const, "
        "which calls visit(\"fc1/w\", values) for each tensor.");
    if constexpr (visitable<Argument, Visit>) { visit_tensors(argument, visit); }
}

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
