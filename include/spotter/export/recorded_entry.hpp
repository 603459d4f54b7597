// SPDX-License-Identifier: Apache-2.0
// Export (L5): one row of a record for writers of other formats: a number, a text, statistics, values.
#pragma once

#include <spotter/format/fwd.hpp>
#include <spotter/trial/trial.hpp>

#include <cstring>
#include <optional>

namespace spotter::inline SPOTTER_ABI {

// An observation, a scalar or a text. Valid during the call to which it is passed.
class recorded_entry {
public:
    recorded_entry(recorded_tensor const& tensor, row_view row, worker_index const& run, std::uint32_t segment);

    // Its declaration; lives with the run.
    [[nodiscard]] recorded_tensor const& tensor() const noexcept { return tensor_; }
    [[nodiscard]] std::string_view name() const noexcept { return tensor_.name; }
    [[nodiscard]] explicit operator bool() const noexcept { return !broken_; }
    // It is a scalar of dtype::text.
    [[nodiscard]] bool is_text() const noexcept { return is_scalar_ && scalar_.type == dtype::text; }
    [[nodiscard]] std::string_view text() const noexcept;  // empty if it is not a text
    // Its own time, if it has one, in seconds since 1970.
    [[nodiscard]] std::optional<double> time() const noexcept;
    [[nodiscard]] bool has_values() const noexcept { return is_scalar_ || seen_.has_values; }  // values were recorded
    // It is one number, so that statistics add nothing.
    [[nodiscard]] bool is_number() const noexcept;
    [[nodiscard]] extents const& shape() const noexcept;  // of this observation, or as declared

    // Reads the values at the first call. errc: no_payload, corrupt.
    [[nodiscard]] recorded_value const& values();
    // values() was called and succeeded.
    [[nodiscard]] bool has_read() const noexcept { return values_ && *values_; }
    // values() was called and failed.
    [[nodiscard]] bool damaged() const noexcept { return values_ && !*values_; }
    // Its value as a number, NaN and infinities included. Unknown where it cannot be read.
    [[nodiscard]] measurement number();
    // The digits of an integer that a double may not represent. Empty for any other number.
    [[nodiscard]] std::string digits();
    // As stored. With `compute`, missing terms are computed from the values, if there are any.
    [[nodiscard]] summary stats(stats_mask wanted, bool compute);
    // As stored, or else from the values; has_histogram is false where there are neither, or no finite value.
    [[nodiscard]] spotter::distribution histogram();

private:
    [[nodiscard]] recorded_value read() const;

    recorded_tensor const& tensor_;
    worker_index const& run_;
    std::uint32_t segment_;
    bool is_scalar_ = false;
    error broken_{};
    rows::observe seen_{};
    rows::scalar scalar_{};
    summary stats_{};
    std::optional<recorded_value> values_{};
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/casts.hpp>
#include <spotter/stat/lanes.hpp>
#include <spotter/stat/summarize.hpp>
#include <spotter/trial/recorded_events.hpp>

#include <bit>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY recorded_entry::recorded_entry(recorded_tensor const& tensor, row_view row, worker_index const& run,
                                            std::uint32_t segment)
    : tensor_{tensor}, run_{run}, segment_{segment} {
    is_scalar_ = row.kind == row_kind::scalar;
    broken_ = is_scalar_ ? decode(row, scalar_) : decode(row, seen_, stats_);
}

SPOTTER_BODY std::string_view recorded_entry::text() const noexcept {
    return {reinterpret_cast<char const*>(scalar_.value.data()), scalar_.value.size()};
}

SPOTTER_BODY std::optional<double> recorded_entry::time() const noexcept {
    return is_scalar_ && scalar_.has_time ? std::optional{scalar_.time} : std::nullopt;
}

SPOTTER_BODY bool recorded_entry::is_number() const noexcept {
    return is_scalar_ ? !is_text() : seen_.has_values && seen_.shape.elements() == 1;
}

SPOTTER_BODY extents const& recorded_entry::shape() const noexcept {
    return is_scalar_ || seen_.has_values || seen_.has_shape ? seen_.shape : tensor_.info.shape;
}

SPOTTER_BODY recorded_value const& recorded_entry::values() {
    if (!values_) { values_.emplace(read()); }
    return *values_;
}

SPOTTER_BODY measurement recorded_entry::number() {
    measurement found;
    alignas(c128) std::byte one[sizeof(c128)];  // aligned for every scalar, without an allocation
    tensor_ref view{};
    if (is_scalar_ && !is_text()) {
        std::memcpy(one, scalar_.value.data(), scalar_.value.size());
        detail::make_sound({one, scalar_.value.size()}, scalar_.type);
        view.values.raw = one;
        view.type = scalar_.type;
        view.count = 1;
    } else if (is_number() && values()) {
        view = values().view();
    }
    visit_values(view, [&](auto all) {
        seen_element const it = detail::see(all[0]);
        found = {it.value, true};
        if (it.kind == number_class::nan) { found.value = std::bit_cast<double>(0x7FF8000000000000ULL); }
        if (it.kind == number_class::pos_inf) { found.value = std::bit_cast<double>(0x7FF0000000000000ULL); }
        if (it.kind == number_class::neg_inf) { found.value = std::bit_cast<double>(0xFFF0000000000000ULL); }
    });
    return found;
}

SPOTTER_BODY std::string recorded_entry::digits() {
    std::string found;
    auto const take = [&](auto number) {
        if (number) { found = std::to_string(*number); }
    };
    if (is_number() && (is_scalar_ ? scalar_.type : seen_.type) == dtype::i64) { take(values().to<std::int64_t>()); }
    if (is_number() && (is_scalar_ ? scalar_.type : seen_.type) == dtype::u64) { take(values().to<std::uint64_t>()); }
    return found;
}

SPOTTER_BODY summary recorded_entry::stats(stats_mask wanted, bool compute) {
    if (!compute || !any(without(wanted, stats_.has)) || !has_values() || !values()) { return stats_; }
    return summarize(values().view(), wanted);
}

SPOTTER_BODY spotter::distribution recorded_entry::histogram() {
    spotter::distribution const stored = is_scalar_ ? spotter::distribution{} : stored_distribution(seen_);
    if (stored.has_histogram || !has_values() || !values()) { return stored; }
    return distribution_of(values().view(), stats_mask::histogram, {});
}

SPOTTER_BODY recorded_value recorded_entry::read() const {
    if (!has_values()) { return error{errc::no_payload, "only statistics were kept"}; }
    std::vector<std::byte> bytes;
    tensor_ref view{};
    if (is_scalar_) {
        view.type = scalar_.type;
        view.count = scalar_.type == dtype::text ? scalar_.value.size() : 1;
        bytes.assign(scalar_.value.begin(), scalar_.value.end());
    } else if (error const why = read_values(run_, segment_, seen_, run_.unpacker(), bytes, view)) {
        return why;
    }
    return {std::move(bytes), view};
}

}  // namespace spotter::inline SPOTTER_ABI
#endif
