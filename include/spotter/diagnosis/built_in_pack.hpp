// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): a pack of the catalogue. Its rules are compiled together with its bodies: in each program that uses
// the pack, or once in the library (SPOTTER_SEPARATE). A program that names a pack sees none of its rules, and compiles
// no other pack.
#pragma once

#include <spotter/rule/any_machine.hpp>
#include <spotter/rule/packs_in.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

enum class pack_id : std::uint8_t { supervised, rl, boosting, system, sagemaker };

[[nodiscard]] constexpr std::string_view name_of(pack_id which) noexcept {
    constexpr std::string_view names[] = {"supervised", "rl", "boosting", "system", "sagemaker"};
    return names[static_cast<std::size_t>(which)];
}

// The pack's rules, on the heap; null where memory is short.
template <pack_id Which>
[[nodiscard]] any_machine* make_pack() noexcept;

}  // namespace detail

// Works as its rules joined by `||`. A tensor costs time only in the rules that watch it.
template <detail::pack_id Which>
struct built_in_pack {
    using kind = rule_kind;

    // Adds its own name for the record (rule/packs_in.hpp).
    static constexpr void tell_packs(detail::pack_names& into) noexcept {
        detail::add_pack(into, detail::name_of(Which));
    }
};

template <detail::pack_id Which>
class machine<built_in_pack<Which>> : public detail::any_machine_owner {
public:
    explicit machine(built_in_pack<Which> const&) noexcept : detail::any_machine_owner{detail::make_pack<Which>()} {}
};

}  // namespace spotter::inline SPOTTER_ABI
