// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): the catalogue in packs, one for each kind of training. docs/rules.md#packs
// Rules are compiled together with a pack's bodies: in each program that uses the pack, or once in the library
// (SPOTTER_SEPARATE). A program that names a pack sees none of its rules, and compiles no other pack.
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

// A pack is a rule: `hook{"runs/a", keep, packs::supervised || loss_above_target}`. Each of its rules reports an
// episode once, and then nothing for 100 closes.
namespace packs {

// A net that is fitted to labels or targets. The caller adds `initial_loss`, with the loss that an untrained net should
// have: `packs::supervised || initial_loss{.expected = initial_loss::cross_entropy(10)}`.
inline constexpr built_in_pack<spotter::detail::pack_id::supervised> supervised{};

// Reinforcement learning. A policy's loss is no objective, so the rules on losses are left out, and
// poor_weight_initialization checks the weights alone. The caller adds `rl_entropy_collapse`, with the entropy of a
// policy that knows nothing: `packs::rl || rl_entropy_collapse{.max_entropy = 0.693}`.
inline constexpr built_in_pack<spotter::detail::pack_id::rl> rl{};

// Boosted trees.
inline constexpr built_in_pack<spotter::detail::pack_id::boosting> boosting{};

// The machine that trains. In a hook it reads `time/step` and `time/wait`, which the loop reports; in a system_sampler
// (ext/system.hpp) samples of processor, memory, disks and GPUs; in a replay_side_by_side it compares workers.
inline constexpr built_in_pack<spotter::detail::pack_id::system> system{};

// The rules of Amazon SageMaker Debugger with its values.
inline constexpr built_in_pack<spotter::detail::pack_id::sagemaker> sagemaker{};

}  // namespace packs

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/diagnosis/packs.ipp>
#else
namespace spotter::inline SPOTTER_ABI::detail {
extern template any_machine* make_pack<pack_id::supervised>() noexcept;
extern template any_machine* make_pack<pack_id::rl>() noexcept;
extern template any_machine* make_pack<pack_id::boosting>() noexcept;
extern template any_machine* make_pack<pack_id::system>() noexcept;
extern template any_machine* make_pack<pack_id::sagemaker>() noexcept;
}  // namespace spotter::inline SPOTTER_ABI::detail
#endif
