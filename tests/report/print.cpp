// SPDX-License-Identifier: Apache-2.0
// What a loop prints without fmt: the sentences that fmt::print writes, to the letter.
#include <spotter/print.hpp>

#include <tests/catch.hpp>

#include <spotter/hook.hpp>
#include <spotter/report.hpp>
#include <spotter/report/describe.hpp>

#include <bit>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <string>

using namespace spotter;

namespace {

// What `print_into(stream)` writes.
template <class Print>
std::string printed(Print const& print_into) {
    std::FILE* const stream = std::tmpfile();
    REQUIRE(stream != nullptr);
    print_into(stream);
    std::rewind(stream);
    std::string text;
    for (int letter = std::fgetc(stream); letter != EOF; letter = std::fgetc(stream)) {
        text += static_cast<char>(letter);
    }
    std::fclose(stream);
    return text;
}
template <class Told>
std::string printed_of(Told const& it) {
    return printed([&](std::FILE* into) { print(it, into); });
}

constexpr auto large = any("*", maximum > 10.0);

}  // namespace

TEST_CASE("what is printed is what fmt::print writes, and an alarm without findings is nothing") {
    hook watch{plan{}, large, any("second", minimum > 1.0) | severity::error};
    CHECK(printed_of(watch.step(train(0), "a"_t = 1.0)).empty());
    step_alarm const found = watch.step(train(1), "a"_t = 12.5, "escaping\x1b[2J"_t = 13.0, "second"_t = 2.0);
    REQUIRE(found.size() == 2);
    CHECK(printed_of(found) == fmt::format("{}\n", found));
    CHECK(printed_of(found.front()) == fmt::format("{}\n", found.front()));
    CHECK(printed_of(found).find('\x1b') == std::string::npos);
    watch.observe("a", 1.0);
    CHECK(printed_of(watch.health()) == fmt::format("{}\n", watch.health()));
    CHECK(printed_of(watch.health().first_error) == fmt::format("{}\n", watch.health().first_error));
}

TEST_CASE("a finding with names of any length is printed whole") {
    for (std::size_t const size : {10U, 4000U, 4095U, 4096U, 4097U, 20000U}) {
        std::string const name(size, 'n');
        finding it;
        it.rule = "r", it.tensor = name, it.remedy = "Look.";
        CHECK(printed_of(it) == fmt::format("{}\n", it));
    }
}

TEST_CASE("numbers are printed as every message prints them, within half of their third digit; sizes with the one "
          "digit that fmt gives them") {
    std::mt19937_64 any_bits{7};
    finding it;
    it.rule = "r", it.measure = "m", it.how = relation::greater;
    double const chosen[] = {0.0,
                             -0.0,
                             1.0,
                             0.1,
                             99994.9,
                             99995.0,
                             123456.0,
                             1e-4,
                             9.9e-5,
                             1e300,
                             5e-324,
                             -12.3456,
                             1e15,
                             std::numeric_limits<double>::infinity(),
                             -std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()};
    for (int i = 0; i < 3000; ++i) {
        bool const random = i >= static_cast<int>(std::size(chosen));
        it.measured = random ? std::bit_cast<double>(any_bits()) : chosen[i];
        it.threshold = static_cast<double>(any_bits() % 1000000) / 1000;
        text<32> measured, threshold;
        measured << it.measured;
        threshold << it.threshold;
        std::string const shown{measured.view()};
        std::string const expected = "m " + shown + " > " + std::string{threshold.view()};
        if (describe(it).find(expected) == std::string::npos) { FAIL_CHECK(describe(it) << " and not " << expected); }
        if (std::fabs(it.measured) > 1e-300 && std::fabs(it.measured) < 1e300) {
            CHECK(std::fabs(std::stod(shown) / it.measured - 1) <= 0.00501);
        }
    }
    for (std::uint64_t size : {0ULL, 1023ULL, 1024ULL, 1048575ULL, 1048576ULL, 5ULL << 40}) {
        double const wide = static_cast<double>(size);
        CHECK(spotter::detail::bytes_text(size) == (size < 1024      ? fmt::format("{} B", size)
                                                    : size < 1048576 ? fmt::format("{:.1f} KiB", wide / 1024)
                                                                     : fmt::format("{:.1f} MiB", wide / 1048576)));
    }
}
