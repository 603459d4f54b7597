// SPDX-License-Identifier: Apache-2.0
// The bodies of added_findings.hpp.
#pragma once

#include <spotter/judge/added_findings.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_COLD_BODY finding added_findings::keep(finding const& it) noexcept {
    finding made = it;
    for (std::string_view finding::* const each :
         {&finding::rule, &finding::reason, &finding::tensor, &finding::measure, &finding::remedy}) {
        made.*each = keep(made.*each);
    }
    for (std::uint16_t& each : made.responses) { each = 0; }  // they are numbers of another hook
    made.decision = response_of(made);
    return made;
}

SPOTTER_COLD_BODY std::string_view added_findings::keep(std::string_view letters) noexcept {
    if (letters.empty()) { return {}; }
    for (std::size_t i = 0; i < count_; ++i) {
        std::string_view const known{texts_[i].data(), texts_[i].size()};
        if (known == letters) { return known; }
    }
    slot_array<char> made;
    if (!made.grow(letters.size()) || !texts_.grow(count_ + 1)) { return {}; }
    for (std::size_t i = 0; i < letters.size(); ++i) { made[i] = letters[i]; }
    slot_array<char>& mine = texts_[count_++] = std::move(made);
    return {mine.data(), mine.size()};
}

}  // namespace spotter::inline SPOTTER_ABI
