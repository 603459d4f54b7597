// SPDX-License-Identifier: Apache-2.0
// What is noted of a training while its hooks look at it.
#include "course.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace diagnosis {

namespace sp = spotter;

void course::plan(std::uint64_t steps, pack_choice pack, double known) {
    made_.steps = steps;
    pack_ = pack;
    known_ = known;
}
void course::wrong_from(std::uint64_t step, std::string planted) {
    made_.planted_at = step;
    made_.planted = std::move(planted);
}

void course::begin(sp::step_id step) {
    step_ = step;
    if (healer::choice != cured_by::nothing) {
        if (!healer_) { healer_.emplace(); }
        return healer_->begin(step);
    }
    if (!watches_) { watches_.emplace(made_.what, made_.planted_at, pack_, known_); }
    watches_->begin(step);
}
void course::observe(std::string_view name, sp::tensor_ref const& it, sp::flag flags) {
    if (sp::guess_role(name) == sp::role::loss) { note_loss(name, it); }
    healer_ ? healer_->observe(name, it, nullptr, flags) : watches_->observe(name, it, flags);
}
void course::observe(std::string_view name, sp::tensor_ref const& it, sp::role what, sp::flag flags) {
    if (what == sp::role::loss) { note_loss(name, it); }
    healer_ ? healer_->observe(name, it, &what, flags) : watches_->observe(name, it, what, flags);
}
void course::scalar(std::string_view name, double value) {
    auto const as_shown = static_cast<float>(value);
    observe(name, sp::view_of(&as_shown, {}));
}
prescription course::end() {
    if (healer_) { return healer_->end(); }
    watches_->end();
    return {};
}

void course::evaluated(double badness) { badness_.push_back(badness); }

// The loss of a training is the one called that, or else the first that it shows.
void course::note_loss(std::string_view name, sp::tensor_ref const& it) {
    if (step_.mode != sp::mode::train || it.count != 1 || it.refused != sp::refusal::none) { return; }
    if (loss_name_.empty() || (name == "loss" && loss_name_ != name)) {
        loss_name_ = name;
        losses_ = 0;
        made_.first_loss = 0;
    }
    if (name != loss_name_) { return; }
    bool const wide = it.type == sp::dtype::f64;
    if (!wide && it.type != sp::dtype::f32) { return; }
    double const loss = wide ? *it.values.f64 : static_cast<double>(*it.values.f32);
    made_.finite = made_.finite && (healer_ || std::isfinite(loss));  // what is left out is not lost
    if (losses_ < 10) { made_.first_loss += loss / 10; }
    made_.last_loss = losses_ == 0 ? loss : made_.last_loss + 0.05 * (loss - made_.last_loss);
    ++losses_;
}

outcome course::finish() {
    std::size_t const count = (std::min)(badness_.size(), evaluations);
    for (std::size_t i = badness_.size() - count; i < badness_.size(); ++i) {
        made_.badness += badness_[i] / static_cast<double>(count);
    }
    if (watches_) { watches_->finish(made_); }
    if (healer_) { made_.acts = healer_->acts(); }
    return std::move(made_);
}

}  // namespace diagnosis
