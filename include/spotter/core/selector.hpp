// SPDX-License-Identifier: Apache-2.0
// Core (L0): the `select` of a built-in rule: one literal type for a role, a glob or a function, so that rules stay
// aggregates.
#pragma once

#include <spotter/core/pattern.hpp>

namespace spotter::inline SPOTTER_ABI {

// The tensors that a rule observes: a role, a glob (a literal, which outlives the rule) or a function of tensor_info.
// Evaluated once for each declaration.
struct selector {
    constexpr selector(role wanted) noexcept : role_{wanted}, how_{by::role} {}
    constexpr selector(char const* pattern) noexcept : glob_{glob{pattern}.pattern}, how_{by::glob} {}
    constexpr selector(bool (*ask)(tensor_info const&)) noexcept : ask_{ask}, how_{by::function} {}
    // A function with a context, which must outlive the rule.
    constexpr selector(void const* whom, bool (*ask)(void const* whom, tensor_info const&)) noexcept
        : whom_{whom}, ask_whom_{ask}, how_{by::whom} {}
    // A lambda without captures.
    template <class Ask>
        requires(!std::convertible_to<Ask, char const*> && std::convertible_to<Ask, bool (*)(tensor_info const&)>)
    constexpr selector(Ask ask) noexcept : ask_{ask}, how_{by::function} {}

    [[nodiscard]] constexpr bool operator()(tensor_info const& tensor) const noexcept {
        switch (how_) {
            case by::role:
                return tensor.role == role_;
            case by::glob:
                return glob{glob_}(tensor.name);
            case by::function:
                return ask_(tensor);
            case by::whom:
                return ask_whom_(whom_, tensor);
        }
        return false;
    }
    // The glob, or the name of the role; empty for a function.
    [[nodiscard]] constexpr std::string_view shown() const noexcept {
        return how_ == by::role ? name_of(role_) : glob_;
    }
    // The fault of its glob; empty if there is none, or no glob.
    [[nodiscard]] constexpr pattern_fault malformed() const noexcept {
        return how_ == by::glob ? detail::fault_in_glob(glob_) : pattern_fault{};
    }

private:
    enum class by : std::uint8_t { role, glob, function, whom };

    std::string_view glob_{};
    bool (*ask_)(tensor_info const&) = nullptr;
    void const* whom_ = nullptr;
    bool (*ask_whom_)(void const*, tensor_info const&) = nullptr;
    role role_ = role::other;
    by how_;
};

// The default selections of the built-in rules. A user's pattern replaces the default completely.
namespace select {

// All parameters of a network: matrices, biases, scales, single numbers, trainable or not.
[[nodiscard]] constexpr bool all_parameters(tensor_info const& tensor) noexcept {
    return tensor.role == role::weight || tensor.role == role::bias;
}
// Weights and biases with `target` in their name.
[[nodiscard]] constexpr bool target_parameters(tensor_info const& tensor) noexcept {
    return all_parameters(tensor) && tensor.name.find("target") != std::string_view::npos;
}
// Parameters that the optimizer should change. A parameter of a target network without a gradient is a copy (Mnih et
// al. 2015): it rests, and then it is replaced.
[[nodiscard]] constexpr bool parameters(tensor_info const& tensor) noexcept {
    bool const is_copy = target_parameters(tensor) && tensor.partner == no_tensor;
    return all_parameters(tensor) && !has(tensor.flags, flag::frozen) && !is_copy;
}
// Trainable matrices and higher ranks; vectors are biases or scales and have their own rules.
[[nodiscard]] constexpr bool weights(tensor_info const& tensor) noexcept {
    return tensor.role == role::weight && tensor.shape.rank >= 2 && parameters(tensor);
}
// Gradients of `weights`; a gradient with unknown partner counts as one.
[[nodiscard]] constexpr bool weight_gradients(tensor_info const& tensor) noexcept {
    return tensor.role == role::gradient && tensor.shape.rank >= 2 &&
           (tensor.partner_role == role::weight || tensor.partner_role == role::other);
}
// `weights`, and the outputs of layers.
[[nodiscard]] constexpr bool weights_and_activations(tensor_info const& tensor) noexcept {
    return weights(tensor) || tensor.role == role::activation;
}
// Outputs of layers that are, or may be, those of a ReLU.
[[nodiscard]] constexpr bool relu_activations(tensor_info const& tensor) noexcept {
    return tensor.role == role::activation &&
           (tensor.activation == activation_kind::relu || tensor.activation == activation_kind::unknown);
}
// Losses, and metrics whose lower value is better: `train_loss`, XGBoost's `train-rmse`, LightGBM's `valid_0's l2`,
// CatBoost's `learn-Logloss`.
[[nodiscard]] constexpr bool boosting_losses(tensor_info const& tensor) noexcept {
    return tensor.role == role::loss || (tensor.role == role::metric && reported_metric_of(tensor.name).falls());
}
// Results of a model. Excludes table rows, where a gap is NaN by convention, and SHAP values, which are expensive to
// compute.
[[nodiscard]] constexpr bool outcomes(tensor_info const& tensor) noexcept {
    return tensor.role == role::loss || tensor.role == role::metric || tensor.role == role::prediction;
}
// All tensors.
[[nodiscard]] constexpr bool everything(tensor_info const&) noexcept { return true; }

}  // namespace select

}  // namespace spotter::inline SPOTTER_ABI
