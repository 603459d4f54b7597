// SPDX-License-Identifier: Apache-2.0
// The codec of a byte plane: which one is chosen, that zstd reads every frame, and that no data exceed the promised
// size.
#include <spotter/format/bytes.hpp>
#include <spotter/format/checksum.hpp>
#include <spotter/format/raw_frame.hpp>
#include <spotter/format/zstd_codec.hpp>

#include <tests/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

using namespace spotter;

namespace {

using plane_bytes = std::vector<std::byte>;

class noise {
public:
    std::uint32_t next() noexcept {
        state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
        return static_cast<std::uint32_t>(state_ >> 32);
    }

private:
    std::uint64_t state_ = 3;
};

plane_bytes plane_of(std::size_t size, auto&& byte_at) {
    plane_bytes all(size);
    for (std::size_t i = 0; i < size; ++i) { all[i] = static_cast<std::byte>(byte_at(i)); }
    return all;
}
plane_bytes noise_bytes(std::size_t size) {
    noise random;
    return plane_of(size, [&](std::size_t) { return random.next() >> 24; });
}
plane_bytes as_bytes_of(auto const& values) {
    byte_view const view = bytes_of(values.data(), values.size());
    return {view.begin(), view.end()};
}
// Sums of four uniform numbers: roughly the distribution of weights.
std::vector<float> weights(std::size_t count) {
    noise random;
    std::vector<float> values(count);
    for (float& each : values) {
        float sum = -2;
        for (int i = 0; i < 4; ++i) { sum += static_cast<float>(random.next()) * 0x1p-32F; }
        each = sum * 0.05F;
    }
    return values;
}

struct packed {
    byte_buffer out{};
    payload_form form{};
};
packed pack(byte_view values, payload_form form, int level = 1) {
    payload_packer packer{level};
    packed made{{}, form};
    bool const alone = values.size() <= layout::block_bytes;
    for (std::size_t at = 0; at < values.size(); at += layout::block_bytes) {
        byte_view const block = values.subspan(at, (std::min)(layout::block_bytes, values.size() - at));
        error const why = alone ? packer.pack_alone(block, made.form, made.out) : packer.pack(block, form, made.out);
        REQUIRE_FALSE(why);
    }
    return made;
}
plane_bytes unpack(packed const& it, std::size_t size) {
    plane_bytes values(size);
    REQUIRE_FALSE(decode_payload(it.out.view(), {0, it.out.size(), it.form}, values));
    return values;
}
double ratio_of(plane_bytes const& values, payload_form form) {
    packed const made = pack(values, form);
    REQUIRE(unpack(made, values.size()) == values);
    return static_cast<double>(values.size()) / static_cast<double>(made.out.size());
}

}  // namespace

TEST_CASE("XXH64 is the one that zstd puts behind a frame") {
    CHECK(xxh64({}) == 0xEF46DB3751D8E999ULL);
    CHECK(xxh64(bytes_of("a", 1)) == 0xD24EC4F1A98C6E5BULL);
    plane_bytes const data = noise_bytes(700);
    ZSTD_CCtx* const context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    plane_bytes frame(2000);
    for (std::size_t size = 0; size <= data.size(); ++size) {
        std::size_t const made = ZSTD_compress2(context, frame.data(), frame.size(), data.data(), size);
        REQUIRE(ZSTD_isError(made) == 0);
        REQUIRE(load<std::uint32_t>(frame.data() + made - 4) == static_cast<std::uint32_t>(xxh64({data.data(), size})));
    }
    ZSTD_freeCCtx(context);
}

TEST_CASE("a raw frame is read by zstd, is measured right, and a flipped bit in it is seen") {
    for (std::size_t const size : {1U, 255U, 256U, 257U, 65791U, 65792U, 131071U, 131072U, 131073U, 262144U}) {
        plane_bytes const data = noise_bytes(size);
        plane_bytes frame(raw_frame::bytes_for(size));
        raw_frame::put(frame.data(), data);
        plane_bytes back(size);
        INFO(size);
        REQUIRE(ZSTD_getFrameContentSize(frame.data(), frame.size()) == size);
        REQUIRE(ZSTD_decompress(back.data(), size, frame.data(), frame.size()) == size);
        REQUIRE(back == data);
        frame_extent const extent = measure_zstd_frame(frame);
        REQUIRE((extent.kind == frame_kind::values && extent.bytes == frame.size() && extent.content == size));
        raw_frame::reading const found = raw_frame::read(frame, size);
        REQUIRE(found.raw == (size <= raw_frame::block_limit));
        REQUIRE(found.good == found.raw);
        if (size > 300) { continue; }
        plane_bytes const whole = frame;
        for (std::size_t bit = 0; bit < 8 * frame.size(); ++bit) {
            frame = whole;
            frame[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
            error const why = decode_payload(frame, {0, frame.size(), {1}}, back);
            REQUIRE((why.code == errc::corrupt || (size == 1 && back == data)));  // a run of one byte is that byte
        }
    }
}

TEST_CASE("planes hold one byte of every value, whatever the width and the count") {
    for (payload_form const form : {payload_form{1}, payload_form{2}, payload_form{4}, payload_form{8}}) {
        std::size_t const width = form.planes();
        for (std::size_t count = 0; count < 70; ++count) {
            plane_bytes const values = noise_bytes(count * width);
            std::vector<plane_bytes> planes(width, plane_bytes(count));
            std::byte* into[8]{};
            std::byte const* from[8]{};
            for (std::size_t plane = 0; plane < width; ++plane) { from[plane] = into[plane] = planes[plane].data(); }
            split_planes(values.data(), count, form, into);
            for (std::size_t i = 0; i < values.size(); ++i) { REQUIRE(planes[i % width][i / width] == values[i]); }
            plane_bytes back(values.size());
            join_planes(from, count, form, back.data());
            REQUIRE(back == values);
        }
    }
}

TEST_CASE("each plane has the codec that its plane_bytes ask for") {
    using enum plane_codec;
    auto const codec = [](plane_bytes const& plane) { return choose_codecs(plane, {}).codecs[0]; };
    std::size_t const size = 64U << 10;
    noise random;
    CHECK(codec(noise_bytes(size)) == raw);
    CHECK(codec(plane_bytes(size)) == matches);
    CHECK(codec(plane_of(size, [](std::size_t i) { return i; })) == matches);  // a counter's low byte
    CHECK(codec(plane_of(size, [](std::size_t i) { return i * 167 % 1000 * 37; })) ==
          matches);                                                                            // the same row repeated
    CHECK(codec(plane_of(size, [&](std::size_t) { return random.next() % 10; })) == huffman);  // labels
    CHECK(codec(plane_of(size, [&](std::size_t i) { return i / 100 % 3 == 0 ? random.next() : 0; })) == matches);
    plane_bytes const values = as_bytes_of(weights(size));
    std::array<plane_codec, 8> const codecs = choose_codecs({values.data(), layout::block_bytes}, {4}).codecs;
    CHECK((codecs[0] == raw && codecs[1] == raw && codecs[2] == raw && codecs[3] == huffman));
}

TEST_CASE("what compresses is compressed, and comes back") {
    std::size_t const size = 1U << 20;
    noise random;
    CHECK(ratio_of(as_bytes_of(weights(size / 4)), {4}) > 1.18);
    CHECK(ratio_of(plane_bytes(size), {4}) > 2500);
    CHECK(ratio_of(plane_of(size, [](std::size_t i) { return i * 167 % 1000 * 37; }), {1}) > 20);
    std::vector<std::int32_t> counter(size / 4);
    for (std::size_t i = 0; i < counter.size(); ++i) { counter[i] = static_cast<std::int32_t>(i); }
    CHECK(ratio_of(as_bytes_of(counter), {4}) > 100);
    std::vector<std::int64_t> labels(size / 8);
    for (std::int64_t& each : labels) { each = random.next() % 10; }
    CHECK(ratio_of(as_bytes_of(labels), {8}) > 15);
    std::vector<float> relu = weights(size / 4);
    for (float& each : relu) { each = each < 0 ? 0 : each; }
    CHECK(ratio_of(as_bytes_of(relu), {4}) > 1.6);
    std::vector<float> sparse(size / 4);
    for (std::size_t i = 0; i < sparse.size(); i += 50) { sparse[i] = relu[i]; }
    CHECK(ratio_of(as_bytes_of(sparse), {4}) > 15);
}

TEST_CASE("a level is for the planes with sequences that come back") {
    std::string words;
    noise random;
    std::string_view const vocabulary[] = {"loss ", "weight ", "gradient ", "step ", "epoch "};
    while (words.size() < 200'000) { words += vocabulary[random.next() % 5]; }
    byte_view const text = bytes_of(words.data(), words.size());
    CHECK(pack(text, {}, 12).out.size() < pack(text, {}, 1).out.size());
    plane_bytes const values = as_bytes_of(weights(65536));
    packed const one = pack(values, {4}, 1), twelve = pack(values, {4}, 12);
    CHECK(one.out.size() == twelve.out.size());
}

TEST_CASE("no data makes a payload larger by a thousandth, or a small one by more than 64 bytes") {
    noise random;
    // The sampled parts mislead on purpose: compressible where they are sampled and noise elsewhere, or the reverse.
    auto const misleading = [](std::size_t size, std::size_t width, bool noisy_sample) {
        plane_bytes values = noise_bytes(size);
        std::size_t const count = size / width;
        for (std::size_t i = 0; i < count; ++i) {
            bool sampled = false;
            for (std::size_t window = 0; window < 16; ++window) {
                std::size_t const from = count < 1024 ? 0 : (count - 1024) / 15 * window + 64 * window;
                sampled = sampled || (i >= from && i < from + 64);
            }
            if (sampled == noisy_sample) { continue; }
            for (std::size_t k = 0; k < width; ++k) { values[i * width + k] = static_cast<std::byte>(i % 3 * (k + 1)); }
        }
        return values;
    };
    for (std::size_t const width : {1U, 2U, 4U, 8U}) {
        for (std::size_t size :
             {8U,       64U,      248U,     256U,     504U,     512U,     600U,     1000U,     1024U,
              2048U,    4096U,    10'000U,  65'528U,  65'536U,  65'544U,  70'000U,  100'000U,  131'072U,
              200'000U, 262'144U, 262'152U, 262'656U, 300'000U, 524'288U, 600'000U, 1'048'584U}) {
            size -= size % width;
            auto const form = payload_packer::form_for(width == 1   ? dtype::u8
                                                       : width == 2 ? dtype::f16
                                                       : width == 4 ? dtype::f32
                                                                    : dtype::f64,
                                                       size);
            for (plane_bytes const& values :
                 {noise_bytes(size), plane_bytes(size), misleading(size, width, false), misleading(size, width, true),
                  plane_of(size, [](std::size_t i) { return i; }),
                  plane_of(size, [&](std::size_t) { return random.next() % 190; }),
                  plane_of(size, [&](std::size_t i) { return i % width == 0 ? random.next() : 0; })}) {
                packed const made = pack(values, form);
                INFO(width << " plane_bytes a value, " << size << " in all, packed " << made.out.size());
                if (size > 65536) {
                    REQUIRE(static_cast<double>(made.out.size()) <= 1.001 * static_cast<double>(size));
                } else {
                    REQUIRE(made.out.size() <= size + 64);
                }
                REQUIRE(unpack(made, size) == values);
                // As zstd reads them: frames one after another, to the last byte.
                std::size_t total = 0;
                plane_bytes plain(layout::block_bytes);
                for (byte_view left = made.out.view(); !left.empty();) {
                    std::size_t const frame = ZSTD_findFrameCompressedSize(left.data(), left.size());
                    REQUIRE(ZSTD_isError(frame) == 0);
                    std::size_t const content = ZSTD_decompress(plain.data(), plain.size(), left.data(), frame);
                    REQUIRE(ZSTD_isError(content) == 0);
                    total += content;
                    left = left.subspan(frame);
                }
                REQUIRE((made.form.masked() || total == size));
            }
        }
    }
}
