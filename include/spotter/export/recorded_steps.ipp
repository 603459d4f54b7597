// SPDX-License-Identifier: Apache-2.0
// The bodies of recorded_steps.hpp.
#pragma once

#include <spotter/export/recorded_steps.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY bool export_choice::has_name(std::string_view name) const {
    return names.empty() || std::any_of(names.begin(), names.end(),
                                        [&](std::string const& each) { return each == name || glob{each}(name); });
}

SPOTTER_BODY bool export_choice::has_step(step_id each) const noexcept {
    return (!step || each == *step) && (!mode || each.mode == *mode);
}

SPOTTER_BODY void recorded_steps::clear() noexcept {
    kept_.clear();
    findings_.clear();
    bodies_.clear();
}

SPOTTER_BODY void recorded_steps::begin(std::uint32_t attempt) noexcept {
    if (std::exchange(attempt_, attempt) != attempt) { clear(); }
}

SPOTTER_BODY bool recorded_steps::wanted(tensor_id id) {
    auto const& tensors = from_->index().tensors();
    for (std::size_t i = named_.size(); i < tensors.size(); ++i) {
        named_.push_back(choice_->has_name(tensors[i]->name));
    }
    return id < named_.size() && named_[id];
}

SPOTTER_BODY void recorded_steps::keep(std::uint32_t segment, row_view row) {
    byte_reader in{row.body};
    (void)in.fixed<std::uint8_t>();  // flags
    tensor_id const id = from_->index().id_of(segment, detail::take_id(in));
    if (in.bad() || !wanted(id)) { return; }
    kept_.push_back({segment, id, row.kind, bodies_.size(), row.body.size()});
    bodies_.insert(bodies_.end(), row.body.begin(), row.body.end());
}

SPOTTER_BODY row_view recorded_steps::body_of(kept const& it) const noexcept {
    byte_view const body{bodies_.data() + it.at, it.bytes};
    return {it.kind, body, body, whole_row};
}

}  // namespace spotter::inline SPOTTER_ABI

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY error export_of_another_run() noexcept {
    return {errc::replaced, "another run has taken the place of the one that was exported: export it to another place"};
}

SPOTTER_BODY std::string place_of(recorded_step const& at, std::string_view name) {
    return std::string{name} + '@' + std::string{name_of(at.step.mode)} + ':' + std::to_string(at.step.index);
}

}  // namespace spotter::inline SPOTTER_ABI::detail
