// SPDX-License-Identifier: Apache-2.0
// The bodies of gradients.hpp: the simple mistake that explains a wrong gradient.
#pragma once

#include <spotter/preflight/gradients.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Compares the measured differences with gradients that may have been meant. Takes no passes.
class mistake_search {
public:
    mistake_search(examiner& all, probe const& at, std::size_t tensor, difference_sample const& sample)
        : all_{all}, at_{at}, it_{all.loop.parameters()[tensor]}, tensor_{tensor}, sample_{sample} {}

    // Words for it: transposed, rows shifted, or the gradient of another tensor of this size; empty where it is none of
    // these.
    [[nodiscard]] text<80> misplaced() {
        if (it_.count < 4) { return {}; }
        remember_directions();
        text<80> words;
        if (it_.is_matrix()) {  // its first extent, and the product of the others
            words = as_rows(static_cast<std::size_t>(it_.shape.size[0]));
        } else if (it_.count <= 4096) {  // a flat vector: every number of rows that divides it
            for (std::size_t rows = 2; words.empty() && rows <= it_.count; ++rows) {
                if (it_.count % rows == 0) { words = as_rows(rows); }
            }
        }
        return words.empty() ? as_other_tensor() : words;
    }
    // Words for the rows, or elements, that hold most of the error; empty where it is everywhere. Bisects, with three
    // directions for each half: by chance, one half holds a quarter of the other or less in three of a hundred.
    [[nodiscard]] text<80> place(double error) {
        bool const by_rows = it_.is_matrix() && it_.shape.size[0] > 1;
        std::size_t const unit = by_rows ? it_.count / static_cast<std::size_t>(it_.shape.size[0]) : 1;
        std::size_t from = 0, to = it_.count / unit;
        double const all = error * sample_.unit(0);
        for (int level = 0; level < 6 && to - from > 1 && all_.loop.has_left(40); ++level) {
            std::size_t const middle = from + (to - from) / 2;
            double const low = residual_within(from * unit, middle * unit);
            double const high = low < 0.15 * all ? all : residual_within(middle * unit, to * unit);
            bool const in_low = high < 0.25 * low, in_high = low < 0.25 * high;  // both false for NaN
            if (all_.loop.over() || !is_finite(low) || !is_finite(high) || in_low == in_high) { break; }
            (in_low ? to : from) = middle;
        }
        if (2 * (to - from) * unit > it_.count) { return {}; }  // halved at most once
        return words_for(from, to, by_rows ? "row" : "element", it_.count / unit);
    }

private:
    [[nodiscard]] static text<80> words_for(std::size_t from, std::size_t to, std::string_view unit,
                                            std::size_t count) {
        text<80> words;
        words << "is wrong in " << unit << (to - from == 1 ? " " : "s ") << from;
        if (to - from > 1) { words << " to " << to - 1; }
        return words << " of " << count;
    }
    [[nodiscard]] text<80> as_rows(std::size_t rows) const {
        std::size_t const n = it_.count, cols = n / rows;
        number_view const g = it_.of(at_.gradient);
        double_list guess(n);
        for (std::size_t i = 0; i < n; ++i) { guess[i] = g[i % cols * rows + i / cols]; }
        if (rows > 1 && cols > 1 && predicts(guess)) {
            return rows == cols ? "is transposed" : "is laid out transposed";
        }
        std::rotate_copy(g.begin(), g.begin() + static_cast<std::ptrdiff_t>(cols % n), g.end(), guess.begin());
        if (predicts(guess)) { return "is shifted by a row: row 1 holds that of row 0"; }
        std::rotate_copy(g.begin(), g.end() - static_cast<std::ptrdiff_t>(cols), g.end(), guess.begin());
        return predicts(guess) ? text<80>{"is shifted by a row: row 0 holds that of row 1"} : text<80>{};
    }
    [[nodiscard]] text<80> as_other_tensor() const {
        text<80> words;
        for (parameter const& other : all_.loop.parameters()) {
            if (&other == &it_ || other.count != it_.count || !predicts(other.of(at_.gradient))) { continue; }
            return words << "is that of " << std::string_view{other.name}.substr(0, 60);
        }
        return words;
    }
    [[nodiscard]] double residual_within(std::size_t from, std::size_t to) {
        double_list residuals;
        for (int i = 0; i < 3; ++i) {
            std::uint64_t const direction = sample_.first_direction + 50 + places_++;
            residuals.push_back(difference_along(all_, at_, {tensor_}, 1, direction, from, to).residual());
        }
        return rms_of(residuals);
    }
    // Computes again how far the weights moved in each direction.
    void remember_directions() {
        double_list up = at_.weights, down = at_.weights;
        for (std::size_t k = 0; k < sample_.differences.size(); ++k) {
            move_ends(all_, at_, tensor_, sample_.times, sample_.first_direction + k, up, down);
            double_list apart(it_.count);
            for (std::size_t i = 0; i < it_.count; ++i) { apart[i] = up[it_.first + i] - down[it_.first + i]; }
            apart_.push_back(std::move(apart));
        }
    }
    [[nodiscard]] bool predicts(number_view guess) const {
        if (!(norm_of(guess) > 0)) { return false; }
        double left = 0, all = 0;
        for (std::size_t k = 0; k < apart_.size(); ++k) {
            double const change = sample_.differences[k].change, rest = change - dot_of(guess, apart_[k]);
            left += rest * rest, all += change * change;
        }
        return left <= 0.02 * all;  // by chance one in ten million, with nine directions
    }

    examiner& all_;
    probe const& at_;
    parameter const& it_;
    std::size_t tensor_;
    difference_sample const& sample_;
    std::vector<double_list> apart_{};
    std::uint64_t places_ = 0;
};

SPOTTER_BODY void name_mistake(examiner& all, probe const& at, std::size_t tensor, difference_sample const& sample,
                               bool looks_for_place, gradient_state& into) {
    multiple const factor = multiple_of(sample);
    if (explains(factor)) {
        into.kind = gradient_kind::factor, into.ratio = 1 / factor.kappa;
        return;
    }
    mistake_search search{all, at, tensor, sample};
    into.words = search.misplaced();
    into.is_misplaced = !into.words.empty();
    if (into.words.empty() && looks_for_place && into.error < 0.9) { into.words = search.place(into.error); }
}

}  // namespace spotter::inline SPOTTER_ABI::detail
