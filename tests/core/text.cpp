// SPDX-License-Identifier: Apache-2.0
// Core: short texts: numbers formatted for people, and texts cut to their buffer.
#include <spotter/core/text.hpp>

#include <tests/catch.hpp>

#include <limits>
#include <string>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

using namespace spotter;

namespace {

template <class Value>
std::string shown(Value value) {
    text<40> out;
    out << value;
    return std::string{out.view()};
}

}  // namespace

TEST_CASE("a number is shown with three significant digits, a whole one below a million as it is") {
    CHECK(shown(0.0) == "0");
    CHECK(shown(-0.0) == "0");
    CHECK(shown(1.0) == "1");
    CHECK(shown(-2.5) == "-2.5");
    CHECK(shown(1.05) == "1.05");
    CHECK(shown(3.14159) == "3.14");
    CHECK(shown(9.995) == "9.99");  // the double nearest to 9.995 is below it
    CHECK(shown(12.34) == "12.3");
    CHECK(shown(99.94) == "99.9");
    CHECK(shown(99.96) == "100");
    CHECK(shown(999.6) == "1000");
    CHECK(shown(10.0) == "10");
    CHECK(shown(100.0) == "100");
    CHECK(shown(123456.0) == "123456");
    CHECK(shown(123456.5) == "123000");
    CHECK(shown(999999.0) == "999999");  // a count
    CHECK(shown(1234.0) == "1234");
    CHECK(shown(-1234.0) == "-1234");
    CHECK(shown(1234.5) == "1230");
    CHECK(shown(999999.5) == "1e6");
    CHECK(shown(1234567.0) == "1.23e6");
    CHECK(shown(0.5) == "0.5");
    CHECK(shown(0.1 + 0.2) == "0.3");
    CHECK(shown(0.0123) == "0.0123");
    CHECK(shown(0.0001) == "0.0001");
    CHECK(shown(0.00001) == "1e-5");
    CHECK(shown(1e-7) == "1e-7");
    CHECK(shown(-1.5e-7) == "-1.5e-7");
    CHECK(shown(2.0e-7F) == "2e-7");
    CHECK(shown(1e300) == "1e300");
    CHECK(shown((std::numeric_limits<double>::max)()) == "1.8e308");
    CHECK(shown(2.2250738585072014e-308) == "2.23e-308");
}

TEST_CASE("what is not a number is named, also under -ffast-math") {
    CHECK(shown(std::bit_cast<double>(0x7FF8000000000000U)) == "nan");
    CHECK(shown(std::bit_cast<double>(0x7FF0000000000000U)) == "inf");
    CHECK(shown(std::bit_cast<double>(0xFFF0000000000000U)) == "-inf");
}

#if defined(__SSE2__)
TEST_CASE("a subnormal is shown, and where results are flushed to zero the call returns") {
    unsigned const before = _mm_getcsr();
    double const tiny = std::bit_cast<double>(std::uint64_t{1});
    _mm_setcsr(before & ~0x8040U);
    std::string const plain = shown(tiny);
    _mm_setcsr((before & ~0x8040U) | 0x8000U);  // flush results to zero, not operands
    std::string const flushed = shown(tiny);
    _mm_setcsr(before);
    CHECK(plain == "4.94e-324");
    CHECK(flushed == "4.94e-324");
}
#endif

TEST_CASE("integers of every width and sign are shown whole") {
    CHECK(shown(0) == "0");
    CHECK(shown(-1) == "-1");
    CHECK(shown((std::numeric_limits<std::int64_t>::min)()) == "-9223372036854775808");
    CHECK(shown((std::numeric_limits<std::uint64_t>::max)()) == "18446744073709551615");
    CHECK(shown(static_cast<std::int8_t>(-128)) == "-128");
    CHECK(shown(static_cast<std::uint8_t>(255)) == "255");
    CHECK(shown('x') == "x");
}

TEST_CASE("a text that does not fit is cut, and takes nothing more") {
    text<5> out{"abc"};
    out << "def" << 7;
    CHECK(out.view() == "abcde");
    constexpr text<16> constant = [] {
        text<16> it;
        it << "n = " << 12 << ", " << 0.25;
        return it;
    }();
    static_assert(constant.view() == "n = 12, 0.25");
}
