// SPDX-License-Identifier: Apache-2.0
// The course of one training, as its program sees it: its assignment, the hooks that watch it, and its outcome.
#pragma once

#include "cures.hpp"
#include "faults.hpp"
#include "outcome.hpp"
#include "watches.hpp"

#include <spotter/core/role.hpp>
#include <spotter/core/step.hpp>
#include <spotter/core/tensor_ref.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace diagnosis {

class course {
public:
    explicit course(assignment const& what) { made_.what = what; }

    [[nodiscard]] bool is(fault broken) const noexcept { return made_.what.broken == broken; }
    [[nodiscard]] fault broken() const noexcept { return made_.what.broken; }
    [[nodiscard]] std::size_t variant() const noexcept { return made_.what.variant; }  // an index into its family's
    [[nodiscard]] std::uint64_t seed() const noexcept { return made_.what.seed; }

    // Before the first step: how many there will be, which pack judges (default: supervised), and what its user knows:
    // the loss of guessing or, for rl, the number of actions.
    void plan(std::uint64_t steps, pack_choice pack = pack_choice::supervised, double known = no_guess);
    // From this step on there is a fault; findings before it do not count as detection. For a NaN, `planted` is its
    // place.
    void wrong_from(std::uint64_t step, std::string planted = {});

    // As a user's hook.
    void begin(spotter::step_id step);
    void observe(std::string_view name, spotter::tensor_ref const& it, spotter::flag flags = spotter::flag::none);
    void observe(std::string_view name, spotter::tensor_ref const& it, spotter::role what,
                 spotter::flag flags = spotter::flag::none);
    void scalar(std::string_view name, double value);
    // What to do with the update, where a training follows cures; then its hook is theirs alone.
    prescription end();
    [[nodiscard]] bool healthy_since(spotter::step_id step) const { return !healer_ || healer_->healthy_since(step); }

    // How bad it is in the end, on data not trained on and with true labels: 0 perfect, about 1 nothing learnt. The
    // mean of the last `evaluations` of them counts.
    void evaluated(double badness);
    // A value of the program (a loss, a weight) has become NaN or infinite.
    void lost() noexcept { made_.finite = false; }

    static constexpr double no_guess = -1;

    // The outcome; called after the program returned.
    [[nodiscard]] outcome finish();

private:
    static constexpr std::size_t evaluations = 5;

    void note_loss(std::string_view name, spotter::tensor_ref const& it);

    outcome made_{};
    spotter::step_id step_{};
    std::optional<watches> watches_{};  // from the first step on
    std::optional<healer> healer_{};    // in their place
    pack_choice pack_ = pack_choice::supervised;
    double known_ = no_guess;
    std::vector<double> badness_{};
    std::string loss_name_{};
    std::uint64_t losses_ = 0;
};

}  // namespace diagnosis
