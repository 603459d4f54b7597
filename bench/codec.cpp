// SPDX-License-Identifier: Apache-2.0
// T7: how small values become and how fast, on one core, against zstd's level 1 over the same bytes, with and without planes.
//     bench_codec [digits.csv]
#include "training.hpp"

#include <spotter/format/bytes.hpp>
#include <spotter/format/difference.hpp>
#include <spotter/format/zstd_codec.hpp>

using namespace spotter;

namespace {

struct tensor {
    std::string name;
    std::uint8_t width;
    std::vector<std::byte> bytes;
};
template <class Value>
[[nodiscard]] tensor make_tensor(std::string name, std::vector<Value> const& values) {
    byte_view const view = bytes_of(values.data(), values.size());
    return {std::move(name), sizeof(Value), {view.begin(), view.end()}};
}

// Tensors as a training leaves them, in f32 and in bf16.
[[nodiscard]] std::vector<tensor> make_tensors(std::string const& path) {
    bench::pictures const pictures = bench::load_pictures(path);
    bench::training run{pictures, bench::rounds(1024, 512)};
    for (std::size_t i = 0; i < bench::rounds(150, 20); ++i) { run.step(); }
    std::printf("trained on %s, %.0f %% of the last batch right\n", pictures.source.c_str(), 100 * run.accuracy());
    auto const& layer = run.layers()[1];
    std::vector<tensor> all;
    auto const add = [&](std::string const& name, std::vector<float> const& values) {
        all.push_back(make_tensor(name + " f32", values));
        all.push_back(make_tensor(name + " bf16", bench::to_bf16(values)));
    };
    add("weights", layer.weights);
    // What delta{...} stores: the difference to the weights a step before, and ten.
    for (std::size_t const distance : {1U, 10U}) {
        std::vector<float> const before = layer.weights;
        for (std::size_t i = 0; i < distance; ++i) { run.step(); }
        tensor difference =
            make_tensor("weights f32 as differences to " + std::to_string(distance) + " steps before", layer.weights);
        byte_view const old = bytes_of(before.data(), before.size());
        exclusive_or(difference.bytes.data(), old.data(), difference.bytes.data(), old.size());
        all.push_back(std::move(difference));
    }
    add("gradients", layer.gradient);
    add("activations", layer.output);
    add("Adam's mean", layer.first);
    add("Adam's variance", layer.second);
    add("normal values", bench::normal_values(bench::rounds(4, 1) << 20, 0.02F));
    std::vector<std::int64_t> labels;
    while (labels.size() < (256U << 10)) { labels.insert(labels.end(), run.labels().begin(), run.labels().end()); }
    all.push_back(make_tensor("labels i64", labels));
    return all;
}

// Calls use(block) for each block of a tensor.
template <class Use>
void each_block(tensor const& from, Use&& use) {
    byte_view const all{from.bytes};
    for (std::size_t at = 0; at < all.size(); at += layout::block_bytes) {
        use(all.subspan(at, (std::min)(layout::block_bytes, all.size() - at)));
    }
}

// The controls: each block one frame of zstd's level 1, as it is or split into planes first.
class plain_zstd {
public:
    plain_zstd()
        : context_{ZSTD_createCCtx()}, made_(ZSTD_compressBound(layout::block_bytes)), split_(layout::block_bytes) {
        ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, 1);
        ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1);
    }
    plain_zstd(plain_zstd const&) = delete;
    plain_zstd& operator=(plain_zstd const&) = delete;
    ~plain_zstd() { ZSTD_freeCCtx(context_); }

    [[nodiscard]] std::size_t pack(tensor const& from, bool in_planes) {
        std::size_t total = 0;
        each_block(from, [&](byte_view block) {
            std::byte const* values = block.data();
            if (in_planes) {
                std::size_t const count = block.size() / from.width;
                std::byte* planes[8]{};
                for (std::size_t k = 0; k < from.width; ++k) { planes[k] = split_.data() + k * count; }
                split_planes(block.data(), count, from.width, planes);
                values = split_.data();
            }
            total += ZSTD_compress2(context_, made_.data(), made_.size(), values, block.size());
        });
        return total;
    }

private:
    ZSTD_CCtx* context_;
    std::vector<std::byte> made_;
    std::vector<std::byte> split_;
};

struct figures {
    double ratio, megabytes;  // a second
};
[[nodiscard]] std::string shown(figures const& it) {
    char text[48];
    std::snprintf(text, sizeof text, "%.3f @ %.0f", it.ratio, it.megabytes);
    return text;
}

struct outcome {
    figures plain, shuffled, ours;
    double decode;  // GB/s
    double choice;  // of the time of ours, the share that the samples take
};

// All in turn, again and again, so that a busy machine slows all of them.
[[nodiscard]] outcome measure(tensor const& it, plain_zstd& zstd) {
    payload_packer packer{1};
    payload_unpacker unpacker;
    byte_buffer out;
    (void)out.reserve(it.bytes.size() + (1U << 20));
    std::vector<std::byte> back(it.bytes.size());
    bench::samples plain, shuffled, ours, decoding, choosing;
    std::size_t plain_bytes = 0, shuffled_bytes = 0;
    for (std::size_t round = 0; round < bench::rounds(15, 2); ++round) {
        plain.time(1, [&] { plain_bytes = zstd.pack(it, false); });
        shuffled.time(1, [&] { shuffled_bytes = zstd.pack(it, true); });
        ours.time(1, [&] {
            out.clear();
            each_block(it, [&](byte_view block) {
                if (packer.pack(block, it.width, out)) { std::abort(); }
            });
        });
        decoding.time(1, [&] {
            if (unpacker.unpack(out.view(), {0, out.size(), it.width}, back)) { std::abort(); }
        });
        choosing.time(1, [&] {
            each_block(it, [&](byte_view block) { bench::do_not_optimise(choose_codecs(block, it.width)); });
        });
    }
    if (back != it.bytes) { std::abort(); }
    auto const bytes = static_cast<double>(it.bytes.size());
    auto const rated = [&](std::size_t size, bench::samples& times) {
        return figures{bytes / static_cast<double>(size), bytes / times.median() * 1e3};
    };
    return {rated(plain_bytes, plain), rated(shuffled_bytes, shuffled), rated(out.size(), ours),
            bytes / decoding.median(), choosing.median() / ours.median()};
}

// No data makes a payload larger than this; noise is the worst there is.
void bound() {
    std::vector<std::byte> values(16U << 20);
    std::uint64_t state = 1;
    for (std::byte& each : values) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        each = static_cast<std::byte>(state >> 56);
    }
    payload_packer packer{1};
    byte_buffer out;
    tensor const it{"noise", 8, std::move(values)};
    each_block(it, [&](byte_view block) {
        if (packer.pack(block, it.width, out)) { std::abort(); }
    });
    bench::target("T7 noise as f64, size", static_cast<double>(out.size()) / static_cast<double>(it.bytes.size()), "x",
                  bench::wanted::at_most, 1.001);
}

}  // namespace

int main(int count, char** arguments) {
    std::vector<tensor> const tensors = make_tensors(count > 1 ? arguments[1] : "");
    plain_zstd zstd;
    struct wish {
        char const* name;
        double ratio, speed;  // 0: none
    } const wishes[] = {{"weights f32", 1.19, 1.8},
                        {"weights bf16", 1.48, 1.4},
                        {"gradients f32", 1.14, 0},
                        {"gradients bf16", 1.34, 0}};
    std::printf("ratio @ MB/s of one core: zstd 1 | zstd 1 behind planes | spotter\n");
    for (tensor const& it : tensors) {
        outcome const found = measure(it, zstd);
        double const speed = found.ours.megabytes / found.plain.megabytes;
        std::printf("  %s: %s | %s | %s (%.2f x), decoded at %.2f GB/s, choice %.1f %%\n", it.name.c_str(),
                    shown(found.plain).c_str(), shown(found.shuffled).c_str(), shown(found.ours).c_str(), speed,
                    found.decode, 100 * found.choice);
        for (wish const& each : wishes) {
            if (it.name != each.name) { continue; }
            bench::target("T7 " + it.name + ", ratio", found.ours.ratio, "x", bench::wanted::at_least, each.ratio);
            if (each.speed == 0) { continue; }
            bench::target("T7 " + it.name + ", speed", speed, "x", bench::wanted::at_least, each.speed,
                          bench::control("zstd 1", found.plain.megabytes, "MB/s"));
            bench::target("T7 " + it.name + ", decode", found.decode, "GB/s", bench::wanted::at_least, 3);
        }
    }
    bound();
    return 0;
}
