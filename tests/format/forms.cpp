// SPDX-License-Identifier: Apache-2.0
// The forms of a payload: rotated planes and zero masks, packed and unpacked, and the errors for damaged or hostile
// ones.
#include <spotter/format/bytes.hpp>
#include <spotter/format/raw_frame.hpp>
#include <spotter/format/zero_mask.hpp>
#include <spotter/format/zstd_codec.hpp>

#include <tests/catch.hpp>

#include <bit>
#include <cstring>
#include <vector>

using namespace spotter;

namespace {

using bytes = std::vector<std::byte>;

constexpr std::uint8_t rotated = payload_form::rotated_bit, masked = payload_form::masked_bit;

// Values of `width` bytes; one in `one_in` is nonzero. 0: none, 1: all.
bytes values_of(std::size_t count, std::size_t width, unsigned one_in, unsigned seed = 5) {
    bytes all(count * width);
    for (std::size_t i = 0; i < count; ++i) {
        seed = seed * 1664525U + 1013904223U;
        if (one_in == 0 || (seed >> 16) % one_in != 0) { continue; }
        for (std::size_t k = 0; k < width; ++k) {
            seed = seed * 1664525U + 1013904223U;
            all[i * width + k] = static_cast<std::byte>(seed >> 25 | 1U);
        }
    }
    return all;
}
bytes joined(std::initializer_list<bytes> parts) {
    bytes all;
    for (bytes const& each : parts) { all.insert(all.end(), each.begin(), each.end()); }
    return all;
}
bytes pack(bytes const& values, payload_form form) {
    payload_packer packer{1};
    byte_buffer out;
    byte_view const all{values};
    for (std::size_t at = 0; at < all.size(); at += layout::block_bytes) {
        byte_view const block = all.subspan(at, (std::min)(layout::block_bytes, all.size() - at));
        REQUIRE_FALSE(packer.pack(block, form, out));
    }
    return {out.view().begin(), out.view().end()};
}
error unpack(bytes const& frames, payload_form form, bytes& values) {
    return decode_payload(frames, {0, frames.size(), form}, values);
}
// One uncompressed frame.
bytes frame_of(bytes const& content) {
    bytes frame(raw_frame::bytes_for(content.size()));
    raw_frame::put(frame.data(), content);
    return frame;
}
bytes bits(std::initializer_list<unsigned> each) {
    bytes all;
    for (unsigned const one : each) { all.push_back(static_cast<std::byte>(one)); }
    return all;
}

}  // namespace

TEST_CASE("four values of the format page lie as it says") {
    bytes const values = bits({0x80, 0x3F, 0, 0, 0, 0, 0x00, 0xC0});
    payload_form form{50};
    bytes const frames = joined({frame_of(bits({0x19})), frame_of(bits({0, 1})), frame_of(bits({0x7F, 0x80}))});
    bytes back(values.size());
    REQUIRE_FALSE(unpack(frames, form, back));
    CHECK(back == values);
    bytes said(1), kept(values.size() + zero_mask::slack), planes(4);
    REQUIRE(zero_mask::split(values.data(), 4, 2, said.data(), kept.data()) == 2);
    std::byte* into[8] = {planes.data(), planes.data() + 2};
    split_planes(kept.data(), 2, form, into);
    CHECK(said == bits({0x19}));
    CHECK(planes == bits({0, 1, 0x7F, 0x80}));
}

TEST_CASE("a form is known by its planes and two bits") {
    int known = 0;
    for (unsigned all = 0; all < 256; ++all) { known += payload_form{static_cast<std::uint8_t>(all)}.known() ? 1 : 0; }
    CHECK(known == 14);  // 1, 2, 4 and 8 planes with and without masks; rotated or not except for 1
    CHECK(payload_form{4 | rotated | masked}.known());
    CHECK_FALSE(payload_form{1 | rotated}.known());
    CHECK_FALSE(payload_form{4 | 64}.known());
    CHECK(has_form(dtype::f32, {4 | rotated}));
    CHECK(has_form(dtype::i8, {1 | masked}));
    CHECK_FALSE(has_form(dtype::f32, {2 | rotated}));
    CHECK_FALSE(has_form(dtype::none, {1}));
    CHECK(payload_packer::form_for(dtype::f32, 511) == payload_form{});
    CHECK(payload_packer::form_for(dtype::c64, 512) == payload_form{4 | rotated | masked});
    CHECK(payload_packer::form_for(dtype::f64, 512) == payload_form{8 | masked});
    CHECK(payload_packer::form_for(dtype::u8, 512) == payload_form{1 | masked});
}

TEST_CASE("rotated planes have the exponent alone, and come back whatever the count") {
    float const numbers[] = {1.0F, -1.0F, 0.0F, -0.0F, 0.75F, -3.5F};
    bytes planes(4 * 6);
    std::byte* into[8] = {planes.data(), planes.data() + 6, planes.data() + 12, planes.data() + 18};
    split_planes(bytes_of(numbers, 6).data(), 6, {4 | rotated}, into);
    for (std::size_t i = 0; i < 6; ++i) {
        auto const word = std::bit_cast<std::uint32_t>(numbers[i]);
        CHECK(static_cast<unsigned>(planes[18 + i]) == (word >> 23 & 0xFF));
        CHECK((static_cast<unsigned>(planes[i]) & 1) == word >> 31);
    }
    for (std::uint8_t const width : {std::uint8_t{2}, std::uint8_t{4}, std::uint8_t{8}}) {
        payload_form const form{static_cast<std::uint8_t>(width | rotated)};
        for (std::size_t count = 0; count < 70; ++count) {
            bytes const values = values_of(count, width, 1), plain = values_of(count, width, 1);
            bytes split(count * width), back(count * width);
            std::byte* to[8]{};
            std::byte const* from[8]{};
            for (std::size_t k = 0; k < width; ++k) { from[k] = to[k] = split.data() + k * count; }
            split_planes(values.data(), count, form, to);
            for (std::size_t i = 0; i < count; ++i) {
                std::uint64_t word = 0, turned = 0;
                std::memcpy(&word, values.data() + i * width, width);
                for (std::size_t k = 0; k < width; ++k) {
                    turned |= std::uint64_t{static_cast<std::uint8_t>(to[k][i])} << 8 * k;
                }
                std::uint64_t const wanted = word << 1 | word >> (8U * width - 1);
                REQUIRE(turned == (width == 8 ? wanted : wanted & ((std::uint64_t{1} << 8U * width) - 1)));
            }
            join_planes(from, count, form, back.data());
            REQUIRE(back == values);
        }
    }
}

TEST_CASE("a mask says which values stand and how many there are, and they come back") {
    for (std::size_t const width : {1U, 2U, 4U, 8U}) {
        for (unsigned const one_in : {0U, 1U, 2U, 9U}) {
            for (std::size_t count = 0; count < 70; ++count) {
                bytes const values = values_of(count, width, one_in);
                bytes said(zero_mask::bytes_for(count)), kept(count * width + zero_mask::slack), back(count * width);
                std::size_t const stand = zero_mask::split(values.data(), count, width, said.data(), kept.data());
                zero_mask::reading const found = zero_mask::read(said);
                REQUIRE((found.good && !found.all));
                REQUIRE((found.count == count && found.kept == stand));
                zero_mask::join(said, kept.data(), width, back.data());
                REQUIRE(back == values);
            }
        }
    }
    float const signs[] = {0.0F, -0.0F};
    std::byte said{}, kept[16]{};
    CHECK(zero_mask::split(bytes_of(signs, 2).data(), 2, 4, &said, kept) == 1);
    CHECK(said == std::byte{0b110});
    CHECK_FALSE(zero_mask::read({}).good);
    CHECK_FALSE(zero_mask::read(bits({255, 0})).good);
    CHECK(zero_mask::read(bits({0})).all);
    CHECK(zero_mask::read(bits({1})).count == 0);
}

TEST_CASE("every form brings back every block: none of it zero, some, most, all") {
    for (std::uint8_t const width : {std::uint8_t{1}, std::uint8_t{2}, std::uint8_t{4}, std::uint8_t{8}}) {
        std::size_t const block = layout::block_bytes / width;
        bytes const values = joined({values_of(block, width, 1), values_of(block, width, 3), values_of(block, width, 0),
                                     values_of(block, width, 400), values_of(block / 2 + 3, width, 2)});
        for (unsigned const more : {0U, unsigned{rotated}, unsigned{masked}, unsigned{rotated | masked}}) {
            payload_form const form{static_cast<std::uint8_t>(width | more)};
            if (!form.known()) { continue; }
            INFO(unsigned{form.bits});
            bytes const frames = pack(values, form);
            bytes back(values.size());
            REQUIRE_FALSE(unpack(frames, form, back));
            REQUIRE(back == values);
            // A range across block borders, and how far each block reaches.
            rows::observe row{};
            row.place = {0, frames.size(), form};
            payload_unpacker unpacker;
            for (std::size_t from = 1; from + 300'000 < values.size(); from += 99'999) {
                bytes part(300'000);
                REQUIRE_FALSE(unpacker.unpack_part(frames, row, from, part));
                REQUIRE(std::memcmp(part.data(), values.data() + from, part.size()) == 0);
            }
            bytes beyond(2);
            CHECK(unpacker.unpack_part(frames, row, values.size() - 1, beyond).code == errc::corrupt);
            byte_view left{frames};
            for (std::size_t i = 0; i < 5; ++i) {
                auto const extent = unpacker.measure(left, form);
                REQUIRE(extent.good);
                CHECK(extent.values == (i < 4 ? layout::block_bytes : (block / 2 + 3) * width));
                left = left.subspan(static_cast<std::size_t>(extent.frames));
            }
            CHECK(left.empty());
        }
    }
}

TEST_CASE("a tensor of one block has the form that pays") {
    auto const form_of = [](bytes const& values, payload_form form) {
        payload_packer packer{1};
        byte_buffer out;
        REQUIRE_FALSE(packer.pack_alone(values, form, out));
        bytes back(values.size());
        REQUIRE_FALSE(decode_payload(out.view(), {0, out.size(), form}, back));
        REQUIRE(back == values);
        return form;
    };
    payload_form const floats{4 | rotated | masked};
    CHECK(form_of(values_of(5000, 4, 3), floats) == floats);
    CHECK(form_of(values_of(5000, 4, 0), floats) == floats);
    std::vector<float> weights(5000);
    for (std::size_t i = 0; i < weights.size(); ++i) {
        weights[i] = 0.01F * static_cast<float>(i * 7919 % 5000) + 0.1F;
    }
    byte_view const view = bytes_of(weights.data(), weights.size());
    CHECK(form_of({view.begin(), view.end()}, floats) == payload_form{4 | rotated});
    bytes noise = values_of(5000, 4, 1);
    unsigned state = 1;
    for (std::byte& each : noise) {
        state = state * 1664525U + 1013904223U;
        each = static_cast<std::byte>(state >> 24);
    }
    CHECK(form_of(noise, floats) == payload_form{});
    CHECK(form_of(values_of(5000, 1, 5), {1 | masked}) == payload_form{1 | masked});
    payload_packer packer{1};
    byte_buffer out;
    payload_form none{};
    REQUIRE_FALSE(packer.pack_alone({}, none, out));
    REQUIRE_FALSE(packer.pack({}, floats, out));
    CHECK(out.empty());  // no values, no frame
}

TEST_CASE("masked planes are smaller and a mask never makes a block larger by more than a thousandth") {
    bytes const sparse = values_of(1U << 18, 4, 3);
    CHECK(5 * pack(sparse, {4 | masked}).size() < 4 * pack(sparse, {4}).size());
    // Zeros only where the sample looks: a mask is tried and rejected.
    bytes misleading = values_of(1U << 16, 4, 1);
    bytes const honest = misleading;
    for (std::size_t window = 0; window < 16; ++window) {
        std::size_t const step = (misleading.size() / 4 - 1024) / 15;
        std::size_t const from = 64 * window + step * window - window * 0x9E3779B1U / 64 % (step / 2 + 1);
        std::memset(misleading.data() + 4 * from, 0, 64 * 4);
    }
    CHECK(choose_codecs(misleading, {4 | masked}).sparse);
    CHECK(pack(misleading, {4 | masked}).size() < honest.size() + honest.size() / 1000);
    bytes back(misleading.size());
    REQUIRE_FALSE(unpack(pack(misleading, {4 | masked}), {4 | masked}, back));
    CHECK(back == misleading);
}

TEST_CASE("masked frames that are cut, or have a flipped bit, are damage and nothing else") {
    for (payload_form const form : {payload_form{2 | rotated | masked}, payload_form{4 | rotated | masked},
                                    payload_form{1 | masked}, payload_form{8 | masked}}) {
        bytes const values = values_of(150, form.planes(), 2);
        bytes const frames = pack(values, form);
        INFO(unsigned{form.bits});
        bytes back(values.size());
        for (std::size_t size = 0; size < frames.size(); ++size) {
            bytes const cut{frames.begin(), frames.begin() + static_cast<std::ptrdiff_t>(size)};
            REQUIRE(unpack(cut, form, back).code == errc::corrupt);
            rows::observe row{};
            row.place = {0, size, form};
            REQUIRE(payload_unpacker{}.unpack_part(cut, row, 1, {back.data(), 2}).code == errc::corrupt);
        }
        for (std::size_t bit = 0; bit < 8 * frames.size(); ++bit) {
            bytes flipped = frames;
            flipped[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
            error const why = unpack(flipped, form, back);
            REQUIRE((why.code == errc::corrupt || (!why && back == values)));  // some bits of a zstd block are unused
        }
        bytes less(values.size() - form.planes()), more(values.size() + form.planes());
        CHECK(unpack(frames, form, less).code == errc::corrupt);
        CHECK(unpack(frames, form, more).code == errc::corrupt);
    }
}

TEST_CASE("a mask that contradicts its planes, or is not a mask, is damage") {
    payload_form const form{2 | masked};
    auto const refused_whole = [&](bytes const& frames, std::size_t values) {
        bytes back(2 * values);
        return unpack(frames, form, back).code == errc::corrupt;
    };
    auto const refused = [&](bytes const& frames, std::size_t values) {
        bool const whole = refused_whole(frames, values);
        bytes back(2 * values);
        rows::observe row{};
        row.place = {0, frames.size(), form};
        bool const part = payload_unpacker{}.unpack_part(frames, row, 0, back).code == errc::corrupt;
        return whole && part;
    };
    bytes const two = frame_of(bits({7, 9})), three = frame_of(bits({7, 8, 9}));
    bytes back(2 * 5);
    // Five values, two of them nonzero.
    REQUIRE_FALSE(unpack(joined({frame_of(bits({0b100101})), two, two}), form, back));
    CHECK(back == bits({7, 7, 0, 0, 9, 9, 0, 0, 0, 0}));
    CHECK(refused(joined({frame_of(bits({0b100101})), three, three}), 5));         // planes of 3 values, mask of 2
    CHECK(refused(joined({frame_of(bits({0b100111})), two, two}), 5));             // mask of 3 values, planes of 2
    CHECK(refused(joined({frame_of(bits({0b100101})), two, three}), 5));           // planes of two sizes
    CHECK(refused(joined({frame_of(bits({0b100101})), two}), 5));                  // a plane is missing
    CHECK(refused(joined({frame_of(bits({0b100101}))}), 5));                       // both are missing
    CHECK(refused_whole(joined({frame_of(bits({0b100000})), two, two}), 5));       // planes without values
    CHECK(refused(joined({frame_of(bits({0b100101})), two, two}), 6));             // mask of 5 values, not 6
    CHECK(refused_whole(joined({frame_of(bits({0b1000101})), two, two}), 5));      // mask of 6 values, not 5
    CHECK(refused(joined({frame_of(bits({0b101, 0})), two, two}), 8));             // no end bit
    CHECK(refused(joined({frame_of(bits({1})), two, two}), 5));                    // a mask for no values
    CHECK(refused(joined({frame_of({}), two, two}), 5));                           // an empty mask
    CHECK(refused(joined({two, two}), 2));                                         // no mask
    CHECK(refused(joined({frame_of(bits({0})), frame_of({}), frame_of({})}), 5));  // all nonzero, but empty planes
    CHECK(refused(frame_of(bits({0})), 5));
    CHECK(refused(bytes(40), 5));
    // More values than a block holds, all zero: a few bytes must not ask for much memory.
    bytes large(layout::block_bytes / 16 + 2);
    large.back() = std::byte{1};
    CHECK(refused(frame_of(large), 8 * (large.size() - 1)));
    bytes larger(zero_mask::longest + 1);
    larger.back() = std::byte{1};
    CHECK(refused(frame_of(larger), 8 * (larger.size() - 1)));
    bytes some(8);
    for (payload_form const unknown :
         {payload_form{0}, payload_form{3}, payload_form{16}, payload_form{2 | 64}, payload_form{255}}) {
        CHECK(unpack(joined({two, two}), unknown, some).code == errc::corrupt);
        CHECK_FALSE(payload_unpacker{}.measure(two, unknown).good);
    }
}
