// SPDX-License-Identifier: Apache-2.0
// The bodies of kept_text.hpp.
#pragma once

#include <spotter/core/kept_text.hpp>

#include <cstring>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY bool kept_text::assign(std::string_view first, std::string_view second, std::string_view third) noexcept {
    std::size_t const size = first.size() + second.size() + third.size();
    bool const fits = size <= sizeof near_;
    size_ = 0;
    far_ = {};  // has as many letters as the text, no more
    if (!fits && !far_.grow(size)) { return false; }
    char* to = fits ? near_ : far_.data();
    for (std::string_view const part : {first, second, third}) {
        if (!part.empty()) { std::memcpy(to, part.data(), part.size()); }
        to += part.size();
    }
    size_ = static_cast<unsigned char>(fits ? size : sizeof near_ + 1);
    return true;
}

}  // namespace spotter::inline SPOTTER_ABI
