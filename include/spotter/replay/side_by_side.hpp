// SPDX-License-Identifier: Apache-2.0
// Replay (L5): several runs, or the workers of one, side by side: one set of rules over all of them, step by step.
#pragma once

#include <spotter/replay/replay.hpp>
#include <spotter/replay/step_rows.hpp>
#include <spotter/replay/streams.hpp>

#include <map>
#include <memory>

namespace spotter::inline SPOTTER_ABI {

// The result of a replay of several streams, including what could not be compared because some stream lacks it.
struct side_by_side_report : replay_report {
    std::uint64_t streams = 0;                  // judged streams
    std::vector<std::string> unpaired_names{};  // never observed in some stream; sorted
    std::vector<step_id> unpaired_steps{};      // not closed in some stream; in order
};

namespace detail {

// One stream during the replay.
template <class Judges>
class side_by_side_part {
public:
    side_by_side_part(streams::one const& from, judged_step<Judges>& at, shared_names& names)
        : record_{*from.record}, rows_{from.record->index()}, events_{from.record->index(), at, &names, from.number} {}

    // Moves to a close, or to none. Returns whether a further attempt begins with it.
    [[nodiscard]] bool find(std::uint32_t closing) {
        wanted_ = closing;
        found_ = wanted_ != step_order::none && rows_.seek(wanted_);
        resumed_ = found_ && begun_ && rows_.attempt() > attempt_;
        time_ = 0;
        if (found_) {
            attempt_ = (std::max)(attempt_, rows_.attempt());
            time_ = rows_.time();
            begun_ = true;
        }
        return resumed_;
    }
    // Events before that attempt began are for the earlier rules, which judge them last.
    template <class Admit>
    void end_attempt(Admit const& admit) {
        if (resumed_) { rows_.each_before_attempt(events_.sink(admit)); }
    }
    [[nodiscard]] bool resumed() const noexcept { return resumed_; }
    void meet_fresh_rules(bool resumed_here) {
        if (resumed_here) {
            events_.restart();
        } else {
            events_.declare_again();
        }
    }
    template <class Admit>
    void play(Admit const& admit) {
        if (!found_) { return; }
        catch_up();
        if (!rows_.seek(wanted_)) { return; }
        rows_.each_event(events_.sink(admit));
        events_.close();
        events_.time(rows_.step(), rows_.ordinal(), admit);
    }
    // Plays the step that an ended run left open; calls `resumed()` where an attempt begins in those events.
    template <class Admit, class Resumed>
    void play_left(Admit const& admit, Resumed&& resumed) {
        if (!record_.running()) { rows_.each_left(events_.sink(admit), resumed); }
    }
    [[nodiscard]] double ended_at() const noexcept { return record_.index().ended_at(); }
    // When the step was closed here; 0 where it was not.
    [[nodiscard]] double time() const noexcept { return time_; }
    [[nodiscard]] recorded_stream<Judges> const& events() const noexcept { return events_; }

private:
    // Declares what the record has at earlier steps that come later in the common order.
    void catch_up() {
        for (; next_ < wanted_ && rows_.seek(next_); ++next_) {
            rows_.each_event([this](tensor_info const& it) { events_.declare(it); });
        }
        next_ = (std::max)(next_, wanted_ + 1);
    }

    worker_reader const& record_;
    step_rows rows_;
    recorded_stream<Judges> events_;
    std::uint32_t next_ = 0, wanted_ = step_order::none;  // closings
    std::uint32_t attempt_ = 0;
    double time_ = 0;
    bool begun_ = false, found_ = false, resumed_ = false;
};

// The rules for all streams.
template <class... Arguments>
class judged_streams {
    using rules = judges<Arguments...>;

public:
    judged_streams(streams const& which, side_by_side_report& report, Arguments const&... arguments)
        : which_{which}, report_{report}, judges_{std::in_place, arguments...}, at_{*judges_} {
        judges_->belong_to(number_if_alone());
        for (streams::one const& each : which_.all()) {
            parts_.push_back(std::make_unique<side_by_side_part<rules>>(each, at_, names_));
            order_.add(each.record->index().steps());
        }
        order_.each([&](step_id step, std::uint32_t entry) { judge(step, entry, arguments...); });
        for (auto const& each : parts_) {
            auto const admit = admitting(arguments...);
            each->play_left(admit, [&] {
                leave(arguments...);
                start_afresh(each.get(), arguments...);
            });
            time_ = (std::max)(time_, each->ended_at());
            leave(arguments...);
        }
        gather();
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            error const broken = parts_[i]->events().trouble(), lacking = parts_[i]->events().lacking();
            note_lacking(report_, parts_[i]->events());
            note(broken ? broken : lacking, parts_.size() > 1 ? &which_.all()[i].number : nullptr);
            report_.whole = report_.whole && !broken && !lacking;
        }
    }
    judged_streams(judged_streams const&) = delete;
    judged_streams& operator=(judged_streams const&) = delete;

private:
    void judge(step_id step, std::uint32_t entry, Arguments const&... arguments) {
        auto const admit = admitting(arguments...);
        bool everywhere = true, resumed = false;
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            std::uint32_t const closing = order_.closing(i, entry);
            everywhere = everywhere && closing != step_order::none;
            if (parts_[i]->find(closing)) { resumed = true; }
        }
        if (resumed) {
            for (auto const& each : parts_) {
                each->end_attempt(admit);
                leave(arguments...);
            }
            time_ = 0;
        }
        for (auto const& each : parts_) { time_ = (std::max)(time_, each->time()); }
        if (resumed) { start_afresh(nullptr, arguments...); }
        for (auto const& each : parts_) { each->play(admit); }
        if (!admit(step)) { return; }
        if (!everywhere) { report_.unpaired_steps.push_back(step); }
        close(step, arguments...);
    }
    [[nodiscard]] static auto admitting(Arguments const&... arguments) {
        return [&]([[maybe_unused]] step_id at) { return (admits_step(arguments, at) && ... && true); };
    }
    // Makes the rules of a further attempt. It begins in `alone`, or if that is null in each part that was resumed.
    void start_afresh(side_by_side_part<rules> const* alone, Arguments const&... arguments) {
        gather();
        judges_.emplace(arguments...);
        judges_->belong_to(number_if_alone());
        at_.restart();
        for (auto const& each : parts_) {
            each->meet_fresh_rules(alone == nullptr ? each->resumed() : each.get() == alone);
        }
    }
    // Judges a step that was left open by what was recorded.
    void leave(Arguments const&... arguments) {
        if (!at_.is_open()) { return; }
        ++report_.open;
        close(at_.step(), arguments...);
    }
    void close(step_id step, Arguments const&... arguments) {
        step_alarm found;
        at_.close(step, time_, found, [&](finding const& each) { (tell_finding(arguments, each), ...); });
        ++report_.steps;
        if (found.empty()) { return; }
        ++report_.fired;
        report_.findings.insert(report_.findings.end(), found.begin(), found.end());
        (tell_alarm(arguments, found), ...);
    }
    [[nodiscard]] std::uint32_t number_if_alone() const noexcept {
        return which_.all().size() == 1 ? which_.all().front().number : 0;
    }
    void gather() {
        std::size_t place = 0;
        judges_->report([&](coverage const& each) { join_coverage(report_.coverages, place++, each); });
        note(judges_->trouble(), nullptr);
    }
    void note(error const& why, std::uint32_t const* stream) noexcept {
        if (!why || report_.trouble) { return; }
        report_.trouble.code = why.code;
        if (stream != nullptr) { report_.trouble.what << "stream " << *stream << ": "; }
        report_.trouble.what << why.what.view();
    }

    streams const& which_;
    side_by_side_report& report_;
    std::optional<rules> judges_;
    judged_step<rules> at_;
    shared_names names_{};
    step_order order_{};
    // The latest close so far: clocks of several streams may differ, and steps are in the order of the first stream.
    double time_ = 0;
    std::vector<std::unique_ptr<side_by_side_part<rules>>> parts_{};
};

[[nodiscard]] inline std::vector<std::string> unpaired_names(streams const& which) {
    std::map<std::string_view, std::size_t> times;
    for (streams::one const& each : which.all()) {
        for (auto const& tensor : each.record->index().tensors()) {
            if (!tensor->entries.empty()) { ++times[tensor->name]; }
        }
    }
    std::vector<std::string> found;
    for (auto const& [name, count] : times) {
        if (count < which.all().size()) { found.emplace_back(name); }
    }
    return found;
}

}  // namespace detail

// Judges several records by one set of rules: `replay_side_by_side({a, b}, rules...)` judges runs,
// `replay_side_by_side(run, rules...)` the workers of a run. At each step the rules see the observations of the first
// stream, then of the second, each in its own order and with observation::stream. Then the step is closed once, at the
// latest of the streams' times. A rule that reads `stream` compares streams; any other rule takes them for one, with
// several observations of a tensor in a step. A step that some streams lack is judged over the others. Steps are in the
// order of the first stream that has them. If a step was closed several times, the last closes are matched. Arguments
// are those of `replay`; a callable may take a `side_by_side_report const&`. With one stream the result is that of
// `replay`.
template <class... Arguments>
side_by_side_report replay_side_by_side(streams const& which, Arguments const&... arguments) {
    side_by_side_report report;
    report.streams = which.all().size();
    { detail::judged_streams<Arguments...> const judged{which, report, arguments...}; }
    for (trial const* run : which.runs()) { report.whole = report.whole && detail::nothing_lost(*run); }
    report.unpaired_names = detail::unpaired_names(which);
    (detail::tell_report(arguments, report), ...);
    return report;
}

}  // namespace spotter::inline SPOTTER_ABI
