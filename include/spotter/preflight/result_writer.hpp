// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), inside: turns drafts into findings, in the order of causes.
#pragma once

#include <spotter/preflight/examiner.hpp>

namespace spotter::inline SPOTTER_ABI {

// Writes what an examination found into its result.
class result_writer {
public:
    explicit result_writer(preflight_result& into) noexcept : into_{into} {}

    // Symptoms that a reported cause explains become notes. Findings are sorted by severity, and then by cause.
    void write(detail::examiner& all);

private:
    void write_verdicts(detail::examiner const& all);
    void write_proven_right(detail::examiner const& all);
    [[nodiscard]] static finding finding_of(detail::draft const& it);

    preflight_result& into_;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/preflight/result_writer.ipp>
#endif
