// SPDX-License-Identifier: Apache-2.0
// SIGKILL at random instants, with the ring in shared memory: what a completed call gave is in the record, once
// [T13][D09].
#include <spotter/record/recover.hpp>

#include <tests/stress/workers.hpp>

#include <atomic>
#include <csignal>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <utility>

#include <sys/mman.h>

using namespace spotter;
using namespace spotter_test;

namespace {

// The system's files with slow appends, so that the writer is always behind.
class slow_files final : public file_system {
public:
    explicit slow_files(unsigned microseconds) noexcept : microseconds_{microseconds} {}

    result<spotter::opened_file> create(std::string_view path) noexcept override { return system_files().create(path); }
    result<spotter::opened_file> open_append(std::string_view path) noexcept override {
        return system_files().open_append(path);
    }
    error append(spotter::opened_file file, std::span<std::byte const> bytes) noexcept override {
        // In two pieces: a kill between them leaves a torn frame.
        std::size_t const half = bytes.size() / 2;
        if (error const why = system_files().append(file, bytes.first(half))) { return why; }
        if (microseconds_ > 0) { ::usleep(microseconds_); }
        return system_files().append(file, bytes.subspan(half));
    }
    error sync(spotter::opened_file file) noexcept override { return system_files().sync(file); }
    error close(spotter::opened_file file) noexcept override { return system_files().close(file); }
    result<path_kind> kind_of(std::string_view path) noexcept override { return system_files().kind_of(path); }
    result<std::uint64_t> size_of(std::string_view path) noexcept override { return system_files().size_of(path); }
    result<file_facts> facts_of(std::string_view path) noexcept override { return system_files().facts_of(path); }
    error rename(std::string_view from, std::string_view to) noexcept override {
        return system_files().rename(from, to);
    }
    error remove(std::string_view path) noexcept override { return system_files().remove(path); }
    error make_folder(std::string_view path) noexcept override { return system_files().make_folder(path); }
    error list(std::string_view path, name_taker take, void* context) noexcept override {
        return system_files().list(path, take, context);
    }
    result<file_mapping> map(std::string_view path) noexcept override { return system_files().map(path); }
    void unmap(file_mapping mapping) noexcept override { system_files().unmap(mapping); }
    result<spotter::opened_file> lock(std::string_view path) noexcept override { return system_files().lock(path); }
    void unlock(spotter::opened_file held) noexcept override { system_files().unlock(held); }
    result<bool> is_locked(std::string_view path) noexcept override { return system_files().is_locked(path); }
    result<shared_memory> create_shared(std::string_view name, std::uint64_t bytes) noexcept override {
        return system_files().create_shared(name, bytes);
    }
    result<shared_memory> open_shared(std::string_view name) noexcept override {
        return system_files().open_shared(name);
    }
    void unmap_shared(shared_memory memory) noexcept override { system_files().unmap_shared(memory); }
    error remove_shared(std::string_view name) noexcept override { return system_files().remove_shared(name); }

private:
    unsigned microseconds_;
};

// The progress of a process that will be killed, in memory shared with its parent.
struct progress {
    std::atomic<std::uint64_t> begun;    // steps, counted over all attempts
    std::atomic<std::uint64_t> closed;   // in this attempt, like the next two
    std::atomic<std::uint64_t> records;  // observations and scalars whose call has returned
    std::atomic<bool> ready, bad;
};
class shared_page {
public:
    shared_page() {
        void* const at = ::mmap(nullptr, sizeof(progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        REQUIRE(at != MAP_FAILED);
        page_ = ::new (at) progress{};
    }
    shared_page(shared_page const&) = delete;
    shared_page& operator=(shared_page const&) = delete;
    ~shared_page() { ::munmap(page_, sizeof(progress)); }
    progress* operator->() const noexcept { return page_; }
    progress& operator*() const noexcept { return *page_; }

private:
    progress* page_;
};

// `small` values fit into their entry, `middle` ones follow it in a block or two, and `large` ones exceed a small ring.
std::vector<float> values_of(std::uint64_t step, std::size_t count) {
    std::vector<float> values(count);
    std::uint64_t state = step * 0x9E3779B97F4A7C15ULL + count;
    for (float& each : values) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        each = static_cast<float>(state >> 40) * 0x1p-24F;
    }
    return values;
}
constexpr std::size_t small = 10, middle = 9'000, large = 150'000;
bool has_middle(std::uint64_t step) { return step % 5 == 2; }
bool has_large(std::uint64_t step) { return step % 23 == 7; }

void train_until_killed(std::string const& path, options const& choices, unsigned slow, progress& done) {
    slow_files files{slow};
    recorder record{path, choices, files};
    hook watch{record, everything};
    if (!watch.health().good()) { done.bad = true; }
    done.ready = true;
    auto const count = [&done] { done.records.fetch_add(1); };
    for (;;) {
        std::uint64_t const i = done.begun.fetch_add(1);
        watch.begin(train(i));
        watch.scalar("loss", static_cast<double>(i));
        count();
        watch.observe("small", values_of(i, small));
        count();
        if (has_middle(i)) {
            watch.observe("middle", values_of(i, middle));
            count();
        }
        if (has_large(i)) {
            watch.observe("large", values_of(i, large));
            count();
        }
        (void)watch.end();
        done.closed.fetch_add(1);
        if (i % 3 == 0) {
            watch.scalar("between", static_cast<double>(i));
            count();
        }
        watch.poll();
    }
}

// Runs `work` in a process that is killed once `until` returns.
template <class Work, class Until>
void in_doomed_process(Work&& work, Until&& until) {
    pid_t const child = ::fork();
    if (child == 0) {
        work();
        ::_exit(0);
    }
    until();
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
}

// The name of the shared memory of a run's ring; empty if there is none.
std::string ring_of(std::string const& path) {
    std::ifstream file{path + "/ring"};
    std::string name;
    file >> name;
    return name;
}

void check_values(trial const& run, std::string const& name, std::size_t count) {
    INFO(name);
    std::size_t wrong = 0;
    for (step_id step : run[name].steps()) {
        auto const stored = run[name].at(step).to<std::vector<float>>();
        wrong += stored && *stored == values_of(step.index, count) ? 0U : 1U;
    }
    CHECK(wrong == 0);
}

// A run that is killed repeatedly. After each attempt its rest is recovered by `recover`, by recoveries that are killed
// themselves, or by the next attempt.
void kill_again_and_again(std::mt19937& random, int attempts) {
    auto const below = [&random](unsigned end) { return static_cast<unsigned>(random() % end); };
    temporary_folder const folder;
    std::string const path = folder / "run";
    shared_page const page;
    options choices{.ring_bytes = std::uint64_t{64} << (10 + 2 * below(3)),
                    .segment_bytes = below(2) == 0 ? 1U << 18 : 1U << 28,
                    .ring_in = ring_in::shared_memory};
    if (below(4) == 0) { choices.drain = drain::poll; }
    std::set<std::string> rings;
    std::uint64_t least = 0, most = 0, least_closed = 0, most_closed = 0;
    for (int attempt = 0; attempt < attempts; ++attempt) {
        page->records = 0, page->closed = 0, page->ready = false;
        unsigned const slow = below(3) == 0 ? 0 : below(4000), life = below(25'000);
        in_doomed_process([&] { train_until_killed(path, choices, slow, *page); },
                          [&] {
                              while (!page->ready) { ::usleep(100); }
                              ::usleep(life);
                          });
        REQUIRE_FALSE(page->bad.load());
        // The call during which it was killed may have committed already.
        least += page->records, most += page->records + 1;
        least_closed += page->closed, most_closed += page->closed + 1;
        if (std::string const name = ring_of(path); !name.empty()) { rings.insert(name); }
        if (below(2) == 0) { (void)open(path); }  // a reader sees what had been flushed
        for (unsigned tries = below(4); tries > 0; --tries) {
            in_doomed_process(
                [&] {
                    slow_files files{below(2000)};
                    (void)recover(path, files);
                },
                [&] { ::usleep(below(6'000)); });
        }
        if (attempt + 1 == attempts || below(2) == 0) {
            auto const recovery = recover(path);
            REQUIRE(recovery);
            CHECK_FALSE(recovery->first_error);
        }
    }
    CHECK(recover(path)->rings == 0);
    CHECK_FALSE(std::filesystem::exists(path + "/ring"));
    CHECK(rings.size() <= static_cast<std::size_t>(attempts));
    for (std::string const& name : rings) { CHECK_FALSE(std::filesystem::exists("/dev/shm/" + name)); }
    trial const run = open(path);
    CHECK(run.status() == run_status::died);
    CHECK(run.damage().empty());
    CHECK(run.attempts() == static_cast<std::uint32_t>(attempts));
    std::uint64_t records = 0, thinned = 0;
    std::map<std::string, std::set<std::uint64_t>> met;
    for (auto const& tensor : run.index().tensors()) {
        std::set<std::uint64_t>& once = met[tensor->name];
        for (track_entry const& each : tensor->entries) {
            ++records;
            thinned += each.is_scalar || each.has_values ? 0 : 1;
            CHECK((each.loose || once.insert(each.step.index).second));
        }
    }
    INFO("ring " << choices.ring_bytes << " segment " << choices.segment_bytes);
    CHECK(records >= least);
    CHECK(records <= most);
    CHECK(thinned <= static_cast<std::uint64_t>(attempts));  // per attempt the one whose values were incomplete
    std::uint64_t const closed = run.closed_steps();
    CHECK(closed >= least_closed);
    CHECK(closed <= most_closed);
    std::uint64_t before = 0;
    bool first = true;
    for (closed_step const& each : run.index().steps()) {
        CHECK((std::exchange(first, false) || each.step.index > before));
        before = each.step.index;
        CHECK((met["loss"].contains(before) && met["small"].contains(before)));
        CHECK(met["middle"].contains(before) == has_middle(before));
        CHECK(met["large"].contains(before) == has_large(before));
    }
    check_values(run, "small", small);
    check_values(run, "middle", middle);
    check_values(run, "large", large);
}

}  // namespace

TEST_CASE(
    "SIGKILL at random instants: with the ring in shared memory not one committed record is lost, none is doubled, "
    "and no ring is left behind [T13][D09]") {
    if (!std::filesystem::is_directory("/dev/shm")) { SPOTTER_SKIP("there is no /dev/shm here"); }
    char const* const wanted = std::getenv("SPOTTER_KILLS");  // 1000 when run by hand
    int const kills = wanted != nullptr ? std::atoi(wanted) : 30;
    char const* const first = std::getenv("SPOTTER_SEED");
    unsigned seed = first != nullptr ? static_cast<unsigned>(std::atoi(first)) : std::random_device{}();
    for (int done = 0; done < kills; ++seed) {
        std::mt19937 random{seed};
        int const attempts = 1 + static_cast<int>(random() % 5);
        INFO("SPOTTER_SEED=" << seed);
        kill_again_and_again(random, attempts);
        done += attempts;
    }
}
