// SPDX-License-Identifier: Apache-2.0
// Golden runs: records that earlier versions wrote are read as they were then.
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <tests/catch.hpp>
#include <tests/golden/text.hpp>
#include <tests/trial/runs.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

using namespace spotter;
using namespace spotter_test;

namespace {

namespace fs = std::filesystem;

std::string text_of(fs::path const& segment) {
    std::vector<char> const bytes = read_file(segment.string());
    std::vector<std::byte> const exact(reinterpret_cast<std::byte const*>(bytes.data()),
                                       reinterpret_cast<std::byte const*>(bytes.data()) + bytes.size());
    return segment_text{exact}.text();
}
std::vector<fs::path> segments_in(fs::path const& folder) {
    std::vector<fs::path> found;
    for (auto const& each : fs::recursive_directory_iterator{folder}) {
        if (each.path().extension() == ".spot") { found.push_back(each.path()); }
    }
    std::sort(found.begin(), found.end());
    return found;
}
// Reads everything that a reader can ask for; returns how much was there.
std::size_t read_all(std::string const& folder) {
    auto const run = open_trial(folder);
    REQUIRE(run);
    std::size_t found = run->findings().size() + run->coverages().size() + run->damage().size();
    for (std::string const& name : run->names()) {
        track const mine = (*run)[name];
        for (step_id const step : run->steps()) { found += mine.at(step) ? 1 : 0; }
        found += mine.history(l2, always{}).size();
    }
    return found;
}

// --- how they were made
// ------------------------------------------------------------------------------------------------------

double ticking() noexcept {
    static double time = 1.75e9;
    return time += 1.0 / 4096;
}
options polled() {
    options choices;
    choices.drain = drain::poll;
    choices.clock = &ticking;
    choices.flush_milliseconds = only_when_asked;
    return choices;
}
// `bytes` viewed as values of any type.
tensor_ref any_view(std::vector<std::byte> const& bytes, dtype type, extents const& shape,
                    order layout = order::row_major) {
    tensor_ref view = view_of(reinterpret_cast<float const*>(bytes.data()), extents{shape}, layout);
    view.type = type;
    return view;
}
std::vector<std::byte> noise_of(std::size_t count, unsigned seed) {
    std::vector<std::byte> bytes(count);
    for (std::size_t i = 0; i < count; ++i) {
        seed = seed * 1664525U + 1013904223U;
        bytes[i] = static_cast<std::byte>(seed >> 24);
    }
    return bytes;
}

// What most runs have: losses, statistics with and without values, findings, scalars of all kinds, modes.
void make_training(std::string const& path) {
    constexpr plan keep{collection{"losses", "loss", always{}, payload},
                        collection{"weights", role::weight, every{4}, payload | stats(l2, mean)},
                        collection{"gradients", "grad/*", during{mode::train}, stats(l2, maximum, nonfinite)},
                        collection{"shapes", "act/*", every{5}, quantiles | histogram | shape}};
    hook watch{path,
               keep,
               polled(),
               non_finite{},
               vanishing_gradient{},
               dead_relu{.samples = 4},
               any("loss", minimum > 100.0) | named{"large \"loss\""}};
    std::vector<float> w(6), g(6), act(12);
    for (std::uint64_t i = 0; i < 30; ++i) {
        auto const value = static_cast<float>(i);
        for (std::size_t k = 0; k < 6; ++k) { w[k] = value + static_cast<float>(k) / 8, g[k] = 0.5F / (value + 1); }
        for (std::size_t k = 0; k < 12; ++k) { act[k] = k % 3 == 0 ? 0.0F : value - static_cast<float>(k); }
        if (i == 9) { g[2] = std::numeric_limits<float>::quiet_NaN(), g[4] = -std::numeric_limits<float>::infinity(); }
        if (i == 10) { watch.scalar("note", std::string_view{"r\xC3\xA9sum\xC3\xA9 \"x\"\n"}); }
        if (i % 4 == 3) {
            watch.scalar("lr", 0.125 / static_cast<double>(i));
            watch.scalar("wall", 5 * i, 1.5e9 + static_cast<double>(i));
        }
        watch.begin(i % 5 == 4 ? eval(i / 5) : train(i));
        watch.observe("loss", i == 8 ? 1000.0F : 1 / (value + 1));
        watch.observe("metric/accuracy", 0.25 * static_cast<double>(i));
        watch.observe("grad/fc", view_of(g.data(), {2, 3}));
        watch.observe("fc/w", view_of(w.data(), {2, 3}));
        watch.observe("act/fc", view_of(act.data(), {i == 5 ? 2U : 4U, i == 5 ? 6U : 3U}));
        (void)watch.end();
        if (i % 8 == 6) { watch.flush(); }
    }
    watch.finish();
}
// Steps with only scalars and statistics, which are packed: several templates, modes and strides, a step closed twice,
// one with a NaN.
void make_packed(std::string const& path) {
    constexpr plan keep{
        collection{"losses", "loss*", always{}, payload},
        collection{"weights", "w", always{}, stats(l2, variance, product) | stats_mask::change | stats_mask::hash}};
    hook watch{path, keep, polled(), all_zero{}};
    std::vector<double> w(5, 0.75);
    for (std::uint64_t i = 0; i < 60; ++i) {
        w[static_cast<std::size_t>(i % 5)] = 1.0 / static_cast<double>(i + 1);
        if (i == 31) { w[1] = std::numeric_limits<double>::infinity(); }
        watch.begin(i % 6 == 5 ? eval(10 * i) : train(i == 40 ? 39 : i));
        watch.observe("loss", 1.0 / static_cast<double>(i + 2));
        if (i % 3 == 0) { watch.observe("loss/aux", static_cast<float>(i)); }
        watch.observe("w", w);
        (void)watch.end();
        if (i % 25 == 24) { watch.flush(); }
    }
    watch.finish();
}
// Values of every type, order and size.
void make_types(std::string const& path) {
    hook watch{path, plan{collection{"all", "*", always{}, payload | stats(l1)}}, polled()};
    for (std::uint64_t i = 0; i < 2; ++i) {
        watch.begin(train(i));
        for (std::uint8_t type = 1; type <= static_cast<std::uint8_t>(dtype::f8_e5m2); ++type) {
            auto const which = static_cast<dtype>(type);
            if (size_of(which) == 0) { continue; }
            std::vector<std::byte> bytes = noise_of(size_of(which) * 15, type + static_cast<unsigned>(i));
            if (which == dtype::boolean) {
                for (std::byte& each : bytes) { each &= std::byte{1}; }
            }
            std::string const name = "type/" + std::to_string(type);
            watch.observe(name, any_view(bytes, which, {3, 5}, i == 0 ? order::row_major : order::column_major));
        }
        (void)watch.end();
    }
    watch.begin(predict(0));
    std::vector<float> smooth(70'000);
    for (std::size_t i = 0; i < smooth.size(); ++i) { smooth[i] = static_cast<float>(i / 64); }
    watch.observe("blocks/f32", view_of(smooth.data(), {70, 1000}));  // more than one block
    std::vector<std::byte> const half = noise_of(600, 9);
    watch.observe("planes/f16", any_view(half, dtype::f16, {300}));
    std::vector<double> const doubles(300, -0.0);
    watch.observe("planes/f64", view_of(doubles.data(), {300}));
    watch.observe("empty", view_of(doubles.data(), {0, 7}));
    watch.observe("deep", view_of(doubles.data(), {1, 2, 1, 2, 1, 2, 1, 2}));
    (void)watch.end();
    watch.finish();
}
// Values stored as differences to earlier ones: short chains, one in f16, a change of shape, a NaN.
void make_chains(std::string const& path) {
    hook watch{path, plan{collection{"weights", "w*", always{}, payload | delta{3}}}, polled()};
    std::vector<float> w(300);
    for (std::size_t i = 0; i < w.size(); ++i) { w[i] = 1 / (static_cast<float>(i) + 1); }
    std::vector<std::byte> half = noise_of(700, 4);
    for (std::uint64_t i = 0; i < 10; ++i) {
        for (float& each : w) { each *= 1.0009765625F; }
        if (i == 5) { w[7] = std::numeric_limits<float>::quiet_NaN(); }
        half[static_cast<std::size_t>(i)] ^= std::byte{1};
        watch.begin(train(i));
        watch.observe("w/f32", view_of(w.data(), {i < 8 ? 30U : 15U, i < 8 ? 10U : 20U}));
        watch.observe("w/bf16", any_view(half, dtype::bf16, {350}));
        (void)watch.end();
    }
    watch.finish();
}
// What version 2 added: rotated planes of floats, and zero masks, for every type. One payload has blocks with no, some
// and only zeros; −0 and a NaN are among the values.
void make_forms(std::string const& path) {
    hook watch{path, plan{collection{"all", "*", always{}, payload | stats(l1)}}, polled()};
    for (std::uint64_t i = 0; i < 3; ++i) {
        watch.begin(train(i));
        for (std::uint8_t type = 1; type <= static_cast<std::uint8_t>(dtype::f8_e5m2); ++type) {
            auto const which = static_cast<dtype>(type);
            std::size_t const width = size_of(which), count = 600;
            std::vector<std::byte> bytes = noise_of(width * count, type + static_cast<unsigned>(i));
            for (std::size_t k = 0; k < count; ++k) {
                std::byte* const value = bytes.data() + k * width;
                bool const zero = i == 0 ? k % 3 > 0 : i == 1 ? k / 100 % 2 > 0 : k % 150 == 0;
                // Makes the values compressible.
                for (std::size_t b = 0; b < width; ++b) { value[b] &= std::byte{0x71}; }
                if (width > 1) { value[width - 1] = (value[width - 1] & std::byte{0x80}) | std::byte{0x3F}; }
                if (which == dtype::boolean) { value[0] &= std::byte{1}; }
                if (zero) { std::memset(value, 0, width); }
                if (zero && k % 50 == 1 && width > 1) { value[width - 1] = std::byte{0x80}; }
                if (k == 7 && is_floating(which)) { std::memset(value, 0xFF, width); }
            }
            std::string const name = "type/" + std::to_string(type);
            watch.observe(name, any_view(bytes, which, {20, 30}, i == 0 ? order::row_major : order::column_major));
        }
        (void)watch.end();
        watch.flush();
    }
    watch.begin(predict(0));
    std::vector<float> blocks(3 * 65'536 + 77);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        std::size_t const block = i / 65'536;
        bool const zero = block == 1 ? i % 64 != 3 : block == 2 || (block == 3 && i % 2 == 0);
        blocks[i] = zero ? 0.0F : 1 + static_cast<float>(i / 128);
    }
    watch.observe("blocks/f32", view_of(blocks.data(), {3 * 65'536 + 77}));
    std::vector<double> const nothing(65'536, 0.0);
    watch.observe("zero/f64", view_of(nothing.data(), {256, 256}));
    watch.observe("small/f64", view_of(nothing.data(), {8, 7}));
    (void)watch.end();
    watch.finish();
}
// Two attempts with several segments: the first one failed, the second died with a step open.
void make_attempts(std::string const& path, std::string const& copy) {
    options choices = polled();
    choices.segment_bytes = 4096;
    choices.existing = existing::resume;
    constexpr plan keep{collection{"all", "*", always{}, payload}};
    std::vector<std::uint32_t> w(64);
    {
        hook watch{path, keep, choices};
        for (std::uint64_t i = 0; i < 40; ++i) {
            std::memcpy(w.data(), noise_of(256, static_cast<unsigned>(i)).data(), 256);
            (void)watch.step(train(i), "w"_t = w, "loss"_t = 0.5F);
            if (i % 10 == 9) { watch.flush(); }
        }
        watch.fail("out of data");
    }
    hook watch{path, keep, choices};
    for (std::uint64_t i = 40; i < 45; ++i) { (void)watch.step(train(i), "loss"_t = 0.25F, "w"_t = w); }
    watch.begin(train(45));
    watch.observe("loss", 0.125F);
    watch.flush();
    fs::copy(path, copy, fs::copy_options::recursive);
    watch.finish();
}
// A ring in shared memory, whose position is recorded, and a tensor too large to wait in it.
void make_shared(std::string const& path) {
    options choices = polled();
    choices.ring_in = ring_in::shared_memory;
    choices.ring_bytes = 64 << 10;
    hook watch{path, plan{collection{"all", "*", always{}, payload}}, choices};
    std::vector<float> const large(10'000, 0.25F);
    for (std::uint64_t i = 0; i < 4; ++i) {
        (void)watch.step(train(i), "loss"_t = 0.5F, "w"_t = std::vector<float>(20, 1.5F), "large"_t = large);
        watch.flush();
    }
    watch.finish();
}
// A ring that is too small: values and whole observations are dropped.
void make_drops(std::string const& path) {
    options choices = polled();
    choices.ring_bytes = 64 << 10;
    choices.overflow = overflow::thin;
    hook watch{path, plan{collection{"all", "*", always{}, payload | stats(l2)}}, choices};
    std::vector<float> const w(3000, 1.5F);
    for (std::uint64_t i = 0; i < 30; ++i) {
        (void)watch.step(train(i), "w"_t = w, "loss"_t = 0.5F);
        if (i % 15 == 14) { watch.poll(); }
    }
    watch.finish();
}
// What rules extract of values: integers, fractions, a NaN, nothing; with and without the values themselves.
struct extracting {
    using kind = rule_kind;
    static constexpr std::string_view name = "extracting";
    std::uint64_t first = 0;
    struct state {};
    static stats_mask needs(tensor_info const&) { return stats_mask::feature | stats_mask::sum; }
    [[nodiscard]] std::uint64_t feature_key() const { return key_of("extracting", first); }
    void extract(state&, observation const&, tensor_ref const& values, feature& out) const {
        for (std::uint64_t i = first; i < values.count; ++i) { out.push(static_cast<double>(values.values.f32[i])); }
    }
    static void observe(state&, observation const&, std::span<double const>) {}
    static truth close(state&, step_id, findings&) { return truth::no; }
};
void make_features(std::string const& path) {
    options choices = polled();
    choices.segment_bytes = 4096;
    hook watch{path, plan{collection{"some", "w", every{8}, payload}}, choices, extracting{},
               extracting{3} | only{every{2}}};
    for (std::uint64_t i = 0; i < 40; ++i) {
        float const power = i < 20 ? static_cast<float>(1ULL << 2 * i) : -0.125F;
        float const few[] = {power, 0.0F, -0.0F, i % 7 == 6 ? std::numeric_limits<float>::quiet_NaN() : 3.0F};
        watch.begin(i % 5 == 4 ? eval(i) : train(i));
        watch.observe("w", view_of(few, {i % 10 == 9 ? 0U : i % 2 == 0 ? 4U : 2U}));
        watch.observe("loss", 1 / static_cast<float>(i + 1));
        if (i % 3 == 0) { watch.observe("w", view_of(few, {1})); }
        (void)watch.end();
        if (i % 16 == 15) { watch.flush(); }
    }
    watch.finish();
}
// Flips a bit of the first values, and one of the last row frame but one.
void damage(std::string const& file) {
    std::vector<char> bytes = read_file(file);
    std::vector<std::byte> const whole(reinterpret_cast<std::byte const*>(bytes.data()),
                                       reinterpret_cast<std::byte const*>(bytes.data()) + bytes.size());
    std::vector<row_frame> frames;
    frame_walker walk{whole};
    for (walked what = walk.next(); what != walked::end; what = walk.next()) {
        if (what == walked::rows) { frames.push_back(walk.frame()); }
    }
    auto const values =
        std::find_if(frames.begin(), frames.end(), [](auto const& it) { return it.previous_end < it.offset; });
    REQUIRE((values != frames.end() && frames.size() > 3));
    std::uint64_t const places[] = {(values->previous_end + values->offset) / 2, frames[frames.size() - 2].offset + 60};
    for (std::uint64_t const place : places) {
        char& at = bytes[static_cast<std::size_t>(place)];
        at = static_cast<char>(at ^ 1);
    }
    write_file(file, bytes);
}

}  // namespace

TEST_CASE("golden runs read as they did when they were written") {
    fs::path const runs = fs::path{SPOTTER_SOURCE_DIR} / "tests" / "golden" / "runs";
    std::vector<fs::path> const segments = segments_in(runs);
    REQUIRE(segments.size() >= 8);
    for (fs::path const& each : segments) {
        INFO(each.string());
        std::stringstream expected;
        expected << std::ifstream{fs::path{each}.replace_extension(".txt")}.rdbuf();
        CHECK(text_of(each) == expected.str());
    }
    for (auto const& each : fs::directory_iterator{runs}) {
        INFO(each.path().string());
        CHECK(read_all(each.path().string()) > 0);
    }
}

// runs/ of the written version: 2-training, for example.
fs::path runs_of(fs::path const& folder, std::string_view what) {
    return folder / (std::to_string(layout::version) + '-' + std::string{what});
}

// A tool rather than a test: README.md describes its use.
TEST_CASE("golden runs are made", "[.][make]") {
    char const* const where = std::getenv("SPOTTER_GOLDEN");
    REQUIRE(where != nullptr);
    fs::path const folder = where;
    make_training(runs_of(folder, "training").string());
    make_packed(runs_of(folder, "packed").string());
    make_types(runs_of(folder, "types").string());
    make_chains(runs_of(folder, "chains").string());
    make_shared(runs_of(folder, "shared").string());
    make_drops(runs_of(folder, "drops").string());
    make_features(runs_of(folder, "features").string());
    make_forms(runs_of(folder, "forms").string());
    fs::path const attempts = runs_of(folder, "attempts"), died = runs_of(folder, "died"),
                   damaged = runs_of(folder, "damaged");
    make_attempts(attempts.string(), died.string());
    fs::copy(runs_of(folder, "forms"), damaged, fs::copy_options::recursive);
    damage((damaged / "000000.spot").string());
    fs::path const last = segments_in(died).back();
    fs::resize_file(last, fs::file_size(last) - 10);
    for (fs::path const& each : segments_in(folder)) {
        std::ofstream{fs::path{each}.replace_extension(".txt")} << text_of(each);
    }
}
