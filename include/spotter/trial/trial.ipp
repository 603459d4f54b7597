// SPDX-License-Identifier: Apache-2.0
// The bodies of trial.hpp.
#pragma once

#include <spotter/core/clock.hpp>
#include <spotter/file/deadline.hpp>
#include <spotter/trial/trial.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY std::vector<std::uint32_t> trial::workers() const {
    return detail::listed([&] {
        std::vector<std::uint32_t> found;
        for (auto const& each : readers()) { found.push_back(each->number()); }
        return found;
    });
}

SPOTTER_BODY std::vector<std::string> trial::names(filter const& which) const {
    return detail::listed([&] {
        std::vector<std::string> found;
        for (auto const& each : readers()) {
            if (!which.worker || which.worker->number == each->number()) { add_names(each->index(), which, found); }
        }
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        return found;
    });
}

SPOTTER_BODY std::vector<std::string> trial::names(std::string_view pattern) const {
    return names(filter{.pattern = pattern});
}

SPOTTER_BODY track trial::operator[](std::string_view name) const {
    return detail::listed([&] {
        track found{{first(), name, &readers()}, awaiting_};
        for (std::size_t i = 1; i < readers().size(); ++i) { found.add({*readers()[i], name, &readers()}); }
        return found;
    });
}

SPOTTER_BODY std::vector<step_id> trial::steps(closed_by whom) const {
    return steps_if([](step_id) { return true; }, whom);
}

SPOTTER_BODY std::vector<step_id> trial::steps(mode which, closed_by whom) const {
    return steps_if([=](step_id step) { return step.mode == which; }, whom);
}

SPOTTER_BODY std::vector<step_id> trial::steps(worker which) const {
    return detail::listed([&] {
        step_merge found{false};
        if (worker_reader const* const each = list_->find(which.number)) {
            for (closed_step const& closed : each->index().steps()) {
                if (closed.holds) { found.add(closed); }
            }
        }
        return found.take();
    });
}

SPOTTER_BODY std::vector<timed_step> trial::times() const {
    return detail::listed([&] {
        std::vector<timed_step> found;
        for (auto const& each : readers()) { add_times(*each, found); }
        return found;
    });
}

SPOTTER_BODY std::vector<timed_step> trial::times(worker which) const {
    return detail::listed([&] {
        std::vector<timed_step> found;
        if (worker_reader const* const each = list_->find(which.number)) { add_times(*each, found); }
        return found;
    });
}

SPOTTER_BODY void trial::add_times(worker_reader const& from, std::vector<timed_step>& found) {
    recorded_times const& times = from.index().times();
    for (closed_step const& each : from.index().steps()) {
        if (auto const it = times.find(each.step, each.ordinal, from.number())) { found.push_back(*it); }
    }
}

SPOTTER_BODY std::vector<mode> trial::modes() const {
    return detail::listed([&] {
        std::vector<mode> found;
        for (mode const each : {mode::train, mode::eval, mode::predict}) {
            if (!steps(each).empty()) { found.push_back(each); }
        }
        return found;
    });
}

SPOTTER_BODY std::vector<recorded_collection> const& trial::collections() const {
    return several_ ? joint().collections : index().collections();
}

SPOTTER_BODY result<std::uint64_t> trial::ordinal(step_id step) const {
    return detail::answered([&]() -> result<std::uint64_t> {
        for (auto const& each : readers()) {
            step_list const& closed = each->index().steps();
            for (std::size_t i = each->closed(step) ? closed.size() : 0; i > 0; --i) {
                if (closed[i - 1].step == step) { return closed[i - 1].ordinal; }
            }
        }
        return {errc::no_such_step, "no such step was closed"};
    });
}

SPOTTER_BODY result<step_id> trial::step_at(std::uint64_t ordinal) const {
    return detail::answered([&]() -> result<step_id> {
        for (auto const& each : readers()) {
            if (auto const closed = each->index().step_of(ordinal)) { return closed->step; }
        }
        return {errc::no_such_step, "no step with this ordinal was closed"};
    });
}

SPOTTER_BODY step_state trial::state(step_id step) const {
    bool present = false, pending = awaiting_;
    for (auto const& each : readers()) {
        step_state const its = each->state(step);
        present = present || its == step_state::present;
        pending = pending || its == step_state::pending;
    }
    return pending ? step_state::pending : present ? step_state::present : step_state::absent;
}

SPOTTER_BODY result<step_state> trial::state(step_id step, worker which) const {
    worker_reader const* const each = list_->find(which.number);
    if (each == nullptr) { return no_such(which); }
    return detail::answered([&]() -> result<step_state> { return each->state(step); });
}

SPOTTER_BODY result<run_status> trial::status(worker which) const noexcept {
    worker_reader const* const each = list_->find(which.number);
    if (each == nullptr) { return no_such(which); }
    return each->status();
}

SPOTTER_BODY bool trial::over() const noexcept {
    return std::none_of(readers().begin(), readers().end(), [](auto const& each) { return each->running(); });
}

SPOTTER_BODY double trial::age() const {
    bool const live = !over();
    double found = live ? 0 : first().age();
    for (auto const& each : readers()) {
        if (live && each->running()) { found = (std::max)(found, each->age()); }
        if (!live) { found = (std::min)(found, each->age()); }
    }
    return found;
}

SPOTTER_BODY result<double> trial::age(worker which) const {
    worker_reader const* const each = list_->find(which.number);
    if (each == nullptr) { return no_such(which); }
    return detail::answered([&]() -> result<double> { return each->age(); });
}

SPOTTER_BODY std::string_view trial::why_ended() const {
    return several_ ? std::string_view{joint().why_ended} : index().ended_why();
}

SPOTTER_BODY std::uint64_t trial::closed_steps() const {
    std::uint64_t all = 0;
    for (auto const& each : readers()) { all += each->index().steps().size(); }
    return all;
}

SPOTTER_BODY std::uint32_t trial::attempts() const noexcept {
    std::uint32_t most = 0;
    for (auto const& each : readers()) { most = (std::max)(most, each->index().attempts()); }
    return most;
}

SPOTTER_BODY std::vector<open_step> trial::open_steps() const {
    return detail::listed([&] {
        std::vector<open_step> found;
        for (auto const& each : readers()) {
            auto const& its = each->index().open_steps();
            found.insert(found.end(), its.begin(), its.end());
        }
        return found;
    });
}

SPOTTER_BODY std::vector<finding> const& trial::findings() const {
    return several_ ? joint().findings : index().findings();
}

SPOTTER_BODY std::vector<recorded_coverage> const& trial::coverages() const {
    return several_ ? joint().coverages : index().coverages();
}

SPOTTER_BODY run_totals const& trial::totals() const { return several_ ? joint().totals : index().totals(); }

SPOTTER_BODY std::vector<damaged_place> const& trial::damage() const {
    if (!several_) { return index().damage(); }
    return detail::listed([&]() -> std::vector<damaged_place> const& {
        if (!joint_->has_damage) { joint_->damage = joint_notes::damage(*list_); }
        joint_->has_damage = true;
        return joint_->damage;
    });
}

SPOTTER_BODY run_losses trial::losses() const {
    return detail::listed([&] { return all_losses(); });
}

SPOTTER_BODY run_losses trial::all_losses() const {
    run_losses all;
    for (auto const& each : readers()) {
        detail::folder_losses folder = detail::look_for_losses(list_->files(), each->index().path());
        all.steps += detail::count_lost_steps(each->index(), folder);
        if (folder.trouble) { all.trouble = folder.trouble; }
        all.ends.insert(all.ends.end(), std::make_move_iterator(folder.ends.begin()),
                        std::make_move_iterator(folder.ends.end()));
    }
    for (damaged_place const& each : damage()) {
        bool const is_end = each.bytes == 0 && std::any_of(all.ends.begin(), all.ends.end(), [&](lost_end const& end) {
                                return end.file == each.file && end.offset == each.offset;
                            });
        all.places += is_end ? 0 : 1;
        all.bytes += each.bytes;
    }
    all.dropped = totals().dropped, all.thinned = totals().thinned, all.closes = totals().closes_lost;
    return all;
}

SPOTTER_BODY error trial::refresh() {
    return detail::answered(
        [&]() -> error {
            error const why = list_->refresh();
            update_status();
            return why;
        },
        "no memory to take in what was written: what was read still holds, refresh() again");
}

SPOTTER_BODY error trial::wait(step_id step, std::chrono::milliseconds patience) {
    auto const end = detail::deadline_in(patience);
    for (;;) {
        if (error const why = refresh()) { return why; }
        step_state now = step_state::pending;
        error const why = detail::answered([&]() -> error {
            now = state(step);
            return now == step_state::absent ? absence(step) : error{};
        });
        if (why || now == step_state::present) { return why; }
        auto const left = end - std::chrono::steady_clock::now();
        if (left <= left.zero()) {
            return {errc::not_yet, "the step was not decided in time: wait again, or look at age()"};
        }
        auto const nap =
            (std::min)(std::chrono::duration_cast<std::chrono::microseconds>(left), std::chrono::microseconds{2000});
        detail::nap(static_cast<std::uint32_t>(nap.count()));
    }
}

SPOTTER_BODY void trial::update_status() {
    if (readers().empty()) { return; }
    status_ = first().status();
    for (auto const& each : readers()) { status_ = worst_of(status_, each->status()); }
    bool const missing = list_->missing() > 0;
    awaiting_ = missing && !over();
    if (missing) { status_ = worst_of(status_, awaiting_ ? run_status::running : run_status::died); }
    several_ = readers().size() > 1 || missing;
    if (joint_ == nullptr) { joint_ = std::make_unique<joint_state>(); }
    joint_->has_notes = joint_->has_damage = false;
}

SPOTTER_BODY joint_notes const& trial::joint() const {
    return detail::listed([&]() -> joint_notes const& {
        if (!joint_->has_notes) {
            joint_notes fresh{};
            fresh.gather(*list_, status_);
            joint_->notes = std::move(fresh);
            joint_->has_notes = true;
        }
        return joint_->notes;
    });
}

SPOTTER_BODY error trial::absence(step_id step) const {
    for (auto const& each : readers()) {
        if (each->past(step)) { return {errc::no_such_step, "the run has gone past this step without it"}; }
    }
    return {errc::no_more_data, "the run is over and has no such step"};
}

SPOTTER_BODY error trial::no_such(worker which) noexcept {
    error why{errc::no_such_worker, "the run has no worker "};
    why.what << which.number << ": run.workers() lists those it has";
    return why;
}

SPOTTER_BODY void trial::add_names(worker_index const& from, filter const& which, std::vector<std::string>& found) {
    std::uint64_t members = ~std::uint64_t{0};
    if (!which.collection.empty()) { members = collection_bit(from, which.collection); }
    for (auto const& tensor : from.tensors()) {
        if (tensor->entries.empty()) { continue; }
        if (!which.collection.empty() && (tensor->info.collections & members) == 0) { continue; }
        if (!which.pattern.empty() && !glob{which.pattern}(tensor->name)) { continue; }
        if (has_any(*tensor, which)) { found.push_back(tensor->name); }
    }
}

SPOTTER_BODY bool trial::has_any(recorded_tensor const& tensor, filter const& which) {
    if (!which.mode && !which.step) { return true; }
    return std::any_of(tensor.entries.begin(), tensor.entries.end(), [&](track_entry const& entry) {
        bool const right_mode = !which.mode || entry.step.mode == *which.mode;
        bool const right_step = !which.step || entry.step == *which.step;
        return !entry.loose && right_mode && right_step;
    });
}

SPOTTER_BODY std::uint64_t trial::collection_bit(worker_index const& from, std::string_view name) noexcept {
    auto const& all = from.collections();
    for (std::size_t i = 0; i < all.size() && i < 64; ++i) {
        if (all[i].name == name) { return std::uint64_t{1} << i; }
    }
    return 0;
}

SPOTTER_BODY bool trial::closed_by_all(step_id step) const {
    return list_->missing() == 0 &&
           std::all_of(readers().begin(), readers().end(), [=](auto const& each) { return each->closed(step); });
}

namespace detail {

SPOTTER_BODY result<file_system*> files_of(std::string_view path, file_system& files) noexcept {
    return &files == &system_files() ? files_at(path) : result<file_system*>{&files};
}

}  // namespace detail

SPOTTER_BODY result<trial> trial::open(std::string_view path, worker const* only, file_system& files) noexcept {
#if SPOTTER_EXCEPTIONS
    try {
#endif
        auto const at = detail::files_of(path, files);
        if (!at) { return at.error(); }
        trial opened{path, **at};
        if (error const why = only == nullptr ? opened.refresh() : opened.list_->open_only(only->number)) {
            return why;
        }
        if (only != nullptr) { opened.update_status(); }
        return opened;
#if SPOTTER_EXCEPTIONS
    } catch (...) { return {errc::out_of_memory, "no memory to open the run"}; }
#endif
}

SPOTTER_BODY result<trial> open_trial(std::string_view path, file_system& files) noexcept {
    return trial::open(path, nullptr, files);
}

SPOTTER_BODY result<trial> open_trial(std::string_view path, worker only, file_system& files) noexcept {
    return trial::open(path, &only, files);
}

}  // namespace spotter::inline SPOTTER_ABI
