// SPDX-License-Identifier: Apache-2.0
// Samples of the machine: from files that a test wrote, from a stand-in for NVIDIA's library, and beside a loop.
#include <spotter/ext/system.hpp>
#include <spotter/ext/system/nvml_reader.hpp>
#include <spotter/ext/system/proc_reader.hpp>
#include <spotter/packs.hpp>
#include <spotter/record/clock.hpp>
#include <spotter/replay.hpp>
#include <spotter/rule/builtin/max_initialization_time.hpp>
#include <spotter/rule/builtin/memory_leak.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>
#include <tests/ext/system/fake_nvml.hpp>

#include <tests/catch.hpp>
#include <tests/temporary_folder.hpp>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <dlfcn.h>

using namespace spotter;
using spotter_test::temporary_folder;
using part = system_load::part;

namespace {

using namespace std::chrono_literals;

// A tree of files with the layout of /proc and /sys.
class fake_machine {
public:
    void write(std::string const& name, std::string const& what) const {
        std::filesystem::path const path = folder_ / name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream{path} << what;
    }
    void remove(std::string const& name) const { std::filesystem::remove_all(folder_ / name); }
    void begin() const {
        write(
            "proc/stat",
            "cpu  100 0 100 800 100 0 0 0 0 0\ncpu0 50 0 50 400 50 0 0 0 0 0\ncpu1 50 0 50 400 50 0 0 0 0 0\nintr 1\n");
        write("proc/self/stat", "7 (a (b) c) S 1 1 1 0 -1 0 0 0 0 0 1000 500 0 0 20 0 3 0 0 0\n");
        write("proc/self/io", "rchar: 9\nread_bytes: 4096\nwrite_bytes: 8192\n");
        write("proc/self/statm", "5000 1000 400 1 0 1 0\n");
        write("proc/self/cgroup", "4:memory:/job\n0::/\n");
        write("proc/meminfo", "MemTotal:       16384000 kB\nMemFree: 1 kB\n");
        write("proc/net/dev",
              "Inter-| Receive\n face |bytes\n    lo: 77 1 0 0 0 0 0 0 77 1\n  eth0: 1000 1 0 0 0 0 0 0 500 1\n");
        write("proc/diskstats", "   8       0 sda 1 0 10 0 1 0 20 0\n   8       1 sda1 1 0 10 0 1 0 20 0\n 259 0 "
                                "nvme0n1 1 0 0 0 1 0 0 0\n 259 1 nvme0n1p1 1 0 9 0 1 0 9 0\n");
        write("proc/pressure/cpu",
              "some avg10=1.00 avg60=0.00 avg300=0.00 total=1000000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
        write("proc/pressure/memory",
              "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
        write("proc/pressure/io",
              "some avg10=0.00 avg60=0.00 avg300=0.00 total=0\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
        write("sys/class/thermal/thermal_zone0/temp", "41500\n");
        write("sys/class/thermal/thermal_zone1/temp", "63000\n");
        write("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1000000\n");
        write("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3000000\n");
    }
    // The same files two seconds later.
    void go_on() const {
        write("proc/stat",
              "cpu  250 0 100 870 130 0 0 50 0 0\ncpu0 200 0 50 400 50 0 0 0 0 0\ncpu1 50 0 50 470 80 0 0 50 0 0\n");
        write("proc/self/stat", "7 (a (b) c) S 1 1 1 0 -1 0 0 0 0 0 1080 520 0 0 20 0 3 0 0 0\n");
        write("proc/self/io", "rchar: 9\nread_bytes: 8192\nwrite_bytes: 8192\n");
        write("proc/net/dev",
              "Inter-| Receive\n face |bytes\n    lo: 99 1 0 0 0 0 0 0 99 1\n  eth0: 3000 1 0 0 0 0 0 0 600 1\n");
        write("proc/diskstats", "   8       0 sda 1 0 14 0 1 0 20 0\n   8       1 sda1 1 0 14 0 1 0 20 0\n 259 0 "
                                "nvme0n1 1 0 0 0 1 0 8 0\n 259 1 nvme0n1p1 1 0 9 0 1 0 17 0\n");
        write("proc/pressure/cpu",
              "some avg10=1.00 avg60=0.00 avg300=0.00 total=1500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n");
        write("proc/pressure/io", "some avg10=0.00 avg60=0.00 avg300=0.00 total=9000000\nfull avg10=0.00 avg60=0.00 "
                                  "avg300=0.00 total=200000\n");
    }
    [[nodiscard]] std::string operator/(std::string const& name) const { return folder_ / name; }

private:
    temporary_folder folder_;
};

struct library {
    library() : handle{::dlopen(SPOTTER_FAKE_NVML, RTLD_NOW | RTLD_LOCAL)} {
        state = reinterpret_cast<fake_nvml* (*)()>(::dlsym(handle, "fake_nvml_state"))();
        *state = {};
    }
    ~library() { (void)::dlclose(handle); }
    void* handle;
    fake_nvml* state;
};

system_load sample_of(nvml_reader& from, bool with_pcie = false) {
    system_load it;
    from.sample(with_pcie, it);
    return it;
}

// A load whose memory grows from sample to sample.
void leak(system_load& it, void* count) noexcept {
    it.memory = 1000;
    it.held = 100.0 + static_cast<double>(++*static_cast<int*>(count));
    it.learn(part::memory);
}

// Takes steps until the alarm holds a finding of that rule, ten seconds at most.
template <class Hook>
std::size_t count_reported(Hook& watch, std::string_view rule, finding& reported) {
    auto const until = std::chrono::steady_clock::now() + 10s;
    std::size_t times = 0;
    for (std::uint64_t i = 0; times == 0 && std::chrono::steady_clock::now() < until; ++i) {
        auto const found = watch.step(train(i), "loss"_t = 1.0F);
        watch.poll();
        for (finding const& each : found) {
            if (each.rule == rule) { reported = each, ++times; }
        }
        std::this_thread::sleep_for(1ms);
    }
    return times;
}

}  // namespace

TEST_CASE("the files of /proc and /sys, number by number") {
    fake_machine const machine;
    machine.begin();
    machine.write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "8192000\n");
    proc_reader reader{machine / "proc", machine / "sys"};
    system_load it;
    reader.sample(10, it);
    CHECK((it.has(part::memory) && !it.has(part::cpu) && !it.has(part::network)));  // rates need two samples
    machine.go_on();
    reader.sample(12, it);
    CHECK((reader.missing() == 0 && reader.unreadable() == 0));
    CHECK(it.seconds == 2);
    REQUIRE(it.cores == 2);
    CHECK((it.cpu[0] == 1.0F && it.cpu[1] == Approx(50.0 / 150)));
    CHECK(it.busy == Approx(200.0 / 300));
    CHECK((it.io_wait == Approx(0.1) && it.stolen == Approx(50.0 / 300)));
    double const ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
    CHECK(it.own_cores == Approx(100 / ticks / 2));
    CHECK(it.taken() == Approx(200.0 / 300 - 100 / ticks / 4));
    CHECK((it.own_read == 2048 && it.own_written == 0));
    CHECK(it.resident == 1000.0 * static_cast<double>(::sysconf(_SC_PAGESIZE)));
    CHECK(it.held == 0.6 * it.resident);
    CHECK(it.memory == 8192000);
    CHECK((it.received == 1000 && it.sent == 50));
    CHECK((it.disk_read == 1024 && it.disk_written == 2048));  // whole disks; their partitions are not counted again
    CHECK((it.waits_cpu.some == 0.25F && it.waits_cpu.full == 0));
    CHECK((it.waits_io.some == 1 && it.waits_io.full == 0.1F));  // at most all of the time
    CHECK((it.temperature == 63 && it.clock == 2e9F));
}

TEST_CASE("the memory that there may be: of the group in either version, else of the machine") {
    auto const limit_in = [](std::string const& file, std::string const& what) {
        fake_machine const machine;
        machine.begin();
        if (!file.empty()) { machine.write(file, what); }
        proc_reader reader{machine / "proc", machine / "sys"};
        system_load it;
        reader.sample(1, it);
        return it.memory;
    };
    CHECK(limit_in("", "") == 16384000.0 * 1024);
    CHECK(limit_in("sys/fs/cgroup/memory.max", "4096\n") == 4096);
    CHECK(limit_in("sys/fs/cgroup/memory.max", "max\n") == 16384000.0 * 1024);
    CHECK(limit_in("sys/fs/cgroup/memory/memory.limit_in_bytes", "4096\n") == 4096);  // seen from inside a container
    CHECK(limit_in("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n") == 16384000.0 * 1024);
}

TEST_CASE("a missing file is absent; one that cannot be read or parsed is reported") {
    fake_machine const machine;
    machine.begin();
    machine.remove("proc/pressure");
    machine.remove("sys");
    machine.remove("proc/self/io");
    machine.write("proc/self/io/a", "");  // a folder: opening succeeds, reading fails
    machine.write("proc/stat", "cats 1 2 3\n");
    proc_reader reader{machine / "proc", machine / "sys"};
    system_load it;
    reader.sample(1, it);
    machine.write("proc/self/stat", "no bracket");
    machine.write("proc/self/statm", "");
    reader.sample(2, it);
    auto const bit = [](part which) { return static_cast<std::uint32_t>(which); };
    CHECK(reader.unreadable() == (bit(part::cpu) | bit(part::own_io) | bit(part::own_cpu) | bit(part::memory)));
    CHECK(reader.missing() == (reader.unreadable() | bit(part::pressure_cpu) | bit(part::pressure_memory) |
                               bit(part::pressure_io) | bit(part::temperature) | bit(part::clock)));
    CHECK((it.has(part::network) && it.has(part::disk)));
    CHECK(!it.has(part::cpu));
}

TEST_CASE("counters that are set back, and a clock that does, count as nothing") {
    fake_machine const machine;
    machine.begin();
    proc_reader reader{machine / "proc", machine / "sys"};
    system_load it;
    reader.sample(5, it);
    machine.go_on();
    reader.sample(7, it);
    machine.begin();
    reader.sample(9, it);
    CHECK((it.received == 0 && it.own_cores == 0 && it.waits_cpu.some == 0));
    CHECK(!it.has(part::cpu));
    reader.sample(8, it);
    CHECK((!it.has(part::network) && it.seconds == 0));
}

TEST_CASE("whatever stands in these files, no sample is beyond what can be") {
    fake_machine const machine;
    machine.begin();
    std::uint64_t state = 1;
    auto const below = [&](std::uint64_t most) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return (state >> 33) % most;
    };
    constexpr std::string_view words[] = {"cpu",
                                          "cpu0",
                                          "some",
                                          "full",
                                          "total=",
                                          "MemTotal:",
                                          "read_bytes:",
                                          "sda",
                                          "eth0:",
                                          ")",
                                          "\n",
                                          " ",
                                          ":",
                                          "=",
                                          "-",
                                          "18446744073709551615",
                                          "99999999999999999999999",
                                          "7",
                                          "0.5"};
    std::vector<std::string> const files{"proc/stat",
                                         "proc/self/stat",
                                         "proc/self/io",
                                         "proc/self/statm",
                                         "proc/meminfo",
                                         "proc/net/dev",
                                         "proc/diskstats",
                                         "proc/pressure/cpu",
                                         "proc/pressure/memory",
                                         "sys/class/thermal/thermal_zone0/temp",
                                         "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq"};
    proc_reader reader{machine / "proc", machine / "sys"};
    system_load it;
    for (std::uint64_t round = 0; round < 300; ++round) {
        for (std::string const& file : files) {
            std::string text;
            for (std::uint64_t left = below(40); left > 0; --left) {
                text += below(4) == 0 ? std::string(1, static_cast<char>(below(256)))
                                      : std::string{words[below(std::size(words))]};
                text += below(2) == 0 ? " " : "";
            }
            machine.write(file, text);
        }
        reader.sample(static_cast<double>(round), it);
        each_number(it, [&](std::string_view name, auto value) {
            INFO(name << " is " << value);
            CHECK(!std::isnan(static_cast<double>(value)));
        });
        REQUIRE(it.cores <= system_load::most_cores);
        for (std::size_t i = 0; i < it.cores; ++i) { CHECK((it.cpu[i] >= 0 && it.cpu[i] <= 1)); }
        for (float const share : {it.busy, it.io_wait, it.stolen}) {
            CHECK((share >= 0 && (!it.has(part::cpu) || share <= 1)));
        }
    }
}

TEST_CASE("NVIDIA's GPUs: what the library says of each") {
    library fake;
    fake.state->count = 2;
    fake.state->all[0] = {.busy = 87, .total = 1000, .used = 250};
    fake.state->all[1] = {.busy = 0, .reasons = 0x40};
    {
        nvml_reader reader{SPOTTER_FAKE_NVML};
        CHECK((reader.is_there() && fake.state->open == 1));
        system_load const it = sample_of(reader);
        CHECK(it.has(part::gpu));
        REQUIRE(it.gpu_count == 2);
        CHECK((it.gpus[0].busy == 0.87F && it.gpus[0].memory == 0.25F && it.gpus[0].slowed == 0));
        CHECK((it.gpus[0].power == 250.5F && it.gpus[0].temperature == 71));
        CHECK((it.gpus[1].busy == 0 && it.gpus[1].slowed == 1));
        CHECK((std::isnan(it.gpus[0].sent) && fake.state->pcie_asked == 0));
        system_load const with_pcie = sample_of(reader, true);
        CHECK((with_pcie.gpus[0].sent == 1e6F && with_pcie.gpus[0].received == 3e6F));
        CHECK(!reader.trouble());
    }
    CHECK(fake.state->open == 0);
}

TEST_CASE("NVIDIA's GPUs: a device that is lost, one that is hidden, and one that lies") {
    library fake;
    fake.state->count = 3;
    fake.state->all[0] = {.busy = 250, .total = 10, .used = 4000, .no_power = 3};
    fake.state->all[2] = {.busy = 50, .hidden = 4};
    nvml_reader reader{SPOTTER_FAKE_NVML};
    CHECK(reader.trouble().what.view() ==
          "NVML: GPU 2: nvmlDeviceGetHandleByIndex_v2 (code 4); it is not sampled from here on");
    system_load it = sample_of(reader);
    REQUIRE(it.gpu_count == 3);
    CHECK((std::isnan(it.gpus[0].busy) && std::isnan(it.gpus[0].memory) && std::isnan(it.gpus[0].power)));
    CHECK(it.gpus[0].temperature == 71);
    CHECK((it.gpus[1].busy == 0 && std::isnan(it.gpus[2].busy)));
    fake.state->all[1].code = 15;
    it = sample_of(reader);
    CHECK((std::isnan(it.gpus[1].busy) && std::isnan(it.gpus[1].temperature)));
    fake.state->all[1].code = 0;  // the device stays lost
    CHECK(std::isnan(sample_of(reader).gpus[1].busy));
}

TEST_CASE("NVIDIA's library: not there, not NVIDIA's, failing, or with more devices than anybody has") {
    CHECK((!nvml_reader{"libno-such-thing.so.1"}.is_there() && !nvml_reader{"libno-such-thing.so.1"}.trouble()));
    nvml_reader const other{"libm.so.6"};
    CHECK((!other.is_there() && other.trouble().code == errc::bad_config));
    library fake;
    fake.state->init = 9;
    {
        nvml_reader failing{SPOTTER_FAKE_NVML};
        CHECK((!failing.is_there() && failing.trouble().code == errc::io_error && !sample_of(failing).has(part::gpu)));
    }
    CHECK(fake.state->open == 0);
    fake.state->init = 0;
    fake.state->counting = 7;
    CHECK(!nvml_reader{SPOTTER_FAKE_NVML}.is_there());
    fake.state->counting = 0;
    fake.state->count = 1'000'000;
    nvml_reader many{SPOTTER_FAKE_NVML};
    CHECK(sample_of(many).gpu_count == system_load::most_gpus);
}

TEST_CASE("a sampler records beside a run, and the loop gets its findings once") {
    for (drain const how : {drain::thread, drain::poll}) {
        temporary_folder const folder;
        std::string const path = folder / "run";
        int count = 0;
        finding reported;
        system_sampler machine{system_options{.seconds = 0.002, .fill = &leak, .context = &count},
                               memory_leak{} | once};
        {
            options choices{};
            choices.drain = how;
            choices.beside = &machine;
            hook watch{path, plan{collection{"loss", "loss", always{}, payload}}, choices};
            CHECK(count_reported(watch, "memory_leak", reported) == 1);
            CHECK((reported.step.mode == mode::train && reported.tensor == "sys/memory"));
            CHECK(reported.measured == Approx(0.018));
            for (std::uint64_t i = 100'000; i < 100'050; ++i) { CHECK(watch.step(i).empty()); }
            watch.finish();
            CHECK(watch.health().good());
        }
        CHECK(machine.path() == path + "/system");
        auto const samples = open_trial(path + "/system");
        REQUIRE(samples);
        CHECK(samples->status() == run_status::finished);
        REQUIRE(samples->steps(mode::predict).size() >= 60);
        auto const memory = (*samples)["sys/memory"].history(mean);
        CHECK(memory.at(1).value - memory.at(0).value == Approx(0.001));
        REQUIRE(samples->findings().size() == 1);
        CHECK(samples->findings()[0].step == predict(59));
        auto const run = open_trial(path);
        REQUIRE(run);
        REQUIRE(run->findings().size() == 1);
        CHECK((run->findings()[0].rule == "memory_leak" && run->findings()[0].step == reported.step));
        CHECK(run->names("sys/*").empty());
        CHECK(run->steps(mode::predict).empty());
    }
}

#if defined(__linux__)
TEST_CASE("a sampler knows this machine, how long steps take, and what it does not know") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    system_sampler machine{system_options{.seconds = 0.02}, packs::system};
    {
        hook watch{path, plan{}, options{.beside = &machine}};
        for (std::uint64_t i = 0; i < 60; ++i) {
            (void)watch.step(i, "loss"_t = 1.0F);
            std::this_thread::sleep_for(5ms);
        }
        CHECK(watch.health().good());
    }
    auto const samples = open_trial(path + "/system");
    REQUIRE(samples);
    CHECK(samples->status() == run_status::finished);
    CHECK(samples->why_ended() == "");
    for (std::string_view const name : {"sys/memory", "sys/resident", "sys/cpu", "sys/own_cpu", "sys/step"}) {
        INFO(name);
        CHECK(!(*samples)[name].steps().empty());
    }
    auto const cores = (*samples)["sys/cpu"].steps();
    REQUIRE(!cores.empty());
    CHECK((*samples)["sys/cpu"].at(cores.front()).shape().elements() >= 1);
    auto const steps = (*samples)["sys/step"].history(mean);
    double all = 0;
    for (point const& each : steps) { all += each.value; }
    CHECK(all / static_cast<double>(steps.size()) > 0.004);
    CHECK(all / static_cast<double>(steps.size()) < 0.1);
    // The sampling interval does not count as a step time.
    for (recorded_coverage const& each : samples->coverages()) {
        if (each.rule == "step_time_outlier") { CHECK(each.judged == 0); }
    }
    auto const judged_again = replay(*samples, packs::system);
    for (coverage const& each : judged_again.coverages) {
        if (each.rule == "step_time_outlier") { CHECK(each.judged == 0); }
    }
}

TEST_CASE("a sampler says how long the first step is waited for") {
    temporary_folder const folder;
    system_sampler machine{system_options{.seconds = 0.005}, max_initialization_time{.threshold = 0.05} | once};
    hook watch{folder / "run", plan{}, options{.beside = &machine}};
    std::this_thread::sleep_for(500ms);
    finding reported;
    CHECK(count_reported(watch, "max_initialization_time", reported) == 1);
    CHECK((reported.measured > 0.05 && reported.measured < 5));
    std::this_thread::sleep_for(50ms);
    watch.finish();
    auto const samples = open_trial(machine.path());
    REQUIRE(samples);
    CHECK((*samples)["sys/initialization"].steps().size() < samples->steps().size());  // only until the first step
}
#endif

TEST_CASE("a sampler goes with one hook at a time, is begun again, and is not the workers'") {
    temporary_folder const folder;
    int count = 0;
    system_sampler machine{system_options{.seconds = 0.002, .fill = &leak, .context = &count}};
    for (std::string const& path : {folder / "a", folder / "b"}) {
        hook watch{path, plan{}, options{.beside = &machine}};
        auto other = watch.worker(1);
        for (std::uint64_t i = 0; i < 20; ++i) {
            (void)watch.step(i, "loss"_t = 1.0F);
            (void)other.step(i, "loss"_t = 1.0F);
            std::this_thread::sleep_for(5ms);
        }
        other.finish();
        watch.finish();
        CHECK(machine.path() == path + "/system");
        CHECK(!open_trial(path + "/system").value().steps().empty());
        CHECK(!std::filesystem::exists(path + "/worker-1/system"));
        auto const both = open_trial(path);
        REQUIRE(both);
        CHECK(both->workers().size() == 2);
        CHECK(!both->losses().any());
    }
    // A run that replaces another one also replaces its samples.
    hook watch{folder / "a", plan{}, options{.existing = existing::replace}};
    (void)watch.step(0, "loss"_t = 1.0F);
    watch.finish();
    CHECK(!open_trial(folder / "a/system"));
    CHECK(!std::filesystem::exists(folder / "a/system/000000.spot"));
}

TEST_CASE("a hook that writes nothing reports that there is no sampler") {
    system_sampler machine{};
    hook watch{plan{}, memory_leak{}, options{.beside = &machine}};
    (void)watch.step(0, "loss"_t = 1.0F);
    CHECK(watch.health().first_error.what.view() == "options::beside is not called: this hook writes no record");
    CHECK(machine.path().empty());
}

TEST_CASE("a time of day that jumps is named, one that drifts is not") {
    day_clock_watch steady{true}, jumps{true};
    for (std::uint64_t i = 0; i < 100; ++i) {
        double const now = 1.7e9 + static_cast<double>(i);
        steady.compare(1000 * i, now + 0.01 * static_cast<double>(i));
        jumps.compare(1000 * i, now - (i < 50 ? 0 : 3600));
    }
    CHECK(!steady.trouble());
    CHECK(jumps.trouble().code == errc::bad_config);
    CHECK(jumps.trouble().what.view().starts_with("the time of day jumped by -3600 s"));
}
