// SPDX-License-Identifier: Apache-2.0
// Format (L1): the rows of one frame, in order, those in steps rows too.
#pragma once

#include <spotter/format/frame.hpp>
#include <spotter/format/steps_reader.hpp>

namespace spotter::inline SPOTTER_ABI {

// Packed steps come out as the rows that they stand for, so whoever reads rows knows nothing of packing.
class row_reader {
public:
    explicit row_reader(byte_view body) noexcept : in_{body} {}
    row_reader(row_reader const&) = delete;
    row_reader& operator=(row_reader const&) = delete;

    // False at the end, and where a length is wrong (then `bad`). The body of a packed row is valid until the next call.
    [[nodiscard]] bool next(row_view& out) noexcept {
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

// Single rows again by where they were found; packed ones that follow one another in order, at the cost of one pass.
class row_finder {
public:
    row_finder() noexcept = default;
    row_finder(row_finder const&) = delete;
    row_finder& operator=(row_finder const&) = delete;

    // `stored` and `part` are those of the row_view. The body is empty where there is no such row; of a packed one it is valid until
    // the next call.
    [[nodiscard]] row_view find(row_kind kind, byte_view stored, std::uint32_t part) noexcept {
        if (part == whole_row) { return {kind, stored, stored, part}; }
        if (stored.data() != stored_.data() || stored.size() != stored_.size() || part + 1 < met_) {
            steps_ = steps_reader{stored};
            stored_ = stored;
            met_ = 0;
        }
        for (; met_ <= part; ++met_) {
            if (!steps_.next()) { return {kind, {}, stored, part}; }
        }
        return {kind, {unpacked_, unpack(steps_.row(), unpacked_)}, stored, part};
    }

private:
    steps_reader steps_{};
    byte_view stored_{};
    std::uint32_t met_ = 0;  // rows of it
    std::byte unpacked_[observe_limit];
};

}  // namespace spotter::inline SPOTTER_ABI
