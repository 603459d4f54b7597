// SPDX-License-Identifier: Apache-2.0
// Diagnosis (L2): one number that falls while a net learns: its progress, and the comparison that showed it.
// docs/internals/diagnosis.md#progress
#pragma once

#include <spotter/diagnosis/block_series.hpp>
#include <spotter/diagnosis/limits.hpp>
#include <spotter/diagnosis/mean_from_zero.hpp>
#include <spotter/stat/predicate.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI {

//   unknown   too few samples, or samples that decide nothing
//   improves  it has learned something, and has not lost it again
//   flat      there are enough samples, and nothing was learned
//   worsens   it is worse than at the beginning, and stays so; the greatest, so that `>` says what is worse than flat
enum class progress : std::uint8_t { unknown, improves, flat, worsens };

[[nodiscard]] constexpr bool is_ill(progress what) noexcept {
    return what == progress::flat || what == progress::worsens;
}
[[nodiscard]] constexpr std::string_view name_of(progress what) noexcept {
    constexpr std::string_view names[] = {"unknown", "improves", "flat", "worsens"};
    return names[static_cast<std::size_t>(what)];
}

namespace detail {

// One number that falls while a net learns. Its samples are finite.
class falling_series {
public:
    constexpr falling_series() noexcept = default;
    constexpr void add(double value, progress_limits const& limits) noexcept {
        if (mean_.add(value)) { *this = falling_series{mean_}; }
        if (++samples_ <= 10) { begin(value); }
        count_rows(value, limits);
        count_far(value, limits);
        if (blocks_.add(value)) {
            look_at_thirds(limits);
            judge(limits);
        }
        if (says_ != progress::worsens && is_worse(limits, why_)) { says_ = progress::worsens; }
    }

    // Its first ten samples look like those of a running mean that begins at 0, or of a loss that updates threw up. The
    // caller knows the updates: a running mean begins anew.
    [[nodiscard]] constexpr bool begins_low() const noexcept { return samples_ < 20 && mean_.begins_low(); }
    constexpr void begin_anew() noexcept { mean_.accept(), *this = falling_series{mean_}; }

    [[nodiscard]] constexpr progress says() const noexcept { return says_; }
    // It counts as improved now: what was learned has not been lost again.
    [[nodiscard]] constexpr bool has_improved() const noexcept { return improved_; }
    // It has improved, and what was learned is lost.
    [[nodiscard]] constexpr bool has_lost_progress() const noexcept { return !improved_ && best_ < 1e308; }
    // The comparison by which it is flat or worsens.
    [[nodiscard]] constexpr evidence why() const noexcept { return why_; }
    [[nodiscard]] constexpr double first() const noexcept { return first_; }
    [[nodiscard]] constexpr double latest() const noexcept { return last_; }
    [[nodiscard]] constexpr double lowest() const noexcept { return lowest_; }
    // The first value, or the mean of the first ten, whichever is larger.
    [[nodiscard]] constexpr double beginning() const noexcept { return beginning_; }
    // The median of the first third; of the last.
    [[nodiscard]] constexpr double early() const noexcept { return early_; }
    [[nodiscard]] constexpr double level() const noexcept { return blocks_.size() >= 3 ? now_ : first_; }
    // It has had one value from its first ten samples on, whether that of its beginning or another.
    [[nodiscard]] constexpr bool rests_from_the_start(progress_limits const& limits) const noexcept {
        return resting_ >= limits.earliest && samples_ - resting_ <= 10 && rests_at_ != 0;
    }
    // It has been near its first value for `earliest` samples, and falls hardly faster than before.
    [[nodiscard]] SPOTTER_STRICT constexpr bool creeps(progress_limits const& limits) const noexcept {
        SPOTTER_STRICT_BODY
        return near_ >= limits.earliest && !(before_ - now_ > limits.climbs * (early_ - before_));
    }
    // After a hundred samples, it has fallen by less than `least_fall`.
    [[nodiscard]] constexpr bool has_hardly_fallen(progress_limits const& limits) const noexcept {
        return samples_ >= 100 && !has_fallen(limits);
    }
    // It began above zero, has not risen from the start, and the median of its last third is not above `worse` times
    // the first.
    [[nodiscard]] constexpr bool has_not_risen(progress_limits const& limits) const noexcept {
        return first_ > 0 && level() <= rescaled(first_, limits.worse) && !rises_from_the_start();
    }
    // It was thrown up: the mean of its first ten values is at least twice the first. And its last third is still where
    // it began, or above. Or its last third is somewhat above the first after `long_up` samples. In both cases no
    // sample was below half of the first: else the first may be an accident. Or it has rested from the start.
    [[nodiscard]] SPOTTER_STRICT constexpr bool has_gained_nothing(progress_limits const& limits) const noexcept {
        SPOTTER_STRICT_BODY
        constexpr std::uint64_t long_up = 500;
        bool const is_thrown = samples_ >= limits.still && beginning_ >= rescaled(first_, 2) &&
                               level() > rescaled(first_, 1 - limits.flat_fall);
        bool const is_up = is_thrown || (samples_ >= long_up && level() > rescaled(first_, limits.worse));
        return (first_ != 0 && is_up && !comes_back_ && lowest_ >= rescaled(first_, 0.5)) ||
               rests_from_the_start(limits);
    }
    // Its last third is below the one before, in nine of ten pairs of blocks.
    [[nodiscard]] constexpr bool falls_still(progress_limits const& limits) const noexcept {
        return blocks_.third() > 0 && share_below(blocks_.last_third(), blocks_.middle_third()) >= limits.improved;
    }
    // It falls still, and about as fast as before: neither slower, as it does while a net learns, nor much faster, as
    // under a rate that warms up.
    [[nodiscard]] SPOTTER_STRICT constexpr bool falls_evenly(progress_limits const& limits) const noexcept {
        SPOTTER_STRICT_BODY
        double const at_first = early_ - before_, since = before_ - now_;
        return since > 0.4 * at_first && since < 1.3 * at_first && falls_still(limits);
    }
    // Its last third is below the one before, by `flat_fall`, or by `least_fall` and two standard errors.
    [[nodiscard]] SPOTTER_STRICT constexpr bool is_falling(progress_limits const& limits) const noexcept {
        SPOTTER_STRICT_BODY
        if (blocks_.size() < 6) { return false; }
        double const fall = before_ - now_, level = magnitude(before_);
        return fall > limits.flat_fall * level ||
               (fall > limits.least_fall * level && fall > 2 * standard_error(blocks_.last_two_thirds()));
    }
    // It has fallen, and has few samples: models of text and speech rest on a plateau once they have learned how
    // frequent the answers are. Not where it has many, and has rested since its first third.
    [[nodiscard]] SPOTTER_STRICT constexpr bool is_young(progress_limits const& limits) const noexcept {
        SPOTTER_STRICT_BODY
        bool const rests = 4 * samples_ >= 3 * limits.young && now_ > rescaled(early_, 1 - limits.flat_fall);
        return blocks_.size() >= 6 && samples_ < limits.young && now_ < rescaled(beginning_, limits.hardly) && !rests;
    }
    [[nodiscard]] constexpr std::uint64_t samples() const noexcept { return samples_; }
    // It is so far above its beginning that neither a rival nor growing returns explain it.
    [[nodiscard]] SPOTTER_STRICT constexpr bool explodes(progress_limits const& limits) const noexcept {
        SPOTTER_STRICT_BODY
        return beginning_ > 0 && level() >= limits.explodes * beginning_;
    }
    // It is worse than it began, in 95 of 100 pairs of blocks from the first sixth and the last third, and has not
    // improved.
    [[nodiscard]] constexpr bool has_dropped() const noexcept { return dropped_ && !improved_; }
    // It is worse by this share, and by five standard errors. About 0 a share means nothing.
    [[nodiscard]] SPOTTER_STRICT constexpr bool has_dropped_by(double share) const noexcept {
        SPOTTER_STRICT_BODY
        if (!has_dropped()) { return false; }
        double const drop = now_ - dropped_from_;
        return drop > share * magnitude(dropped_from_) && drop > 5 * standard_error(blocks_.blocks()) &&
               (now_ < 0) == (dropped_from_ < 0);
    }
    // Its last third is worse than its first sixth by `sunk` or more, by five standard errors and in 95 of 100 pairs of
    // blocks, and it has not improved.
    [[nodiscard]] SPOTTER_STRICT constexpr bool has_sunk(progress_limits const& limits) const noexcept {
        SPOTTER_STRICT_BODY
        if (samples_ < limits.earliest || improved_) { return false; }
        double const before = sunk_from(), fall = now_ - before;
        return fall > limits.sunk * magnitude(before) && fall > 5 * standard_error(blocks_.blocks()) &&
               lie_below(blocks_.first_sixth(), blocks_.last_third());
    }
    // The last third is worse than the mean of the first ten by `sunk` or more, in 95 of 100 blocks, after `still`
    // samples, and it has not improved.
    [[nodiscard]] SPOTTER_STRICT constexpr bool has_sunk_at_once(progress_limits const& limits) const noexcept {
        SPOTTER_STRICT_BODY
        double const before = mean_of_ten(), sunk = before + rounded_product(limits.sunk, magnitude(before));
        return samples_ >= limits.still && !improved_ && lie_below({&sunk, 1}, blocks_.last_third());
    }
    // What it was before it dropped or sank.
    [[nodiscard]] constexpr double fell_from(progress_limits const& limits) const noexcept {
        return has_dropped() ? dropped_from_ : has_sunk(limits) ? sunk_from() : mean_of_ten();
    }
    // It fell before anything else, and not at once: the median of its first sixth is a fifth below its first value,
    // and a tenth below the mean of its first ten.
    [[nodiscard]] SPOTTER_STRICT constexpr bool fell_at_first() const noexcept {
        SPOTTER_STRICT_BODY
        double const early = sunk_from();
        return blocks_.size() >= 18 && early < rescaled(first_, 0.8) && early < rescaled(mean_of_ten(), 0.9);
    }
    // The median of its first sixth.
    [[nodiscard]] constexpr double sunk_from() const noexcept { return middle_of(blocks_.first_sixth()); }
    // It has improved before, and its last third is above the first.
    [[nodiscard]] constexpr bool rises_again(progress_limits const& limits) const noexcept {
        return best_ < 1e308 && has_risen(limits);
    }
    // From each third to the next it rises.
    [[nodiscard]] constexpr bool rises_throughout() const noexcept {
        return blocks_.third() > 1 && lie_below(blocks_.first_third(), blocks_.middle_third()) &&
               lie_below(blocks_.middle_third(), blocks_.last_third());
    }
    // It was hardly ever below where it began, and is above: its lowest block is in the first sixth, and 95 in 100
    // pairs of blocks from the first and the last third rise.
    [[nodiscard]] constexpr bool rises_from_the_start() const noexcept {
        if (blocks_.third() < 2) { return false; }
        std::size_t lowest = 0;
        for (std::size_t i = 1; i < blocks_.size(); ++i) {
            if (blocks_.blocks()[i] < blocks_.blocks()[lowest]) { lowest = i; }
        }
        return lowest <= blocks_.third() / 2 && lie_below(blocks_.first_third(), blocks_.last_third());
    }

private:
    // Of the first ten samples, once there are as many.
    [[nodiscard]] constexpr double mean_of_ten() const noexcept { return rounded_product(0.1, sum_of_ten_); }
    constexpr explicit falling_series(mean_from_zero const& mean) noexcept : mean_{mean} {}
    // In 95 of 100 pairs of blocks.
    [[nodiscard]] static constexpr bool lie_below(std::span<double const> a, std::span<double const> b) noexcept {
        return share_below(a, b) >= 0.95;
    }
    // Computes what every sample needs, and only a new block changes.
    SPOTTER_STRICT constexpr void look_at_thirds(progress_limits const& limits) noexcept {
        SPOTTER_STRICT_BODY
        early_ = middle_of(blocks_.first_third());
        before_ = middle_of(blocks_.middle_third());
        now_ = middle_of(blocks_.last_third());
        falls_steadily_ = share_below(blocks_.last_third(), blocks_.first_third()) >= limits.improved;
        if (!dropped_) { dropped_from_ = early_; }
        bool const is_down = now_ > rescaled(dropped_from_, limits.worse) && samples_ >= limits.earliest;
        dropped_ = is_down && (dropped_ || lie_below(blocks_.first_sixth(), blocks_.last_third()));
        comes_back_ = before_ > first_ && before_ - now_ >= rounded_product(limits.worse - 1, before_ - first_) &&
                      falls_still(limits);
    }
    // Below this a value counts as without a bottom.
    [[nodiscard]] SPOTTER_STRICT constexpr double far_below(progress_limits const& limits) const noexcept {
        SPOTTER_STRICT_BODY
        double const unit = first_ != 0 ? magnitude(first_) : 1;  // returns begin at zero
        return -rounded_product(limits.bottomless, unit) - 1;
    }
    SPOTTER_STRICT constexpr void begin(double value) noexcept {
        SPOTTER_STRICT_BODY
        if (samples_ == 1) { first_ = beginning_ = value; }
        sum_of_ten_ += value;
        if (samples_ == 10 && mean_of_ten() > first_) { beginning_ = mean_of_ten(); }
    }
    // Counts samples in a row: above the first, without a bottom, well below the first, near it, and at one value.
    SPOTTER_STRICT constexpr void count_rows(double value, progress_limits const& limits) noexcept {
        SPOTTER_STRICT_BODY
        auto const count = [](std::uint64_t& row, bool goes_on) noexcept { row = goes_on ? row + 1 : 0; };
        last_ = value;
        lowest_ = value < lowest_ ? value : lowest_;
        least_above_ = above_ > 0 && least_above_ < value ? least_above_ : value;
        count(above_, value > rescaled(first_, limits.worse));
        count(bottomless_, value < far_below(limits));
        count(fallen_, value < rescaled(first_, limits.fallen));
        count(near_, magnitude(value - first_) <= limits.stirs * magnitude(first_) && first_ != 0);
        bool const rests = samples_ > 1 && magnitude(value - rests_at_) <= limits.stirs_at_all * magnitude(rests_at_);
        resting_ = rests ? resting_ + 1 : 1;
        if (!rests) { rests_at_ = value; }
    }
    SPOTTER_STRICT constexpr void count_far(double value, progress_limits const& limits) noexcept {
        SPOTTER_STRICT_BODY
        if (!(first_ > 0 && value > limits.far_worse * first_)) {
            far_above_ = alike_far_ = 0;
            return;
        }
        ++far_above_;
        least_far_ = alike_far_ > 0 && least_far_ < value ? least_far_ : value;
        sum_far_ = alike_far_ > 0 ? sum_far_ + value : value;
        if (least_far_ > 0.5 * sum_far_ / static_cast<double>(++alike_far_)) { return; }
        alike_far_ = 1, least_far_ = sum_far_ = value;
    }
    constexpr void judge(progress_limits const& limits) noexcept {
        bool const worse = is_worse(limits, why_);
        if (improved_ && has_lost(limits, why_)) { improved_ = false; }
        if (worse) {
            says_ = progress::worsens;
            return;
        }
        if (samples_ < limits.earliest) {
            says_ = progress::unknown;
            return;
        }
        bool const near_the_first = above_ < limits.lasting_far;
        bool const improves = improved_ || (near_the_first && falls_steadily_ && has_fallen(limits));
        if (improves) { best_ = !improved_ || now_ < best_ ? now_ : best_; }
        improved_ = improves;
        bool const flat =
            !improved_ && (has_lost_progress() || is_still(limits, why_) || (near_the_first && is_flat(limits, why_)));
        says_ = improved_ ? progress::improves : flat ? progress::flat : progress::unknown;
    }
    // Each of these writes the comparison that holds to `why`.
    [[nodiscard]] SPOTTER_STRICT constexpr bool is_worse(progress_limits const& limits, evidence& why) const noexcept {
        SPOTTER_STRICT_BODY
        double const far_off = limits.far_worse * first_;
        if (bottomless_ >= limits.lasting_far) {
            why = {"loss", last_, far_below(limits), relation::less};
            return true;
        }
        if (comes_back_) { return false; }
        if (is_far_above(limits, why) || stays_above(limits, why)) { return true; }
        constexpr std::string_view lowest = "lowest of the latest losses";
        // A few samples that scatter behind a low first one seldom rise throughout.
        if (far_above_ >= limits.runs_away && rises_from_the_start() && rises_throughout()) {
            why = {lowest, least_far_, far_off, relation::greater};
            return true;
        }
        if (above_ >= limits.lasting_far) {
            bool const mildly = first_ > 0 && level() <= limits.climbs * first_;
            if ((above_ >= (mildly ? limits.lasting_mildly : limits.lasting) && has_risen(limits)) ||
                (!mildly && rises_from_the_start())) {
                why = {lowest, least_above_, rescaled(first_, limits.worse), relation::greater};
                return true;
            }
        }
        if (alike_far_ < limits.lasting_far) { return false; }
        why = {lowest, least_far_, far_off, relation::greater};
        return true;
    }
    // Hardly a block of the last third is near the beginning, however the loss scatters.
    [[nodiscard]] SPOTTER_STRICT constexpr bool is_far_above(progress_limits const& limits,
                                                             evidence& why) const noexcept {
        SPOTTER_STRICT_BODY
        double const far_off = limits.far_worse * beginning_;
        if (samples_ < 2 * limits.lasting_far || !(beginning_ > 0) || !lie_below({&far_off, 1}, blocks_.last_third())) {
            return false;
        }
        why = {"median of the latest losses", now_, far_off, relation::greater};
        return true;
    }
    // Hardly a block of the last two thirds is below the beginning, and they do not fall. This finds a loss that
    // scatters too much (a sample a step) to stay above for many samples in a row.
    [[nodiscard]] SPOTTER_STRICT constexpr bool stays_above(progress_limits const& limits,
                                                            evidence& why) const noexcept {
        SPOTTER_STRICT_BODY
        double const climbs = limits.climbs * beginning_, worse = limits.worse * beginning_;
        if (samples_ < limits.flat_after || !(level() > climbs) || !(beginning_ > 0) ||
            !lie_below({&worse, 1}, blocks_.last_two_thirds()) ||
            share_below(blocks_.last_third(), blocks_.first_third()) >= 0.5) {
            return false;
        }
        why = {"median of the latest losses", now_, climbs, relation::greater};
        return true;
    }
    // What it had learned is lost: half of the way from its beginning to its best level, in 95 of 100 blocks of the
    // last third, which have `still` samples. And it does not fall.
    [[nodiscard]] SPOTTER_STRICT constexpr bool has_lost(progress_limits const& limits, evidence& why) const noexcept {
        SPOTTER_STRICT_BODY
        double const half_way = 0.5 * best_ + 0.5 * beginning_;
        if (!(best_ < beginning_) || blocks_.third() * blocks_.block_length() < limits.still ||
            !lie_below({&half_way, 1}, blocks_.last_third()) || falls_still(limits)) {
            return false;
        }
        why = {"median of the latest losses", now_, half_way, relation::greater};
        return true;
    }
    // It stays at its first value. A loss that scatters does not: each batch, and each small step, changes it by more.
    // A loss that does not scatter but falls, by however little, is on a plateau that it leaves.
    [[nodiscard]] SPOTTER_STRICT constexpr bool is_still(progress_limits const& limits, evidence& why) const noexcept {
        SPOTTER_STRICT_BODY
        bool const rests = says_ == progress::flat || rests_from_the_start(limits);
        if (!(near_ >= limits.earliest && rests) && !(near_ >= limits.still && !falls_steadily_)) { return false; }
        why = {"distance from the first loss", magnitude(last_ - first_), limits.stirs * magnitude(first_),
               relation::less_equal};
        return true;
    }
    // Its fall from the first third to the last, plus two standard errors, is next to nothing.
    [[nodiscard]] SPOTTER_STRICT constexpr bool is_flat(progress_limits const& limits, evidence& why) const noexcept {
        SPOTTER_STRICT_BODY
        if (samples_ < limits.flat_after || fallen_ >= limits.still) { return false; }
        double const fall = early_ - now_ + 2 * standard_error(blocks_.last_third());  // twice is exact
        double const limit = limits.flat_fall * magnitude(early_);
        if (!(fall < limit)) { return false; }
        why = {"fall of the loss, and two standard errors", fall, limit, relation::less};
        return true;
    }
    // Of the difference of two medians over a third each, by the scatter of `from`: the median distance of neighbours.
    // Requires two blocks in a third.
    [[nodiscard]] SPOTTER_STRICT constexpr double standard_error(std::span<double const> from) const noexcept {
        SPOTTER_STRICT_BODY
        double apart[block_series::most]{};
        for (std::size_t i = 1; i < from.size(); ++i) { apart[i - 1] = magnitude(from[i] - from[i - 1]); }
        // The median of |a - b| for two normal numbers is 0.954 standard deviations; the standard error of a median is
        // 1.25 times that of a mean.
        double const deviation = middle_of({apart, from.size() - 1}) / 0.954;
        return 1.25 * deviation * square_root(2.0 / static_cast<double>(blocks_.third()));
    }
    // It has fallen by `least_fall` or more.
    [[nodiscard]] SPOTTER_STRICT constexpr bool has_fallen(progress_limits const& limits) const noexcept {
        SPOTTER_STRICT_BODY
        return early_ - now_ >= limits.least_fall * magnitude(early_);
    }
    // The last third is above the first by half of what counts as worse (of the first value, or of the first third),
    // and by four standard errors; or above the beginning by six robust standard deviations of the loss: where a step
    // is a sample, the first loss may be low by accident.
    [[nodiscard]] SPOTTER_STRICT constexpr bool has_risen(progress_limits const& limits) const noexcept {
        SPOTTER_STRICT_BODY
        double const usual = magnitude(early_) > magnitude(first_) ? early_ : first_;
        double const rise = now_ - early_;
        if (rise > rounded_product(0.5 * (limits.worse - 1), magnitude(usual)) &&
            rise > 4 * standard_error(blocks_.last_third())) {
            return true;
        }
        double const middle = middle_of(blocks_.blocks());
        double apart[block_series::most]{};
        for (std::size_t i = 0; i < blocks_.size(); ++i) { apart[i] = magnitude(blocks_.blocks()[i] - middle); }
        return now_ - beginning_ > 6 * 1.4826 * middle_of({apart, blocks_.size()});
    }

    mean_from_zero mean_;
    block_series blocks_;
    double early_ = 0, before_ = 0, now_ = 0;  // medians of the first, last but one and last third
    // The last third is below the first; the loss is above its first value, and on its way back there.
    bool falls_steadily_ = false, comes_back_ = false;
    bool dropped_ = false;     // has_dropped()
    double dropped_from_ = 0;  // the median of the first third before the drop
    double best_ = 1e308;      // the least median of a last third since it improved; 1e308: it never has
    double first_ = 0, beginning_ = 0, sum_of_ten_ = 0;
    std::uint64_t samples_ = 0;
    std::uint64_t above_ = 0, far_above_ = 0, fallen_ = 0, bottomless_ = 0;  // samples in a row
    std::uint64_t alike_far_ = 0;           // of those far above, the latest: the lowest is above half of their mean
    std::uint64_t near_ = 0, resting_ = 0;  // samples in a row: near the first value; at one value
    double rests_at_ = 0;
    double least_above_ = 0, least_far_ = 0, sum_far_ = 0;  // of the rows above, and alike far above
    double last_ = 0, lowest_ = 1e308;                      // the last value, and the lowest
    bool improved_ = false;
    progress says_ = progress::unknown;
    evidence why_{};
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI
