// SPDX-License-Identifier: Apache-2.0
// The bodies of recorded_arrays.hpp.
#pragma once

#include <spotter/export/recorded_arrays.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY std::uint64_t recorded_arrays::count() const {
    std::uint64_t all = 0;
    for (auto const& reader : run_.readers()) {
        reader->index().complete();
        for (std::string const& name : names_) {
            recorded_tensor const* const tensor = reader->index().find(name);
            all += tensor == nullptr ? 0 : tensor->entries.size();
        }
    }
    return all;
}

SPOTTER_BODY std::string recorded_arrays::title_of(worker_reader const& from, std::string const& name) const {
    bool const several = run_.readers().size() > 1 || run_.expected_workers() > 1;
    return several ? "worker-" + std::to_string(from.number()) + '/' + name : name;
}

SPOTTER_BODY std::string recorded_arrays::key_of(std::string const& title, step_id step) {
    return title + '@' + std::string{name_of(step.mode)} + ':' + std::to_string(step.index);
}

SPOTTER_BODY bool recorded_arrays::add(series& into, tensor_ref const& value, step_id step) {
    if (value.shape.rank != 0 || value.type == dtype::text) { return false; }
    if (into.steps.empty()) { into.type = value.type; }
    if (into.type != value.type) { return false; }
    auto const* const first = static_cast<std::byte const*>(value.values.raw);
    into.values.insert(into.values.end(), first, first + size_of(value.type));
    into.steps.push_back(step.index);
    return true;
}

}  // namespace spotter::inline SPOTTER_ABI
