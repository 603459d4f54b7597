// SPDX-License-Identifier: Apache-2.0
// Core: numbers by their bits, the element types, and the functions that replace libm.
#include <spotter/core/dtype.hpp>

#include <tests/catch.hpp>

#include <cmath>
#include <complex>

using namespace spotter;

namespace {

constexpr std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }

// Sign, exponent and mantissa of a small float format by its standard: one reference decoder for all formats.
struct format {
    int exponent_bits, mantissa_bits;
    bool has_infinity = true;
    [[nodiscard]] int bias() const { return (1 << (exponent_bits - 1)) - 1; }
    [[nodiscard]] double decode(unsigned bits) const {
        int const mantissa = static_cast<int>(bits & ((1U << mantissa_bits) - 1));
        int const exponent = static_cast<int>(bits >> mantissa_bits & ((1U << exponent_bits) - 1));
        double const size = exponent == 0
                                ? std::ldexp(mantissa, 1 - bias() - mantissa_bits)
                                : std::ldexp((1 << mantissa_bits) + mantissa, exponent - bias() - mantissa_bits);
        std::uint64_t const sign = bits >> (exponent_bits + mantissa_bits) & 1;
        return std::bit_cast<double>(bits_of(size) | sign << 63);  // -ffast-math would lose the sign of a zero
    }
    [[nodiscard]] number_class kind(unsigned bits) const {
        unsigned const mantissa = bits & ((1U << mantissa_bits) - 1);
        unsigned const top = (1U << exponent_bits) - 1;
        unsigned const exponent = bits >> mantissa_bits & top;
        bool const negative = (bits >> (exponent_bits + mantissa_bits) & 1) != 0;
        if (has_infinity && exponent == top) {
            return mantissa != 0 ? number_class::nan : negative ? number_class::neg_inf : number_class::pos_inf;
        }
        if (!has_infinity && exponent == top && mantissa == (1U << mantissa_bits) - 1) { return number_class::nan; }
        return exponent == 0 && mantissa == 0 ? number_class::zero : number_class::normal;
    }
};

// Every bit pattern: the same value, or the same class and sign if not finite. A subnormal bf16 stays subnormal as a
// float.
template <class Small, class Bits>
void check_every_pattern(format const& as) {
    unsigned wrong = 0;
    for (unsigned i = 0; i < 1U << (8 * sizeof(Bits)); ++i) {
        float const seen = to_float(Small{static_cast<Bits>(i)});
        number_class const kind = as.kind(i);
        if (kind >= number_class::pos_inf) {
            wrong += classify(seen) != kind ? 1 : 0;
        } else {
            wrong += !is_finite(seen) || bits_of(widen(seen)) != bits_of(as.decode(i)) ? 1 : 0;
        }
    }
    CHECK(wrong == 0);
}

double ulps(double got, double wanted) {
    int exponent = 0;
    (void)std::frexp(wanted, &exponent);
    return std::fabs(got - wanted) / std::ldexp(1.0, exponent - 53);
}

}  // namespace

TEST_CASE("every bit pattern of f16, bf16 and both f8 is widened to its value [D03]", "[D03]") {
    check_every_pattern<f16, std::uint16_t>({5, 10});
    check_every_pattern<bf16, std::uint16_t>({8, 7});
    check_every_pattern<f8_e5m2, std::uint8_t>({5, 2});
    check_every_pattern<f8_e4m3, std::uint8_t>({4, 3, false});
}

TEST_CASE("a NaN keeps its payload when an f16 or bf16 is widened") {
    CHECK(std::bit_cast<std::uint32_t>(to_float(f16{0x7E01})) == 0x7FC02000U);
#if defined(__i386__)
    // The x87 register that returns a float makes every NaN quiet.
    constexpr std::uint32_t quiet = 0x00400000U;
#else
    constexpr std::uint32_t quiet = 0;
#endif
    CHECK(std::bit_cast<std::uint32_t>(to_float(f16{0xFC01})) == (0xFF802000U | quiet));
    CHECK(std::bit_cast<std::uint32_t>(to_float(bf16{0x7F81})) == (0x7F810000U | quiet));
}

TEST_CASE("numbers are classified by their bits, whatever the flags [D01]", "[D01]") {
    auto const f = [](std::uint32_t bits) { return classify(std::bit_cast<float>(bits)); };
    auto const d = [](std::uint64_t bits) { return classify(std::bit_cast<double>(bits)); };
    CHECK(f(0) == number_class::zero);
    CHECK(f(0x80000000U) == number_class::zero);
    CHECK(f(1) == number_class::subnormal);
    CHECK(f(0x807FFFFFU) == number_class::subnormal);
    CHECK(f(0x00800000U) == number_class::normal);
    CHECK(f(0x7F7FFFFFU) == number_class::normal);
    CHECK(f(0x7F800000U) == number_class::pos_inf);
    CHECK(f(0xFF800000U) == number_class::neg_inf);
    CHECK(f(0x7F800001U) == number_class::nan);
    CHECK(f(0xFFFFFFFFU) == number_class::nan);
    CHECK(d(0x8000000000000000U) == number_class::zero);
    CHECK(d(0x000FFFFFFFFFFFFFU) == number_class::subnormal);
    CHECK(d(0x7FEFFFFFFFFFFFFFU) == number_class::normal);
    CHECK(d(0x7FF0000000000000U) == number_class::pos_inf);
    CHECK(d(0xFFF0000000000000U) == number_class::neg_inf);
    CHECK(d(0x7FF0000000000001U) == number_class::nan);
}

TEST_CASE("a subnormal float is widened by its bits, also where subnormals are flushed") {
    CHECK(bits_of(widen(std::bit_cast<float>(1U))) == bits_of(0x1p-149));
    CHECK(bits_of(widen(std::bit_cast<float>(0x807FFFFFU))) == bits_of(-0x7FFFFFp-149));
    CHECK(bits_of(widen(std::bit_cast<float>(0x80000000U))) == bits_of(-0.0));
}

TEST_CASE("logarithms are within two units in the last place of libm's") {
    double worst = 0;
    for (int i = 1; i < 200000; ++i) {
        double const x = std::ldexp(1.0 + i * 0x1p-18, i % 2000 - 1000);
        worst = std::fmax(worst, ulps(natural_log(x), std::log(x)));
    }
    for (int i = -1000; i <= 1000; ++i) {  // around 1, where the logarithm is small
        double const x = 1.0 + i * 0x1p-20;
        if (i != 0) { worst = std::fmax(worst, ulps(natural_log(x), std::log1p(i * 0x1p-20))); }
    }
    CHECK(worst <= 2.0);
    CHECK(bits_of(natural_log(1.0)) == 0);
    CHECK(ulps(decimal_log(1e-7), -7.0) <= 2.0);
    static_assert(decimal_log(1000) > 2.9999999 && decimal_log(1000) < 3.0000001);
}

TEST_CASE("the logarithm of zero, of a negative number and of a subnormal returns") {
    CHECK(natural_log(0.0) < -1e307);
    CHECK(natural_log(-0.0) < -1e307);
    CHECK(natural_log(-1.0) < -1e307);
    CHECK(ulps(natural_log(std::bit_cast<double>(std::uint64_t{1})), -744.4400719213812) <= 2.0);
    CHECK(ulps(natural_log(std::bit_cast<double>(std::uint64_t{0x000FFFFFFFFFFFFF})), -708.3964185322641) <= 2.0);
}

TEST_CASE("the exponential is good to twelve digits, and ends at its ends") {
    for (int i = -700; i <= 700; i += 7) {
        double const x = i + 0.3;
        CHECK(std::fabs(exponential(x) / std::exp(x) - 1) < 1e-11);
    }
    CHECK(exponential(0) == 1);
    CHECK(exponential(-1000) == 0);
    CHECK(exponential(1000) > 1e308);
}

TEST_CASE("the square root is the machine's, and within one unit in a static_assert") {
    static_assert(square_root(0) == 0 && square_root(-1) == 0);
    static_assert(square_root(9) == 3 && square_root(1e300) > 0.9999999999e150 &&
                  square_root(1e-300) < 1.0000000001e-150);
    constexpr double constant[] = {square_root(2.0), square_root(30.0), square_root(1e-9), square_root(7e200)};
    double const runtime[] = {2.0, 30.0, 1e-9, 7e200};
    for (std::size_t i = 0; i < 4; ++i) { CHECK(ulps(constant[i], std::sqrt(runtime[i])) <= 1.0); }
}

TEST_CASE("the table of element types gives name and size of each", "[A10]") {
    constexpr std::size_t sizes[] = {0, 1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16, 1, 1, 1};
    for (std::size_t i = 0; i < 19; ++i) {
        CHECK(size_of(static_cast<dtype>(i)) == sizes[i]);
        CHECK_FALSE(name_of(static_cast<dtype>(i)).empty());
    }
    CHECK(name_of(dtype::bf16) == "bf16");
    CHECK(name_of(dtype::f8_e4m3) == "f8_e4m3");
    CHECK(size_of(static_cast<dtype>(200)) == 0);
    CHECK(is_complex(dtype::c128));
    CHECK_FALSE(is_complex(dtype::f64));
    CHECK((is_floating(dtype::f16) && is_floating(dtype::c64) && is_floating(dtype::f8_e5m2)));
    CHECK_FALSE((is_floating(dtype::u64) || is_floating(dtype::text) || is_floating(dtype::none)));
}

TEST_CASE("a C++ type maps to its element type at compile time", "[A10]") {
    static_assert(dtype_of<bool> == dtype::boolean && dtype_of<signed char> == dtype::i8);
    static_assert(dtype_of<short> == dtype::i16 && dtype_of<int const> == dtype::i32);
    static_assert(dtype_of<long long> == dtype::i64 && dtype_of<std::int64_t> == dtype::i64);
    static_assert(dtype_of<unsigned char> == dtype::u8 && dtype_of<std::uint64_t> == dtype::u64);
    static_assert(dtype_of<float> == dtype::f32 && dtype_of<double volatile> == dtype::f64);
    static_assert(dtype_of<f16> == dtype::f16 && dtype_of<bf16> == dtype::bf16);
    static_assert(dtype_of<std::complex<float>> == dtype::c64 && dtype_of<std::complex<double>> == dtype::c128);
    static_assert(dtype_of<c64> == dtype::c64 && dtype_of<f8_e4m3> == dtype::f8_e4m3 &&
                  dtype_of<f8_e5m2> == dtype::f8_e5m2);
    struct pair {
        float a, b;
    };
    static_assert(dtype_of<pair> == dtype::none && dtype_of<int*> == dtype::none);
    SUCCEED();
}
