// SPDX-License-Identifier: Apache-2.0
// The bodies of gradients.hpp: which simple mistake a wrong gradient shows.
#pragma once

#include <spotter/preflight/gradients.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Holds gradients that could have been meant against the shots that were fired: each costs no pass.
class mistake_search {
public:
    mistake_search(examiner& all, probe const& at, std::size_t tensor, std::vector<shot> const& shots,
                   std::uint64_t first_direction)
        : all_{all}, at_{at}, it_{all.loop.parameters()[tensor]}, tensor_{tensor}, shots_{shots},
          first_{first_direction} {}

    // The factor, and whether it is one: what is left of the shots is a tenth of them.
    [[nodiscard]] bool is_multiple(double& derivative_over_gradient) const {
        double mp = 0, pp = 0;
        for (shot const& each : shots_) {
            mp += each.moved * each.foreseen[0], pp += each.foreseen[0] * each.foreseen[0];
        }
        double const kappa = mp / pp;
        derivative_over_gradient = kappa;
        double const unit = std::sqrt(pp / static_cast<double>(shots_.size()));
        double_list rests;
        for (shot const& each : shots_) { rests.push_back(each.moved - kappa * each.foreseen[0]); }
        return explains_factor(kappa, unit, rms_of(rests));
    }
    // Transposed, rows shifted, or the gradient of another tensor of this size; empty words where it is none of those.
    [[nodiscard]] text<80> misplaced() {
        std::size_t const n = it_.count;
        if (n < 4) { return {}; }
        remember_directions();
        double_list guess(n);
        number_view const g = it_.of(at_.gradient);
        auto const try_rows = [&](std::size_t rows) -> text<80> {
            std::size_t const cols = n / rows;
            for (std::size_t i = 0; i < rows; ++i) {
                for (std::size_t j = 0; j < cols; ++j) { guess[i * cols + j] = g[j * rows + i]; }
            }
            if (rows > 1 && cols > 1 && foresees(guess)) {
                return rows == cols ? "is transposed" : "is laid out transposed";
            }
            for (bool const up : {false, true}) {
                for (std::size_t i = 0; i < n; ++i) { guess[i] = up ? g[(i + n - cols) % n] : g[(i + cols) % n]; }
                if (foresees(guess)) {
                    return up ? "is shifted by a row: row 0 holds that of row 1"
                              : "is shifted by a row: row 1 holds that of row 0";
                }
            }
            return {};
        };
        if (it_.is_matrix()) {  // the extents that it has, and those of its first axis against the rest
            text<80> words = try_rows(static_cast<std::size_t>(it_.shape.size[0]));
            if (!words.empty()) { return words; }
        } else if (n <= 4096) {  // one flat vector: whatever divides it
            for (std::size_t rows = 2; rows <= n; ++rows) {
                if (n % rows != 0) { continue; }
                text<80> words = try_rows(rows);
                if (!words.empty()) { return words; }
            }
        }
        for (parameter const& other : all_.loop.parameters()) {
            if (&other == &it_ || other.count != n) { continue; }
            number_view const theirs = other.of(at_.gradient);
            std::copy(theirs.begin(), theirs.end(), guess.begin());
            if (foresees(guess)) {
                text<80> words;
                words << "is that of " << std::string_view{other.name}.substr(0, 60);
                return words;
            }
        }
        return {};
    }
    // Which rows, or elements, most of the error is in; empty where it is all over. Halves again and again, three shots
    // each: one of them holds a quarter of what the other does, or less, by chance in three of a hundred.
    [[nodiscard]] text<80> place(double error) {
        bool const by_rows = it_.is_matrix() && it_.shape.size[0] > 1;
        std::size_t const unit = by_rows ? it_.count / static_cast<std::size_t>(it_.shape.size[0]) : 1;
        std::size_t from = 0, to = it_.count / unit;
        double const all = error * shots_unit();
        for (int level = 0; level < 6 && to - from > 1 && all_.loop.has_left(40); ++level) {
            std::size_t const middle = from + (to - from) / 2;
            double const low = spread_within(from * unit, middle * unit);
            double const high = low < 0.15 * all ? all : spread_within(middle * unit, to * unit);
            if (all_.loop.over() || !is_finite(low) || !is_finite(high)) { break; }
            if (high < 0.25 * low) {
                to = middle;
            } else if (low < 0.25 * high) {
                from = middle;
            } else {
                break;
            }
        }
        text<80> words;
        if (2 * (to - from) * unit > it_.count) { return words; }  // no more than halved
        words << "is wrong in " << (by_rows ? "row" : "element") << (to - from == 1 ? " " : "s ") << from;
        if (to - from > 1) { words << " to " << to - 1; }
        return words << " of " << it_.count / unit;
    }

private:
    [[nodiscard]] double spread_within(std::size_t from, std::size_t to) {
        double_list rests;
        for (int i = 0; i < 3; ++i) {
            rests.push_back(fire(all_, at_, {tensor_}, 1, first_ + 50 + places_++, from, to).rest());
        }
        return rms_of(rests);
    }
    void remember_directions() {
        if (!apart_.empty()) { return; }
        double_list up = at_.weights, down = at_.weights;
        for (std::size_t k = 0; k < shots_.size(); ++k) {
            difference_of(all_, at_, tensor_, times(), first_ + k, up, down);
            double_list apart(it_.count);
            for (std::size_t i = 0; i < it_.count; ++i) { apart[i] = up[it_.first + i] - down[it_.first + i]; }
            apart_.push_back(std::move(apart));
        }
    }
    // How much longer the shots were than the probe's steps.
    [[nodiscard]] double times() const noexcept {
        double const step = at_.steps[tensor_] * 2 * norm_of(it_.of(at_.gradient));
        return step > 0 ? (std::round)((std::max)(1.0, shots_[0].unit[0] / step)) : 1;
    }
    [[nodiscard]] bool foresees(number_view guess) const {
        double const size = norm_of(guess);
        if (!(size > 0)) { return false; }
        double left = 0, all = 0;
        for (std::size_t k = 0; k < shots_.size(); ++k) {
            double const foreseen = dot_of(guess, apart_[k]), rest = shots_[k].moved - foreseen;
            left += rest * rest, all += shots_[k].moved * shots_[k].moved;
        }
        return left <= 0.02 * all;  // one in ten millions by chance, of nine shots
    }
    [[nodiscard]] double shots_unit() const noexcept {
        double sum = 0;
        for (shot const& each : shots_) { sum += each.unit[0] * each.unit[0]; }
        return std::sqrt(sum / static_cast<double>(shots_.size()));
    }

    examiner& all_;
    probe const& at_;
    parameter const& it_;
    std::size_t tensor_;
    std::vector<shot> const& shots_;
    std::uint64_t first_;
    std::vector<double_list> apart_{};
    std::uint64_t places_ = 0;
};

SPOTTER_BODY void name_mistake(examiner& all, probe const& at, std::size_t tensor, std::vector<shot> const& shots,
                               std::uint64_t first_direction, bool looks_for_place, gradient_state& into) {
    mistake_search search{all, at, tensor, shots, first_direction};
    double factor = 0;
    if (search.is_multiple(factor)) {
        into.kind = gradient_kind::factor, into.ratio = 1 / factor;
        return;
    }
    into.words = search.misplaced();
    into.is_misplaced = !into.words.empty();
    if (into.words.empty() && looks_for_place && into.error < 0.9) { into.words = search.place(into.error); }
}

}  // namespace spotter::inline SPOTTER_ABI::detail
