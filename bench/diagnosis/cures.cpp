// SPDX-License-Identifier: Apache-2.0
// The cures behind healer. In a file of its own, as the pack takes long to compile.
#include "cures.hpp"

#include <spotter/heal.hpp>
#include <spotter/hook.hpp>
#include <spotter/packs.hpp>

#include <cstdio>
#include <type_traits>

namespace diagnosis {

namespace sp = spotter;

namespace {

// Hears what cures say of what they did.
struct decision_sink : sp::null_sink {
    void scalar(sp::tensor_info const& tensor, sp::step_id const*, sp::tensor_ref const& value,
                double const*) noexcept {
        if (healer::tells && tensor.name == "decision") {
            std::fprintf(stderr, "  %.*s\n", static_cast<int>(value.count), static_cast<char const*>(value.values.raw));
        }
    }
};

// All of them, and those that are not chosen may do nothing.
std::uint64_t times(cured_by mine, std::uint64_t usual) {
    return healer::choice == cured_by::all || healer::choice == mine ? usual : 0;
}
using all_cures =
    sp::heal<sp::skip_batch, sp::clip_gradients, sp::step_back, sp::warm_up_again, sp::reinitialise_units>;
using pack = std::remove_cvref_t<decltype(sp::packs::supervised)>;

}  // namespace

struct healer::parts {
    all_cures cures{sp::skip_batch{.times = times(cured_by::skip_batch, sp::skip_batch{}.times)},
                    sp::clip_gradients{.times = times(cured_by::clip_gradients, sp::clip_gradients{}.times)},
                    sp::step_back{.times = times(cured_by::step_back, sp::step_back{}.times)},
                    sp::warm_up_again{.times = times(cured_by::warm_up, sp::warm_up_again{}.times)},
                    sp::reinitialise_units{.times = times(cured_by::reinitialise, sp::reinitialise_units{}.times)}};
    decision_sink sink{};
    sp::hook<decision_sink&, sp::plan<>, pack, sp::heal_gauge> hook{sink, sp::plan<>{}, sp::packs::supervised,
                                                                    cures.gauge()};
    sp::step_id step{};
};

healer::healer() : parts_{std::make_unique<parts>()} {}
healer::~healer() = default;

void healer::begin(sp::step_id step) {
    parts_->step = step;
    parts_->hook.begin(step);
}
void healer::observe(std::string_view name, sp::tensor_ref const& it, sp::role const* what, sp::flag flags) {
    if (what != nullptr) {
        parts_->hook.observe(name, it, *what, flags);
    } else {
        parts_->hook.observe(name, it, flags);
    }
}
prescription healer::end() {
    sp::step_alarm const found = parts_->hook.end();
    prescription made;
    if (parts_->step.mode != sp::mode::train) { return made; }
    sp::treatment const what = parts_->cures.treat(parts_->hook, parts_->step, found);
    made.skip = what.skip, made.restore = what.restore, made.rate = what.rate, made.largest_norm = what.largest_norm;
    if (what.reinitialise) {
        parts_->cures.each_dead(
            [&](std::string_view name, std::size_t unit) { made.reinitialise.emplace_back(name, unit); });
    }
    return made;
}
bool healer::healthy_since(sp::step_id step) const { return parts_->hook.healthy_since(step); }
std::size_t healer::acts() const {
    std::size_t all = 0;
    parts_->cures.report([&](sp::cure_report const& it) { all += static_cast<std::size_t>(it.acts); });
    return all;
}

}  // namespace diagnosis
