// SPDX-License-Identifier: Apache-2.0
// Core (L0): errors are values: a code, and a sentence that says what to do.
#pragma once

#include <spotter/core/text.hpp>

#include <cstdlib>
#include <new>
#include <utility>

#if SPOTTER_EXCEPTIONS
#include <exception>
#endif

namespace spotter::inline SPOTTER_ABI {

// All error codes, of recording and reading alike.
enum class errc : std::uint8_t {
    none,
    no_such_name,
    no_such_step,
    not_in_step,
    not_yet,
    no_more_data,
    no_payload,
    no_shape,
    no_such_worker,
    corrupt,
    not_a_run,
    exists,
    busy,
    bad_config,
    bad_pattern,
    wrong_type,
    unwritable,
    io_error,
    disk_full,
    not_contiguous,
    rank_too_deep,
    unknown_version,
    out_of_memory,
    dropped,
    no_step_open,
    user_code_threw,
    replaced,
    null_pointer,
    no_device,
};

[[nodiscard]] constexpr std::string_view name_of(errc code) noexcept {
    constexpr std::string_view names[] = {
        "none",         "no_such_name",    "no_such_step",   "not_in_step",     "not_yet",       "no_more_data",
        "no_payload",   "no_shape",        "no_such_worker", "corrupt",         "not_a_run",     "exists",
        "busy",         "bad_config",      "bad_pattern",    "wrong_type",      "unwritable",    "io_error",
        "disk_full",    "not_contiguous",  "rank_too_deep",  "unknown_version", "out_of_memory", "dropped",
        "no_step_open", "user_code_threw", "replaced",       "null_pointer",    "no_device"};
    return names[static_cast<std::size_t>(code)];
}

// An error: a code for programs and a sentence for people. Converts to false if there is none. A value: copied freely,
// never allocates.
struct error {
    errc code = errc::none;  // the kind of error
    text<232> what{};        // what happened, to which name or path, and what to do

    [[nodiscard]] constexpr explicit operator bool() const noexcept { return code != errc::none; }
};

// `std::cerr << opened.error()`: "no_such_name: there is no ...". Nothing of what is no error.
template <detail::stream_of_letters Stream>
Stream& operator<<(Stream& out, error const& it) {
    if (it) { out << name_of(it.code) << ": " << it.what.view(); }
    return out;
}

#if SPOTTER_EXCEPTIONS
// Thrown by result::value(), and by lists of a remote run that cannot be reached. spotter throws nothing else.
class failure : public std::exception {
public:
    explicit failure(error const& why) noexcept : why_{why} {
        line_ << name_of(why.code) << ": " << why.what.view() << '\0';
    }
    [[nodiscard]] char const* what() const noexcept override { return line_.view().data(); }
    [[nodiscard]] error const& why() const noexcept { return why_; }

private:
    error why_;
    text<272> line_{};
};
#endif

// A value or an error. `value()` throws `failure`; without exceptions it ends the program. Test it first (`if
// (result)`), or use `value_or`.
template <class Value>
class [[nodiscard]] result {
public:
    constexpr result(Value value) noexcept : value_(std::move(value)), has_{true} {}
    constexpr result(spotter::error why) noexcept : why_{why}, has_{false} {}
    constexpr result(errc code, std::string_view what) noexcept : why_{code, what}, has_{false} {}

    // If a result is copied, the compiler's error shows the following line.
    result(result const&) = delete;  // spotter: a result is not copied: copy its value, or `std::move` the result
    result(result&& other) noexcept : has_{other.has_} {
        if (has_) {
            ::new (static_cast<void*>(&value_)) Value(std::move(other.value_));
        } else {
            ::new (static_cast<void*>(&why_)) spotter::error(other.why_);
        }
    }
    result& operator=(result&& other) noexcept {
        if (this != &other) {
            this->~result();
            ::new (static_cast<void*>(this)) result(std::move(other));
        }
        return *this;
    }
    constexpr ~result() {
        if (has_) { value_.~Value(); }
    }

    [[nodiscard]] constexpr explicit operator bool() const noexcept { return has_; }
    // Like the conversion to bool.
    [[nodiscard]] constexpr bool has_value() const noexcept { return has_; }
    // Why there is no value; errc::none if there is one.
    [[nodiscard]] constexpr spotter::error error() const noexcept { return has_ ? spotter::error{} : why_; }

    // The value; throws `failure` if there is none (without exceptions it ends the program).
    [[nodiscard]] constexpr Value& value() & {
        demand();
        return value_;
    }
    [[nodiscard]] constexpr Value const& value() const& {
        demand();
        return value_;
    }
    [[nodiscard]] constexpr Value value() && {
        demand();
        return std::move(value_);
    }
    // The value, or `other`: `std::move(it).value_or(0)`.
    [[nodiscard]] constexpr Value value_or(Value other) && { return has_ ? std::move(value_) : std::move(other); }

    // Only if there is a value.
    [[nodiscard]] constexpr Value& operator*() noexcept { return value_; }
    [[nodiscard]] constexpr Value const& operator*() const noexcept { return value_; }
    [[nodiscard]] constexpr Value* operator->() noexcept { return &value_; }
    [[nodiscard]] constexpr Value const* operator->() const noexcept { return &value_; }

private:
    constexpr void demand() const {
        if (!has_) {
#if SPOTTER_EXCEPTIONS
            throw failure{why_};
#else
            std::abort();
#endif
        }
    }

    union {
        Value value_;
        spotter::error why_;
    };
    bool has_;
};

}  // namespace spotter::inline SPOTTER_ABI
