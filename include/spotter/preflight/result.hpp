// SPDX-License-Identifier: Apache-2.0
// Preflight (L4): the result of an examination: ordinary findings, causes first, and a verdict on each gradient.
#pragma once

#include <spotter/core/kept_text.hpp>
#include <spotter/core/sentence.hpp>
#include <spotter/preflight/causes.hpp>

#include <span>

namespace spotter::inline SPOTTER_ABI {

// Proven right, proven wrong, or neither: the derivative is too small, too rough or random, or the budget was used up.
enum class gradient_proof : std::uint8_t { right, wrong, not_proven };
[[nodiscard]] constexpr std::string_view name_of(gradient_proof what) noexcept {
    constexpr std::string_view names[] = {"right", "wrong", "not proven"};
    return names[static_cast<std::size_t>(what)];
}

// The verdict on the gradient of one weight.
struct gradient_verdict {
    std::string_view name{};                               // of the weight; the text lives with the result
    gradient_proof gradient = gradient_proof::not_proven;  // whether its gradient is right
    // |gradient - derivative| / |gradient|, or a bound where many tensors were proven together.
    double error = 0;
    double resolution = 0;  // the part of it that rounding of the loss may cause
    bool frozen = false;    // flagged as frozen, and not examined

    // Proven right, or frozen.
    [[nodiscard]] bool is_right() const noexcept { return frozen || gradient == gradient_proof::right; }
    // As a line of a run's record: "wrong 0.995 0.002 fc2/w"; "unproven" likewise.
    [[nodiscard]] text<320> line() const noexcept;
};

// A finding and its cause.
struct preflight_finding {
    preflight_cause cause = preflight_cause::none;  // the cause that the finding reports
    spotter::finding finding{};                     // the finding, as it is printed
};

// True where there is a warning or an error. `print(found)`, JSON and reports accept it like the alarm of a step. Its
// texts live as long as it does. Can be moved, not copied.
class [[nodiscard]] preflight_result {
public:
    preflight_result() noexcept = default;
    preflight_result(preflight_result&&) noexcept = default;
    preflight_result& operator=(preflight_result&&) noexcept = default;
    preflight_result(preflight_result const&) = delete;
    preflight_result& operator=(preflight_result const&) = delete;
    ~preflight_result() = default;

    [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(alarm_); }
    // The findings as a step's alarm: the eight strongest, causes first.
    [[nodiscard]] step_alarm const& alarm() const noexcept { return alarm_; }
    // So that a function for a step's alarm accepts it.
    operator step_alarm const&() const noexcept { return alarm_; }
    // `stop` where something was proven wrong.
    [[nodiscard]] spotter::decision decision() const noexcept { return alarm_.decision(); }
    // The cause of the first line; none where there is no warning and no error.
    [[nodiscard]] preflight_cause first() const noexcept {
        return count_ > 0 && found_[0].finding.severity >= severity::warning ? found_[0].cause : preflight_cause::none;
    }
    // All findings, the most severe and the earliest causes first. The list lives as long as its result, so it cannot
    // be taken from a temporary: `for (auto& each : examine(net).all())` does not compile.
    [[nodiscard]] std::span<preflight_finding const> all() const& noexcept { return {found_.data(), count_}; }
    void all() const&& = delete;
    // The finding of a cause; null where there is none.
    [[nodiscard]] preflight_finding const* find(preflight_cause what) const noexcept {
        for (preflight_finding const& each : all()) {
            if (each.cause == what) { return &each; }
        }
        return nullptr;
    }

    // A verdict for each weight, in the order in which the program shows them.
    [[nodiscard]] std::span<gradient_verdict const> gradients() const& noexcept { return {verdicts_.data(), tensors_}; }
    void gradients() const&& = delete;
    // How many gradients have this verdict; frozen ones are not counted.
    [[nodiscard]] std::size_t count(gradient_proof what) const noexcept {
        std::size_t many = 0;
        for (gradient_verdict const& each : gradients()) { many += !each.frozen && each.gradient == what ? 1U : 0U; }
        return many;
    }
    // The passes of the examination, forward alone or with backward, including those of `overfit`.
    [[nodiscard]] std::uint32_t passes() const noexcept { return passes_; }
    // Its updates, likewise.
    [[nodiscard]] std::uint32_t updates() const noexcept { return updates_; }

    // Rules of runs that would be a false alarm from here on, because what they name was proven right:
    // update_direction, gradient_not_cleared, learning_rate_zero. (A rate and a layer may go wrong later.)
    [[nodiscard]] std::span<rule_id const> proven_right() const& noexcept { return {right_, right_count_}; }
    void proven_right() const&& = delete;

    // One line: "8 of 8 gradients are right; nothing was found wrong; 31 passes, 4 updates".
    [[nodiscard]] text<232> sentence() const noexcept;

private:
    friend class result_writer;

    step_alarm alarm_{};
    slot_array<preflight_finding> found_{};
    std::size_t count_ = 0;
    slot_array<gradient_verdict> verdicts_{};
    std::size_t tensors_ = 0;
    slot_array<kept_text> names_{};  // of tensors and places; allocated once, so that views stay valid
    rule_id right_[3]{};
    std::size_t right_count_ = 0;
    std::uint32_t passes_ = 0, updates_ = 0;
};

#if SPOTTER_BODIES

SPOTTER_BODY text<320> gradient_verdict::line() const noexcept {
    text<320> made;
    made << (gradient == gradient_proof::right ? "right " : gradient == gradient_proof::wrong ? "wrong " : "unproven ");
    return made << error << ' ' << resolution << ' ' << name;
}

SPOTTER_BODY text<232> preflight_result::sentence() const noexcept {
    text<232> made;
    std::size_t const right = count(gradient_proof::right), wrong = count(gradient_proof::wrong),
                      open = count(gradient_proof::not_proven);
    made << right << " of " << right + wrong + open << " gradients are right";
    if (wrong > 0) { made << ", " << wrong << " wrong"; }
    if (open > 0) { made << ", " << open << " not proven"; }
    made << "; ";
    if (first() == preflight_cause::none) {
        made << "nothing was found wrong";
    } else {
        made << "first of what is wrong: " << name_of(first());
    }
    return made << "; " << passes_ << (passes_ == 1 ? " pass, " : " passes, ")
                << detail::plural(updates_, "update").view();
}

#endif

}  // namespace spotter::inline SPOTTER_ABI
