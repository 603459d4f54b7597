// SPDX-License-Identifier: Apache-2.0
// Core: a double from its text, equal to std::from_chars, also where the standard library lacks it.
#include <spotter/core/bits.hpp>
#include <spotter/core/parse_number.hpp>

#include <tests/catch.hpp>

#include <clocale>
#include <cstdio>
#include <random>
#include <string>

using namespace spotter;

namespace {

struct parsed {
    std::errc why{};
    std::size_t letters = 0;
    std::uint64_t bits = 0;
    friend bool operator==(parsed const&, parsed const&) = default;
};

constexpr double untouched = 7.5;

template <class Parse>
parsed by(Parse parse, std::string_view text) {
    double value = untouched;
    std::from_chars_result const end = parse(text, value);
    std::uint64_t const bits = std::bit_cast<std::uint64_t>(value);
    bool const nan = f64_bits::classify(bits) == number_class::nan;  // the standard leaves open which NaN it is
    return {end.ec, static_cast<std::size_t>(end.ptr - text.data()), nan ? bits | f64_bits::magnitude : bits};
}

parsed ours(std::string_view text) { return by(detail::parse_double, text); }
parsed chosen(std::string_view text) {
    return by([](std::string_view it, double& into) { return parse_number(it, into); }, text);
}

parsed good(double value, std::size_t letters) { return {{}, letters, std::bit_cast<std::uint64_t>(value)}; }

}  // namespace

TEST_CASE("the longest start of a text that is a number is read, and correctly rounded") {
    for (auto const parse : {ours, chosen}) {
        CHECK(parse("0") == good(0.0, 1));
        CHECK(parse("-12.50x") == good(-12.5, 6));
        CHECK(parse("1e") == good(1, 1));
        CHECK(parse("1e+") == good(1, 1));
        CHECK(parse("1.e2") == good(100, 4));
        CHECK(parse(".5") == good(0.5, 2));
        CHECK(parse("5.") == good(5, 2));
        CHECK(parse("00012e-1") == good(1.2, 8));
        CHECK(parse("3E+2,") == good(300, 4));
        CHECK(parse("1,5") == good(1, 1));
        CHECK(parse("0x10") == good(0, 1));
        CHECK(parse("9007199254740993") == good(9007199254740992.0, 16));  // a tie, to even
        CHECK(parse("9007199254740993.00000000000000000000000000001") == good(9007199254740994.0, 46));
        CHECK(parse("1.7976931348623157e308") == good(1.7976931348623157e308, 22));
        CHECK(parse("4.9406564584124654e-324").bits == 1);
        CHECK(parse("2.2250738585072011e-308").bits == 0xFFFFFFFFFFFFFULL);
    }
}

TEST_CASE("a text that is not a number leaves the value unchanged") {
    for (auto const parse : {ours, chosen}) {
        for (std::string_view const text : {"", "-", ".", "-.", "+1", " 1", "e5", "in", "na", "-e1", "x"}) {
            INFO('"' << text << '"');
            CHECK(parse(text) == parsed{std::errc::invalid_argument, 0, std::bit_cast<std::uint64_t>(untouched)});
        }
    }
}

TEST_CASE("a number too large for a double is out of range") {
    for (auto const parse : {ours, chosen}) {
        for (std::string_view const text : {"1e309", "-1e999999999999999999999999", "1.8e308"}) {
            CHECK(parse(text) ==
                  parsed{std::errc::result_out_of_range, text.size(), std::bit_cast<std::uint64_t>(untouched)});
        }
    }
    CHECK(ours("1e-400").why == std::errc::result_out_of_range);
    CHECK(ours("0e-400") == good(0, 6));
}

TEST_CASE("infinities and NaN have names, in letters of any case") {
    std::uint64_t const infinity = f64_bits::exponent;
    for (auto const parse : {ours, chosen}) {
        CHECK(parse("inf") == parsed{{}, 3, infinity});
        CHECK(parse("-INFinityx") == parsed{{}, 9, infinity | f64_bits::sign});
        CHECK(parse("infin") == parsed{{}, 3, infinity});
        CHECK(parse("nan") == parsed{{}, 3, f64_bits::magnitude});
        CHECK(parse("NaN(a_1)") == parsed{{}, 8, f64_bits::magnitude});
        CHECK(parse("nan(-)") == parsed{{}, 3, f64_bits::magnitude});
    }
}

TEST_CASE("a number of any length is correctly rounded") {
    std::string const half = "9007199254740993" + std::string(2000, '0');
    CHECK(ours(half + "e-2000") == good(9007199254740992.0, half.size() + 6));
    CHECK(ours(half + "1e-2001") == good(9007199254740994.0, half.size() + 7));
    CHECK(ours("0." + std::string(3000, '0') + "15e3001") == good(1.5, 3009));
    CHECK(ours("-" + std::string(5000, '0') + "15e-1") == good(-1.5, 5006));
}

TEST_CASE("every double comes back from its text to the bit, whatever the locale") {
    std::string const before = std::setlocale(LC_NUMERIC, nullptr);
    for (char const* const name : {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "German"}) {
        if (std::setlocale(LC_NUMERIC, name) != nullptr) { break; }
    }
    std::mt19937_64 random{3};
    for (int i = 0; i < 20'000; ++i) {
        std::uint64_t const bits = random();
        if (f64_bits::classify(bits) >= number_class::pos_inf) { continue; }
        double const value = std::bit_cast<double>(bits);
        char digits[64];
        char* const end = std::to_chars(digits, digits + sizeof digits, value).ptr;
        std::string_view const text{digits, static_cast<std::size_t>(end - digits)};
        // With -ffast-math a subnormal is printed as zero.
        if ((text == "0" || text == "-0") && bits << 1 != 0) { continue; }
        if (ours(text) != good(value, text.size()) || chosen(text) != ours(text)) { FAIL(text); }
    }
    std::setlocale(LC_NUMERIC, before.c_str());
}

TEST_CASE("texts of any kind are read as the standard library reads them") {
    std::mt19937_64 random{4};
    constexpr std::string_view letters = "00112345678999..eE+-infay()";
    for (int i = 0; i < 50'000; ++i) {
        std::string text(static_cast<std::size_t>(random() % 24), '0');
        for (char& each : text) { each = letters[static_cast<std::size_t>(random() % letters.size())]; }
        parsed const a = ours(text), b = chosen(text);
        // Libraries differ on values that round to 0: out of range, or 0.
        bool const tiny = a.why == std::errc::result_out_of_range && b.bits << 1 == 0;
        if (a != b && !tiny) { FAIL(text << ": " << a.letters << ' ' << b.letters); }
    }
}
