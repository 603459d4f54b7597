// SPDX-License-Identifier: Apache-2.0
// Hook (L3): the live source of a run's events: tensors in, findings out.
#pragma once

#include <spotter/hook/capture.hpp>
#include <spotter/hook/control.hpp>
#include <spotter/hook/handles.hpp>
#include <spotter/hook/health.hpp>
#include <spotter/hook/late_steps.hpp>
#include <spotter/hook/naming.hpp>
#include <spotter/hook/registry.hpp>
#include <spotter/hook/sink_calls.hpp>
#include <spotter/hook/source_copy.hpp>
#include <spotter/hook/timed_loop.hpp>
#include <spotter/hook/unwinding.hpp>
#include <spotter/hook/vitals.hpp>
#include <spotter/judge/added_findings.hpp>
#include <spotter/judge/judges.hpp>
#include <spotter/plan/defaults.hpp>
#include <spotter/rule/packs_in.hpp>
#include <spotter/stat/take_summary.hpp>

namespace spotter::inline SPOTTER_ABI {

// Watches a training loop: takes its tensors step by step, lets rules judge them, records what the plan keeps, and
// returns the findings of each step. It belongs to one thread. No call throws. Once every tensor has been observed, no
// call locks or allocates, except the first call that wakes the writer. Kept values are copied, so buffers may be
// reused as soon as a call returns. `Arguments` are rules; `options` may stand anywhere among them.
template <class Sink, class Plan, class... Arguments>
class hook : public timed_loop {
    static_assert(((rule<Arguments> || std::same_as<Arguments, options> || std::same_as<Arguments, device_tensors>) &&
                   ...),
                  "spotter: behind its plan a hook takes rules and options; a predicate becomes a rule by "
                  "any(\"pattern\", predicate), "
                  "all(...) or fraction(...); a rule of your own says so: `using kind = spotter::rule_kind;`.");

public:
    // With a device, a step is judged as a whole, once its device results have arrived (late_bodies.hpp).
    static constexpr bool lags = (std::same_as<Arguments, device_tensors> || ...);

    // A hook that judges and records into the folder `path`: `hook{"runs/a", plan, rules...}`
    // (record/recorded_hook.hpp).
    explicit hook(std::string_view path, Plan const& plan, Arguments const&... rules) noexcept
        requires std::constructible_from<Sink, std::string_view, options const&>
        : plan_{plan}, arguments_{std::in_place, rules...}, judges_{rules...},
          sink_{detail::run_path(path), detail::options_among(rules..., plan)} {
        start();
    }
    // The same without a plan: only what the rules saw is recorded.
    explicit hook(std::string_view path, Arguments const&... rules) noexcept
        requires std::constructible_from<Sink, std::string_view, options const&> && std::same_as<Plan, plan<>>
        : hook{path, plan<>{}, rules...} {}
    // A hook that judges and keeps nothing: `hook{plan, rules...}`.
    explicit hook(Plan const& plan, Arguments const&... rules) noexcept
        requires std::same_as<Sink, null_sink>
        : plan_{plan}, arguments_{std::in_place, rules...}, judges_{rules...} {
        start();
    }
    // A hook that feeds the caller's sink, which must outlive it: `hook{sink, plan, rules...}`.
    explicit hook(std::type_identity_t<Sink> sink, Plan const& plan, Arguments const&... rules) noexcept
        requires std::is_lvalue_reference_v<Sink>
        : plan_{plan}, arguments_{std::in_place, rules...}, judges_{rules...}, sink_{sink} {
        start();
    }
    hook(hook const&) = delete;
    hook& operator=(hook const&) = delete;
    ~hook() { finish(); }

    // A hook with the same plan and rules for another thread of the same run. It records beside this one: `auto mine =
    // watch.worker(1);` in that thread, from number 1 on. Any thread may call this. The two hooks share nothing
    // afterwards, and either may end first.
    [[nodiscard]] hook worker(std::uint32_t number) const noexcept
        requires std::constructible_from<Sink, std::string_view, options const&>
    {
        return hook{*this, number};
    }

    // Opens a step, observes, closes it. Arguments: `"name"_t = values`, or anything with `visit_tensors(it, visit)`
    // found by ADL, which calls `visit(name, values)` or `visit(name, values, role)` for each of its tensors.
    template <class... Tensors>
    [[nodiscard]] step_alarm step(step_id id, Tensors const&... tensors) noexcept {
        begin(id);
        take_all(tensors...);
        return end();
    }
    // The same, in the mode of the innermost `during` scope, or train.
    template <class... Tensors>
    [[nodiscard]] step_alarm step(std::uint64_t index, Tensors const&... tensors) noexcept {
        return step(step_id{mode_, index}, tensors...);
    }

    void begin(step_id id) noexcept {
        if (state_ != detail::switch_state::off) { open(id); }
    }
    void begin(std::uint64_t index) noexcept { begin(step_id{mode_, index}); }

    // Sets the mode of steps that name none, until the scope ends: `auto scope = watch.during(mode::eval);`
    [[nodiscard]] mode_scope during(mode which) noexcept { return mode_scope{mode_, which}; }
    [[nodiscard]] mode current_mode() const noexcept { return mode_; }  // the mode of steps that name none

    using timed_loop::section;
    // For a hook with a device: records how long the device takes for the work that the scope puts into a stream, as
    // `time/<name>`. The name must not also be that of a section of the loop (docs/device.md).
    [[nodiscard]] late_section section(std::string_view name, void* stream) noexcept
        requires lags
    {
        return late_section{late_, meet_section(name), stream};
    }

    // `values` is a tensor (core/tensor_access.hpp) or a source (core/source.hpp), which is copied only where something
    // is due.
    template <class Values>
    void observe(std::string_view name, Values const& values) noexcept {
        if (registry_.passes(name, [this](auto const& it) { return idle(it.declared, it.rules, it.collections); })) {
            return;
        }
        if (tracked_tensor* const it = meet(name); it != nullptr) { observe_due(*it, values); }
    }
    // With a role and flags; the first role given holds for the run.
    template <class Values>
    void observe(std::string_view name, Values const& values, role what, flag flags = flag::none) noexcept {
        observe_offered(name, offer(values), &what, flags);
    }
    // With flags; the role is guessed from the name.
    template <class Values>
    void observe(std::string_view name, Values const& values, flag flags) noexcept {
        observe_offered(name, offer(values), nullptr, flags);
    }
    template <class Values>
    void observe(tensor_handle handle, Values const& values) noexcept {
        if (tracked_tensor* const it = handle.it_;
            it != nullptr && !idle(it->declared, it->rules, it->info.collections)) {
            observe_due(*it, values);
        }
    }
    // Observes one argument of `step`, between `begin` and `end`: `"name"_t = values`, or anything with
    // `visit_tensors`, such as a whole network.
    template <class Tensors>
    void observe(Tensors const& tensors) noexcept {
        take_all(tensors);
    }
    // Observes a value and returns it: `x = hook.tap("relu1", relu(x))`.
    template <class Values>
    decltype(auto) tap(std::string_view name, Values&& values) noexcept {
        observe_offered(name, offer(values));
        return std::forward<Values>(values);
    }
    // Observes the arguments of `step` and closes the step. Returns its findings, the most severe first. With no step
    // open it returns the findings that are not reported yet.
    template <class... Tensors>
    [[nodiscard]] step_alarm end(Tensors const&... tensors) noexcept {
        take_all(tensors...);
        if (!open_) { return std::exchange(carried_, {}); }
        carry();
        return std::exchange(carried_, {});
    }

    // Adds the findings of an examination (`sp::preflight`) to the run. They are recorded at once, with the open or the
    // last step. The next alarm reports them, and its decision counts them. Their texts are copied. From here on no
    // rule blames what the examination proved correct; a note says so.
    template <examined_loop Result>
    void add(Result const& examined) noexcept {
        if (state_ == detail::switch_state::off) { return; }
        keep_apart(examination_event, examined.sentence().view());
        if (finished_) { return; }
        for (auto const& each : examined.all()) { add_finding(each.finding); }
        std::size_t kept = 0;
        for (auto const& each : examined.gradients()) {
            if (each.is_right() || kept == most_examined_gradients) { continue; }
            keep_apart(examined_gradient_event, each.line().view()), ++kept;
        }
        judges_.experiment().take_as_right(examined.proven_right());
    }
    // From here on an alarm runs the experiment on the network in its current state (sp::alarm_examination). The alarm
    // then says that it is proven, refuted (it becomes a note) or not proven. Off by default; steps without an alarm
    // cost nothing.
    template <alarm_examiner Examiner>
    void examine_with(Examiner& examiner) noexcept {
        judges_.experiment().ask(examiner);
    }

    // A value that is always kept: at the open step, where rules see it too, or between steps.
    template <element Value>
    void scalar(std::string_view name, Value value) noexcept {
        if (tracked_tensor* const it = meet(name); it != nullptr) { keep_number(*it, value); }
    }
    template <element Value>
    void scalar(tensor_handle handle, Value value) noexcept {
        if (handle.it_ != nullptr) { keep_number(*handle.it_, value); }
    }
    // With its own time, in seconds since 1970.
    template <element Value>
    void scalar(std::string_view name, Value value, double time) noexcept {
        keep_scalar(name, view_of(&value, {}), &time);
    }

    // A text: kept like any other scalar; rules do not see it.
    void scalar(std::string_view name, std::string_view text) noexcept {
        keep_scalar(name, view_of_text(text), nullptr);
    }
    void scalar(std::string_view name, std::string_view text, double time) noexcept {
        keep_scalar(name, view_of_text(text), &time);
    }
    template <class Value, std::same_as<double>... Time>
        requires(!element<Value> && !std::convertible_to<Value const&, std::string_view>)
    void scalar(std::string_view, Value const&, Time...) noexcept {
        static_assert(sizeof(Value) == 0,
                      "spotter: a scalar is one number or a text; a tensor is observed: observe(\"name\", tensor).");
    }

    // A handle saves the look-up of a name that the loop observes very often.
    [[nodiscard]] tensor_handle tensor(std::string_view name) noexcept {
        return tensor_handle{registry_.find_or_add(name)};
    }
    [[nodiscard]] tensor_handle tensor(std::string_view name, role what, flag flags = flag::none) noexcept {
        tracked_tensor* const it = registry_.find_or_add(name);
        if (it != nullptr) { registry_.give_role(*it, &what, flags); }
        return tensor_handle{it};
    }

    // Marks the run as failed and records the reason.
    void fail(std::string_view why) noexcept { failed_ = true, failure_ = text<160>{why}; }
    // Ends the run, as the destructor does. What is given afterwards is refused. An open step is closed. If the run
    // failed, or an exception leaves the hook, that step is judged by what it holds and stays open in the record.
    // `end()` then returns what was found.
    void finish() noexcept;

    // Makes closed steps visible to readers, and waits for that.
    void flush() noexcept { sink_.flush(); }
    // Moves bytes from the ring to the files, for options{.drain = drain::poll}.
    void poll() noexcept {
        if constexpr (offers<sink_call::poll>) { sink_.poll(); }
    }

    // The hook's state, at any time; after `finish` it is final.
    [[nodiscard]] health_report health() const noexcept;
    // May a checkpoint taken now replace that step's? True if no finding held at that step's close or since, reported
    // or thinned (hook/vitals.hpp).
    [[nodiscard]] bool healthy_since(step_id step) const noexcept { return vitals_.healthy_since(step); }
    [[nodiscard]] vitals const& vital_signs() const noexcept { return vitals_; }  // for moments, which no rewind undoes

    // The folder of the record; empty where nothing is recorded.
    [[nodiscard]] std::string_view path() const noexcept { return sink_.path(); }
    // Identifies the run in all its attempts; 0 where nothing is recorded.
    [[nodiscard]] std::uint64_t run_id() const noexcept {
        if constexpr (offers<sink_call::run_id>) {
            return sink_.run_id();
        } else {
            return 0;
        }
    }
    // Calls use(tensor_info) for each tensor observed so far, in the order of the first observation.
    template <class Use>
    void each_tensor(Use&& use) const {
        for (std::size_t i = 0; i < registry_.size(); ++i) { use(registry_[i].info); }
    }
    // Calls use(refused_tensor) for each name with refused observations, in the order of the first observation.
    template <class Use>
    void each_refused(Use&& use) const {
        registry_.each_refused(use);
    }
    // Calls use(coverage) for each leaf rule.
    template <class Use>
    void coverage_of_rules(Use&& use) const {
        judges_.report(use);
    }

    // For callers that do not know the hook's type (hook/observer.hpp), and for tables of tensors.
    void observe_offered(std::string_view name, offered const& values, role const* what = nullptr,
                         flag flags = flag::none) noexcept {
        tracked_tensor* const it = meet(name);
        if (it == nullptr) { return; }
        if (what != nullptr || flags != flag::none) { registry_.give_role(*it, what, flags); }
        observe_tracked(*it, values);
    }
    // A scalar of any type.
    void scalar_offered(std::string_view name, tensor_ref const& value) noexcept { keep_scalar(name, value, nullptr); }

private:
    using sink_type = std::remove_reference_t<Sink>;
    static_assert(detail::right_calls<sink_type>::checked);
    template <sink_call Call>
    static constexpr bool offers = detail::offers_call<Call, sink_type>;  // whether the sink has this call

    hook(hook const& first, std::uint32_t number) noexcept
        : plan_{first.plan_}, arguments_{first.arguments_},
          judges_{arguments_.apply([](Arguments const&... each) { return judges<Arguments...>{each...}; })},
          sink_{first.path(), detail::options_of_worker(first.choices(), number, first.path().empty())} {
        judges_.belong_to(number);
        if (first.path().empty() && !first.choices().dry_run) {
            remember(errc::unwritable, "worker",
                     "records nothing, as the hook that it belongs to; that one's health() says why");
        }
        start();
    }
    [[nodiscard]] options choices() const noexcept {
        return arguments_.apply([&](Arguments const&... each) { return detail::options_among(each..., plan_); });
    }
    void start() noexcept;

    // Work for the device is launched once for all of them.
    template <class... Tensors>
    SPOTTER_INLINE void take_all(Tensors const&... tensors) noexcept {
        if constexpr (lags) { late_.hand_over(true); }
        (take(tensors), ...);
        if constexpr (lags) { late_.hand_over(false); }
    }
    template <class Argument>
    void take(Argument const& argument) noexcept {
        if constexpr (std::same_as<Argument, named_tensor>) {
            observe_offered(argument.name, argument.values);
        } else {
            bool const fine = guarded([&] {
                detail::visit_each(argument, [this](std::string_view name, auto const& values, auto... role_and_flags) {
                    this->observe(name, values, role_and_flags...);
                });
            });
            if (!fine) {
                remember(errc::user_code_threw, "visit_tensors",
                         "threw an exception; the tensors after it were not seen");
            }
        }
    }

    void open(step_id id) noexcept {
        if (open_) { ++left_open_, carry(); }
        if constexpr (offers<sink_call::stamp>) { step_begins(); }
        open_ = !finished_;
        step_ = id;
        plan_due_ = guarded_or([&] { return plan_.due(id); },
                               [&] { return remember(errc::user_code_threw, "plan", "a policy threw an exception"); });
        rules_due_ = judges_.due(id);
    }

    // `whole`: the loop ended the step itself; false where the run failed amid it.
    [[nodiscard]] step_alarm close(bool whole) noexcept;
    // The parts of a close (hook_bodies.hpp), in the order in which they run.
    [[nodiscard]] double keep_times() noexcept;
    void advance_captures() noexcept;
    void judge_late(step_alarm& found, bool all) noexcept;
    void decide(double now, step_alarm& found) noexcept;
    void judge(double now, step_alarm& found) noexcept;
    void note_vitals(step_alarm const& found) noexcept;
    void collect_external(step_alarm& found) noexcept;
    void apply_request() noexcept;
    SPOTTER_COLD void record_experiment() noexcept;
    void record_close(step_alarm const& found, step_moments const& times, bool whole) noexcept;
    void hand_out() noexcept;
    void respond(finding const& it) noexcept {
        judges_.respond(it, captures_, [this](error const& why) { failures_.add(why); });
    }

    // Closes the step. The next alarm reports its findings, with those of other steps that the loop did not end itself.
    void carry(bool whole = true) noexcept { carried_.add(close(whole)); }

    void add_finding(finding const& it) noexcept;
    // Records a text outside of any step, even while one is open.
    void keep_apart(std::string_view name, std::string_view text) noexcept;

    // The tensor of that name; null where the hook is off or memory is exhausted.
    [[nodiscard]] tracked_tensor* meet(std::string_view name) noexcept {
        if (state_ == detail::switch_state::off) { return nullptr; }
        tracked_tensor* const it = registry_.find_or_add(name);
        if (it == nullptr) { ++refused_, remember(errc::out_of_memory, name, "no memory for one more name"); }
        return it;
    }
    // Nothing of the tensor is due at the open step. Checked before a view of it is made.
    [[nodiscard]] bool idle(bool declared, std::uint64_t rules, std::uint64_t collections) const noexcept {
        return open_ && declared && !captures_.active() && ((rules & rules_due_) | (collections & plan_due_)) == 0;
    }

    // The same collections are due as at its last observation, and no rule is due.
    [[nodiscard]] bool plain(tracked_tensor const& it) const noexcept {
        return !lags && open_ && it.declared && (it.rules & rules_due_) == 0 &&
               (it.info.collections & plan_due_) == it.cached_due && !captures_.interfere();
    }
    template <class Values>
    void observe_due(tracked_tensor& it, Values const& values) noexcept {
        if constexpr (detail::takes_number<sink_type, Values>) {
            if (it.as_number && plain(it)) { return ++observed_, detail::hand_number(sink_, it.info, step_, values); }
        }
        observe_tracked(it, offer(values));
    }
    template <element Value>
    void keep_number(tracked_tensor& it, Value const& value) noexcept {
        if constexpr (detail::takes_number<sink_type, Value> && !lags) {
            if (open_ && it.declared && (it.rules & rules_due_) == 0) {
                return ++observed_, detail::hand_number(sink_, it.info, step_, value);
            }
        }
        keep_apart(it, value);
    }
    template <element Value>
    SPOTTER_NOINLINE void keep_apart(tracked_tensor& it, Value const& value) noexcept {
        keep_scalar(it, view_of(&value, {}), nullptr);
    }
    void observe_tracked(tracked_tensor& it, offered const& given) noexcept;
    // Declares the tensor at its first observation. False where it is refused or absent.
    [[nodiscard]] bool is_taken(tracked_tensor& it, tensor_ref const& values) noexcept;
    void observe_offer(tracked_tensor& it, offered const& given, std::uint64_t rules, std::uint64_t due) noexcept;

    SPOTTER_INLINE void observe_values(tracked_tensor& it, tensor_ref const& values, std::uint64_t rules,
                                       stats_mask kept, bool as_scalar, double const* time = nullptr) noexcept {
        ++observed_;
        if constexpr (lags) {
            if (!late_.now) { return put_late(it, values, rules, kept, as_scalar, true, time); }
        }
        judge_values(it, values, rules, kept, as_scalar, time);
    }
    void judge_values(tracked_tensor& it, tensor_ref const& values, std::uint64_t rules, stats_mask kept,
                      bool as_scalar, double const* time) noexcept;
    void put_late(tracked_tensor& it, tensor_ref const& values, std::uint64_t rules, stats_mask kept, bool as_scalar,
                  bool judged, double const* time) noexcept;
    void observe_on_device(tracked_tensor& it, device_values const& values) noexcept;
    void judge_event(late_event const& it, late_step const& of) noexcept;
    void judge_time(late_event const& it) noexcept;
    [[nodiscard]] tracked_tensor* meet_section(std::string_view name) noexcept;

    void keep_scalar(std::string_view name, tensor_ref const& value, double const* time) noexcept {
        if (tracked_tensor* const it = meet(name); it != nullptr) { keep_scalar(*it, value, time); }
    }
    SPOTTER_NOINLINE void keep_scalar(tracked_tensor& it, tensor_ref const& value, double const* time) noexcept {
        if (state_ == detail::switch_state::off) { return; }
        if (finished_) { return refuse(it, {errc::no_step_open, "given after finish(): it is not in the record"}); }
        if (!it.declared) { declare(it, value); }
        if (!open_) { return sink_.scalar(it.info, nullptr, value, time); }
        std::uint64_t const rules = value.type == dtype::text ? 0 : it.rules & rules_due_;
        if (rules != 0) { return observe_values(it, value, rules, stats_mask::none, true, time); }
        ++observed_;
        if constexpr (lags) {
            if (!late_.now) { return put_late(it, value, 0, stats_mask::none, true, false, time); }
        }
        sink_.scalar(it.info, &step_, value, time);
    }

    // Cold: at a tensor's first observation, when its type and shape are known, and again after the plan or rules
    // changed.
    SPOTTER_NOINLINE void declare(tracked_tensor& it, tensor_ref const& values) noexcept;
    void announce(tracked_tensor& it) noexcept;

    [[nodiscard]] stats_mask wanted(tracked_tensor& it, std::uint64_t due) const noexcept {
        if (it.cached_due != due) { it.want(due, plan_.wanted(due)); }
        stats_mask const planned = due == 0 ? stats_mask::none : it.cached_wanted;
        return captures_.add(it, step_, planned);
    }
    SPOTTER_NOINLINE void refuse(tracked_tensor& it, refusal_words const& why) noexcept {
        ++refused_, ++it.times_refused;
        it.refused = why;
        remember(why.code, it.name, why.sentence);
    }
    // Always returns 0: an empty set, for callers that need one.
    std::uint64_t remember(errc code, std::string_view name, std::string_view what) noexcept {
        failures_.add(code, name, what);
        return 0;
    }

    Plan plan_;
    pack<Arguments...> arguments_;
    judges<Arguments...> judges_;  // the machines of all rules
    registry registry_{};
    source_copy copies_{};
    distribution_scratch distributions_{};
    captures captures_{};
    added_findings added_{};
    vitals vitals_{};
    feature_list features_{};  // of the current observation
    detail::switch_state state_ = detail::switch_state::on;
    mode mode_ = mode::train;
    instant instant_ = instant::before_update;
    bool open_ = false, finished_ = false, failed_ = false;
    bool plan_is_sound_ = true;
    step_id step_{};
    std::uint64_t plan_due_ = 0, rules_due_ = 0;
    std::uint64_t steps_ = 0, observed_ = 0, refused_ = 0, declared_ = 0, left_open_ = 0;
    step_alarm carried_{};
    failure_list failures_{};
    text<160> failure_{};
    [[no_unique_address]] std::conditional_t<lags, detail::late_part, detail::no_late_part> late_{};
    unwinding exceptions_{};
    Sink sink_;  // last member: destroyed before the names that it refers to
};

template <plan_like Plan, class... Arguments>
hook(Plan, Arguments...) -> hook<null_sink, Plan, Arguments...>;
template <event_sink Sink, class Plan, class... Arguments>
hook(Sink&, Plan, Arguments...) -> hook<Sink&, Plan, Arguments...>;

}  // namespace spotter::inline SPOTTER_ABI

#include <spotter/hook/hook_bodies.hpp>
#include <spotter/hook/late_bodies.hpp>
