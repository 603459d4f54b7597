// SPDX-License-Identifier: Apache-2.0
// A reader in its own thread refreshes and reads all the time, while the same process records at full speed.
#include <tests/stress/workers.hpp>

#include <spotter/file/memory.hpp>
#include <spotter/replay.hpp>

#include <atomic>
#include <map>
#include <thread>

using namespace spotter;
using namespace spotter_test;

namespace {

double read_loss_at(std::uint64_t step) { return 1.0 / static_cast<double>(step + 1); }
std::vector<float> read_weights_at(std::uint64_t step) {
    std::vector<float> values(150);
    for (std::size_t i = 0; i < values.size(); ++i) { values[i] = static_cast<float>(step * i) * 0.5F; }
    return values;
}
constexpr plan read_plan{collection{"all", "loss", always{}, payload}, collection{"w", "w", every{3}, payload},
                         collection{"sums", "g", always{}, stats(l2)}};

// What the reader saw; all of it is read again after the end.
struct seen {
    std::uint64_t refreshes = 0, looks = 0, findings = 0;
    bool sound = true;
    std::map<std::uint64_t, double> times{};
};

void read_all_the_time(file_system& files, std::string const& path, std::atomic<bool> const& done, seen& reported) {
    std::unique_ptr<trial> run;
    while (run == nullptr && !done) {
        if (auto opened = open_trial(path, files)) { run = std::make_unique<trial>(std::move(*opened)); }
    }
    std::uint64_t state = 1;
    for (bool last = false; run != nullptr; ++reported.refreshes) {
        last = done;
        reported.sound = !run->refresh() && run->damage().empty() && reported.sound;
        auto const steps = run->steps();
        if (!steps.empty()) {
            state = state * 6364136223846793005ULL + 1442695040888963407ULL;
            for (std::uint64_t const i : {steps.back().index, steps[(state >> 33) % steps.size()].index}) {
                auto const loss = (*run)["loss"].at(train(i)).to<double>();
                reported.sound = reported.sound && loss && same_bits(*loss, read_loss_at(i));
                if (i % 3 == 0) {
                    auto const w = (*run)["w"].at(train(i)).to<std::vector<float>>();
                    reported.sound = reported.sound && w && *w == read_weights_at(i);
                }
                reported.sound = reported.sound && (*run)["g"].stat(train(i), l2);
                reported.times[i] = (*run)["loss"].time(train(i)).value_or(-1);
                ++reported.looks;
            }
        }
        reported.findings = run->findings().size();
        if (last) { return; }
    }
}

void record_and_read(file_system& files, std::string const& path, options choices) {
    std::uint64_t const steps = 4'000 / slowness;
    std::atomic<bool> done{false};
    seen reported;
    std::thread reader{[&] { read_all_the_time(files, path, done, reported); }};
    {
        choices.flush_milliseconds = 0;
        recorder record{path, choices, files};
        hook watch{record, read_plan, any("loss", minimum > 0.0) | cooldown{50}};
        for (std::uint64_t i = 0; i < steps; ++i) {
            std::vector<float> const w = read_weights_at(i);
            (void)watch.step(train(i), "loss"_t = read_loss_at(i), "w"_t = w, "g"_t = std::span{w.data(), 5});
            if (i % 100 == 99) { watch.flush(); }
        }
        watch.finish();
        CHECK(watch.health().good());
        CHECK(watch.health().sink.stored == 2 * steps + (steps + 2) / 3);
    }
    done = true;
    reader.join();
    CHECK(reported.sound);
    CHECK(reported.refreshes > 3);
    auto const run = open_trial(path, files);
    REQUIRE(run);
    CHECK(run->status() == run_status::finished);
    CHECK(run->steps() == trains(0, steps));
    CHECK(reported.findings == run->findings().size());
    for (auto const& [i, time] : reported.times) {
        CHECK(same_bits((*run)["loss"].time(train(i)).value_or(-2), time));
        CHECK(same_bits((*run)["loss"].at(train(i)).to<double>().value_or(-1), read_loss_at(i)));
    }
}

}  // namespace

TEST_CASE(
    "a thread reads a run while another records it flat out: what it saw stays so, over many segments [S51][S46]") {
    temporary_folder const folder;
    options choices{.ring_bytes = 256 << 10};
    record_and_read(system_files(), folder / "large", choices);
    choices.segment_bytes = 4096;
    record_and_read(system_files(), folder / "small", choices);
}

TEST_CASE("the same in files in memory, which reader and writer share [S51][S63]") {
    memory_file_system files;
    options choices{.ring_bytes = 256 << 10};
    choices.segment_bytes = 8192;
    record_and_read(files, "run", choices);
}
