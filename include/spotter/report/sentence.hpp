// SPDX-License-Identifier: Apache-2.0
// Report (L5): findings, alarms, errors and a hook's health as sentences, piece by piece: without fmt and without
// allocation.
#pragma once

#include <spotter/hook/health.hpp>
#include <spotter/rule/finding.hpp>

namespace spotter::inline SPOTTER_ABI::detail {

// Passes on the pieces of a sentence, in order.
class sentence_writer {
public:
    using taker = void (*)(void* to, std::string_view piece);
    sentence_writer(taker take, void* to) noexcept : take_{take}, to_{to} {}

    sentence_writer& operator<<(std::string_view piece) {
        take_(to_, piece);
        return *this;
    }
    sentence_writer& operator<<(std::uint64_t count);
    // With control characters escaped, for terminals (core/plain.hpp).
    sentence_writer& plain(std::string_view letters);
    sentence_writer& bytes(std::uint64_t count);

private:
    taker take_;
    void* to_;
};

void write(sentence_writer& out, step_id step);
void write(sentence_writer& out, finding const& it);
void write(sentence_writer& out, step_alarm const& it);
void write(sentence_writer& out, error const& it);
void write(sentence_writer& out, health_report const& it);

// As a std::string, whose header the caller includes.
template <class Text, class Told>
[[nodiscard]] Text sentence_of(Told const& it) {
    Text text;
    sentence_writer out{[](void* to, std::string_view piece) { static_cast<Text*>(to)->append(piece); }, &text};
    write(out, it);
    return text;
}

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/report/sentence.ipp>
#endif
