// SPDX-License-Identifier: Apache-2.0
// T7, T19: size and speed of the codec, on one core. The controls are zstd's level 1 over the same bytes, with and
// without planes, and the plain planes of format version 1. The values are those of a ResNet18, if libtorch is found,
// and of the perceptron.
//     bench_codec [digits.csv]
//     bench_codec --write FOLDER        the ResNet18's tensors as files, for codec_peers.py
#include "thread_time.hpp"
#include "training.hpp"

#ifdef SPOTTER_BENCH_TORCH
#include "resnet18_tensors.hpp"
#endif

#include <spotter/format/bytes.hpp>
#include <spotter/format/shuffle.hpp>
#include <spotter/format/zstd_codec.hpp>

using namespace spotter;

namespace {

struct tensor {
    std::string name;
    dtype type;
    std::vector<std::byte> bytes;

    [[nodiscard]] std::uint8_t width() const noexcept { return static_cast<std::uint8_t>(size_of(type)); }
};
template <class Value>
[[nodiscard]] tensor make_tensor(std::string name, dtype type, std::vector<Value> const& values) {
    byte_view const view = bytes_of(values.data(), values.size());
    return {std::move(name), type, {view.begin(), view.end()}};
}

// Tensors of a training, in f32 and in bf16.
[[nodiscard]] std::vector<tensor> make_tensors(std::string const& path) {
    bench::pictures const pictures = bench::load_pictures(path);
    bench::training run{pictures, bench::rounds(1024, 512)};
    for (std::size_t i = 0; i < bench::rounds(150, 20); ++i) { run.step(); }
    std::printf("trained on %s, %.0f %% of the last batch right\n", pictures.source.c_str(), 100 * run.accuracy());
    auto const& layer = run.layers()[1];
    std::vector<tensor> all;
    auto const add = [&](std::string const& name, std::vector<float> const& values) {
        all.push_back(make_tensor(name + " f32", dtype::f32, values));
        all.push_back(make_tensor(name + " bf16", dtype::bf16, bench::to_bf16(values)));
    };
    add("weights", layer.weights);
    // What delta{...} stores: the difference to the weights of one and of ten steps before.
    for (std::size_t const distance : {1U, 10U}) {
        std::vector<float> const before = layer.weights;
        for (std::size_t i = 0; i < distance; ++i) { run.step(); }
        tensor difference = make_tensor("weights f32 as differences to " + std::to_string(distance) + " steps before",
                                        dtype::f32, layer.weights);
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
    all.push_back(make_tensor("labels i64", dtype::i64, labels));
    return all;
}

#ifdef SPOTTER_BENCH_TORCH
// At most 16 MiB of each kind of tensor, joined into one.
[[nodiscard]] tensor joined(bench::named_tensors const& from, char const* suffix, dtype type, torch::ScalarType as) {
    constexpr std::size_t most = 16U << 20;
    tensor made{from.name + suffix, type, {}};
    for (torch::Tensor values : from.all) {
        values = values.detach();
        if (type == dtype::i8) { values = torch::round(values * (127 / values.abs().max().clamp_min(1e-30))); }
        if (type == dtype::f16) { values = values * (values.abs().max().item<float>() < 0x1p-8F ? 65536 : 1); }
        values = values.to(as).contiguous();
        auto const* const bytes = static_cast<std::byte const*>(values.data_ptr());
        made.bytes.insert(made.bytes.end(), bytes, bytes + (std::min)(values.nbytes(), most - made.bytes.size()));
    }
    return made;
}
[[nodiscard]] std::vector<tensor> make_resnet18() {
    std::vector<tensor> all;
    for (bench::named_tensors const& each : bench::resnet18_tensors()) {
        all.push_back(joined(each, " f32", dtype::f32, torch::kFloat));
        all.push_back(joined(each, " bf16", dtype::bf16, torch::kBFloat16));
        if (each.name.starts_with("Adam's")) { continue; }
        all.push_back(joined(each, " f16", dtype::f16, torch::kHalf));
        all.push_back(joined(each, " i8", dtype::i8, torch::kChar));
    }
    return all;
}
#endif

// Calls use(block) for each block of a tensor.
template <class Use>
void each_block(tensor const& from, Use&& use) {
    byte_view const all{from.bytes};
    for (std::size_t at = 0; at < all.size(); at += layout::block_bytes) {
        use(all.subspan(at, (std::min)(layout::block_bytes, all.size() - at)));
    }
}

// The controls: each block as one frame of zstd's level 1, unchanged or split into planes.
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
                std::size_t const count = block.size() / from.width();
                std::byte* planes[8]{};
                for (std::size_t k = 0; k < from.width(); ++k) { planes[k] = split_.data() + k * count; }
                split_planes(block.data(), count, {from.width()}, planes);
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

// Processor time of the thread: the calls wait for nothing else.
template <class Call>
void time(bench::samples& into, Call&& call) {
    into.add(bench::thread_time{call}.core);
}

struct figures {
    double ratio, megabytes;  // megabytes per second
};
[[nodiscard]] std::string shown(figures const& it) {
    char text[48];
    std::snprintf(text, sizeof text, "%.3f @ %.0f", it.ratio, it.megabytes);
    return text;
}

struct outcome {
    figures plain, shuffled, before, ours;
    double decode_before, decode;  // GB/s
    double choice;                 // share of our packing time spent on choosing codecs
};

// A tensor packed in one form, and read back.
class packing {
public:
    packing(tensor const& of, payload_form form) : of_{of}, form_{form}, back_(of.bytes.size()) {
        (void)out_.reserve(of.bytes.size() + (1U << 20));
    }
    void round() {
        time(packed_, [&] {
            out_.clear();
            each_block(of_, [&](byte_view block) {
                if (packer_.pack(block, form_, out_)) { std::abort(); }
            });
        });
        time(read_, [&] {
            if (unpacker_.unpack(out_.view(), {0, out_.size(), form_}, back_)) { std::abort(); }
        });
        if (back_ != of_.bytes) { std::abort(); }
    }
    [[nodiscard]] std::size_t size() const noexcept { return out_.size(); }
    [[nodiscard]] bench::samples& packed() noexcept { return packed_; }
    [[nodiscard]] double decode() { return static_cast<double>(of_.bytes.size()) / read_.median(); }

private:
    tensor const& of_;
    payload_form form_;
    payload_packer packer_{1};
    payload_unpacker unpacker_;
    byte_buffer out_;
    std::vector<std::byte> back_;
    bench::samples packed_, read_;
};

// Measures all in turn, repeatedly, so that a busy machine slows all of them.
[[nodiscard]] outcome measure(tensor const& it, plain_zstd& zstd) {
    payload_form const form = payload_packer::form_for(it.type, it.bytes.size());
    packing before{it, {it.width()}}, ours{it, form};
    bench::samples plain, shuffled, choosing;
    std::size_t plain_bytes = 0, shuffled_bytes = 0;
    for (std::size_t round = 0; round < bench::rounds(7, 2); ++round) {
        time(plain, [&] { plain_bytes = zstd.pack(it, false); });
        time(shuffled, [&] { shuffled_bytes = zstd.pack(it, true); });
        before.round();
        ours.round();
        time(choosing,
             [&] { each_block(it, [&](byte_view block) { bench::do_not_optimise(choose_codecs(block, form)); }); });
    }
    auto const bytes = static_cast<double>(it.bytes.size());
    auto const rated = [&](std::size_t size, bench::samples& times) {
        return figures{bytes / static_cast<double>(size), bytes / times.median() * 1e3};
    };
    return {rated(plain_bytes, plain),
            rated(shuffled_bytes, shuffled),
            rated(before.size(), before.packed()),
            rated(ours.size(), ours.packed()),
            before.decode(),
            ours.decode(),
            choosing.median() / ours.packed().median()};
}

// The most bytes that a payload may have; noise is the worst case.
void bound() {
    std::vector<std::byte> values(16U << 20);
    std::uint64_t state = 1;
    for (std::byte& each : values) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        each = static_cast<std::byte>(state >> 56);
    }
    payload_packer packer{1};
    byte_buffer out;
    tensor const it{"noise", dtype::f64, std::move(values)};
    each_block(it, [&](byte_view block) {
        if (packer.pack(block, payload_packer::form_for(it.type, it.bytes.size()), out)) { std::abort(); }
    });
    bench::target("T7 noise as f64, size", static_cast<double>(out.size()) / static_cast<double>(it.bytes.size()), "x",
                  bench::wanted::at_most, 1.001);
}

struct wish {
    char const* name;
    double ratio, speed, decode;  // 0: no target; speed relative to zstd
};
void report(std::vector<tensor> const& tensors, char const* title, std::vector<wish> const& wishes) {
    plain_zstd zstd;
    std::printf(
        "ratio @ MB/s of the thread's processor: zstd 1 | zstd 1 behind planes | planes of version 1 | spotter\n");
    for (tensor const& it : tensors) {
        outcome const found = measure(it, zstd);
        double const speed = found.ours.megabytes / found.plain.megabytes;
        std::printf("  %s: %s | %s | %s | %s (%.2f x zstd), decoded at %.2f and %.2f GB/s, choice %.1f %%\n",
                    it.name.c_str(), shown(found.plain).c_str(), shown(found.shuffled).c_str(),
                    shown(found.before).c_str(), shown(found.ours).c_str(), speed, found.decode_before, found.decode,
                    100 * found.choice);
        std::fflush(stdout);
        for (wish const& each : wishes) {
            if (it.name != each.name) { continue; }
            std::string const what = title + it.name;
            bench::target(what + ", ratio", found.ours.ratio, "x", bench::wanted::at_least, each.ratio,
                          bench::control("version 1", found.before.ratio, "x"));
            if (each.speed > 0) {
                bench::target(what + ", speed", speed, "x", bench::wanted::at_least, each.speed,
                              bench::control("zstd 1", found.plain.megabytes, "MB/s"));
            }
            if (each.decode > 0) {
                bench::target(what + ", decode", found.decode, "GB/s", bench::wanted::at_least, each.decode);
            }
        }
    }
}

#ifdef SPOTTER_BENCH_TORCH
int write_all(std::string const& folder) {
    for (tensor const& each : make_resnet18()) {
        std::ofstream file{folder + '/' + each.name, std::ios::binary};
        file.write(reinterpret_cast<char const*>(each.bytes.data()), static_cast<std::streamsize>(each.bytes.size()));
        if (!file) { return 1; }
    }
    return 0;
}
#endif

}  // namespace

int main(int count, char** arguments) {
#ifdef SPOTTER_BENCH_TORCH
    if (count > 2 && std::string_view{arguments[1]} == "--write") { return write_all(arguments[2]); }
    std::printf("a ResNet18 after 120 steps of Adam, libtorch\n");
    report(make_resnet18(), "T19 ",
           {{"weights f32", 1.203, 1.8, 3},
            {"weights bf16", 1.508, 1.4, 3},
            {"gradients in front of ReLU f32", 3.25, 1.8, 0},
            {"gradients in front of ReLU bf16", 3.85, 1.8, 0}});
#else
    std::printf("no libtorch: nothing of a ResNet18\n");
#endif
    report(make_tensors(count > 1 ? arguments[1] : ""), "T7 ",
           {{"weights f32", 1.19, 1.8, 3},
            {"weights bf16", 1.48, 1.4, 3},
            {"gradients f32", 1.14, 0, 0},
            {"gradients bf16", 1.34, 0, 0}});
    bound();
    return 0;
}
