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
#include <spotter/format/row_reader.ipp>
#endif
