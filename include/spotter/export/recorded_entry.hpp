// SPDX-License-Identifier: Apache-2.0
// Export (L5): one row of a record as whoever writes another format needs it: a number, a text, statistics, values.
#pragma once

#include <spotter/export/fwd.hpp>
#include <spotter/trial/trial.hpp>

#include <bit>
#include <cstring>
#include <optional>

namespace spotter::inline SPOTTER_ABI {

// An observation, a scalar or a text. Valid during the call that it is handed to.
class recorded_entry {
public:
    recorded_entry(recorded_tensor const& tensor, row_view row, byte_view segment)
        : tensor_{tensor}, segment_{segment} {
        is_scalar_ = row.kind == row_kind::scalar;
        broken_ = is_scalar_ ? decode(row, scalar_) : decode(row, seen_, stats_);
    }

    [[nodiscard]] recorded_tensor const& tensor() const noexcept { return tensor_; }
    [[nodiscard]] std::string_view name() const noexcept { return tensor_.name; }
    [[nodiscard]] explicit operator bool() const noexcept { return !broken_; }
    [[nodiscard]] bool is_text() const noexcept { return is_scalar_ && scalar_.type == dtype::text; }
    [[nodiscard]] std::string_view text() const noexcept {
        return {reinterpret_cast<char const*>(scalar_.value.data()), scalar_.value.size()};
    }
    // A time of its own, in seconds since 1970.
    [[nodiscard]] std::optional<double> time() const noexcept {
        return is_scalar_ && scalar_.has_time ? std::optional{scalar_.time} : std::nullopt;
    }
    [[nodiscard]] bool has_values() const noexcept { return is_scalar_ || seen_.has_values; }
    // One number, whose statistics say nothing more.
    [[nodiscard]] bool is_number() const noexcept {
        return is_scalar_ ? !is_text() : seen_.has_values && seen_.shape.elements() == 1;
    }
    [[nodiscard]] extents const& shape() const noexcept {
        return is_scalar_ || seen_.has_values || seen_.has_shape ? seen_.shape : tensor_.info.shape;
    }

    // Read at the first call. errc: no_payload, corrupt.
    [[nodiscard]] recorded_value const& values() {
        if (!values_) { values_.emplace(read()); }
        return *values_;
    }
    [[nodiscard]] bool has_read() const noexcept { return values_ && *values_; }
    // Its values were asked for, and could not be read.
    [[nodiscard]] bool damaged() const noexcept { return values_ && !*values_; }
    // The number that it is; NaN and infinities as they are. Unknown where it cannot be read.
    [[nodiscard]] measurement number() {
        measurement found;
        alignas(c128) std::byte one[sizeof(c128)];  // where a scalar is aligned, without an allocation
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
    // The same of an integer that a double may not hold: its digits. Empty for any other number.
    [[nodiscard]] std::string digits() {
        std::string found;
        auto const take = [&](auto number) {
            if (number) { found = std::to_string(*number); }
        };
        if (is_number() && (is_scalar_ ? scalar_.type : seen_.type) == dtype::i64) { take(values().to<std::int64_t>()); }
        if (is_number() && (is_scalar_ ? scalar_.type : seen_.type) == dtype::u64) { take(values().to<std::uint64_t>()); }
        return found;
    }
    // As stored; with `compute` those terms that were not are taken of the values, where these are there.
    [[nodiscard]] summary stats(terms wanted, bool compute) {
        if (!compute || !any(without(wanted, stats_.has)) || !has_values() || !values()) { return stats_; }
        return summarize(values().view(), wanted);
    }
    // As stored, else from the values; has_histogram is false where neither is there, or nothing is finite.
    [[nodiscard]] spotter::distribution histogram() {
        spotter::distribution const stored = is_scalar_ ? spotter::distribution{} : stored_distribution(seen_);
        if (stored.has_histogram || !has_values() || !values()) { return stored; }
        return distribution_of(values().view(), terms::histogram, {});
    }

private:
    [[nodiscard]] recorded_value read() const {
        if (!has_values()) { return error{errc::no_payload, "only statistics were kept"}; }
        tensor_ref like{};
        if (is_scalar_) {
            like.type = scalar_.type;
            like.count = scalar_.type == dtype::text ? scalar_.value.size() : 1;
            return {std::vector<std::byte>(scalar_.value.begin(), scalar_.value.end()), like};
        }
        like.type = seen_.type;
        like.layout = seen_.layout;
        like.shape = seen_.shape;
        like.count = seen_.shape.elements();
        if (!detail::can_hold(segment_, seen_.place, like.bytes())) {
            return error{errc::corrupt, "an observation claims more values than its segment has room for"};
        }
        std::vector<std::byte> bytes(static_cast<std::size_t>(like.bytes()));
        payload_unpacker unpacker;
        if (error const why = unpacker.unpack(segment_, seen_, bytes)) { return why; }
        return {std::move(bytes), like};
    }

    recorded_tensor const& tensor_;
    byte_view segment_;
    bool is_scalar_ = false;
    error broken_{};
    rows::observe seen_{};
    rows::scalar scalar_{};
    summary stats_{};
    std::optional<recorded_value> values_{};
};

}  // namespace spotter::inline SPOTTER_ABI
