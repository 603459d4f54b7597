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
#include <spotter/act/step_image.ipp>
#endif
