// SPDX-License-Identifier: Apache-2.0
// The bodies of recorded_steps.hpp.
#pragma once

#include <spotter/export/recorded_steps.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY bool recorded_steps::wanted(tensor_id id) {
    auto const& tensors = from_->index().tensors();
    for (std::size_t i = named_.size(); i < tensors.size(); ++i) {
        named_.push_back(choice_->has_name(tensors[i]->name));
    }
    return id < named_.size() && named_[id];
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
