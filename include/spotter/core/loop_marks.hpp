// SPDX-License-Identifier: Apache-2.0
// Core (L0): the section that a loop is in, for another thread, or for a reader of the memory after the loop has died.
#pragma once

#include <spotter/config.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace spotter::inline SPOTTER_ABI {

// Plain memory of a fixed size, so that it may be in shared memory. One thread writes; any thread reads at any time.
class loop_marks {
public:
    static constexpr std::size_t most = 48;     // sections with a name; further ones are shown as "a section"
    static constexpr std::size_t longest = 63;  // bytes of a name; longer names are cut

    // Cold: called once for each section, before it is entered.
    void meet(std::size_t section, std::string_view name) noexcept {
        if (section >= most) { return; }
        char* const into = names_[section];
        std::size_t const size = name.size() < longest ? name.size() : longest;
        for (std::size_t i = 0; i < size; ++i) { into[i] = name[i]; }
        into[size] = '\0';
    }
    // Sets the innermost open section; an index of `most` or more is shown as "a section".
    void enter(std::size_t section) noexcept {
        std::uint64_t const index = section < most ? section + 1 : nameless;
        write(index);
    }
    void leave() noexcept { write(0); }  // no section is open

    // Changes whenever the loop enters or leaves a section; 0 before the first.
    [[nodiscard]] std::uint64_t state() const noexcept { return state_.load(std::memory_order_acquire); }
    // The section of a state(); empty: none.
    [[nodiscard]] std::string_view section(std::uint64_t state) const noexcept {
        std::uint64_t const index = state & low_byte;
        if (index == 0) { return {}; }
        if (index > most) { return "a section"; }
        char const* const name = names_[index - 1];
        std::size_t size = 0;
        while (size < longest && name[size] != '\0') { ++size; }
        return {name, size};
    }

private:
    static constexpr std::uint64_t low_byte = 0xFF, nameless = low_byte;

    void write(std::uint64_t index) noexcept {
        std::uint64_t const next = (state_.load(std::memory_order_relaxed) | low_byte) + 1;
        state_.store(next | index, std::memory_order_release);
    }

    std::atomic<std::uint64_t> state_{0};
    char names_[most][longest + 1]{};
};

}  // namespace spotter::inline SPOTTER_ABI
