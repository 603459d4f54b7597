// SPDX-License-Identifier: Apache-2.0
// The bodies of subject.hpp.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/clock.hpp>
#include <spotter/core/guard.hpp>
#include <spotter/preflight/subject.hpp>

#include <cstring>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY subject::subject(examination const& exam) noexcept
    : exam_{exam}, most_{exam.forwards}, begun_{steady_seconds()} {
    progress_at_ = begun_;
}

SPOTTER_BODY double subject::ask_loss(handle<double()> const& from) {
    double made = std::numeric_limits<double>::quiet_NaN();
    if (!spend()) { return made; }
    call([&] { made = from(); });
    if (is_finite(made) && static_cast<double>(static_cast<float>(made)) != made) { losses_are_floats_ = false; }
    return made;
}

SPOTTER_BODY bool subject::spend() noexcept {
    if (over()) { return false; }
    if (passes_ + kept_back_ >= most_) {
        ended_ = ending::budget;
        return false;
    }
    ++passes_;
    tell_progress();
    return true;
}

SPOTTER_BODY void subject::tell_progress() noexcept {
    if (exam_.progress == nullptr) { return; }
    double const now = steady_seconds();
    if (now - progress_at_ < 0.5) { return; }
    progress_at_ = now;
    std::fprintf(exam_.progress, "preflight: %s, %u passes in %.1f s\n", experiment_, cast_to<unsigned>(passes_),
                 now - begun_);
    std::fflush(exam_.progress);
}

SPOTTER_BODY void subject::go_to(double_list const& weights) {
    place_ = weights;
    for (parameter const& each : parameters_) {
        for (double& value : each.of(place_)) { value = rounded_to(each.type, value); }
    }
}

SPOTTER_BODY void subject::prepare(bool restores) {
    if (over()) { return; }
    if (exam_.restore && (restores || exam_.restore_each)) {
        call([&] { exam_.restore(); });
        look();
    }
    write_weights(place_);
    put_batch();
    set_modes();
}

SPOTTER_BODY void subject::set_modes() {
    if (exam_.seed) {
        call([&] { exam_.seed(seed_); });
    }
    if (exam_.training) {
        call([&] { exam_.training(training_); });
    }
}

SPOTTER_BODY void subject::put_batch() {
    if (inputs_.active) { put_held(inputs_, inputs()); }
    if (labels_.active) { put_held(labels_, labels()); }
}

SPOTTER_BODY double subject::loss() {
    prepare(false);
    double const made = ask_loss(exam_.loss ? exam_.loss : exam_.backward);
    look(!exam_.loss);
    return made;
}

SPOTTER_BODY double subject::loss(double_list& gradient) {
    if (!exam_.loss) { return pass(gradient); }
    gradient.clear();
    return loss();
}

SPOTTER_BODY double subject::bare_pass() {
    double const made = ask_loss(exam_.backward);
    look(true);
    return made;
}

SPOTTER_BODY double subject::pass(double_list& gradient) {
    prepare(false);
    double_list before;
    bool const differs =
        std::any_of(parameters_.begin(), parameters_.end(), [](parameter const& each) { return each.accumulates; });
    if (differs) { read_gradients(before); }
    double const made = bare_pass();
    if (over()) {
        gradient.assign(elements_, 0.0);
        return made;
    }
    read_gradients(gradient);
    for (parameter const& each : parameters_) {
        if (!each.accumulates) { continue; }
        for (std::size_t i = each.first; i < each.first + each.count; ++i) { gradient[i] -= before[i]; }
    }
    return made;
}

SPOTTER_BODY void subject::update() {
    if (over() || !exam_.update) { return; }
    ++updates_;
    call([&] { exam_.update(); });
    look();
}

SPOTTER_BODY bool subject::open() {
    if (exam_.save) {
        call([&] { exam_.save(); });
    }
    if (exam_.restore) {
        call([&] { exam_.restore(); });
    }
    set_modes();
    look();
    keep_gradients();
    std::vector<double_list> before;  // all that may be weights: the first pass may show which are
    for (seen_tensor const& each : seen_) {
        bool const may_be_weight = can_hold_weights(each.view.type) && each.writable;
        before.emplace_back(may_be_weight ? static_cast<std::size_t>(each.view.count) : 0);
        if (!before.back().empty()) { (void)read_elements(each.view, before.back().data()); }
    }
    first_loss_ = bare_pass();
    if (over()) { return false; }
    pair();
    take_start(before);
    read_gradients(first_gradient_);
    batch_ = exam_.batch > 0 ? exam_.batch : samples_shown();
    return !over();
}

SPOTTER_BODY void subject::take_start(std::vector<double_list> const& before) {
    read_weights(place_);
    start_ = place_;
    for (parameter const& each : parameters_) {
        number_view const now = each.of(place_);
        bool const known = each.weight < before.size() && before[each.weight].size() == now.size();
        for (std::size_t i = 0; known && i < now.size(); ++i) {
            double const was = before[each.weight][i];
            weights_changed_ = weights_changed_ || (was != now[i] && (is_finite(was) || is_finite(now[i])));
            start_[each.first + i] = was;
        }
    }
    place_ = start_;
}

SPOTTER_BODY std::size_t subject::samples_shown() {
    auto const rows = [](tensor_ref const& it) {
        return it.absent() || it.shape.rank < 2 ? std::uint64_t{0} : it.shape.size[0];
    };
    std::uint64_t const samples = (std::max)(rows(inputs()), rows(outputs()));
    tensor_ref const y = labels();
    return as_size(samples == 0 && !y.absent() ? y.count : samples);
}

SPOTTER_BODY void subject::close() {
    ending const why = std::exchange(ended_, ending::none);
    release_batch();
    write_weights(start_);
    if (exam_.restore) {
        call([&] { exam_.restore(); });
        look();
        write_weights(start_);
    }
    if (exam_.training) {
        call([&] { exam_.training(true); });
    }
    put_gradients_back();
    ended_ = why == ending::budget ? ending::none : why;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
