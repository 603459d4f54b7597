// SPDX-License-Identifier: Apache-2.0
// Rule (L2): a finding as a line of text, without any library.
#pragma once

#include <spotter/core/plain.hpp>
#include <spotter/core/sentence.hpp>
#include <spotter/rule/finding.hpp>
#include <spotter/rule/inequality.hpp>

namespace spotter::inline SPOTTER_ABI {

// Writes the first line that spotter/report.hpp writes of a finding. Numbers have three digits, or as many as
// inequality.hpp needs. Control characters in names are escaped (core/plain.hpp).
template <std::size_t Capacity>
void describe(finding const& it, text<Capacity>& out) noexcept {
    auto const plain = [&](std::string_view letters) {
        put_plain(letters, [&](std::string_view piece) { out << piece; });
    };
    out << name_of(it.severity) << ": ";
    plain(it.rule);
    if (!it.reason.empty()) {
        out << ": ";
        plain(it.reason);
    }
    out << " at " << name_of(it.step.mode) << '(' << it.step.index << ')';
    if (!it.tensor.empty()) {
        out << ", \"";
        plain(it.tensor);
        out << '"';
    }
    if (!it.measure.empty()) {
        out << ": ";
        plain(it.measure);
        out << ' ';
        write_inequality(it, [&](std::string_view piece) { out << piece; });
    }
    if (!it.detail.empty()) {
        out << " (";
        plain(it.detail.view());
        out << ')';
    }
    if (it.others > 0) { out << ", and " << detail::plural(it.others, "more tensor").view(); }
    if (it.decision != decision::proceed) { out << " [" << name_of(it.decision) << ']'; }
}

}  // namespace spotter::inline SPOTTER_ABI
