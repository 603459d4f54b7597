// SPDX-License-Identifier: Apache-2.0
// Trial (L4): one tensor over time, over all workers of a run.
#pragma once

#include <spotter/trial/step_list.hpp>
#include <spotter/trial/step_merge.hpp>
#include <spotter/trial/track.hpp>

namespace spotter::inline SPOTTER_ABI {

// What a run has of one tensor. Reads through the trial it came from, which must outlive it. A track of an unknown name
// is valid: every read of it is errc::no_such_name.
//
// Of several workers each read is of one, the lowest that holds what is asked for: a value, a statistic, a point of a
// history. Values of different workers are never mixed; `of(worker{2})` reads that one and no other. What the lowest
// holds and cannot be read is errc::corrupt, not another worker's; so is what it may have held in bytes that cannot be
// read, or were not written to their end.
class track {
public:
    // Of the lowest worker; the others are added in order. `awaiting`: one that the run was told of has not begun.
    track(worker_track first, bool awaiting) : first_{std::move(first)}, awaiting_{awaiting} {}
    // The next worker's, by number.
    void add(worker_track next) { rest_.push_back(std::move(next)); }

    // What one worker recorded of it; of an unknown worker every read is errc::no_such_worker.
    [[nodiscard]] track of(worker which) const;

    // Whether any worker knows the name.
    [[nodiscard]] explicit operator bool() const noexcept { return known() != nullptr; }
    // As it was asked for; lives with the track.
    [[nodiscard]] std::string_view name() const noexcept { return first_.name(); }
    // Role, type, shape and partner as last declared, by the lowest worker that knows it; its ids are that worker's.
    // Defaults for an unknown name.
    [[nodiscard]] tensor_info info() const noexcept { return known() != nullptr ? known()->info() : tensor_info{}; }

    // Closed steps at which any worker kept something of it, each once, in order of time.
    [[nodiscard]] std::vector<step_id> steps() const { return steps(always{}); }
    [[nodiscard]] std::vector<step_id> steps(mode which) const;
    template <policy Policy>
    [[nodiscard]] std::vector<step_id> steps(Policy const& which) const {
        return closings(which, false);
    }
    // Those at which the values were kept.
    [[nodiscard]] std::vector<step_id> payload_steps() const { return closings(always{}, true); }
    // The last `count` steps up to and including `step`.
    [[nodiscard]] std::vector<step_id> last(std::size_t count, step_id step) const;

    // The values at a step; of several observations the last. errc: no_such_name, no_such_step, not_yet, not_in_step,
    // no_payload (only statistics were kept; the text says which), corrupt, and no_such_worker where one is named.
    [[nodiscard]] recorded_value at(step_id step) const;
    [[nodiscard]] recorded_value at(step_id step, nth which) const;
    // As that attempt of a resumed run saw it: where a step was closed again the others read the latest.
    [[nodiscard]] recorded_value at(step_id step, attempt which) const;
    // Some of the values, flat, in the order of memory: only the blocks of 256 KiB that hold them are read.
    [[nodiscard]] recorded_value at(step_id step, elements which) const;
    [[nodiscard]] recorded_value at(step_id step, worker which) const { return of(which).at(step); }

    // A statistic, from what was stored or else from the values.
    [[nodiscard]] result<double> stat(step_id step, statistic which) const;
    // Quantiles and histogram at a step (`wanted`: one of them or both), as stored or else from the values.
    [[nodiscard]] result<spotter::distribution> distribution(step_id step, terms wanted = distribution_terms) const;
    // The smallest value that at least this share of the finite values, 0 to 1, does not exceed (nearest rank).
    [[nodiscard]] result<double> quantile(step_id step, double level) const;
    // Seconds since 1970: as given to hook.scalar, or else of the step's close. errc::not_yet while the step is open.
    [[nodiscard]] result<double> time(step_id step) const;
    // The sizes at that step; errc as for `at`, but for no_payload.
    [[nodiscard]] result<extents> shape(step_id step) const;

    // A statistic over time, at the steps that a policy lets through. Every observation is a point. Of several workers
    // that of the lowest that observed it at any of these steps; a point is `unreadable` where a lower one may have.
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
    // Scalars that were given between steps; of several workers those of the lowest that gave any. None where a lower
    // one lacks some of its record, or ends in what was not finished, and may lack these with it.
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
    // A worker below that one may have what is asked for at the step, and cannot be read.
    [[nodiscard]] bool hidden_below(std::size_t which, step_id step) const;

    // How much an error says of why nobody has it; 0: it is an answer, which another worker's may not replace.
    [[nodiscard]] static int weight(errc code) noexcept;
    // The answer of the lowest worker that has one; corrupt where a lower one may have it and cannot be read. Where
    // what is asked for may be undefined (`derived`), a worker that observed it at the step has an answer all the same.
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
    std::vector<worker_track> rest_{};  // empty of a run with one worker
    bool awaiting_;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/trial/joint_track.ipp>
#endif
