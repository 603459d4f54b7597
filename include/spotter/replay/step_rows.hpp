// SPDX-License-Identifier: Apache-2.0
// Replay (L5): the rows of one worker's record, step by step, cheapest in their order.
#pragma once

#include <spotter/trial/index.hpp>
#include <spotter/trial/step_list.hpp>

namespace spotter::inline SPOTTER_ABI {

namespace detail {

// Reads ahead about a mebibyte of rows, or a thousand steps; values stay where they are.
class step_rows {
public:
    explicit step_rows(worker_index const& run) : run_{run} {}

    // Makes the n-th closing of the record the one at hand. Behind the last of them, or where rows were lost, false.
    [[nodiscard]] bool seek(std::size_t n);
    // When, in seconds since 1970, and in which attempt the closing at hand was made.
    [[nodiscard]] double time() const noexcept { return closings_[at_].time; }
    [[nodiscard]] std::uint32_t attempt() const noexcept { return closings_[at_].attempt; }
    [[nodiscard]] step_id step() const noexcept { return closings_[at_].step; }
    [[nodiscard]] std::uint64_t ordinal() const noexcept { return closings_[at_].ordinal; }
    // `take(segment, row)` for each of its rows. Where an attempt begins in them: up to there, and from there on.
    template <class Take>
    void each_before_attempt(Take&& take) const {
        each(closings_[at_].first, closings_[at_].begin, take);
    }
    template <class Take>
    void each_row(Take&& take) const {
        each(closings_[at_].begin, closings_[at_].end, take);
    }

    // `take(segment, row)` for each row behind the last closing, of steps that were left open; `resumed()` where an
    // attempt begins.
    template <class Take, class Resumed>
    void each_left(Take&& take, Resumed&& resumed) const {
        if (run_.open_steps().empty()) { return; }
        mark from = marks_.back();
        std::size_t closings = from.first;
        run_.walk(from.place, [&](std::uint32_t segment, row_view row) {
            rows::run_begin begin;
            if (row.kind == row_kind::run_begin && !decode(row, begin)) {
                if (closings == run_.steps().size() && begin.attempt != from.attempt) { resumed(); }
                from.attempt = begin.attempt;
            } else if (rows::close end; row.kind == row_kind::close && !decode(row, end)) {
                ++closings;
            } else if (closings == run_.steps().size()) {
                take(segment, row);
            }
            return true;
        });
    }

private:
    static constexpr std::size_t most_bytes = 1 << 20, most_closings = 1024;

    // Where reading can go on.
    struct mark {
        std::size_t first = 0;  // the closing that comes next
        walk_place place{};
        std::uint32_t attempt = 0;
    };
    struct one_row {
        row_kind kind{};
        std::uint32_t segment = 0;
        std::size_t at = 0, size = 0;  // of bytes_
    };
    struct closing {
        std::size_t first = 0, begin = 0, end = 0;  // of rows_
        std::uint32_t attempt = 0;
        double time = 0;
        step_id step{};
        std::uint64_t ordinal = 0;
    };

    void read(std::size_t which);
    template <class Take>
    void each(std::size_t from, std::size_t end, Take& take) const {
        for (std::size_t i = from; i < end; ++i) {
            one_row const& row = rows_[i];
            byte_view const body{bytes_.data() + row.at, row.size};
            take(row.segment, row_view{row.kind, body, body, whole_row});
        }
    }

    worker_index const& run_;
    std::vector<mark> marks_{mark{}};  // the first is the beginning; each other one where a reading ended
    std::vector<std::byte> bytes_{};
    std::vector<one_row> rows_{};
    std::vector<closing> closings_{};
    std::size_t first_ = 0;  // of closings_
    std::size_t at_ = 0;
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/replay/step_rows.ipp>
#endif
