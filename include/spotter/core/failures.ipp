// SPDX-License-Identifier: Apache-2.0
// The bodies of failures.hpp.
#pragma once

#include <spotter/core/bits.hpp>
#include <spotter/core/failures.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY void failure_list::add(errc code, std::string_view name, std::string_view what) noexcept {
    add(code, hash_bytes(name.data(), name.size()), [&](auto& into) { into << '"' << name << "\" " << what; });
}

SPOTTER_BODY void failure_list::add(error const& why) noexcept {
    if (!why) { return; }
    std::string_view const told = why.what.view();
    add(why.code, hash_bytes(told.data(), told.size()), [&](auto& into) { into << told; });
}

SPOTTER_BODY void failure_list::add(failure_list const& other) noexcept {
    for (repeated_failure const& each : other) {
        std::size_t const before = count_;
        add(each.what);
        if (count_ > before) { list_[before].times = each.times; }
    }
    others_ += other.others_;
}

}  // namespace spotter::inline SPOTTER_ABI
