// SPDX-License-Identifier: Apache-2.0
// Rule (L2): a pack of the catalogue. Its rules are compiled where its bodies are: in each program that uses it, or once
// (SPOTTER_SEPARATE); who names it sees none of them.
#pragma once

#include <spotter/rule/hidden_machine.hpp>

namespace spotter::inline SPOTTER_ABI {

// What `||` says of its rules; a tensor costs only those that watch it.
struct built_in_pack {
    using kind = rule_kind;
    detail::hidden_machine* (*make)() noexcept;  // null: no memory
};

template <>
class machine<built_in_pack> : public detail::hidden_machine_owner {
public:
    explicit machine(built_in_pack const& pack) noexcept : detail::hidden_machine_owner{pack.make()} {}
};

}  // namespace spotter::inline SPOTTER_ABI
