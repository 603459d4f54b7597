// SPDX-License-Identifier: Apache-2.0
// Plan (L2): a compiled regular expression: a short program that is run in all its states at once, so that it never
// backtracks.
#pragma once

#include <spotter/core/slots.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace spotter::inline SPOTTER_ABI::detail {

// A set of byte values.
class byte_set {
public:
    constexpr void add(unsigned char first, unsigned char last) noexcept {
        for (unsigned each = first; each <= last; ++each) { words_[each / 64] |= std::uint64_t{1} << each % 64; }
    }
    constexpr void add(unsigned char letter) noexcept { add(letter, letter); }
    constexpr void join(byte_set const& other) noexcept {
        for (std::size_t i = 0; i < 4; ++i) { words_[i] |= other.words_[i]; }
    }
    constexpr void invert() noexcept {
        for (std::uint64_t& each : words_) { each = ~each; }
    }
    [[nodiscard]] constexpr bool has(unsigned char letter) const noexcept {
        return (words_[letter / 64] >> letter % 64 & 1) != 0;
    }

private:
    std::uint64_t words_[4]{};
};

// The named character classes; \d, \s and \w are three of them.
[[nodiscard]] constexpr bool add_named_class(byte_set& into, std::string_view name) noexcept {
    struct range {
        unsigned char first, last;
    };
    struct named_class {
        std::string_view name;
        range ranges[4];
        int count;
    };
    constexpr named_class all[] = {{"alpha", {{'A', 'Z'}, {'a', 'z'}}, 2},
                                   {"digit", {{'0', '9'}}, 1},
                                   {"d", {{'0', '9'}}, 1},
                                   {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}, 3},
                                   {"w", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}, {'_', '_'}}, 4},
                                   {"upper", {{'A', 'Z'}}, 1},
                                   {"lower", {{'a', 'z'}}, 1},
                                   {"space", {{'\t', '\r'}, {' ', ' '}}, 2},
                                   {"s", {{'\t', '\r'}, {' ', ' '}}, 2},
                                   {"blank", {{'\t', '\t'}, {' ', ' '}}, 2},
                                   {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}, 4},
                                   {"print", {{' ', '~'}}, 1},
                                   {"graph", {{'!', '~'}}, 1},
                                   {"cntrl", {{0, 31}, {127, 127}}, 2},
                                   {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}, 3}};
    for (named_class const& each : all) {
        if (each.name != name) { continue; }
        for (int i = 0; i < each.count; ++i) { into.add(each.ranges[i].first, each.ranges[i].last); }
        return true;
    }
    return false;
}
[[nodiscard]] constexpr bool is_word(unsigned char letter) noexcept {
    return (letter >= '0' && letter <= '9') || (letter >= 'A' && letter <= 'Z') || (letter >= 'a' && letter <= 'z') ||
           letter == '_';
}

// Continues with the next instruction; `fork` also, and `leap` only, with the one at the distance `away`. Distances are
// relative, so that pieces of a program can be moved.
struct regex_instruction {
    enum class does : std::uint8_t { letter, any, one_of, fork, leap, begin, end, boundary, no_boundary };
    does what = does::letter;
    unsigned char letter = 0;
    std::int32_t away = 0;  // of one_of: number of the set
};

class regex_program {
public:
    using does = regex_instruction::does;

    // Counted repetitions are expanded, so a short expression may become a long program.
    static constexpr std::size_t longest = 16 * 1024;

    // False if it would be too long, or memory is exhausted.
    [[nodiscard]] constexpr bool put(regex_instruction const& it) noexcept { return insert(size_, it); }
    [[nodiscard]] constexpr bool insert(std::size_t at, regex_instruction const& it) noexcept {
        if (size_ == longest || !code_.grow(size_ + 1)) { return false; }
        for (std::size_t i = size_; i > at; --i) { code_[i] = code_[i - 1]; }
        code_[at] = it;
        ++size_;
        return true;
    }
    // Appends a copy of the `size` instructions from `from` on.
    [[nodiscard]] constexpr bool repeat(std::size_t from, std::size_t size) noexcept {
        if (size > longest - size_ || !code_.grow(size_ + size)) { return false; }
        for (std::size_t i = 0; i < size; ++i) { code_[size_++] = code_[from + i]; }
        return true;
    }
    constexpr void truncate(std::size_t size) noexcept { size_ = size; }
    [[nodiscard]] constexpr bool put(byte_set const& set) noexcept {
        if (!sets_.grow(sets_count_ + 1)) { return false; }
        sets_[sets_count_] = set;
        return put({does::one_of, 0, static_cast<std::int32_t>(sets_count_++)});
    }
    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
    [[nodiscard]] constexpr regex_instruction& operator[](std::size_t i) noexcept { return code_[i]; }

    // Whether some part of `name` matches. Visits each instruction at most twice for a character, for any expression.
    // False where memory is exhausted. `steps`, if given, counts the visits.
    [[nodiscard]] constexpr bool search(std::string_view name, std::uint64_t* steps = nullptr) const noexcept {
        states now, next;
        slot_array<std::size_t> seen;  // for each instruction: 1 + the last character at which it was reached
        slot_array<std::uint32_t> waiting;
        std::size_t const room = size_ + 1;
        if (!now.at.grow(room) || !next.at.grow(room) || !seen.grow(room) || !waiting.grow(room)) { return false; }
        std::uint64_t looks = 0;
        bool found = false;
        for (std::size_t i = 0; !found && i <= name.size(); ++i) {
            // `now` has the states after the last character, without those that need no character.
            next.count = 0;
            found = follow(0, name, i, next, seen, waiting, looks);
            for (std::size_t k = 0; !found && k < now.count; ++k) {
                found = follow(now.at[k], name, i, next, seen, waiting, looks);
            }
            if (found || i == name.size()) { break; }
            now.count = 0;
            for (std::size_t k = 0; k < next.count; ++k) {
                ++looks;
                if (takes(next.at[k], static_cast<unsigned char>(name[i]))) { now.at[now.count++] = next.at[k] + 1; }
            }
        }
        if (steps != nullptr) { *steps += looks; }
        return found;
    }

private:
    struct states {
        slot_array<std::uint32_t> at{};
        std::size_t count = 0;
    };

    [[nodiscard]] constexpr bool takes(std::size_t at, unsigned char letter) const noexcept {
        regex_instruction const& it = code_[at];
        switch (it.what) {
            case does::letter:
                return it.letter == letter;
            case does::any:
                return letter != '\n' && letter != '\r';
            case does::one_of:
                return sets_[static_cast<std::size_t>(it.away)].has(letter);
            default:
                return false;
        }
    }
    // Whether the end of the program is reachable from `start` without a character. Adds the states that need one to
    // `into`.
    [[nodiscard]] constexpr bool follow(std::uint32_t start, std::string_view name, std::size_t place, states& into,
                                        slot_array<std::size_t>& seen, slot_array<std::uint32_t>& waiting,
                                        std::uint64_t& looks) const noexcept {
        std::size_t count = 0;
        auto const reach = [&](std::size_t at) {
            if (seen[at] == place + 1) { return; }
            seen[at] = place + 1;
            waiting[count++] = static_cast<std::uint32_t>(at);
        };
        reach(start);
        while (count > 0) {
            std::size_t const at = waiting[--count];
            ++looks;
            if (at == size_) { return true; }
            regex_instruction const& it = code_[at];
            auto const away = static_cast<std::size_t>(static_cast<std::int64_t>(at) + it.away);
            switch (it.what) {
                case does::fork:
                    reach(at + 1);
                    reach(away);
                    break;
                case does::leap:
                    reach(away);
                    break;
                case does::begin:
                    if (place == 0) { reach(at + 1); }
                    break;
                case does::end:
                    if (place == name.size()) { reach(at + 1); }
                    break;
                case does::boundary:
                case does::no_boundary: {
                    bool const before = place > 0 && is_word(static_cast<unsigned char>(name[place - 1]));
                    bool const after = place < name.size() && is_word(static_cast<unsigned char>(name[place]));
                    if ((before != after) == (it.what == does::boundary)) { reach(at + 1); }
                    break;
                }
                default:
                    into.at[into.count++] = static_cast<std::uint32_t>(at);
                    break;
            }
        }
        return false;
    }

    slot_array<regex_instruction> code_{};
    slot_array<byte_set> sets_{};
    std::size_t size_ = 0, sets_count_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI::detail
