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

// The tensors that the program shows: pairs, reads and writes them.

SPOTTER_BODY std::size_t subject::place_of(std::string_view name) {
    for (std::size_t i = 0; i < seen_.size(); ++i) {  // the first try usually hits
        std::size_t const at = next_ + i < seen_.size() ? next_ + i : next_ + i - seen_.size();
        if (seen_[at].name == name) { return at; }
    }
    seen_.emplace_back();
    seen_.back().name = name;
    return seen_.size() - 1;
}

SPOTTER_BODY void subject::take(shown_tensor const& it) {
    std::string_view name = it.name;
    if (it.is_gradient_before) {
        gradient_name_.assign("grad/").append(it.name);
        name = gradient_name_;
    }
    std::size_t const at = place_of(name);
    next_ = at + 1;
    seen_tensor& into = seen_[at];
    if (into.look == look_) { return; }  // a second tensor of this name is ignored
    into.look = look_;
    into.view = it.view, into.flags = it.flags, into.writable = it.writable;
    into.what = it.given != nullptr ? *it.given : guess_role(name);
}

SPOTTER_BODY void subject::look(bool behind_pass) {
    if (over()) { return; }
    next_ = 0;
    ++look_;
    parameter_visitor visit{[](void* to, shown_tensor const& it) { static_cast<subject*>(to)->take(it); }, this};
    call([&] { exam_.parameters(visit); });
    if (over()) { return; }
    for (parameter const& each : parameters_) {
        bool fits = is_there(each.weight, each.count);
        for (std::size_t const gradient : each.gradients) {
            fits = fits && (!behind_pass || is_there(gradient, each.count));
        }
        if (!fits) { ended_ = ending::shapes; }
    }
}

SPOTTER_BODY bool subject::has_gradients() const noexcept {
    for (parameter const& each : parameters_) {
        for (std::size_t const gradient : each.gradients) {
            if (!is_there(gradient, each.count)) { return false; }
        }
    }
    return true;
}

SPOTTER_BODY void subject::add_parameter(std::size_t weight, std::size_t gradient) {
    seen_tensor const& w = seen_[weight];
    // A weight that is shown under two names is one weight; its gradients are added.
    for (parameter& each : parameters_) {
        if (seen_[each.weight].view.values.raw == w.view.values.raw) {
            bool const is_new = seen_[each.gradients.front()].view.values.raw != seen_[gradient].view.values.raw;
            if (is_new) { each.gradients.push_back(gradient); }
            return;
        }
    }
    parameter made;
    made.name = w.name, made.weight = weight, made.shape = w.view.shape, made.type = w.view.type;
    made.count = static_cast<std::size_t>(w.view.count), made.first = elements_;
    made.gradients.push_back(gradient);
    flag const flags = w.flags | seen_[gradient].flags;
    made.frozen = has(flags, flag::frozen), made.negated = has(flags, flag::negated),
    made.gathered = has(flags, flag::gathered);
    elements_ += made.count;
    parameters_.push_back(std::move(made));
}

SPOTTER_BODY std::size_t subject::weight_of(std::size_t gradient) const noexcept {
    std::string_view const name = gradient_of(seen_[gradient].name);
    std::size_t at = 0;
    while (at < seen_.size() && (seen_[at].name != name || seen_[at].look != look_)) { ++at; }
    return at;
}

SPOTTER_BODY bool subject::fit(seen_tensor const& weight, seen_tensor const& gradient) noexcept {
    return weight.writable && can_hold_weights(weight.view.type) && weight.view.count > 0 &&
           gradient.view.refused == refusal::none && is_floating(gradient.view.type) &&
           weight.view.count == gradient.view.count;
}

SPOTTER_BODY void subject::pair() {
    std::size_t const none = seen_.size();
    std::vector<bool> used(none, false);
    std::vector<std::size_t> gradient_for(none, none);
    for (std::size_t g = 0; g < none; ++g) {
        if (gradient_of(seen_[g].name).empty() || seen_[g].look != look_) { continue; }
        std::size_t const w = weight_of(g);
        if (w < none && fit(seen_[w], seen_[g])) {
            gradient_for[w] = g;
            used[w] = used[g] = true;
        } else if (seen_[g].view.count > 1 || w < none) {  // a single number may be a gradient norm
            used[g] = true;
            unpaired_gradients_.push_back(seen_[g].name);
        }
    }
    for (std::size_t w = 0; w < none; ++w) {
        seen_tensor const& it = seen_[w];
        bool const is_weight = (it.what == role::weight || it.what == role::bias) && !has(it.flags, flag::frozen);
        if (gradient_for[w] < none) {
            add_parameter(w, gradient_for[w]);
        } else if (is_weight && !used[w] && it.look == look_) {
            unpaired_weights_.push_back(it.name);
        }
    }
}

SPOTTER_BODY void subject::read_weights(double_list& into) const {
    into.resize(elements_);
    for (parameter const& each : parameters_) {
        (void)read_elements(seen_[each.weight].view, into.data() + each.first);
    }
}

SPOTTER_BODY void subject::write_weights(double_list const& from) {
    if (over()) { return; }
    for (parameter const& each : parameters_) {
        if (is_there(each.weight, each.count)) { write_elements(seen_[each.weight].view, from.data() + each.first); }
    }
}

SPOTTER_BODY void subject::read_gradients(double_list& into) const {
    into.assign(elements_, 0.0);
    double_list one;
    for (parameter const& each : parameters_) {
        double const scale = (each.negated ? -1.0 : 1.0) / exam_.loss_scale;
        one.resize(each.count);
        for (std::size_t const gradient : each.gradients) {
            if (!is_there(gradient, each.count) || !read_elements(seen_[gradient].view, one.data())) { continue; }
            for (std::size_t i = 0; i < each.count; ++i) { into[each.first + i] += scale * one[i]; }
        }
    }
}

SPOTTER_BODY void subject::write_gradients(double_list const& from) {
    if (over()) { return; }
    double_list one;
    for (parameter const& each : parameters_) {
        double const scale = (each.negated ? -1.0 : 1.0) * exam_.loss_scale;
        one.assign(each.count, 0.0);
        for (std::size_t const gradient : each.gradients) {  // the first takes the whole sum
            bool const first = gradient == each.gradients.front();
            for (std::size_t i = 0; i < each.count; ++i) { one[i] = first ? scale * from[each.first + i] : 0.0; }
            if (is_there(gradient, each.count)) { write_elements(seen_[gradient].view, one.data()); }
        }
    }
}

SPOTTER_BODY void subject::put_held(held_values const& values, tensor_ref const& into) noexcept {
    if (values.active && into.refused == refusal::none && into.bytes() == values.now.size()) {
        std::memcpy(const_cast<void*>(into.values.raw), values.now.data(), values.now.size());
    }
}

SPOTTER_BODY void subject::keep_gradients() {
    for (seen_tensor& each : seen_) {
        if (gradient_of(each.name).empty() || !each.writable || !can_hold_weights(each.view.type)) { continue; }
        double_list values(as_size(each.view.count));
        (void)read_elements(each.view, values.data());
        kept_gradients_.push_back(values);
        each.kept = kept_gradients_.size();
        values.assign(values.size(), 0.0);
        write_elements(each.view, values.data());
    }
}

SPOTTER_BODY void subject::put_gradients_back() {
    for (seen_tensor const& each : seen_) {
        if (gradient_of(each.name).empty() || each.look != look_ || !each.writable ||
            !can_hold_weights(each.view.type)) {
            continue;
        }
        std::size_t const count = static_cast<std::size_t>(each.view.count);
        bool const was_there = each.kept > 0 && kept_gradients_[each.kept - 1].size() == count;
        write_elements(each.view, (was_there ? kept_gradients_[each.kept - 1] : double_list(count, 0.0)).data());
    }
}

SPOTTER_BODY tensor_ref subject::shown_as(spotter::role what) const noexcept {
    seen_tensor const* found = nullptr;
    for (seen_tensor const& each : seen_) {
        if (each.what != what || !each.writable || each.look != look_) { continue; }
        if (found != nullptr) { return {}; }  // several: unknown which is meant
        found = &each;
    }
    return found != nullptr ? found->view : tensor_ref{};
}

SPOTTER_BODY tensor_ref subject::asked(handle<tensor_ref()> const& from, spotter::role what) {
    tensor_ref view;
    if (!from) { return shown_as(what); }
    call([&] { view = from(); });
    return view.refused == refusal::none ? view : tensor_ref{};
}

SPOTTER_BODY tensor_ref subject::inputs() { return asked(exam_.inputs, role::input); }
SPOTTER_BODY tensor_ref subject::labels() { return asked(exam_.labels, role::label); }
SPOTTER_BODY tensor_ref subject::outputs() { return asked(exam_.outputs, role::prediction); }

SPOTTER_BODY void subject::hold(held_values& into, tensor_ref const& view, std::vector<unsigned char> bytes) {
    if (!into.active) {
        auto const* const first = static_cast<unsigned char const*>(view.values.raw);
        into.original.assign(first, first + view.bytes());
    }
    into.now = std::move(bytes);
    into.active = true;
}

SPOTTER_BODY void subject::release_batch() {
    for (held_values* const each : {&inputs_, &labels_}) {
        if (!each->active) { continue; }
        each->now = each->original;
        put_held(*each, each == &inputs_ ? inputs() : labels());
        each->active = false;
    }
}

}  // namespace spotter::inline SPOTTER_ABI::detail
