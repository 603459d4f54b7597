// SPDX-License-Identifier: Apache-2.0
// Stat: the bits of sums are fixed on every compiler, flag set and machine. golden.py, a second implementation of the
// definition, made the table.
#include <tests/stat/samples.hpp>

#include <tests/catch.hpp>

using namespace spotter;
using namespace samples;

namespace {

struct row {
    dtype type;
    std::size_t count;
    std::uint64_t hash;
    double wanted[6];  // sum, sum_abs, sum_squares, moment2, minimum, maximum
};
constexpr row table[] = {
    {dtype::f32,
     1,
     0x1570F9ECEFA69F08,
     {-0x1.7854ep+3, 0x1.7854ep+3, 0x1.149cb711e2p+7, 0, -0x1.7854ep+3, -0x1.7854ep+3}},
    {dtype::f32,
     17,
     0x56701D79779CDAC1,
     {-0x1.894078p+5, 0x1.1c3b938p+8, 0x1.8163f0abe024p+12, 0x1.7881b830df503p+12, -0x1.f1ddcp+4, 0x1.a2179p+4}},
    {dtype::f32,
     1000,
     0x689851E79FB293DA,
     {0x1.6ac7aep+6, 0x1.e0e16aep+13, 0x1.38c5dcc196c22p+18, 0x1.38c3ce51a334dp+18, -0x1.ffc71cp+4, 0x1.ff93dp+4}},
    {dtype::f32,
     1025,
     0xE0FB9C4DD550B88D,
     {-0x1.c4ab3dp+7, 0x1.f8259a1cp+13, 0x1.48505b00b3f5p+18, 0x1.4843dc6bd1637p+18, -0x1.ff96fcp+4, 0x1.ff98a4p+4}},
    {dtype::f32,
     5000,
     0xFA942A959929646B,
     {-0x1.aecd784p+8, 0x1.37d695494p+16, 0x1.a28856aeddee8p+20, 0x1.a28602498fd42p+20, -0x1.ffd948p+4, 0x1.fff1b8p+4}},
    {dtype::f64,
     1,
     0x70CC9B52F4C2BFAF,
     {0x1.43ff9fc99de88p-1, 0x1.43ff9fc99de88p-1, 0x1.9a0f0c767bdd6p-2, 0, 0x1.43ff9fc99de88p-1, 0x1.43ff9fc99de88p-1}},
    {dtype::f64,
     17,
     0x19FA17F23F5BB54C,
     {-0x1.f7822cfcb3aap-3, 0x1.646ee192cfaep+5, 0x1.135e9295ba43ep+7, 0x1.135cc08dd1558p+7, -0x1.c973f11bcbedep+1,
      0x1.fd28de603d0c6p+1}},
    {dtype::f64,
     1000,
     0xBD53602EBD87403B,
     {-0x1.2cdfec1ac205ep+5, 0x1.066117012deebp+11, 0x1.6413f1803771dp+12, 0x1.63fd4fdd10cb8p+12, -0x1.fe836d93ffdd4p+1,
      0x1.fd63e7a5f532cp+1}},
    {dtype::f64,
     1025,
     0xE83464DB1A52D7B0,
     {-0x1.e7eab112d7909p+6, 0x1.052e99d68fde2p+11, 0x1.59b0a56b491acp+12, 0x1.58c863ca79d66p+12, -0x1.fff03b0df73c2p+1,
      0x1.ffb1f28c95bbcp+1}},
    {dtype::f64,
     5000,
     0x8F8BBF856C0235C3,
     {0x1.000e9343b51f6p+7, 0x1.3b1396e0be273p+13, 0x1.a5ae1ec161412p+14, 0x1.a5a0f3a9322a4p+14, -0x1.ff8c3b805333cp+1,
      0x1.ffed64f930428p+1}},
    {dtype::i32,
     1,
     0x65EF5CB0C91F9257,
     {-0x1.d9ae4248p+29, 0x1.d9ae4248p+29, 0x1.b63ab3c61d84ap+59, 0, -0x1.d9ae4248p+29, -0x1.d9ae4248p+29}},
    {dtype::i32,
     17,
     0x6E37DB197932B1E0,
     {-0x1.d19efc6p+32, 0x1.0c55af848p+34, 0x1.48322c84dda6ap+64, 0x1.16610f21f80b8p+64, -0x1.edbb0b7cp+30,
      0x1.9da22c2cp+30}},
    {dtype::i32,
     1000,
     0x776CFDEE2350880A,
     {0x1.525274b6p+32, 0x1.fad802b2a8p+39, 0x1.54a9e272886b8p+70, 0x1.54a818999c222p+70, -0x1.ffd83d9cp+30,
      0x1.ffcfef2cp+30}},
    {dtype::i32,
     1025,
     0x3797CB9810192D2D,
     {-0x1.436e7891cp+35, 0x1.ff66457198p+39, 0x1.561901dd8b2a8p+70, 0x1.55b2f3642e997p+70, -0x1.fff9ee38p+30,
      0x1.fec57bc8p+30}},
    {dtype::i32,
     5000,
     0x7C39531EE038EE26,
     {-0x1.ec9f2188p+36, 0x1.3692cff0148p+42, 0x1.9df06d1f198cbp+72, 0x1.9dbfe41ba0d98p+72, -0x1.fffa69a4p+30,
      0x1.ffe8691cp+30}},
    {dtype::bf16, 1, 0x7500A41FF0E47EE3, {0x1.acp+3, 0x1.acp+3, 0x1.65c8p+7, 0, 0x1.acp+3, 0x1.acp+3}},
    {dtype::bf16,
     17,
     0xF3728D9F67B21BE1,
     {-0x1.948ef8p+7, 0x1.6f0adap+9, 0x1.d2f21bd4bd5p+16, 0x1.c98b3b9dcc21ep+16, -0x1.48p+7, 0x1.eap+7}},
    {dtype::bf16,
     1000,
     0xA50BBD9B5F27DAF8,
     {0x1.bd62adp+10, 0x1.753c7cc8p+15, 0x1.707354db819d6p+23, 0x1.705a891333f42p+23, -0x1.fap+8, 0x1.fap+8}},
    {dtype::bf16,
     1025,
     0x081F616A065AAA2E,
     {0x1.9139a8p+11, 0x1.965f55ap+15, 0x1.c141898b6f23p+23, 0x1.c0f302778a948p+23, -0x1.f6p+8, 0x1.fcp+8}},
    {dtype::bf16,
     5000,
     0x9ADE31CAB885C87C,
     {-0x1.2dadb4p+10, 0x1.c9e5381cp+17, 0x1.d5882c43aaa4p+25, 0x1.d5879a08c55e8p+25, -0x1.fep+8, 0x1.fap+8}},
};

enum class odd : std::uint8_t { none, nan, neg_inf, zero, subnormal };

odd odd_at(std::size_t i) {
    if (i < 2048 || i >= 3072) { return odd::none; }
    return i % 97 == 13   ? odd::nan
           : i % 101 == 7 ? odd::neg_inf
           : i % 53 == 5  ? odd::zero
           : i % 89 == 3  ? odd::subnormal
                          : odd::none;
}
template <class Value, class Make>
summary made(std::size_t count, std::uint64_t seed, Make make) {
    splitmix random{seed};
    std::vector<Value> values(count);
    for (std::size_t i = 0; i < count; ++i) { values[i] = make(random.next(), odd_at(i)); }
    return summary_of(values);
}
summary made(dtype type, std::size_t count) {
    std::uint64_t const seed = count * 10;
    switch (type) {
        case dtype::f32:
            return made<float>(count, seed + 1, [](std::uint64_t u, odd which) {
                constexpr std::uint32_t bits[] = {0, 0x7FC00000U, 0xFF800000U, 0x80000000U, 0x80012345U};
                if (which != odd::none) { return std::bit_cast<float>(bits[static_cast<std::size_t>(which)]); }
                return static_cast<float>(static_cast<std::int64_t>(u >> 40) - (1 << 23)) * 0x1p-18F;
            });
        case dtype::f64:
            return made<double>(count, seed + 2, [](std::uint64_t u, odd which) {
                constexpr std::uint64_t bits[] = {0, 0x7FF8000000000000U, 0xFFF0000000000000U, 0x8000000000000000U};
                if (which != odd::none && which != odd::subnormal) {
                    return from_bits(bits[static_cast<std::size_t>(which)]);
                }
                return static_cast<double>(static_cast<std::int64_t>(u >> 11) - (std::int64_t{1} << 52)) * 0x1p-50;
            });
        case dtype::i32:
            return made<std::int32_t>(count, seed + 3,
                                      [](std::uint64_t u, odd) { return static_cast<std::int32_t>(u >> 32); });
        default:
            return made<bf16>(count, seed + 4, [](std::uint64_t u, odd which) {
                constexpr std::uint16_t bits[] = {0, 0x7FC0, 0xFF80, 0x8000, 0x8023};
                if (which != odd::none) { return bf16{bits[static_cast<std::size_t>(which)]}; }
                return bf16{
                    static_cast<std::uint16_t>((u >> 63) << 15 | (120 + (u >> 56 & 15)) << 7 | (u >> 40 & 0x7F))};
            });
    }
}

}  // namespace

TEST_CASE("sums have the bits they always had [D21] [A30]", "[D21][A30][S33]") {
    for (row const& each : table) {
        INFO(name_of(each.type) << ", " << each.count << " elements");
        summary const of = made(each.type, each.count);
        double const got[6] = {of.sum, of.sum_abs, of.sum_squares, of.moment2, of.minimum, of.maximum};
        for (std::size_t i = 0; i < 6; ++i) { CHECK(bits_of(got[i]) == bits_of(each.wanted[i])); }
        CHECK(of.hash == each.hash);
        CHECK(of.nonfinite() == (each.type == dtype::i32 || each.count < 3000 ? 0 : 21));
    }
}
