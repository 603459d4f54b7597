// SPDX-License-Identifier: Apache-2.0
// Format (L1): reads the rows of a frame in order, with those in steps rows.
#pragma once

#include <spotter/format/steps_reader.hpp>

namespace spotter::inline SPOTTER_ABI {

// Packed steps are returned as single rows, so callers need no code for packing.
class row_reader {
public:
    explicit row_reader(byte_view body) noexcept : in_{body} {}
    row_reader(row_reader const&) = delete;
    row_reader& operator=(row_reader const&) = delete;

    // False at the end, or if a length is wrong (then `bad`). The body of a packed row is valid until the next call.
    [[nodiscard]] bool next(row_view& out) noexcept;
    // A row, or a packed one, was malformed; the rows before it are valid.
    [[nodiscard]] bool bad() const noexcept { return bad_ || in_.bad(); }

private:
    byte_reader in_;
    byte_view stored_{};
    steps_reader steps_{};
    std::uint32_t part_ = 0;
    bool packed_ = false;
    bool bad_ = false;
    std::byte unpacked_[observe_limit];
};

// Finds single rows again. Packed rows in ascending order cost one pass in total; if all steps are alike, each row
// costs at most one step.
class row_finder {
public:
    row_finder() noexcept = default;
    row_finder(row_finder const&) = delete;
    row_finder& operator=(row_finder const&) = delete;

    // `stored` and `part` are those of the row_view. The body is empty if there is no such row. The body of a packed
    // row is valid until the next call.
    [[nodiscard]] row_view find(row_kind kind, byte_view stored, std::uint32_t part) noexcept;
    // Call it when the bytes of the last rows are no longer valid.
    void forget() noexcept { stored_ = {}; }

private:
    steps_reader steps_{};
    byte_view stored_{};
    std::uint32_t met_ = 0;  // rows of it that were read
    std::byte unpacked_[observe_limit];
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/frame.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY bool row_reader::next(row_view& out) noexcept {
    for (;;) {
        if (packed_) {
            if (steps_.next()) {
                out = {steps_.row().kind, {unpacked_, unpack(steps_.row(), unpacked_)}, stored_, part_++};
                return true;
            }
            packed_ = false;
            bad_ = bad_ || steps_.bad();
        }
        if (in_.left() == 0) { return false; }
        auto const kind = static_cast<row_kind>(in_.fixed<std::uint8_t>());
        stored_ = in_.raw(in_.varint());
        if (in_.bad()) { return false; }
        if (kind != row_kind::steps) {
            out = {kind, stored_, stored_, whole_row};
            return true;
        }
        steps_ = steps_reader{stored_};
        packed_ = true;
        part_ = 0;
    }
}

SPOTTER_BODY row_view row_finder::find(row_kind kind, byte_view stored, std::uint32_t part) noexcept {
    if (part == whole_row) { return {kind, stored, stored, part}; }
    if (stored.data() != stored_.data() || stored.size() != stored_.size() || part + 1 < met_) {
        steps_ = steps_reader{stored};
        stored_ = stored;
        met_ = 0;
    }
    for (; met_ <= part; ++met_) {
        met_ += static_cast<std::uint32_t>(steps_.skip_alike(part - met_));
        if (!steps_.next()) { return {kind, {}, stored, part}; }
    }
    return {kind, {unpacked_, unpack(steps_.row(), unpacked_)}, stored, part};
}

}  // namespace spotter::inline SPOTTER_ABI

#endif
