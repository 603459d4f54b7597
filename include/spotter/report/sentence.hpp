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
template <class Text, class Value>
[[nodiscard]] Text sentence_of(Value const& it) {
    Text text;
    sentence_writer out{[](void* to, std::string_view piece) { static_cast<Text*>(to)->append(piece); }, &text};
    write(out, it);
    return text;
}

}  // namespace spotter::inline SPOTTER_ABI::detail

#if SPOTTER_BODIES
#include <spotter/core/plain.hpp>
#include <spotter/core/sentence.hpp>
#include <spotter/rule/inequality.hpp>

#include <charconv>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_COLD_BODY sentence_writer& sentence_writer::operator<<(std::uint64_t count) {
    text<20> digits;
    digits << count;
    return *this << digits.view();
}

SPOTTER_COLD_BODY sentence_writer& sentence_writer::plain(std::string_view letters) {
    put_plain(letters, [&](std::string_view piece) { *this << piece; });
    return *this;
}

SPOTTER_COLD_BODY sentence_writer& sentence_writer::bytes(std::uint64_t count) {
    if (count < 1024) { return *this << count << " B"; }
    bool const large = count >= 1048576;
    char digits[32];
    double const size = static_cast<double>(count) / (large ? 1048576 : 1024);
    auto const end = std::to_chars(digits, digits + sizeof digits, size, std::chars_format::fixed, 1);
    return *this << std::string_view{digits, static_cast<std::size_t>(end.ptr - digits)} << (large ? " MiB" : " KiB");
}

SPOTTER_COLD_BODY void write(sentence_writer& out, step_id step) {
    out << name_of(step.mode) << "(" << step.index << ")";
}

SPOTTER_COLD_BODY void write(sentence_writer& out, finding const& it) {
    out << name_of(it.severity) << ": ";
    out.plain(it.rule);
    if (!it.reason.empty()) { (out << ": ").plain(it.reason); }
    out << " at ";
    write(out, it.step);
    if (it.worker > 0) { out << " in worker " << std::uint64_t{it.worker}; }
    if (!it.tensor.empty()) { (out << ", \"").plain(it.tensor) << "\""; }
    if (!it.measure.empty()) {
        (out << ": ").plain(it.measure) << " ";
        write_inequality(it, [&](std::string_view piece) { out << piece; });
    }
    if (!it.detail.empty()) { (out << " (").plain(it.detail.view()) << ")"; }
    if (it.others > 0) { out << ", and " << plural(it.others, "more tensor").view(); }
    if (it.decision != decision::proceed) { out << " [" << name_of(it.decision) << "]"; }
    if (!it.remedy.empty()) { (out << "\n    ").plain(it.remedy); }
}

SPOTTER_COLD_BODY void write(sentence_writer& out, step_alarm const& it) {
    bool first = true;
    for (finding const& each : it) {
        if (!first) { out << "\n"; }
        first = false;
        write(out, each);
    }
    if (it.left_out() > 0) { out << "\nand " << plural(it.left_out(), "further finding").view(); }
}

SPOTTER_COLD_BODY void write(sentence_writer& out, error const& it) {
    out << name_of(it.code) << ": ";
    out.plain(it.what.view());
}

SPOTTER_COLD_BODY void write(sentence_writer& out, health_report const& it) {
    out << (!it.good()                   ? "in trouble"
            : it.off                     ? "off"
            : it.dry                     ? "dry, nothing is recorded"
            : !it.nothing_judged.empty() ? "recording, but nothing could be judged"
                                         : "recording well");
    out << ": " << plural(it.steps, "step").view() << ", " << plural(it.observed, "observation").view() << "; stored "
        << it.sink.stored << " in ";
    out.bytes(it.sink.bytes) << ", dropped " << it.sink.dropped;
    if (it.sink.thinned > 0) { out << ", " << it.sink.thinned << " without their values"; }
    if (it.refused > 0) { out << ", refused " << it.refused; }
    if (it.left_open > 0) { out << ", " << it.left_open << " left open"; }
    out << "; " << plural(it.declared, "declaration").view() << ", ";
    out.bytes(it.sink.ring_peak) << " in the ring at most";
    if (!it.nothing_judged.empty()) { out << "\n    " << it.nothing_judged; }
    if (it.first_error && it.failures.empty()) { write(out << "\n    ", it.first_error); }
    for (repeated_failure const& each : it.failures) {
        write(out << "\n    ", each.what);
        if (each.times > 1) { out << " (" << each.times << " times)"; }
    }
    if (it.failures.others() > 0) { out << "\n    and " << it.failures.others() << " of further kinds"; }
}

}  // namespace spotter::inline SPOTTER_ABI::detail

#endif
