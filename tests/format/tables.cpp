// SPDX-License-Identifier: Apache-2.0
// Format: the tables equal their formulas, and results computed with them equal the published values.
#include <spotter/format/checksum.hpp>
#include <spotter/format/plane_sample.hpp>

#include <tests/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace spotter;

TEST_CASE("the checksum's table is that of the reflected ECMA-182 polynomial, eight bytes deep") {
    std::uint64_t wrong = 0;
    for (std::size_t byte = 0; byte < 256; ++byte) {
        std::uint64_t rest = byte;
        for (std::size_t slice = 0; slice < 8; ++slice) {
            for (int bit = 0; bit < 8; ++bit) { rest = (rest >> 1) ^ ((rest & 1) != 0 ? 0xC96C5795D7870F42ULL : 0); }
            wrong += detail::crc_table[slice][byte] != rest ? 1 : 0;
        }
    }
    CHECK(wrong == 0);
    std::byte const digits[] = {std::byte{'1'}, std::byte{'2'}, std::byte{'3'}, std::byte{'4'}, std::byte{'5'},
                                std::byte{'6'}, std::byte{'7'}, std::byte{'8'}, std::byte{'9'}};
    CHECK(checksum(digits) == 0x995DC9BBDF1939FAULL);
}

TEST_CASE("the table of a sample's counts is n times its binary logarithm in 1024ths, to the last digit that it has") {
    CHECK(detail::count_bits[0] == 0);
    CHECK(detail::count_bits[1] == 0);
    std::uint32_t farthest = 0;
    for (std::uint32_t count = 2; count <= 1024; ++count) {
        // 24 binary digits of the logarithm, truncated: each squaring gives the next digit.
        auto const whole = static_cast<double>(count);
        double rest = whole, bits = 0, weight = 1;
        for (; rest >= 2; rest /= 2) { bits += 1; }
        for (int digit = 0; digit < 24; ++digit) {
            rest *= rest, weight /= 2;
            if (rest >= 2) { rest /= 2, bits += weight; }
        }
        auto const expected = static_cast<std::uint32_t>(whole * bits * 1024 + 0.5);
        if (detail::count_bits[count] != expected) { FAIL_CHECK(count << ": " << detail::count_bits[count]); }
        auto const exact = static_cast<std::uint32_t>(std::lround(whole * std::log2(whole) * 1024));
        farthest = (std::max)(farthest, exact > expected ? exact - expected : expected - exact);
    }
    CHECK(farthest <= 1);
}
