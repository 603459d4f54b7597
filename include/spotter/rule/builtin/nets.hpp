// SPDX-License-Identifier: Apache-2.0
// Built-in rules (L2): distinguishes the nets of a program by the names of their tensors and losses.
#pragma once

#include <spotter/core/evaluation_name.hpp>

#include <initializer_list>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Whether `text` begins with `word`, ignoring case.
[[nodiscard]] constexpr bool begins_with(std::string_view text, std::string_view word) noexcept {
    return text.size() >= word.size() && name_words::same(text.substr(0, word.size()), word);
}

// Whether a name contains one of `parts`, or one of `whole` as a word.
[[nodiscard]] constexpr bool has_one_of(std::string_view name, std::initializer_list<std::string_view> parts,
                                        std::initializer_list<std::string_view> whole) noexcept {
    for (std::string_view const each : parts) {
        for (std::size_t at = 0; at + each.size() <= name.size(); ++at) {
            if (begins_with(name.substr(at), each)) { return true; }
        }
    }
    name_words words{name};
    for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
        for (std::string_view const each : whole) {
            if (name_words::same(word, each)) { return true; }
        }
    }
    return false;
}

}  // namespace detail

// The name up to the first separator: `actor` of `actor.0.weight`, `generator` of `generator/fc1/w`, `a` of
// `a_lin1.weight`.
[[nodiscard]] constexpr std::string_view net_of(std::string_view tensor) noexcept {
    return tensor.substr(0, tensor.find_first_of("./_:"));
}

// Whether a loss belongs to a net by name: one of its words abbreviates the net's name, or the other way round.
// `g_loss` belongs to `generator`, and to `g` and `netG`; `critic_loss` to `c`.
[[nodiscard]] constexpr bool is_loss_of_net(std::string_view loss, std::string_view net) noexcept {
    if (net.size() > 3 && detail::begins_with(net, "net")) { net.remove_prefix(3); }
    detail::name_words words{loss};
    for (std::string_view word = words.next(); !net.empty() && !word.empty(); word = words.next()) {
        if (detail::name_words::same(word, "loss") || detail::name_words::same(word, "train")) { continue; }
        if (detail::begins_with(net, word) || detail::begins_with(word, net)) { return true; }
    }
    return false;
}

// Whether larger values of a metric are better, by its name: a return, an accuracy and the like.
[[nodiscard]] constexpr bool is_return(std::string_view metric) noexcept {
    return detail::has_one_of(metric, {"return", "reward", "score", "accuracy", "success", "fitness"}, {}) ||
           detail::has_one_of(metric, {}, {"ret", "rets", "rew", "rews", "epret", "eprew", "eprewmean", "win", "wins"});
}

// Whether a loss is a policy's, by its name, or another loss without a natural minimum.
[[nodiscard]] constexpr bool is_loss_of_policy(std::string_view loss) noexcept {
    return detail::has_one_of(loss, {"actor", "policy", "surrogate", "entropy"}, {"pi", "pg", "kl", "alpha"});
}

// Whether a loss belongs, by its name, to one of two nets that compete (GAN, actor-critic).
[[nodiscard]] constexpr bool is_loss_of_player(std::string_view loss) noexcept {
    return detail::has_one_of(loss, {"generator", "discriminator", "critic", "adversar"},
                              {"g", "d", "gen", "disc", "adv"});
}

// Whether a loss is, by its name, all that is minimised: `loss`, `train_loss`, `total_loss`, `loss/total`, `cost`.
// Other losses beside it are its terms: one may rise while their sum falls, as the divergence of a variational
// autoencoder.
[[nodiscard]] constexpr bool is_total_loss(std::string_view loss) noexcept {
    constexpr std::string_view total[] = {"loss", "total", "cost", "objective"};
    detail::set_words words{loss};
    bool any = false;
    for (std::string_view word = words.next(); !word.empty(); word = words.next()) {
        any = true;
        if (!detail::name_words::is_one_of(word, total)) { return false; }
    }
    return any;
}

}  // namespace spotter::inline SPOTTER_ABI
