// SPDX-License-Identifier: Apache-2.0
// Core (L0): the purpose of a tensor, and the table that guesses it from a name.
#pragma once

#include <spotter/core/fwd.hpp>
#include <spotter/core/metric_name.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// The values are part of the file format.
enum class role : std::uint8_t {
    other = 0,
    loss = 1,
    gradient = 2,
    weight = 3,
    bias = 4,
    input = 5,
    label = 6,
    prediction = 7,
    preactivation = 8,
    activation = 9,
    optimizer = 10,
    metric = 11,
    tree = 12,
    importance = 13,
    average_shap = 14,
    full_shap = 15,
    hyperparameter = 16,
    timing = 17,
    system = 18,
};
// The number of roles.
inline constexpr std::size_t role_count = 19;

[[nodiscard]] constexpr std::string_view name_of(role what) noexcept {
    constexpr std::string_view names[role_count] = {
        "other",        "loss",          "gradient",       "weight",    "bias",   "input", "label",
        "prediction",   "preactivation", "activation",     "optimizer", "metric", "tree",  "importance",
        "average_shap", "full_shap",     "hyperparameter", "timing",    "system"};
    return names[static_cast<std::size_t>(what)];
}

// The function that computes an activation. The values are part of the file format.
enum class activation_kind : std::uint8_t { unknown = 0, relu = 1, tanh = 2, sigmoid = 3, other = 4 };

// Further properties of a tensor at its declaration, in one word: bits, and two small fields made by `batch_axis(n)`
// and `activated_by(kind)`. The values are part of the file format.
enum class flag : std::uint32_t {
    none = 0,
    frozen = 1,               // a parameter that should not change
    full_batch = 2,           // an input that is the whole data set at every step
    sparse_rows = 4,          // rows may stay zero (embeddings of unseen tokens)
    logits = 8,               // a prediction before its softmax
    negated = 16,             // minus the gradient: the optimizer adds it
    unasked = 64,             // observed by the hook itself: only rules that read times see it (rule/machine.hpp)
    gathered = 32,            // a buffer that accumulates: momentum, or the gradients of several backward passes
    log_probabilities = 128,  // a prediction after log_softmax
    of_kernels = 65536,       // a time that a device took for its kernels (hook::section with a stream)
};
// The union of two sets of flags.
[[nodiscard]] constexpr flag operator|(flag a, flag b) noexcept {
    return static_cast<flag>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
// Whether a set has a flag.
[[nodiscard]] constexpr bool has(flag set, flag bit) noexcept {
    return (static_cast<std::uint32_t>(set) & static_cast<std::uint32_t>(bit)) != 0;
}

// The axis that counts the samples; by default the first of two or more axes. Bits 8 to 11.
[[nodiscard]] constexpr flag batch_axis(unsigned axis) noexcept { return static_cast<flag>(((axis & 7U) + 1U) << 8U); }
// The axis that was given; -1 for the default.
[[nodiscard]] constexpr int batch_axis_of(flag set) noexcept {
    return static_cast<int>((static_cast<std::uint32_t>(set) >> 8U) & 15U) - 1;
}
// The function that computed an activation. Bits 12 to 15.
[[nodiscard]] constexpr flag activated_by(activation_kind kind) noexcept {
    return static_cast<flag>(static_cast<std::uint32_t>(kind) << 12U);
}
// The function that was given; `other` for values unknown to this version.
[[nodiscard]] constexpr activation_kind activation_of(flag set) noexcept {
    std::uint32_t const kind = (static_cast<std::uint32_t>(set) >> 12U) & 15U;
    return kind <= static_cast<std::uint32_t>(activation_kind::other) ? static_cast<activation_kind>(kind)
                                                                      : activation_kind::other;
}

namespace detail {

struct role_rule {
    std::string_view text;
    role what;
};

inline constexpr role_rule whole_names[] = {
    {"loss", role::loss},
    {"input", role::input},
    {"inputs", role::input},
    {"label", role::label},
    {"labels", role::label},
    {"target", role::label},
    {"targets", role::label},
    {"output", role::prediction},
    {"outputs", role::prediction},
    {"logits", role::prediction},
    {"probs", role::prediction},
    {"probabilities", role::prediction},
    {"pred", role::prediction},
    {"preds", role::prediction},
    {"prediction", role::prediction},
    {"predictions", role::prediction},
    {"full_shap", role::full_shap},
    {"hyperparameters", role::hyperparameter},
    {"feature_importance", role::importance},
};
inline constexpr role_rule prefixes[] = {
    {"grad/", role::gradient},
    {"grads/", role::gradient},
    {"gradient/", role::gradient},
    {"grad for ", role::gradient},
    {"metric/", role::metric},
    {"loss/", role::loss},
    {"input/", role::input},
    {"labels/", role::label},
    {"pred/", role::prediction},
    {"preds/", role::prediction},
    {"prediction/", role::prediction},
    {"predictions/", role::prediction},
    {"pre/", role::preactivation},
    {"act/", role::activation},
    {"relu/", role::activation},
    {"tree/", role::tree},
    {"trees/", role::tree},
    {"average_shap/", role::average_shap},
    {"full_shap/", role::full_shap},
    {"hyperparameters/", role::hyperparameter},
    {"time/", role::timing},
    {"sys/", role::system},
    {"optimizer/", role::optimizer},
    {"AdamW m for ", role::optimizer},  // ggml's
    {"AdamW v for ", role::optimizer},
};
inline constexpr role_rule suffixes[] = {
    {".grad", role::gradient}, {"_loss", role::loss}, {"_input", role::preactivation}, {"_output", role::activation}};
inline constexpr role_rule last_parts[] = {
    {"w", role::weight}, {"weight", role::weight}, {"weights", role::weight}, {"kernel", role::weight},
    {"b", role::bias},   {"bias", role::bias},     {"biases", role::bias},    {"loss", role::loss},
};

// smdebug's names for the output of a loss: CrossEntropyLoss_output_0, softmaxcrossentropyloss0_output_0.
[[nodiscard]] constexpr bool is_output_of_loss(std::string_view name) noexcept {
    std::size_t const end = name.rfind("_output_");
    if (end == name.npos) { return false; }
    std::string_view layer = name.substr(0, end);
    layer = layer.substr(0, layer.find_last_not_of("0123456789") + 1);
    return layer.ends_with("loss") || layer.ends_with("Loss");
}

}  // namespace detail

// Guesses a role from a name. Order: exact names and prefixes, endings, the last part after a slash or dot, reported
// metrics of a data set (metric_name.hpp).
[[nodiscard]] constexpr role guess_role(std::string_view name) noexcept {
    for (auto const& rule : detail::whole_names) {
        if (name == rule.text) { return rule.what; }
    }
    for (auto const& rule : detail::prefixes) {
        if (name.starts_with(rule.text)) { return rule.what; }
    }
    if (name.find("feature_importance/") != name.npos) { return role::importance; }
    if (detail::is_output_of_loss(name)) { return role::loss; }
    for (auto const& rule : detail::suffixes) {
        if (name.ends_with(rule.text)) { return rule.what; }
    }
    std::string_view const last = name.substr(name.find_last_of("/.") + 1);  // the whole name if there is neither
    for (auto const& rule : detail::last_parts) {
        if (last == rule.text) { return rule.what; }
    }
    reported_metric const reported = reported_metric_of(name);
    if (!reported) { return role::other; }
    return reported.is->name == "loss" ? role::loss : role::metric;
}

// The tensor of a gradient: X for `grad/X`, `X.grad` and ggml's `grad for X`; empty for any other name.
[[nodiscard]] constexpr std::string_view gradient_of(std::string_view name) noexcept {
    for (std::string_view prefix : {"grad/", "grads/", "gradient/", "grad for "}) {
        if (name.starts_with(prefix)) { return name.substr(prefix.size()); }
    }
    if (name.ends_with(".grad")) { return name.substr(0, name.size() - 5); }
    return {};
}

}  // namespace spotter::inline SPOTTER_ABI
