// SPDX-License-Identifier: Apache-2.0
// Replay (L5): the rows of one worker's record as declarations and observations.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/format/zstd_codec.hpp>
#include <spotter/judge/judges.hpp>
#include <spotter/judge/tracked.hpp>
#include <spotter/replay/shared_names.hpp>
#include <spotter/stat/take_summary.hpp>
#include <spotter/trial/distribution.hpp>
#include <spotter/trial/recorded_events.hpp>
#include <spotter/trial/trial.hpp>

#include <deque>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// The step that the rules are in; common to records that are played together.
template <class Judges>
class judged_step {
public:
    explicit judged_step(Judges& judges) noexcept : judges_{judges} {}

    [[nodiscard]] Judges& judges() const noexcept { return judges_; }
    [[nodiscard]] std::uint64_t due() const noexcept { return due_; }  // bit i: rule i sees the step
    void open(step_id step) {
        if (open_ && step_ == step) { return; }
        open_ = true;
        step_ = step;
        due_ = judges_.due(step);
    }
    // Closes the step at that time; calls `deliver(finding)` for each finding.
    template <class Deliver>
    void close(step_id step, double const& time, step_alarm& found, Deliver&& deliver) {
        judges_.poll(time);
        open(step);
        judges_.close(step, due_, found, deliver);
        open_ = false;
        judges_.poll(time);
    }
    // A step was observed and is not closed.
    [[nodiscard]] bool is_open() const noexcept { return open_; }
    [[nodiscard]] step_id step() const noexcept { return step_; }
    // The rules start afresh; observations of a step that was not closed are dropped.
    void restart() noexcept { open_ = false; }

private:
    Judges& judges_;
    step_id step_{};
    std::uint64_t due_ = 0;
    bool open_ = false;
};

// Turns a record's rows into the calls that a hook made to the rules. With `shared` it is one of several records side
// by side: tensors have the shared ids, and observations carry `number`.
template <class Judges>
class recorded_stream {
public:
    recorded_stream(worker_index const& run, judged_step<Judges>& at, shared_names* shared = nullptr,
                    std::uint32_t number = 0)
        : run_{run}, at_{at}, shared_{shared}, number_{number} {}

    // A sink for the events between closes; `admit(step)`: whether the rules see that step. Both must outlive it.
    template <class Admit>
    [[nodiscard]] auto sink(Admit const& admit) {
        return recorded_sink{[this](tensor_info const& it) { declare(it); },
                             [this](recorded_feature const& it) { take_feature(it); },
                             [this, &admit](recorded_observation const& it) {
                                 observe(it, admit);
                                 features_.clear();
                             },
                             [this, &admit](recorded_scalar const& it) {
                                 scalar(it, admit);
                                 features_.clear();
                             }};
    }
    void declare(tensor_info const& recorded) {
        make_room();
        tracked_tensor const& it = tensors_[recorded.id];
        tensor_info info = recorded;
        info.id = public_id(recorded.id);
        info.partner = public_id(recorded.partner);
        if (it.declared && same(it.info, info)) { return; }  // each segment repeats the declarations
        take_info(recorded.id, info);
    }
    void close() noexcept { features_.clear(); }
    // Passes the duration of the step that is closed now as `time/step`, for rules that need it, where the record has
    // no such tensor. A hook observes the same.
    template <class Admit>
    void time(step_id step, std::uint64_t ordinal, Admit const& admit) {
        if constexpr (Judges::reads_times) { judge_time(step, ordinal, admit); }
    }
    // Call it where a further attempt begins.
    void restart() {
        tensors_.clear();
        versions_.clear();
        features_.clear();
        time_.declared = false;
    }
    // Declares the same tensors to rules that start afresh.
    void declare_again() {
        for (tensor_id id = 0; id < tensors_.size(); ++id) {
            if (tensors_[id].declared) { tell(id); }
        }
        time_.declared = false;
    }

    // What rules needed and was not recorded: how often, and where first.
    [[nodiscard]] error lacking() const noexcept {
        if (first_lacking_ == no_tensor) { return {}; }
        std::uint64_t times = 0;
        for (lack const& each : lacks_) { times += each.times; }
        step_id const at = lacks_[first_lacking_].first;
        error failure{errc::no_payload, ""};
        sentence all;
        describe(lacking_first_, all);
        text<96> const what{all.view()};  // leaves room for what to do
        failure.what << "of " << judged_ << " observations, " << times << " lack what a rule asks for, first \""
                     << run_.tensors()[first_lacking_]->name << "\" at " << name_of(at.mode) << '(' << at.index
                     << "): " << what << ". Let a collection keep it, or its payload, or limit the rule: `| only{...}`";
        return failure;
    }

    // The same of each tensor: calls use(name, what, how often, where first).
    template <class Use>
    void each_lack(Use&& use) const {
        for (tensor_id id = 0; id < lacks_.size(); ++id) {
            lack const& its = lacks_[id];
            if (its.times > 0) { use(std::string_view{run_.tensors()[id]->name}, its.missing, its.times, its.first); }
        }
    }
    // Observations that some rule saw.
    [[nodiscard]] std::uint64_t judged() const noexcept { return judged_; }

    [[nodiscard]] error const& trouble() const noexcept { return trouble_; }

private:
    // For a tensor whose declaration is lost here and comes later or in another segment.
    void declare_late(tensor_id id) {
        tensor_info info = run_.tensors()[id]->info;
        info.id = public_id(id);
        info.partner = public_id(info.partner);
        take_info(id, info);
    }
    void take_info(tensor_id id, tensor_info const& info) {
        tensors_[id].info = info;
        tensors_[id].declared = true;
        if (shared_ != nullptr) { shared_->say(info, number_); }
        tell(id);
    }
    void make_room() {
        if (tensors_.size() < run_.tensors().size()) { tensors_.resize(run_.tensors().size()); }
        if (lacks_.size() < tensors_.size()) { lacks_.resize(tensors_.size()); }
        if (shared_ != nullptr) { versions_.resize(tensors_.size()); }
    }
    template <class Admit>
    void judge_time(step_id step, std::uint64_t ordinal, Admit const& admit) {
        if (run_.times().empty() || run_.find(step_time_name) != nullptr || !admit(step)) { return; }
        auto const it = run_.times().find(step, ordinal, number_);
        if (!it || it->first) { return; }
        at_.open(step);
        if (!std::exchange(time_.declared, true)) { declare_time(); }
        std::uint64_t const rules = time_.rules & at_.due();
        if (rules == 0) { return; }
        tensor_ref const view = view_of(&it->seconds, {});
        stats_mask const needs = time_.needs_of(rules);
        summary stats = take_summary(view, needs);
        if (has(needs, stats_mask::change)) { time_.compare(view, step, stats); }
        at_.judges().observe({time_.info, step, stats, view, {}, nullptr, &features_, number_}, rules);
        ++judged_;
        note_lack_of_memory(time_);
    }
    void declare_time() {
        double const none = 0;
        tensor_ref const view = view_of(&none, {});
        tensor_info& info = time_.info;
        info = {};
        info.id = shared_ == nullptr ? id_of_time : shared_->id_of(step_time_name);
        info.name = step_time_name;
        info.role = role::timing;
        info.flags = flag::unasked;
        info.type = view.type;
        info.shape = view.shape;
        if (shared_ != nullptr) { shared_->say(info, number_); }
        time_.declare_to(at_.judges());
        note_lack_of_memory(time_);
    }
    // The rules' ids are shifted, since `time/step` has the first and is not a tensor of the record.
    static constexpr tensor_id id_of_time = 0;
    [[nodiscard]] tensor_id public_id(tensor_id id) {
        if (id == no_tensor) { return id; }
        return shared_ == nullptr ? id + (Judges::reads_times ? 1 : 0) : shared_->id_of(run_.tensors()[id]->name);
    }
    // Of several records the rules get one declaration for each name, whichever record it comes from. Type, shape and
    // time of an observation are those of its own record.
    void tell(tensor_id id) {
        tracked_tensor& it = tensors_[id];
        if (shared_ == nullptr) {
            it.declare_to(at_.judges());
            return note_lack_of_memory(it);
        }
        dtype const type = it.info.type;
        extents const shape = it.info.shape;
        instant const when = it.info.instant;
        shared_names::entry const& agreed = shared_->of(it.info.id);
        it.info = agreed.info;
        it.declare_to(at_.judges());
        it.info.type = type;
        it.info.shape = shape;
        it.info.instant = when;
        note_lack_of_memory(it);
        versions_[id] = agreed.version;
    }
    [[nodiscard]] static bool same(tensor_info const& a, tensor_info const& b) noexcept {
        return a.role == b.role && a.partner_role == b.partner_role && a.partner == b.partner && a.flags == b.flags &&
               a.shape == b.shape && a.type == b.type && a.activation == b.activation && a.instant == b.instant;
    }

    // Opens the step. Returns whether a rule that is due there watches the tensor.
    template <class Admit>
    [[nodiscard]] bool is_judged(tensor_id id, step_id step, Admit const& admit) {
        if (!admit(step)) { return false; }
        make_room();
        at_.open(step);
        if (!tensors_[id].declared) { declare_late(id); }
        tracked_tensor const& it = tensors_[id];
        if (shared_ != nullptr && it.declared && versions_[id] != shared_->of(it.info.id).version) { tell(id); }
        return (it.rules & at_.due()) != 0;
    }
    // Features precede their observation, with no other row between, each key once. A repeated key belongs to the next
    // observation; the one before it was dropped.
    void take_feature(recorded_feature const& it) {
        rows::feature const& made = it.row;
        if (it.id >= tensors_.size() || !has(tensors_[it.id].all_needs, stats_mask::feature)) { return; }
        std::span<double const> taken;
        if (it.id != feature_of_ || made.step != feature_at_ || features_.find(made.key, taken)) { features_.clear(); }
        feature_of_ = it.id;
        feature_at_ = made.step;
        numbers_.clear();
        each_number(made, [&](double each) { numbers_.push_back(each); });
        if (!features_.add(made.key, numbers_)) { features_.clear(); }  // as if they were not recorded
    }

    // Drops features of other observations.
    void keep_features_of(tensor_id id, step_id step) noexcept {
        if (id != feature_of_ || step != feature_at_) { features_.clear(); }
    }

    template <class Admit>
    void observe(recorded_observation const& from, Admit const& admit) {
        rows::observe const& seen = from.row;
        if (!is_judged(from.id, seen.step, admit)) { return; }
        known_values known{from.stats};
        tracked_tensor& it = tensors_[from.id];
        std::uint64_t const rules = it.rules & at_.due();
        stats_mask const needs = it.needs_of(rules);
        bool tried = complete(from, it, needs, known);
        ++judged_;
        keep_features_of(from.id, seen.step);
        auto const values = [&]() noexcept {
            if (!std::exchange(tried, true) && seen.has_values) {
                (void)guarded([&] { (void)load(from, known.view); });
            }
            return known.view;
        };
        features_.play_back(values);
        observation const made{it.info,    seen.step,   known.stats,
                               known.view, known.units, any(terms_of(known.spread)) ? &known.spread : nullptr,
                               &features_, number_};
        at_.judges().observe(made, rules);
        note_lack_of_memory(it);
        if (features_.lacking()) { known.missing |= stats_mask::payload; }
        if (any(known.missing)) { note_lack(from.id, seen.step, known.missing); }
    }

    // A tensor at a step: the content of its row, and what was computed from its values.
    struct known_values {
        summary stats{};
        tensor_ref view{};
        unit_activity units{};
        distribution spread{};
        stats_mask missing = stats_mask::none;  // needed, but unavailable
    };
    // Needed terms that a row lacks, and whether the values are needed.
    struct unsaid {
        bool units = false, delta = false, pass = false;
        stats_mask spread = stats_mask::none;
        bool values = false;
    };
    [[nodiscard]] static unsaid unsaid_by(rows::observe const& seen, stats_mask needs, known_values const& known,
                                          bool units_recorded) noexcept {
        unsaid it;
        it.units = has(needs, stats_mask::unit_activity) && !units_recorded;
        it.delta = has(needs, stats_mask::change) && !has(known.stats.has, stats_mask::change);
        it.pass = any(without(needs & pass_terms, known.stats.has));
        if (known.stats.finite() > 0) { it.spread = without(needs & distribution_terms, terms_of(known.spread)); }
        // A later scalar is compared with this value.
        bool const single = has(needs, stats_mask::change) && seen.has_values && seen.shape.rank == 0;
        it.values = has(needs, stats_mask::payload) || single || it.units || it.delta || it.pass || any(it.spread);
        return it;
    }
    void compute(unsaid const& lacks, tracked_tensor& it, step_id step, stats_mask needs, known_values& known) {
        if (lacks.pass) { add_terms(take_summary(known.view, needs), known.stats); }
        if (lacks.delta) { it.compare(known.view, step, known.stats); }
        if (lacks.units) { known.units = it.count_units(known.view); }
        if (any(lacks.spread)) { known.spread = spread_of(known.view, needs); }
    }
    // Computes needed terms that the row lacks from the values. Returns whether values were needed.
    [[nodiscard]] bool complete(recorded_observation const& from, tracked_tensor& it, stats_mask needs,
                                known_values& known) {
        rows::observe const& seen = from.row;
        known.view = shape_of(it, seen);
        known.spread = stored_distribution(seen);
        bool const units_recorded =
            seen.units > 0 && seen.axis == unit_axis_of(it.info.shape, it.unit_axis, batch_axis_of(it.info.flags));
        if (units_recorded) { known.units = stored_units(seen); }
        unsaid const lacks = unsaid_by(seen, needs, known, units_recorded);
        if (lacks.delta && it.lost(seen.step.mode)) { known.missing = stats_mask::change; }
        if (lacks.values && seen.has_values && load(from, known.view)) { compute(lacks, it, seen.step, needs, known); }
        if (has(needs, stats_mask::change) && (!lacks.delta || known.view.absent())) {
            it.follow(known.view, seen.step);
        }
        if (lacks.values && known.view.absent()) {
            known.missing |=
                without(needs, known.stats.has | terms_of(known.spread) | stats_mask::feature | stats_mask::shape);
        }
        return lacks.values;
    }
    void note_lack_of_memory(tracked_tensor const& it) noexcept {
        if (!it.lacks_memory || trouble_) { return; }
        trouble_ = it.lack();
    }
    void note_lack(tensor_id id, step_id step, stats_mask missing) noexcept {
        if (first_lacking_ == no_tensor) { first_lacking_ = id, lacking_first_ = missing; }
        lack& its = lacks_[id];
        its.missing |= missing;
        if (its.times++ == 0) { its.first = step; }
    }

    template <class Admit>
    void scalar(recorded_scalar const& from, Admit const& admit) {
        rows::scalar const& seen = from.row;
        if (seen.has_step && seen.type == dtype::text) { return take_text(from); }
        if (!seen.has_step || !is_judged(from.id, seen.step, admit)) { return; }
        tracked_tensor& it = tensors_[from.id];
        std::uint64_t const rules = it.rules & at_.due();
        values_.assign(seen.value.begin(), seen.value.end());
        detail::make_sound(values_, seen.type);
        tensor_ref view{};
        view.values.raw = values_.data();
        view.type = seen.type;
        view.count = 1;
        stats_mask const needs = it.needs_of(rules);
        summary stats = take_summary(view, needs);
        if (has(needs, stats_mask::change)) { it.compare(view, seen.step, stats); }
        unit_activity units;
        if (has(needs, stats_mask::unit_activity)) { units = it.count_units(view); }
        distribution const spread = spread_of(view, needs);
        keep_features_of(from.id, seen.step);
        auto const value = [&]() noexcept { return view; };
        features_.play_back(value);
        at_.judges().observe(
            {it.info, seen.step, stats, view, units, any(terms_of(spread)) ? &spread : nullptr, &features_, number_},
            rules);
        ++judged_;
        note_lack_of_memory(it);
        if (features_.lacking()) { note_lack(from.id, seen.step, stats_mask::payload); }
    }

    // An experiment's outcomes in the loop count here too.
    void take_text(recorded_scalar const& from) {
        rows::scalar const& seen = from.row;
        if (run_.tensors()[from.id]->name != experiment_event) { return; }
        std::string_view const letters{reinterpret_cast<char const*>(seen.value.data()), seen.value.size()};
        at_.judges().experiment().take_back(letters, seen.step, [&](experiment_place const& what) -> finding const* {
            finding const* found = nullptr;
            for (finding const& each : run_.findings()) {
                bool const is = each.step == seen.step && experiment_answer::place_of(each) == what;
                if (is) { found = &each; }
            }
            return found;
        });
    }

    [[nodiscard]] distribution spread_of(tensor_ref const& view, stats_mask needs) noexcept {
        distribution const* const found = any(needs & distribution_terms) ? distributions_.take(view, needs) : nullptr;
        return found != nullptr ? *found : distribution{};
    }
    // No values, but their number.
    [[nodiscard]] static tensor_ref shape_of(tracked_tensor const& it, rows::observe const& seen) noexcept {
        tensor_ref view{};
        view.shape = seen.has_values || seen.has_shape ? seen.shape : it.info.shape;
        view.count = view.shape.elements();
        return view;
    }
    // Changes nothing where the values cannot be read.
    [[nodiscard]] bool load(recorded_observation const& from, tensor_ref& into) {
        run_.guard(from.segment);
        error const why = read_values(run_, from.segment, from.row, unpacker_, values_, into);
        if (why && !trouble_) { trouble_ = why; }
        return !why;
    }
    // Adds terms that were not stored, computed from the values. Stored ones stay: both are bit-equal.
    static void add_terms(summary const& from, summary& into) noexcept {
        summary all = from;
        all.has |= into.has;
        if (has(into.has, stats_mask::change)) {
            all.has_previous = into.has_previous, all.previous_index = into.previous_index;
            all.previous_sum_squares = into.previous_sum_squares, all.delta_sum_squares = into.delta_sum_squares;
            all.dot = into.dot, all.changed = into.changed;
        }
        stats_mask const stored_only = without(into.has & pass_terms, from.has);
        if (has(stored_only, stats_mask::zeros)) { all.zeros = into.zeros; }
        if (has(stored_only, stats_mask::range)) { all.minimum = into.minimum, all.maximum = into.maximum; }
        if (has(stored_only, stats_mask::abs_range)) {
            all.abs_minimum = into.abs_minimum, all.abs_maximum = into.abs_maximum;
        }
        if (has(stored_only, stats_mask::sum)) { all.sum = into.sum; }
        if (has(stored_only, stats_mask::sum_abs)) { all.sum_abs = into.sum_abs; }
        if (has(stored_only, stats_mask::sum_squares)) { all.sum_squares = into.sum_squares; }
        if (has(stored_only, stats_mask::variance)) { all.moment2 = into.moment2; }
        if (has(stored_only, stats_mask::product)) { all.product = into.product; }
        if (has(stored_only, stats_mask::hash)) { all.hash = into.hash; }
        into = all;
    }
    [[nodiscard]] unit_activity stored_units(rows::observe const& seen) {
        auto const count = static_cast<std::size_t>(seen.units);
        units_.resize(2 * count);
        std::memcpy(units_.data(), seen.active.data(), count * sizeof(std::uint32_t));
        std::memcpy(units_.data() + count, seen.finite.data(), count * sizeof(std::uint32_t));
        return {{units_.data(), count}, {units_.data() + count, count}, seen.axis};
    }

    worker_index const& run_;
    judged_step<Judges>& at_;
    shared_names* shared_;
    std::uint32_t number_;
    std::deque<tracked_tensor> tensors_{};   // by the record's ids; a deque keeps their addresses when it grows
    tracked_tensor time_{};                  // `time/step`
    std::vector<std::uint32_t> versions_{};  // versions of the shared names that the rules have, for several records
    std::vector<std::byte> values_{};
    std::vector<std::uint32_t> units_{};
    feature_list features_{};  // of the next observation:
    tensor_id feature_of_ = no_tensor;
    step_id feature_at_{};
    std::vector<double> numbers_{};
    distribution_scratch distributions_{};
    payload_unpacker unpacker_{};
    error trouble_{};
    std::uint64_t judged_ = 0;  // observations and scalars that some rule saw
    struct lack {
        stats_mask missing = stats_mask::none;
        std::uint64_t times = 0;
        step_id first{};
    };
    std::vector<lack> lacks_{};            // by the record's ids
    tensor_id first_lacking_ = no_tensor;  // the tensor of the first observation that lacked something
    stats_mask lacking_first_{};           // and what it lacked
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
