// SPDX-License-Identifier: Apache-2.0
// Format (L1): the rows of one frame, in order, those in steps rows too.
#pragma once

#include <spotter/format/steps_reader.hpp>

namespace spotter::inline SPOTTER_ABI {

// Packed steps come out as the rows that they stand for, so whoever reads rows knows nothing of packing.
class row_reader {
public:
    explicit row_reader(byte_view body) noexcept : in_{body} {}
    row_reader(row_reader const&) = delete;
    row_reader& operator=(row_reader const&) = delete;

    // False at the end, and where a length is wrong (then `bad`). The body of a packed row is valid until the next
    // call.
    [[nodiscard]] bool next(row_view& out) noexcept;
    // A row, or a packed one, was malformed; what came before it is sound.
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

// Single rows again by where they were found; packed ones that follow one another in order, at the cost of one pass,
// and of steps that are alike any at the cost of one step.
class row_finder {
public:
    row_finder() noexcept = default;
    row_finder(row_finder const&) = delete;
    row_finder& operator=(row_finder const&) = delete;

    // `stored` and `part` are those of the row_view. The body is empty where there is no such row; of a packed one it
    // is valid until the next call.
    [[nodiscard]] row_view find(row_kind kind, byte_view stored, std::uint32_t part) noexcept;
    // The bytes that rows were found in are gone.
    void forget() noexcept { stored_ = {}; }

private:
    steps_reader steps_{};
    byte_view stored_{};
    std::uint32_t met_ = 0;  // rows of it
    std::byte unpacked_[observe_limit];
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/format/row_reader.ipp>
#endif
