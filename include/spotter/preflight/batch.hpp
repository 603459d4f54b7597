// SPDX-License-Identifier: Apache-2.0
// Preflight (L4), inside: inputs, labels and outputs of the batch, by sample.
#pragma once

#include <spotter/preflight/examiner.hpp>

#include <cstring>

namespace spotter::inline SPOTTER_ABI::detail {

using raw_bytes = std::vector<unsigned char>;

// A copy of a tensor whose first axis counts the samples; false where its elements do not divide by their number.
struct batch_rows {
    raw_bytes bytes{};
    std::size_t samples = 0, row_bytes = 0;
    dtype type = dtype::none;

    batch_rows() = default;
    batch_rows(tensor_ref const& view, std::size_t count) : samples{count}, type{view.type} {
        if (view.absent() || view.values.raw == nullptr || count == 0 || view.count == 0 || view.count % count != 0) {
            samples = 0;
            return;
        }
        auto const* const first = static_cast<unsigned char const*>(view.values.raw);
        bytes.assign(first, first + view.bytes());
        row_bytes = bytes.size() / count;
    }
    [[nodiscard]] explicit operator bool() const noexcept { return samples > 0; }
    [[nodiscard]] unsigned char* row(std::size_t i) noexcept { return bytes.data() + i * row_bytes; }
    [[nodiscard]] unsigned char const* row(std::size_t i) const noexcept { return bytes.data() + i * row_bytes; }
    [[nodiscard]] bool same_rows(std::size_t a, std::size_t b) const noexcept {
        return std::memcmp(row(a), row(b), row_bytes) == 0;
    }
    [[nodiscard]] std::size_t elements() const noexcept {
        return bytes.size() / (std::max)(std::size_t{1}, size_of(type));
    }
    // The copy with samples rotated: sample i is the old sample i + 1.
    [[nodiscard]] raw_bytes rotated() const {
        raw_bytes made = bytes;
        std::rotate(made.begin(), made.begin() + static_cast<std::ptrdiff_t>(row_bytes), made.end());
        return made;
    }
    // The copy with all samples equal to the first.
    [[nodiscard]] raw_bytes all_first() const {
        raw_bytes made = bytes;
        for (std::size_t i = 1; i < samples; ++i) { std::memcpy(made.data() + i * row_bytes, bytes.data(), row_bytes); }
        return made;
    }
    [[nodiscard]] bool are_all_equal() const noexcept {
        for (std::size_t i = 1; i < samples; ++i) {
            if (!same_rows(0, i)) { return false; }
        }
        return true;
    }
};

[[nodiscard]] constexpr bool is_whole(dtype type) noexcept { return type >= dtype::i8 && type <= dtype::u64; }

[[nodiscard]] inline double_list values_of(tensor_ref const& view) {
    double_list made(static_cast<std::size_t>(view.count));
    if (view.absent() || !read_elements(view, made.data())) { made.clear(); }
    return made;
}

// Goes to the weights of all.base, and computes it at the first call.
inline batch_base const& at_base(examiner& all) {
    subject& loop = all.loop;
    if (!all.base.weights.empty()) {
        loop.go_to(all.base.weights);
        return all.base;
    }
    loop.go_to(all.displaced(0.1));
    all.base.weights = loop.place();
    all.base.loss = loop.pass(all.base.gradient);
    all.base.outputs = loop.over() ? double_list{} : values_of(loop.outputs());
    return all.base;
}

}  // namespace spotter::inline SPOTTER_ABI::detail
