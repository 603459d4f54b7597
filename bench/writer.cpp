// SPDX-License-Identifier: Apache-2.0
// T8: the throughput of one writer core from the ring to a file, compared with zstd's level 1 and fwrite over the same
// values. It measures the thread's processor time, system calls for the file included: a busy neighbour and a slow disk
// behind the system's cache do not count. The figures behind the targets are elapsed time.
//     bench_writer [digits.csv]
#include "scratch_folder.hpp"
#include "training.hpp"

#include <spotter/spotter.hpp>

#include <time.h>
#include <zstd.h>

using namespace spotter;

namespace {

constexpr std::uint64_t ring_bytes = 128ULL << 20;
constexpr std::size_t round_bytes = 48U << 20;

// Values in memory larger than a cache: the writer reads them after the training continued.
struct workload {
    std::string name;
    std::vector<std::vector<float>> tensors;
    dtype type = dtype::f32;

    [[nodiscard]] std::size_t bytes() const noexcept {
        std::size_t all = 0;
        for (auto const& each : tensors) { all += each.size() * sizeof(float); }
        return all;
    }
};

// Processor seconds of this thread.
[[nodiscard]] double processor_time() noexcept {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// MB/s by processor time and by elapsed time, of one operation repeated; medians.
class rates {
public:
    template <class Call>
    void time(std::size_t bytes, Call&& call) {
        double const before = processor_time();
        double const wall = bench::nanoseconds(call);
        double const core = processor_time() - before;
        core_.push_back(static_cast<double>(bytes) / core * 1e-6);
        wall_.push_back(static_cast<double>(bytes) / wall * 1e3);
    }
    [[nodiscard]] double core() { return median(core_); }
    [[nodiscard]] double wall() { return median(wall_); }

private:
    [[nodiscard]] static double median(std::vector<double>& all) {
        std::sort(all.begin(), all.end());
        return all.empty() ? 0 : all[all.size() / 2];
    }
    std::vector<double> core_, wall_;
};

// The control: blocks of 256 KiB, each a zstd frame, written through the C library's buffers into one file.
class pipeline {
public:
    explicit pipeline(std::string const& path)
        : file_{std::fopen(path.c_str(), "wb")}, context_{ZSTD_createCCtx()}, made_(ZSTD_compressBound(block)) {
        ZSTD_CCtx_setParameter(context_, ZSTD_c_compressionLevel, 1);
        ZSTD_CCtx_setParameter(context_, ZSTD_c_checksumFlag, 1);
    }
    pipeline(pipeline const&) = delete;
    pipeline& operator=(pipeline const&) = delete;
    ~pipeline() {
        if (file_ != nullptr) { std::fclose(file_); }
        ZSTD_freeCCtx(context_);
    }
    void put(void const* from, std::size_t bytes) {
        auto const* const at = static_cast<char const*>(from);
        for (std::size_t done = 0; done < bytes; done += block) {
            std::size_t const size = (std::min)(block, bytes - done);
            std::size_t const made = ZSTD_compress2(context_, made_.data(), made_.size(), at + done, size);
            if (file_ == nullptr || std::fwrite(made_.data(), 1, made, file_) != made) { std::abort(); }
        }
    }
    void flush() {
        if (file_ != nullptr) { std::fflush(file_); }
    }

private:
    static constexpr std::size_t block = 256U << 10;
    std::FILE* file_;
    ZSTD_CCtx* context_;
    std::vector<char> made_;
};

// `values` viewed as the workload's type.
[[nodiscard]] tensor_ref seen_as(workload const& it, std::vector<float> const& values) {
    if (it.type == dtype::f32) { return view_of(values.data(), {values.size()}); }
    return view_of(reinterpret_cast<bf16 const*>(values.data()), {values.size() * 2});
}

void measure(workload const& it, bool is_target, unsigned compressors = 1) {
    bench::scratch_folder const folder;
    std::filesystem::create_directories(folder.path());
    pipeline control{folder.path() + "/control"};
    hook watch{std::string_view{folder.path() + "/run"}, spotter::plan{collection{"all", "*", always{}, payload}},
               options{.drain = drain::poll, .ring_bytes = ring_bytes, .compressors = compressors}};
    std::vector<std::string> names;
    for (std::size_t i = 0; i < it.tensors.size(); ++i) { names.push_back("tensor" + std::to_string(i)); }
    rates plain, ours;
    std::size_t const again = (std::max)(round_bytes / it.bytes(), std::size_t{1});
    for (std::size_t round = 0; round < bench::rounds(9, 2); ++round) {
        watch.begin(train(round));
        for (std::size_t k = 0; k < again; ++k) {
            for (std::size_t i = 0; i < it.tensors.size(); ++i) { watch.observe(names[i], seen_as(it, it.tensors[i])); }
        }
        (void)watch.end();
        ours.time(again * it.bytes(), [&] { watch.flush(); });  // no other thread drains the ring
        plain.time(again * it.bytes(), [&] {
            for (std::size_t k = 0; k < again; ++k) {
                for (auto const& each : it.tensors) { control.put(each.data(), each.size() * sizeof(float)); }
            }
            control.flush();
        });
    }
    health_report const health = watch.health();
    if (!health.good() || health.sink.dropped + health.sink.thinned > 0) {
        std::printf("  not a measurement: %s\n", std::string{health.first_error.what.view()}.c_str());
    }
    if (compressors > 1) {
        return bench::figure("  writer, " + it.name + ", " + std::to_string(compressors) + " compressors, by the clock",
                             ours.wall() / plain.wall(), "x",
                             bench::control("zstd 1 and fwrite", plain.wall(), "MB/s"));
    }
    double const speed = ours.core() / plain.core();
    std::string const beside = bench::control("zstd 1 and fwrite", plain.core(), "MB/s");
    if (is_target) {
        bench::target("T8 writer, " + it.name, speed, "x", bench::wanted::at_least, 1.7, beside);
    } else {
        bench::figure("  writer, " + it.name, speed, "x", beside);
    }
    bench::figure("  by the clock", ours.wall() / plain.wall(), "x",
                  bench::control("zstd 1 and fwrite", plain.wall(), "MB/s"));
}

}  // namespace

int main(int count, char** arguments) {
    bench::pictures const pictures = bench::load_pictures(count > 1 ? arguments[1] : "");
    bench::training run{pictures, bench::rounds(1024, 512)};
    for (std::size_t i = 0; i < bench::rounds(150, 10); ++i) { run.step(); }
    std::printf("files in the temporary folder, as far as the system's cache; trained on %s\n",
                pictures.source.c_str());
    workload weights{"weights f32", {}}, half{"weights bf16", {}, dtype::bf16}, step{"all tensors of a step, f32", {}};
    auto const& layer = run.layers()[1];
    for (int i = 0; i < 8; ++i) { weights.tensors.push_back(layer.weights); }
    std::vector<std::uint16_t> const halves = bench::to_bf16(layer.weights);
    std::vector<float> pairs(halves.size() / 2);
    std::memcpy(pairs.data(), halves.data(), pairs.size() * sizeof(float));
    for (int i = 0; i < 8; ++i) { half.tensors.push_back(pairs); }
    for (auto const& each : run.layers()) {
        for (auto const* values : {&each.weights, &each.gradient, &each.first, &each.second, &each.output}) {
            step.tensors.push_back(*values);
        }
    }
    measure(weights, true);
    measure(weights, false, 2);
    measure(half, false);
    measure(step, true);
    return 0;
}
