// SPDX-License-Identifier: Apache-2.0
// Core (L0): the `select` of a built-in rule: one literal type for a role, a glob or a function, so rules stay
// aggregates.
#pragma once

#include <spotter/core/pattern.hpp>

namespace spotter::inline SPOTTER_ABI {

// Which tensors a rule looks at: a role, a glob (a literal, which outlives the rule) or a function of tensor_info.
// Asked once a declaration.
struct selector {
    constexpr selector(role wanted) noexcept : role_{wanted}, how_{by::role} {}
    constexpr selector(char const* pattern) noexcept : glob_{glob{pattern}.pattern}, how_{by::glob} {}
    constexpr selector(bool (*ask)(tensor_info const&)) noexcept : ask_{ask}, how_{by::function} {}
    // The same with something to ask, that outlives the rule.
    constexpr selector(void const* whom, bool (*ask)(void const* whom, tensor_info const&)) noexcept
        : whom_{whom}, ask_whom_{ask}, how_{by::whom} {}
    // A lambda that captures nothing.
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
    // What is wrong with its glob; empty: nothing, or it has none.
    [[nodiscard]] constexpr pattern_fault malformed() const noexcept {
        return how_ == by::glob ? detail::glob_matcher::fault_in(glob_) : pattern_fault{};
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

// The selections that built-in rules begin with. A pattern of the user's replaces them whole.
namespace select {

// Parameters meant to change: matrices and higher; vectors are biases or scales and have rules of their own.
[[nodiscard]] constexpr bool weights(tensor_info const& tensor) noexcept {
    return tensor.role == role::weight && tensor.shape.rank >= 2 && !has(tensor.flags, flag::frozen);
}
// All that a net is made of: matrices, biases, scales, single numbers, whether they are meant to change or not.
[[nodiscard]] constexpr bool all_parameters(tensor_info const& tensor) noexcept {
    return tensor.role == role::weight || tensor.role == role::bias;
}
// Gradients of `weights`; a gradient whose partner nobody knows counts as one.
[[nodiscard]] constexpr bool weight_gradients(tensor_info const& tensor) noexcept {
    return tensor.role == role::gradient && tensor.shape.rank >= 2 &&
           (tensor.partner_role == role::weight || tensor.partner_role == role::other);
}
// `weights`, and what layers put out.
[[nodiscard]] constexpr bool weights_and_activations(tensor_info const& tensor) noexcept {
    return weights(tensor) || tensor.role == role::activation;
}
// What layers put out, as far as a ReLU may have made it.
[[nodiscard]] constexpr bool relu_activations(tensor_info const& tensor) noexcept {
    return tensor.role == role::activation &&
           (tensor.activation == activation_kind::relu || tensor.activation == activation_kind::unknown);
}
// Losses, and metrics that are made smaller: `train_loss`, XGBoost's `train-rmse`, LightGBM's `valid_0's l2`,
// CatBoost's `learn-Logloss`.
[[nodiscard]] constexpr bool boosting_losses(tensor_info const& tensor) noexcept {
    return tensor.role == role::loss || (tensor.role == role::metric && reported_metric_of(tensor.name).falls());
}
// What comes of a model. Rows of a table may have gaps, which are NaN by convention, and SHAP values are dear to ask
// for.
[[nodiscard]] constexpr bool outcomes(tensor_info const& tensor) noexcept {
    return tensor.role == role::loss || tensor.role == role::metric || tensor.role == role::prediction;
}
// Every tensor.
[[nodiscard]] constexpr bool everything(tensor_info const&) noexcept { return true; }

}  // namespace select

}  // namespace spotter::inline SPOTTER_ABI
