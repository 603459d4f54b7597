// SPDX-License-Identifier: Apache-2.0
// Replay (L5): one worker's record as a source of events.
#pragma once

#include <spotter/hook/features.hpp>
#include <spotter/hook/judges.hpp>
#include <spotter/hook/tracked.hpp>
#include <spotter/replay/fwd.hpp>
#include <spotter/trial/distribution.hpp>
#include <spotter/trial/trial.hpp>

#include <deque>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// The desk that a replay lends: what was recorded before an observation, and its values, which are read once a rule asks for them.
template <class Load>
class recorded_desk final : public feature_desk {
public:
    recorded_desk(feature_list& made, Load const& load) noexcept : made_{made}, load_{load} {}
    [[nodiscard]] std::span<double const> const* find(std::uint64_t key) noexcept override { return made_.find(key); }
    [[nodiscard]] tensor_ref values() noexcept override {
        tensor_ref view{};
        (void)guarded([&] { view = load_(); });
        lacked_ = lacked_ || view.absent();
        return view;
    }
    void keep(std::uint64_t key, std::span<double const> numbers) noexcept override { made_.add(key, numbers); }
    // A rule asked for values that are not there.
    [[nodiscard]] bool lacked() const noexcept { return lacked_; }

private:
    feature_list& made_;
    Load const& load_;
    bool lacked_ = false;
};

// Walks the rows of one worker's record in the order of writing and plays hook.
template <class Judges>
class player {
public:
    player(run_index const& run, Judges& judges) : run_{run}, judges_{judges} {}

    // Goes on behind what was played already, up to the last step that is closed. `admit(step)`: whether the rules see that step.
    // `closed(step, alarm)` after each step that was judged. `restart()` where a further attempt begins: there the rules started
    // afresh.
    template <class Admit, class Closed, class Restart>
    error play(Admit const& admit, Closed&& closed, Restart&& restart) {
        tensors_.resize(run_.tensors().size());
        run_.walk(place_, [&](std::uint32_t segment, row_view row) {
            if (played_ == run_.steps().size()) { return false; }  // rows of a step that was not closed are not judged
            switch (row.kind) {
                case row_kind::run_begin: {
                    rows::run_begin begin;
                    if (decode(row, begin)) { break; }
                    if (std::exchange(begun_, true) && begin.attempt != attempt_) {
                        restart();
                        tensors_.clear();
                        tensors_.resize(run_.tensors().size());
                        open_ = false;
                        features_.clear();
                    }
                    attempt_ = begin.attempt;
                    break;
                }
                case row_kind::declare:
                    declare(segment, row);
                    break;
                case row_kind::feature:
                    take_feature(segment, row);
                    break;
                case row_kind::observe:
                    observe(segment, row, admit);
                    features_.clear();
                    break;
                case row_kind::scalar:
                    scalar(segment, row, admit);
                    features_.clear();
                    break;
                case row_kind::close: {
                    features_.clear();
                    rows::close end;
                    if (decode(row, end)) { break; }
                    ++played_;
                    if (!admit(end.step)) { break; }
                    open(end.step);
                    alarm found;
                    judges_.poll(end.time);
                    judges_.close(end.step, due_, found);
                    judges_.poll(end.time);
                    open_ = false;
                    closed(end.step, found);
                    break;
                }
                default:
                    break;
            }
            return true;
        });
        return trouble_;
    }
    // What rules asked for and was not recorded: how often, and where first.
    [[nodiscard]] error lacking() const noexcept {
        if (lacked_ == 0) { return {}; }
        error told{errc::no_payload, ""};
        sentence what;
        describe(lacking_, what);
        told.what << "of " << judged_ << " observations, " << lacked_ << " lack what a rule asks for, first \""
                  << tensors_[lacking_id_].info.name << "\" at " << name_of(lacking_at_.mode) << '('
                  << lacking_at_.index << "): " << what
                  << ". Let a collection keep it, or its payload, or limit the rule: `| only{...}`";
        return told;
    }

private:
    void open(step_id step) {
        if (open_ && step_ == step) { return; }
        open_ = true;
        step_ = step;
        due_ = judges_.due(step);
    }
    void declare(std::uint32_t segment, row_view row) {
        rows::declare told;
        if (decode(row, told)) { return; }
        tensor_id const id = run_.id_of(segment, told.tensor.id);
        if (id == no_tensor) { return; }
        tracked_tensor& it = tensors_[id];
        tensor_info info = told.tensor;
        info.id = id;
        info.name = run_.tensors()[id]->name;
        info.partner = run_.id_of(segment, told.tensor.partner);
        if (it.declared && same(it.info, info)) { return; }  // each segment restates what is known
        it.info = info;
        it.declared = true;
        it.declare_to(judges_);
    }
    [[nodiscard]] static bool same(tensor_info const& a, tensor_info const& b) noexcept {
        return a.role == b.role && a.partner_role == b.partner_role && a.partner == b.partner && a.flags == b.flags &&
               a.shape == b.shape && a.type == b.type && a.activation == b.activation;
    }

    // The tensor by the trial's id, with its step open; no_tensor where no rule that is due there watches it.
    template <class Admit>
    [[nodiscard]] tensor_id judged_tensor(std::uint32_t segment, tensor_id stored, step_id step, Admit const& admit) {
        tensor_id const id = run_.id_of(segment, stored);
        if (id == no_tensor || !admit(step)) { return no_tensor; }
        open(step);
        return (tensors_[id].rules & due_) != 0 ? id : no_tensor;
    }
    // Features stand before their observation, with nothing of any other between, and a key once: what comes again is the next
    // observation's, and the one before it was dropped.
    void take_feature(std::uint32_t segment, row_view row) {
        rows::feature made;
        if (decode(row, made)) { return; }
        tensor_id const id = run_.id_of(segment, made.id);
        if (id == no_tensor || !has(tensors_[id].rule_terms, terms::feature)) { return; }
        if (id != feature_of_ || made.step != feature_at_ || features_.find(made.key) != nullptr) { features_.clear(); }
        feature_of_ = id;
        feature_at_ = made.step;
        numbers_.clear();
        each_number(made, [&](double each) { numbers_.push_back(each); });
        features_.add(made.key, numbers_);
    }

    template <class Admit>
    void observe(std::uint32_t segment, row_view row, Admit const& admit) {
        rows::observe seen;
        summary stats;
        if (decode(row, seen, stats)) { return; }
        tensor_id const id = judged_tensor(segment, seen.id, seen.step, admit);
        if (id == no_tensor) { return; }
        tracked_tensor& it = tensors_[id];
        std::uint64_t const rules = it.rules & due_;
        unit_activity units;
        int const axis = unit_axis_of(it.info.shape, it.unit_axis, batch_axis_of(it.info.flags));
        bool const units_fit = seen.units > 0 && seen.axis == axis;
        if (units_fit) { units = stored_units(seen); }
        terms const wanted = it.wanted_by(rules);
        bool const units_missing = has(wanted, terms::unit_activity) && !units_fit;
        bool const delta_missing = has(wanted, terms::delta) && !has(stats.has, terms::delta);
        bool const pass_missing = any(without(wanted & pass_terms, stats.has));
        distribution spread = stored_distribution(seen);
        terms const spread_missing =
            stats.finite() > 0 ? without(wanted & distribution_terms, terms_of(spread)) : terms::none;
        bool const values_wanted =
            has(wanted, terms::payload) || units_missing || delta_missing || pass_missing || any(spread_missing);
        tensor_ref view{};
        if (values_wanted && seen.has_values && load(segment, seen, view)) {
            if (pass_missing) { add_terms(summarize(view, wanted), stats); }
            if (delta_missing) { it.compare(view, seen.step, stats); }
            if (units_missing) { units = it.count_units(view); }
            if (any(spread_missing)) { spread = spread_of(view, wanted); }
        }
        ++judged_;
        terms missing = terms::none;
        if (values_wanted && view.absent()) {
            missing = without(wanted, stats.has | terms_of(spread) | terms::feature | terms::shape);
        }
        if (id != feature_of_ || seen.step != feature_at_) { features_.clear(); }
        bool tried = values_wanted;
        auto const values = [&] {
            if (!std::exchange(tried, true) && seen.has_values) { (void)load(segment, seen, view); }
            return view;
        };
        recorded_desk desk{features_, values};
        observation const made{it.info,
                               seen.step,
                               stats,
                               view,
                               units,
                               any(terms_of(spread)) ? &spread : nullptr,
                               has(wanted, terms::feature) ? &desk : nullptr};
        judges_.observe(made, rules);
        if (desk.lacked()) { missing |= terms::payload; }
        if (any(missing)) { note_lack(id, seen.step, missing); }
    }
    void note_lack(tensor_id id, step_id step, terms missing) noexcept {
        if (lacked_++ == 0) { lacking_ = missing, lacking_id_ = id, lacking_at_ = step; }
    }

    template <class Admit>
    void scalar(std::uint32_t segment, row_view row, Admit const& admit) {
        rows::scalar seen;
        if (decode(row, seen) || !seen.has_step || seen.type == dtype::text) { return; }
        tensor_id const id = judged_tensor(segment, seen.id, seen.step, admit);
        if (id == no_tensor) { return; }
        tracked_tensor& it = tensors_[id];
        std::uint64_t const rules = it.rules & due_;
        values_.assign(seen.value.begin(), seen.value.end());
        detail::make_sound(values_, seen.type);
        tensor_ref view{};
        view.values.raw = values_.data();
        view.type = seen.type;
        view.count = 1;
        terms const wanted = it.wanted_by(rules);
        summary stats = summarize(view, wanted);
        if (has(wanted, terms::delta)) { it.compare(view, seen.step, stats); }
        unit_activity units;
        if (has(wanted, terms::unit_activity)) { units = it.count_units(view); }
        distribution const spread = spread_of(view, wanted);
        judges_.observe({it.info, seen.step, stats, view, units, any(terms_of(spread)) ? &spread : nullptr}, rules);
    }

    [[nodiscard]] distribution spread_of(tensor_ref const& view, terms wanted) noexcept {
        distribution const* const found =
            any(wanted & distribution_terms) ? distributions_.take(view, wanted) : nullptr;
        return found != nullptr ? *found : distribution{};
    }
    [[nodiscard]] bool load(std::uint32_t segment, rows::observe const& seen, tensor_ref& view) {
        view.type = seen.type;
        view.layout = seen.layout;
        view.shape = seen.shape;
        view.count = seen.shape.elements();
        byte_view const bytes = run_.segment_bytes(segment);
        error why{errc::corrupt,
                  "an observation claims more values than its segment has room for; it was judged without"};
        if (detail::can_hold(bytes, seen.place, view.bytes())) {
            values_.resize(static_cast<std::size_t>(view.bytes()));
            why = unpacker_.unpack(bytes, seen, values_);
        }
        if (why) {
            if (!trouble_) { trouble_ = why; }
            view = {};
            return false;
        }
        detail::make_sound(values_, view.type);
        view.values.raw = values_.data();
        return true;
    }
    // Terms that were not stored, from the values. What was stored stays: the two are bit-equal where both exist.
    static void add_terms(summary const& from, summary& into) noexcept {
        summary all = from;
        all.has |= into.has;
        if (has(into.has, terms::delta)) {
            all.has_previous = into.has_previous, all.previous_index = into.previous_index;
            all.previous_sum_squares = into.previous_sum_squares, all.delta_sum_squares = into.delta_sum_squares;
            all.dot = into.dot, all.changed = into.changed;
        }
        terms const stored_only = without(into.has & pass_terms, from.has);
        if (has(stored_only, terms::zeros)) { all.zeros = into.zeros; }
        if (has(stored_only, terms::range)) { all.minimum = into.minimum, all.maximum = into.maximum; }
        if (has(stored_only, terms::abs_range)) {
            all.abs_minimum = into.abs_minimum, all.abs_maximum = into.abs_maximum;
        }
        if (has(stored_only, terms::sum)) { all.sum = into.sum; }
        if (has(stored_only, terms::sum_abs)) { all.sum_abs = into.sum_abs; }
        if (has(stored_only, terms::sum_squares)) { all.sum_squares = into.sum_squares; }
        if (has(stored_only, terms::variance)) { all.moment2 = into.moment2; }
        if (has(stored_only, terms::product)) { all.product = into.product; }
        if (has(stored_only, terms::hash)) { all.hash = into.hash; }
        into = all;
    }
    [[nodiscard]] unit_activity stored_units(rows::observe const& seen) {
        auto const count = static_cast<std::size_t>(seen.units);
        units_.resize(2 * count);
        std::memcpy(units_.data(), seen.active.data(), count * sizeof(std::uint32_t));
        std::memcpy(units_.data() + count, seen.finite.data(), count * sizeof(std::uint32_t));
        return {{units_.data(), count}, {units_.data() + count, count}, seen.axis};
    }

    run_index const& run_;
    Judges& judges_;
    walk_place place_{};
    std::uint64_t played_ = 0;  // closings
    std::uint32_t attempt_ = 0;
    bool begun_ = false;
    std::deque<tracked_tensor> tensors_{};  // by the record's ids; their addresses stay as more come
    std::vector<std::byte> values_{};
    std::vector<std::uint32_t> units_{};
    feature_list features_{};  // of the observation that comes next:
    tensor_id feature_of_ = no_tensor;
    step_id feature_at_{};
    std::vector<double> numbers_{};
    distribution_scratch distributions_{};
    payload_unpacker unpacker_{};
    error trouble_{};
    std::uint64_t judged_ = 0;  // observations that some rule saw
    std::uint64_t lacked_ = 0;  // of these, the ones that lacked something; the first of them:
    terms lacking_{};
    tensor_id lacking_id_{};
    step_id lacking_at_{};
    step_id step_{};
    std::uint64_t due_ = 0;
    bool open_ = false;
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
