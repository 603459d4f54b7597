// SPDX-License-Identifier: Apache-2.0
// Core (L0): a text of any length that owns its letters and never throws.
#pragma once

#include <spotter/core/slots.hpp>

#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// Names of tensors are short: up to 23 letters stand in the object itself, so that comparing one costs no further line of memory.
// Copies on request; a copy that there is no memory for is empty. What view() returns is good until the text is changed or moved.
class kept_text {
public:
    kept_text() noexcept = default;

    // The parts one after the other. False where memory is exhausted; the text is empty then. No part may be of this text.
    [[nodiscard]] bool assign(std::string_view first, std::string_view second = {}, std::string_view third = {}) noexcept;

    [[nodiscard]] std::string_view view() const noexcept {
        return size_ <= sizeof near_ ? std::string_view{near_, size_} : std::string_view{far_.data(), far_.size()};
    }
    operator std::string_view() const noexcept { return view(); }

private:
    char near_[23]{};
    unsigned char size_ = 0;  // in place; larger than that: the letters are in `far_`, which has as many
    slots<char> far_{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/kept_text.ipp>
#endif
