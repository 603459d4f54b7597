// SPDX-License-Identifier: Apache-2.0
// Act (L6): copies of a step's tensors, for comparison with the same step computed again.
#pragma once

#include <spotter/hook/naming.hpp>
#include <spotter/hook/source_copy.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace spotter::inline SPOTTER_ABI {

// Where two computations of a step differ, in the order in which its tensors were observed.
struct image_difference {
    std::string tensor{};        // the first that differs; empty: none
    std::uint64_t tensors = 0;   // number of differing tensors
    std::uint64_t elements = 0;  // differing elements of the first one
    std::uint64_t first = 0;     // the first of those, in storage order
    std::uint64_t bits = 0;      // differing bits of the first tensor; 0 where only hashes were kept
    bool other_tensors = false;  // another set or order of tensors, or another type or shape

    // There is a difference.
    [[nodiscard]] bool any() const noexcept { return tensors > 0 || other_tensors; }
};

namespace detail {

// Copies the tensors that it observes, as a hook does; beyond `most_bytes` in total it keeps hashes of blocks. Throws
// where memory is exhausted.
class step_image {
public:
    explicit step_image(std::uint64_t most_bytes) noexcept : left_{most_bytes} {}

    template <class Values>
    void observe(std::string_view name, Values const& values) {
        take(name, offer(values), guess_role(name) == role::input);
    }
    template <class Values>
    void observe(std::string_view name, Values const& values, role what, flag = flag::none) {
        take(name, offer(values), what == role::input);
    }
    template <class Values>
    void observe(std::string_view name, Values const& values, flag) {
        observe(name, values);
    }
    template <class Value>
    void scalar(std::string_view name, Value const& value) {
        take(name, offer(value), false);
    }

    [[nodiscard]] image_difference operator-(step_image const& other) const;
    // Hash of the first observed input; 0 where there was none.
    [[nodiscard]] std::uint64_t input_hash() const noexcept { return input_; }

private:
    static constexpr std::size_t block = 4096;
    struct kept_tensor {
        std::string name{};
        dtype type = dtype::none;
        extents shape{};
        std::uint64_t bytes = 0;
        std::vector<std::byte> values{};      // or, for lack of room,
        std::vector<std::uint64_t> hashes{};  // hashes of blocks
    };

    void take(std::string_view name, offered const& values, bool is_input);
    static void compare(kept_tensor const& a, kept_tensor const& b, image_difference& found);

    std::vector<kept_tensor> all_{};
    std::uint64_t left_;
    std::uint64_t input_ = 0;
    bool has_input_ = false;
    source_copy copies_{};
};

}  // namespace detail

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
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

#endif
