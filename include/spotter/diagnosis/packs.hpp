// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): the catalogue in packs, one for each kind of training. docs/rules.md#packs
#pragma once

#include <spotter/diagnosis/built_in_pack.hpp>

namespace spotter::inline SPOTTER_ABI {

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
#include <spotter/diagnosis/pack_rules.hpp>
#else
namespace spotter::inline SPOTTER_ABI::detail {
extern template any_machine* make_pack<pack_id::supervised>() noexcept;
extern template any_machine* make_pack<pack_id::rl>() noexcept;
extern template any_machine* make_pack<pack_id::boosting>() noexcept;
extern template any_machine* make_pack<pack_id::system>() noexcept;
extern template any_machine* make_pack<pack_id::sagemaker>() noexcept;
}  // namespace spotter::inline SPOTTER_ABI::detail
#endif
