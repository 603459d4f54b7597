// SPDX-License-Identifier: Apache-2.0
// Report (L5): prints findings: `if (found) { print(found); }`.
#pragma once

#include <spotter/hook/health.hpp>
#include <spotter/rule/finding.hpp>

#include <cstdio>

namespace spotter::inline SPOTTER_ABI {

// Prints the sentences of spotter/report.hpp with a final line break, to standard output or another stream; nothing for
// an alarm without findings. Does not throw or allocate; output that the stream rejects is lost.
void print(step_alarm const& it, std::FILE* into = stdout) noexcept;
void print(finding const& it, std::FILE* into = stdout) noexcept;
void print(error const& it, std::FILE* into = stdout) noexcept;
void print(health_report const& it, std::FILE* into = stdout) noexcept;

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/report/sentence.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Collects pieces, so that lines of concurrent threads do not mix unless they are very long.
class printed_lines {
public:
    explicit printed_lines(std::FILE* into) noexcept : into_{into} {}

    void take(std::string_view piece) noexcept {
        if (lines_.view().size() + piece.size() > room) { flush(); }
        if (piece.size() > room) {
            (void)std::fwrite(piece.data(), 1, piece.size(), into_);
        } else {
            lines_ << piece;
        }
    }
    void flush() noexcept {
        (void)std::fwrite(lines_.view().data(), 1, lines_.view().size(), into_);
        lines_ = {};
    }

private:
    static constexpr std::size_t room = 4096;
    text<room> lines_;
    std::FILE* into_;
};

template <class Value>
void print_lines(Value const& it, std::FILE* into) noexcept {
    printed_lines lines{into};
    sentence_writer out{[](void* to, std::string_view piece) { static_cast<printed_lines*>(to)->take(piece); }, &lines};
    write(out, it);
    out << "\n";
    lines.flush();
}

}  // namespace spotter::inline SPOTTER_ABI::detail

namespace spotter::inline SPOTTER_ABI {

SPOTTER_COLD_BODY void print(step_alarm const& it, std::FILE* into) noexcept {
    if (it.size() > 0) { detail::print_lines(it, into); }
}

SPOTTER_COLD_BODY void print(finding const& it, std::FILE* into) noexcept { detail::print_lines(it, into); }

SPOTTER_COLD_BODY void print(error const& it, std::FILE* into) noexcept { detail::print_lines(it, into); }

SPOTTER_COLD_BODY void print(health_report const& it, std::FILE* into) noexcept { detail::print_lines(it, into); }

}  // namespace spotter::inline SPOTTER_ABI

#endif
