// SPDX-License-Identifier: Apache-2.0
// Trial (L4): one tensor over time, across all workers of a run.
#pragma once

#include <spotter/trial/index.hpp>
#include <spotter/trial/step_list.hpp>
#include <spotter/trial/track.hpp>

#include <algorithm>
#include <bit>

namespace spotter::inline SPOTTER_ABI {

// Merges the closes of workers into one list: every step once, in the order of its first close by any worker. For one
// worker that is the order of the record; for several, the order of their clocks' times.
class step_merge {
public:
    explicit step_merge(bool of_several) noexcept : of_several_{of_several} {}

    // Adds a close; those of each worker in order, one worker after the other.
    void add(closed_step const& closed) {
        if (of_several_) {
            all_.push_back({key_of(closed.time), all_.size(), closed.step});
        } else {
            take_new(closed.step);
        }
    }
    // The merged list. Call it once, at the end.
    [[nodiscard]] std::vector<step_id> take() {
        std::sort(all_.begin(), all_.end(), [](closing const& a, closing const& b) {
            return a.key != b.key ? a.key < b.key : a.place < b.place;
        });
        for (closing const& each : all_) { take_new(each.step); }
        return std::move(found_);
    }

private:
    struct closing {
        std::int64_t key = 0;
        std::size_t place = 0;  // number in the order of add()
        step_id step{};
    };
    // The bits of a time: a total order for any double, and the order of time after 1970.
    [[nodiscard]] static std::int64_t key_of(double time) noexcept { return std::bit_cast<std::int64_t>(time); }
    void take_new(step_id step) {
        if (known_.contains(step)) { return; }
        known_.add(step);
        found_.push_back(step);
    }

    bool of_several_;
    std::vector<closing> all_{};
    std::vector<step_id> found_{};
    step_ranges known_{};
};

// The recorded data of one tensor. Reads through its trial, which must outlive it. A track of an unknown name is valid:
// every read of it is errc::no_such_name.
//
// With several workers, each read (a value, a statistic, a point of a history) comes from the lowest worker that has an
// answer. Values of different workers are never mixed; `of(worker{2})` reads only that worker. If the lowest worker's
// answer is unreadable, or may be in unreadable or incomplete bytes, the read is errc::corrupt: no other worker's
// answer replaces it.
class track {
public:
    // `first`: the lowest worker's; the others are added in order. `awaiting`: a planned worker has not begun.
    track(worker_track first, bool awaiting) : first_{std::move(first)}, awaiting_{awaiting} {}
    // Adds the next worker's, by number.
    void add(worker_track next) { rest_.push_back(std::move(next)); }

    // The track of one worker; for an unknown worker every read is errc::no_such_worker.
    [[nodiscard]] track of(worker which) const;

    // Whether any worker knows the name.
    [[nodiscard]] explicit operator bool() const noexcept { return known() != nullptr; }
    // The requested name; lives with the track.
    [[nodiscard]] std::string_view name() const noexcept { return first_.name(); }
    // Role, type, shape and partner as last declared, from the lowest worker that knows the name; ids are that
    // worker's. Defaults for an unknown name.
    [[nodiscard]] tensor_info info() const noexcept { return known() != nullptr ? known()->info() : tensor_info{}; }

    // Closed steps at which any worker kept something of the tensor, each once, in order of time.
    [[nodiscard]] std::vector<step_id> steps() const { return steps(always{}); }
    [[nodiscard]] std::vector<step_id> steps(mode which) const;
    template <policy Policy>
    [[nodiscard]] std::vector<step_id> steps(Policy const& which) const {
        return closings(which, false);
    }
    // The steps at which values were kept.
    [[nodiscard]] std::vector<step_id> payload_steps() const { return closings(always{}, true); }
    // The last `count` steps up to and including `step`.
    [[nodiscard]] std::vector<step_id> last(std::size_t count, step_id step) const;

    // The values at a step; if it was observed several times, the last. errc: no_such_name, no_such_step, not_yet,
    // not_in_step, no_payload (only statistics were kept; the text lists them), corrupt, and no_such_worker for a named
    // worker.
    [[nodiscard]] recorded_value at(step_id step) const;
    [[nodiscard]] recorded_value at(step_id step, nth which) const;
    // As recorded by one attempt of a resumed run. The other reads use the latest close of a step.
    [[nodiscard]] recorded_value at(step_id step, attempt which) const;
    // Some of the values, flat, in memory order: reads only the 256 KiB blocks that hold them.
    [[nodiscard]] recorded_value at(step_id step, elements which) const;
    [[nodiscard]] recorded_value at(step_id step, worker which) const { return of(which).at(step); }

    // A statistic, as stored or computed from the values.
    [[nodiscard]] result<double> stat(step_id step, statistic which) const;
    // Quantiles and histogram at a step (`wanted`: one or both), as stored or computed from the values.
    [[nodiscard]] result<spotter::distribution> distribution(step_id step,
                                                             stats_mask wanted = distribution_terms) const;
    // The smallest value that is not exceeded by at least the share `level`, 0 to 1, of the finite values (nearest
    // rank).
    [[nodiscard]] result<double> quantile(step_id step, double level) const;
    // Seconds since 1970: as given to hook.scalar, or else of the step's close. errc::not_yet while the step is open.
    [[nodiscard]] result<double> time(step_id step) const;
    // The shape at that step; errc as for `at`, except no_payload.
    [[nodiscard]] result<extents> shape(step_id step) const;

    // A statistic over time, at the steps that the policy selects; every observation is a point. With several workers,
    // from the lowest that observed it at any of these steps. A point is `unreadable` if a lower worker may have it.
    [[nodiscard]] std::vector<point> history(statistic which) const { return history(which, always{}); }
    template <policy Policy>
    [[nodiscard]] std::vector<point> history(statistic which, Policy const& when) const {
        return detail::listed([&] {
            std::size_t i = 0;
            auto found = first_.history(which, when);
            while (found.empty() && ++i < parts()) { found = part(i).history(which, when); }
            for (point& each : found) {
                if (i > 0 && hidden_below(i, each.step)) { each = unreadable_at(each.step); }
            }
            return found;
        });
    }
    // Scalars given between steps; from the lowest worker that has any. None if a lower worker's record is incomplete,
    // or ends in an incomplete write, and may have lost them.
    [[nodiscard]] std::vector<loose_scalar> loose() const;

private:
    template <class Ask>
    using answer_of = std::invoke_result_t<Ask const&, worker_track const&>;

    [[nodiscard]] std::size_t parts() const noexcept { return 1 + rest_.size(); }
    [[nodiscard]] worker_track const& part(std::size_t i) const noexcept { return i == 0 ? first_ : rest_[i - 1]; }
    [[nodiscard]] worker_track const* known() const noexcept;
    template <class Admit>
    [[nodiscard]] std::vector<step_id> closings(Admit const& which, bool with_values) const {
        return detail::listed([&] {
            step_merge steps{parts() > 1};
            for (std::size_t i = 0; i < parts(); ++i) {
                part(i).each_closing(which, with_values, [&](closed_step const& each) { steps.add(each); });
            }
            return steps.take();
        });
    }
    // A worker below that one may have the answer for the step in data that cannot be read.
    [[nodiscard]] bool hidden_below(std::size_t which, step_id step) const;

    // Ranks the errors of workers without an answer; 0: an answer, which another worker's must not replace.
    [[nodiscard]] static int weight(errc code) noexcept;
    // The answer of the lowest worker that has one; corrupt if a lower one may have it in unreadable data. `derived`:
    // the answer may be undefined; a worker that observed the tensor at the step then answers in any case.
    template <class Ask>
    [[nodiscard]] answer_of<Ask> lowest(step_id step, Ask const& ask, bool derived = false) const {
        return detail::answered([&] { return lowest_of(step, ask, derived); });
    }
    template <class Ask>
    [[nodiscard]] answer_of<Ask> lowest_of(step_id step, Ask const& ask, bool derived) const {
        auto answer = ask(first_);
        if ((rest_.empty() && !awaiting_) || is_final(answer, first_, step, derived)) { return answer; }
        for (std::size_t i = 1; i < parts(); ++i) {
            auto next = ask(part(i));
            if (is_final(next, part(i), step, derived)) {
                if (hidden_below(i, step)) { return decltype(answer){hidden(part(i).worker())}; }
                return next;
            }
            if (weight(next.error().code) > weight(answer.error().code)) { answer = std::move(next); }
        }
        errc const code = answer.error().code;
        if (awaiting_ && (code == errc::no_such_step || code == errc::not_in_step)) {
            return decltype(answer){
                error{errc::not_yet, "a worker of the run has not begun yet: refresh() and ask again"}};
        }
        return answer;
    }
    template <class Answer>
    [[nodiscard]] static bool is_final(Answer const& answer, worker_track const& from, step_id step, bool derived) {
        if (answer || weight(answer.error().code) == 0) { return true; }
        return derived && answer.error().code == errc::not_in_step && from.seen_at(step);
    }
    [[nodiscard]] static error hidden(std::uint32_t worker) noexcept;

    worker_track first_;
    std::vector<worker_track> rest_{};  // empty if the run has one worker
    bool awaiting_;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <type_traits>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY track track::of(worker which) const {
    return detail::listed([&] {
        for (std::size_t i = 0; i < parts(); ++i) {
            if (part(i).worker() == which.number) { return track{part(i), false}; }
        }
        return track{worker_track{which, name()}, false};
    });
}

SPOTTER_BODY std::vector<step_id> track::steps(mode which) const {
    return closings([=](step_id step) { return step.mode == which; }, false);
}

SPOTTER_BODY std::vector<step_id> track::last(std::size_t count, step_id step) const {
    std::vector<step_id> found =
        closings([=](step_id each) { return each.mode == step.mode && each.index <= step.index; }, false);
    if (found.size() > count) { found.erase(found.begin(), found.end() - static_cast<std::ptrdiff_t>(count)); }
    return found;
}

SPOTTER_BODY recorded_value track::at(step_id step) const {
    return lowest(step, [&](worker_track const& each) { return each.at(step); });
}

SPOTTER_BODY recorded_value track::at(step_id step, nth which) const {
    return lowest(step, [&](worker_track const& each) { return each.at(step, which); });
}

SPOTTER_BODY recorded_value track::at(step_id step, attempt which) const {
    return lowest(step, [&](worker_track const& each) { return each.at(step, which); });
}

SPOTTER_BODY recorded_value track::at(step_id step, elements which) const {
    return lowest(step, [&](worker_track const& each) { return each.at(step, which); });
}

SPOTTER_BODY result<double> track::stat(step_id step, statistic which) const {
    return lowest(step, [&](worker_track const& each) { return each.stat(step, which); }, true);
}

SPOTTER_BODY result<spotter::distribution> track::distribution(step_id step, stats_mask wanted) const {
    return lowest(step, [&](worker_track const& each) { return each.distribution(step, wanted); }, true);
}

SPOTTER_BODY result<double> track::quantile(step_id step, double level) const {
    return lowest(step, [&](worker_track const& each) { return each.quantile(step, level); }, true);
}

SPOTTER_BODY result<double> track::time(step_id step) const {
    return lowest(step, [&](worker_track const& each) { return each.time(step); });
}

SPOTTER_BODY result<extents> track::shape(step_id step) const {
    return lowest(step, [&](worker_track const& each) { return each.shape(step); });
}

SPOTTER_BODY std::vector<loose_scalar> track::loose() const {
    return detail::listed([&] {
        auto found = first_.loose();
        for (std::size_t i = 1; found.empty() && i < parts() && !part(i - 1).lacks_some(); ++i) {
            found = part(i).loose();
        }
        return found;
    });
}

SPOTTER_BODY bool track::hidden_below(std::size_t which, step_id step) const {
    bool found = false;
    for (std::size_t i = 0; i < which && !found; ++i) { found = part(i).may_hide(step); }
    return found;
}

SPOTTER_BODY error track::hidden(std::uint32_t worker) noexcept {
    error why{errc::corrupt, "a lower worker may have recorded it in bytes that cannot be read, or that were not "
                             "written to their end: run.damage() "
                             "lists what is damaged, of(worker{"};
    why.what << worker << "}) reads one that has it";
    return why;
}

SPOTTER_BODY worker_track const* track::known() const noexcept {
    for (std::size_t i = 0; i < parts(); ++i) {
        if (part(i)) { return &part(i); }
    }
    return nullptr;
}

SPOTTER_BODY int track::weight(errc code) noexcept {
    switch (code) {
        case errc::no_such_worker:
            return 1;
        case errc::no_such_name:
            return 2;
        case errc::no_such_step:
            return 3;
        case errc::not_in_step:
            return 4;
        case errc::not_yet:
            return 5;
        case errc::no_payload:
            return 6;
        default:
            return 0;
    }
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
