// SPDX-License-Identifier: Apache-2.0
// Core (L0): a list of failures: each kind once, with a count.
#pragma once

#include <spotter/core/result.hpp>

#include <cstddef>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// A kind of failure, represented by its first occurrence.
struct repeated_failure {
    error what{};             // the first one
    std::uint64_t times = 0;  // number of occurrences
};

// The first eight kinds, in the order of their first occurrence; further kinds are only counted. Never allocates.
class failure_list {
public:
    // Not an aggregate, even if the private members become public: `add({code, "text"})` must mean one failure.
    constexpr failure_list() noexcept = default;

    // kinds that are distinguished
    static constexpr std::size_t capacity = 8;

    // For failures that recur, such as a tensor refused at each step: a known kind costs only a comparison.
    // `fill(text&)` writes the sentence at the first occurrence.
    template <class Fill>
    void add(errc code, std::uint64_t kind, Fill&& fill) noexcept {
        kind = mix(kind ^ static_cast<std::uint64_t>(code));
        for (std::size_t i = 0; i < count_; ++i) {
            if (kinds_[i] == kind) {
                ++list_[i].times;
                return;
            }
        }
        if (count_ == capacity) {
            ++others_;
            return;
        }
        kinds_[count_] = kind;
        list_[count_].what.code = code;
        fill(list_[count_].what.what);
        list_[count_++].times = 1;
    }
    // A failure about a name. Each pair of name and code is one kind.
    void add(errc code, std::string_view name, std::string_view what) noexcept;
    // Here each sentence is one kind.
    void add(error const& why) noexcept;
    void add(failure_list const& other) noexcept;

    [[nodiscard]] error const& first() const noexcept { return list_[0].what; }  // errc::none if the list is empty
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    [[nodiscard]] repeated_failure const& operator[](std::size_t i) const noexcept { return list_[i]; }
    [[nodiscard]] repeated_failure const* begin() const noexcept { return list_; }
    [[nodiscard]] repeated_failure const* end() const noexcept { return list_ + count_; }
    // Failures of kinds beyond the capacity.
    [[nodiscard]] std::uint64_t others() const noexcept { return others_; }

private:
    [[nodiscard]] static std::uint64_t mix(std::uint64_t bits) noexcept { return bits * 0x9E3779B97F4A7C15ULL; }

    repeated_failure list_[capacity]{};
    std::uint64_t kinds_[capacity]{};
    std::size_t count_ = 0;
    std::uint64_t others_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI

#if SPOTTER_BODIES
#include <spotter/core/bits.hpp>

namespace spotter::inline SPOTTER_ABI {

SPOTTER_BODY void failure_list::add(errc code, std::string_view name, std::string_view what) noexcept {
    add(code, hash_bytes(name.data(), name.size()), [&](auto& into) { into << '"' << name << "\" " << what; });
}

SPOTTER_BODY void failure_list::add(error const& why) noexcept {
    if (!why) { return; }
    std::string_view const message = why.what.view();
    add(why.code, hash_bytes(message.data(), message.size()), [&](auto& into) { into << message; });
}

SPOTTER_BODY void failure_list::add(failure_list const& other) noexcept {
    for (repeated_failure const& each : other) {
        std::size_t const before = count_;
        add(each.what);
        if (count_ > before) { list_[before].times = each.times; }
    }
    others_ += other.others_;
}

}  // namespace spotter::inline SPOTTER_ABI

#endif
