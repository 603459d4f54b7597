// SPDX-License-Identifier: Apache-2.0
// The bodies of kept_text.hpp.
#pragma once

#include <spotter/core/kept_text.hpp>

#include <cstring>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY bool kept_text::assign(std::string_view first, std::string_view second, std::string_view third) noexcept {
    std::size_t const size = first.size() + second.size() + third.size();
    bool const fits = size <= sizeof near_;
    letters_ = near_;
    size_ = 0;
    far_ = {};
    if (!fits && !far_.grow(size)) { return false; }
    letters_ = fits ? near_ : far_.data();
    for (std::string_view const part : {first, second, third}) {
        if (!part.empty()) { std::memcpy(letters_ + size_, part.data(), part.size()); }
        size_ += part.size();
    }
    return true;
}

SPOTTER_BODY void kept_text::take(kept_text& other) noexcept {
    bool const in_place = other.letters_ == other.near_;
    if (in_place) { std::memcpy(near_, other.near_, sizeof near_); }
    far_ = std::move(other.far_);
    letters_ = in_place ? near_ : far_.data();
    size_ = std::exchange(other.size_, 0);
    other.letters_ = other.near_;
}

SPOTTER_BODY kept_text::kept_text(kept_text&& other) noexcept { take(other); }

SPOTTER_BODY kept_text& kept_text::operator=(kept_text&& other) noexcept {
    if (this != &other) { take(other); }
    return *this;
}

SPOTTER_BODY kept_text& kept_text::operator=(kept_text const& other) noexcept {
    if (this != &other) { (void)assign(other); }
    return *this;
}

}  // namespace spotter::inline SPOTTER_ABI
