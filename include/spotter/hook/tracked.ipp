// SPDX-License-Identifier: Apache-2.0
// The bodies of tracked.hpp.
#pragma once

#include <spotter/core/guard.hpp>
#include <spotter/hook/tracked.hpp>

#include <cstring>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY void retained_copy::keep(tensor_ref const& now, std::uint64_t step_index) noexcept {
    auto const size = static_cast<std::size_t>(now.bytes());
    valid = bytes.grow(size);
    if (!valid) { return; }
    if (size > 0) { std::memcpy(bytes.data(), now.values.raw, size); }
    view = now;
    view.values.raw = bytes.data();
    index = step_index;
}

SPOTTER_BODY error distribution_scratch::lack() const noexcept {
    if (!lacks_memory_) { return {}; }
    return {errc::out_of_memory, "quantiles were asked for that there was no memory for; they are not taken"};
}

SPOTTER_BODY void tracked_tensor::keep_copies(terms wanted) {
    if (has(wanted, terms::delta) && !previous.grow(mode_count)) { lacks_memory = true; }
}

SPOTTER_BODY error tracked_tensor::lack() const noexcept {
    error why;
    if (!lacks_memory) { return why; }
    why.code = errc::out_of_memory;
    why.what << '"' << name << "\" is not judged in full: no memory for its rules, its last values or its units";
    return why;
}

SPOTTER_BODY terms tracked_tensor::wanted_by(std::uint64_t set) const noexcept {
    if (set == rules) { return rule_terms; }
    terms all = terms::none;
    for (std::size_t i = 0; i < terms_of_rule.size(); ++i) {
        if ((set >> i & 1) != 0) { all |= terms_of_rule[i]; }
    }
    return all;
}

SPOTTER_BODY void tracked_tensor::follow(tensor_ref const& values, step_id step) noexcept {
    if (previous.size() == 0) { return; }
    retained_copy& before = previous[index_of(step.mode)];
    before.valid = false;
    before.lost = values.absent();
    if (before.lost) { return; }
    before.keep(values, step.index);
    lacks_memory = lacks_memory || !before.valid;
}

}  // namespace spotter::inline SPOTTER_ABI
