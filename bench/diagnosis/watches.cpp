// SPDX-License-Identifier: Apache-2.0
// The hooks and what is noted of their alarms. In a file of its own: the packs are what takes long to compile.
#include "watches.hpp"

#include "alarms.hpp"
#include "candidates.hpp"

#include <spotter/hook.hpp>
#include <spotter/print.hpp>
#include <spotter/rule/inequality.hpp>
#include <spotter/rules.hpp>

#include <cstdlib>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace diagnosis {

namespace {

namespace sp = spotter;

// One hook with what it said so far.
template <class... Rules>
class watch {
public:
    watch(std::uint64_t interval, std::uint64_t onset, Rules const&... rules)
        : hook_{sp::plan<>{}, rules...}, interval_{interval}, onset_{onset} {}

    void begin(sp::step_id step) {
        due_ = interval_ > 0 && step.index % interval_ == 0;
        if (due_) { hook_.begin(step); }
        step_ = step;
    }
    template <class... RoleAndFlags>
    void observe(std::string_view name, sp::tensor_ref const& it, RoleAndFlags... said) {
        if (due_) { hook_.observe(name, it, said...); }
    }
    void end() {
        if (!due_) { return; }
        sp::step_alarm const found = hook_.end();
        check(found);
        if (watches::tells && interval_ == 1) { tell(found); }
        note_alarm(found, step_, onset_, said_);
    }
    [[nodiscard]] verdict finish() {
        hook_.finish();
        hook_.coverage_of_rules([&](sp::coverage const& each) {
            if (!each.could_run()) {
                said_.not_judged.push_back(std::string{each.rule} + ": " + std::string{each.reason});
            }
        });
        return said_;
    }

private:
    // Every finding must be true as it is printed: otherwise the process aborts.
    static void check(sp::step_alarm const& found) {
        for (sp::finding const& each : found) {
            if (each.how == sp::relation::none) { continue; }
            sp::inequality const shown = sp::inequality_of(each.measured, each.threshold);
            auto const read = [](std::string_view text) { return std::strtod(std::string{text}.c_str(), nullptr); };
            bool const holds = sp::holds(each.measured, each.how, each.threshold) &&
                               sp::holds(read(shown.measured.view()), each.how, read(shown.threshold.view()));
            if (holds) { continue; }
            std::fputs("not true: ", stderr);
            sp::print(each, stderr);
            std::abort();
        }
    }
    static void tell(sp::step_alarm const& found) {
        for (sp::finding const& each : found) { sp::print(each, stderr); }
    }

    sp::hook<sp::null_sink, sp::plan<>, Rules...> hook_;
    std::uint64_t interval_, onset_;
    bool due_ = false;
    sp::step_id step_{};
    verdict said_{};
};

template <auto const& Pack, class... More>
using watch_of = watch<std::remove_cvref_t<decltype(Pack)>, More...>;

// The rules of the packs (spotter/diagnosis/packs.ipp), each by itself.
template <class... More>
struct rules_alone : watch<sp::non_finite, sp::dead_update_path, sp::input_not_normalized, sp::dead_relu, sp::all_zero,
                           sp::saturated_activation, sp::dormant_units, sp::gradient_not_cleared, sp::update_direction,
                           sp::exploding_gradient, sp::vanishing_gradient, sp::gradient_spike, sp::update_ratio_band,
                           sp::updates_too_small, sp::bf16_stall, sp::output_collapse, sp::stalled_training, More...> {
    explicit rules_alone(std::uint64_t onset)
        : rules_alone::watch{1U, onset, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, More{}...} {
    }
};
using supervised_rules =
    rules_alone<sp::poor_weight_initialization, sp::class_imbalance, sp::no_better_than_guessing,
                sp::unrelated_predictions, sp::label_noise, sp::output_mismatch, sp::identity_activation,
                sp::constant_batch, sp::loss_spike, sp::oscillating_loss, sp::underfit, sp::overfit, sp::overtraining,
                sp::gradient_depth_ratio, sp::tensor_variance, sp::unchanged_tensor, sp::loss_not_decreasing>;
using reinforcement_rules = rules_alone<sp::poor_weight_initialization, sp::rl_kl, sp::rl_explained_variance,
                                        sp::rl_clip_fraction, sp::rl_constant_reward, sp::rl_observation_range,
                                        sp::rl_repeated_states, sp::rl_target_network, sp::rl_policy_ascends>;

}  // namespace

// Beside a pack is its rule that needs a number: the loss of guessing, or the number of actions.
struct watches::hooks {
    explicit hooks(std::uint64_t onset)
        : sagemaker{watches::baselines ? 1U : 0U, onset, sp::packs::sagemaker},
          seldom{watches::baselines ? 500U : 0U, onset, sp::packs::sagemaker} {}

    pack_notes notes{};
    std::optional<watch<own_pack_rules>> own{};
    std::optional<watch<own_pack_rules, sp::rl_entropy_collapse>> reinforcement{};
    std::optional<watch<candidate_packs>> candidates{};
    std::string heard{};
    std::optional<supervised_rules> supervised_alone{};
    std::optional<reinforcement_rules> reinforcement_alone{};
    watch_of<sp::packs::sagemaker> sagemaker;
    watch_of<sp::packs::sagemaker> seldom;  // as often as the SDK's configuration asks for

    template <class Use>
    void with_own_pack(Use&& use) {
        if (own) { use(*own); }
        if (reinforcement) { use(*reinforcement); }
    }
    template <class Use>
    void with_rules_alone(Use&& use) {
        if (supervised_alone) { use(*supervised_alone); }
        if (reinforcement_alone) { use(*reinforcement_alone); }
    }
    template <class Use>
    void each(Use&& use) {
        with_own_pack(use);
        with_rules_alone(use);
        if (candidates) { use(*candidates); }
        use(sagemaker);
        use(seldom);
    }
};

watches::watches(assignment const& what, std::uint64_t onset, pack_choice pack, double known)
    : hooks_{std::make_unique<hooks>(onset)} {
    namespace sd = sp::detail;
    sd::pack_id const own = pack == pack_choice::rl         ? sd::pack_id::rl
                            : pack == pack_choice::boosting ? sd::pack_id::boosting
                                                            : sd::pack_id::supervised;
    bool const counted = pack == pack_choice::rl && known > 0 && known < 1e9;
    auto const entropy = sp::rl_entropy_collapse::of_actions(counted ? static_cast<std::uint64_t>(known) : 0);
    own_pack_rules rules{own, onset, &hooks_->notes};
    if (auto const limits = limits_of.find(what.family); limits != limits_of.end()) { rules.limits = limits->second; }
    if (pack == pack_choice::rl) {
        hooks_->reinforcement.emplace(1U, onset, rules, entropy);
    } else {
        hooks_->own.emplace(1U, onset, rules);
    }
    if (alone && pack == pack_choice::supervised) { hooks_->supervised_alone.emplace(onset); }
    if (alone && pack == pack_choice::rl) { hooks_->reinforcement_alone.emplace(onset); }
    if (tries_limits) {
        hooks_->candidates.emplace(1U, onset, candidate_packs{own, what.broken, onset, &hooks_->heard});
    }
}
watches::~watches() = default;

void watches::begin(sp::step_id step) {
    hooks_->each([&](auto& each) { each.begin(step); });
}
void watches::observe(std::string_view name, sp::tensor_ref const& it, sp::flag flags) {
    hooks_->each([&](auto& each) { each.observe(name, it, flags); });
}
void watches::observe(std::string_view name, sp::tensor_ref const& it, sp::role what, sp::flag flags) {
    hooks_->each([&](auto& each) { each.observe(name, it, what, flags); });
}
void watches::end() {
    hooks_->each([](auto& each) { each.end(); });
}
void watches::finish(outcome& into) {
    into.packs = {verdict{}, hooks_->sagemaker.finish(), hooks_->seldom.finish()};
    verdict& said = into.packs[own_pack];
    hooks_->with_own_pack([&](auto& each) { said = each.finish(); });
    pack_notes const& notes = hooks_->notes;
    // A rule beside the pack may alarm before it.
    bool const same = said.alarmed && notes.alarm && notes.alarm->index == said.step;
    if (same && sp::name_of(notes.alarm->mode) == said.mode) { said.seen = notes.seen; }
    hooks_->with_rules_alone([&](auto& each) { into.packs[each_rule_alone] = each.finish(); });
    into.candidates = hooks_->heard;
}

}  // namespace diagnosis
