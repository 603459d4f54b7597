// SPDX-License-Identifier: Apache-2.0
// The bodies of step_image.hpp.
#pragma once

#include <spotter/act/step_image.hpp>
#include <spotter/core/casts.hpp>
#include <spotter/format/xxh64.hpp>

#include <algorithm>
#include <bit>
#include <cstring>

namespace spotter::inline SPOTTER_ABI::detail {

SPOTTER_BODY void step_image::take(std::string_view name, offered const& values, bool is_input) {
    tensor_ref view = values.view;
    if (values.copy != nullptr && copies_.take(values, view).code != errc::none) { return; }
    if (view.absent() || view.refused != refusal::none) { return; }  // a hook leaves these out, too, and reports why
    kept_tensor one;
    one.name = std::string{name};
    one.type = view.type;
    one.shape = view.shape;
    one.bytes = view.bytes();
    auto const* const first = static_cast<std::byte const*>(view.values.raw);
    auto const size = as_size(one.bytes);
    if (one.bytes <= left_) {
        left_ -= one.bytes;
        one.values.assign(first, first + size);
    } else {
        for (std::size_t at = 0; at < size; at += block) {
            one.hashes.push_back(xxh64({first + at, (std::min)(block, size - at)}));
        }
    }
    if (is_input && !std::exchange(has_input_, true)) { input_ = xxh64({first, size}); }
    all_.push_back(std::move(one));
}

SPOTTER_BODY image_difference step_image::operator-(step_image const& other) const {
    image_difference found;
    found.other_tensors = all_.size() != other.all_.size();
    for (std::size_t i = 0; i < (std::min)(all_.size(), other.all_.size()); ++i) {
        kept_tensor const &a = all_[i], &b = other.all_[i];
        if (a.name != b.name || a.type != b.type || a.shape != b.shape || a.bytes != b.bytes) {
            found.other_tensors = true;
            if (found.tensor.empty()) { found.tensor = a.name; }
            return found;  // later tensors would be compared with different ones
        }
        compare(a, b, found);
    }
    return found;
}

SPOTTER_BODY void step_image::compare(kept_tensor const& a, kept_tensor const& b, image_difference& found) {
    std::size_t const wide = (std::max)(size_of(a.type), std::size_t{1});
    if (a.values.size() == a.bytes && b.values.size() == b.bytes) {
        if (a.values.empty() || std::memcmp(a.values.data(), b.values.data(), a.values.size()) == 0) { return; }
        if (found.tensors++ > 0) { return; }
        found.tensor = a.name;
        for (std::size_t at = 0; at < a.values.size(); at += wide) {
            std::uint64_t bits = 0;
            for (std::size_t i = at; i < (std::min)(at + wide, a.values.size()); ++i) {
                bits += static_cast<std::uint64_t>(std::popcount(static_cast<unsigned>(a.values[i] ^ b.values[i])));
            }
            if (bits > 0 && found.elements++ == 0) { found.first = at / wide; }
            found.bits += bits;
        }
        return;
    }
    auto const apart = std::mismatch(a.hashes.begin(), a.hashes.end(), b.hashes.begin(), b.hashes.end());
    if (apart.first == a.hashes.end() && apart.second == b.hashes.end()) { return; }
    if (found.tensors++ > 0) { return; }
    found.tensor = a.name;
    found.first = static_cast<std::uint64_t>(apart.first - a.hashes.begin()) * block / wide;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
