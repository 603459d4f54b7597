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
#include <spotter/export/recorded_entry.ipp>
#endif
