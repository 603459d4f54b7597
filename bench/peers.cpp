// SPDX-License-Identifier: Apache-2.0
// The cost on the calling thread of handing a value to a hook, and to other libraries that a training loop could use.
// All run in one process in turn, so that a busy neighbour slows each alike. hand_off.cpp compares the hook with its
// targets.
#include "background.hpp"
#include "bench.hpp"
#include "event_records.hpp"
#include "given_peers.hpp"
#include "peer_work.hpp"
#include "scratch_folder.hpp"

#include <spotter/ring/byte_ring.hpp>
#include <spotter/spotter.hpp>

#include <cstring>
#include <filesystem>
#include <tuple>
#include <utility>

#if defined(SPOTTER_BENCH_SPDLOG)
#include <spdlog/async.h>
#include <spdlog/sinks/basic_file_sink.h>
#endif
#if defined(SPOTTER_BENCH_HDF5)
#include <hdf5.h>
#endif

using namespace spotter;

namespace {

constexpr std::uint64_t ring_bytes = 256ULL << 20;

// Each peer is constructed from the work; put() hands the values over, rest() drains its queue.
struct copies {
    static constexpr char const* name = "memcpy (control)";
    peer_work const& todo;
    std::vector<std::byte> memory = std::vector<std::byte>(ring_bytes);
    std::size_t at = 0, stride = (std::max)(todo.bytes(), std::size_t{32});
    explicit copies(peer_work const& it) : todo{it} {}
    void put() noexcept {
        if (at + stride > memory.size()) { at = 0; }
        std::memcpy(memory.data() + at, todo.values.data(), todo.bytes());
        at += stride;
        bench::do_not_optimise(memory);
    }
    void rest() {}
};

struct bare_ring {
    static constexpr char const* name = "spotter::byte_ring alone";
    peer_work const& todo;
    byte_ring ring;
    explicit bare_ring(peer_work const& it) : todo{it} {
        if (!ring.start(ring_bytes)) { std::puts("  no memory for the bare ring: its row is nothing"); }
        ring.touch(ring_bytes);
    }
    void put() noexcept {
        if (std::byte* const at = ring.prepare(todo.bytes())) {
            std::memcpy(at, todo.values.data(), todo.bytes());
            ring.commit(todo.bytes(), 1);
        }
    }
    void rest() {
        while (ring.take().some) { ring.release(); }
    }
};

struct recorded {
    static constexpr char const* name = "spotter, recorded into a run";
    peer_work const& todo;
    hook<recorder, plan<collection<glob, always>>, options> watch;
    std::uint64_t index = 0;
    explicit recorded(peer_work const& it)
        : todo{it}, watch{it.folder + "/run", plan{collection{"all", "*", always{}, payload}},
                          options{.ring_bytes = ring_bytes}} {
        watch.begin(train(index++));
        put();  // declares the tensors
    }
    ~recorded() {
        watch.finish();
        health_report const health = watch.health();
        if (!health.good() || health.sink.dropped + health.sink.thinned > 0 || health.sink.ring_peak > ring_bytes / 2) {
            std::printf("  spotter's row is no measurement: %s, ring filled up to %.0f %%\n",
                        std::string{health.first_error.what.view()}.c_str(),
                        100 * static_cast<double>(health.sink.ring_peak) / static_cast<double>(ring_bytes));
        }
    }
    void put() noexcept {
        if (todo.values.size() == 1) {
            watch.scalar("loss", todo.values[0]);
        } else {
            watch.observe("weight", todo.values);
        }
    }
    void rest() {
        (void)watch.end();
        watch.flush();
        watch.begin(train(index++));
    }
};

struct stdio {
    static constexpr char const* name = "fwrite";
    peer_work const& todo;
    bench::file to{todo.folder + "/fwrite"};
    explicit stdio(peer_work const& it) : todo{it} {}
    void put() { to.write(todo.text()); }
    void rest() { to.empty(); }
};

struct to_thread {
    static constexpr char const* name = "mutex, condition variable, deque";
    peer_work const& todo;
    bench::file to{todo.folder + "/deque"};
    struct append {
        bench::file& to;
        void operator()(std::vector<char> const& item) { to.write(item); }
    };
    bench::queue<append> items{append{to}};
    explicit to_thread(peer_work const& it) : todo{it} {}
    void put() {
        auto const bytes = todo.text();
        items.push({bytes.begin(), bytes.end()});
    }
    void rest() {
        items.wait_until_empty();
        to.empty();
    }
};

// The caller makes the event; a thread frames and writes it.
struct event_thread {
    static constexpr char const* name = "TensorBoard records by a thread";
    peer_work const& todo;
    bench::file to{todo.folder + "/events_queued"};
    std::uint64_t step = 0;
    struct append {
        bench::file& to;
        void operator()(std::vector<char> const& event) { bench::events::write(to, event); }
    };
    bench::queue<append> items{append{to}};
    explicit event_thread(peer_work const& it) : todo{it} {}
    void put() { items.push(bench::events::make(step++, todo.values)); }
    void rest() {
        items.wait_until_empty();
        to.empty();
    }
};
struct event_file {
    static constexpr char const* name = "TensorBoard records, direct";
    peer_work const& todo;
    bench::file to{todo.folder + "/events"};
    std::uint64_t step = 0;
    explicit event_file(peer_work const& it) : todo{it} {}
    void put() { bench::events::write(to, bench::events::make(step++, todo.values)); }
    void rest() { to.empty(); }
};

#if defined(SPOTTER_BENCH_SPDLOG)
struct spdlog_async {
    static constexpr char const* name = "spdlog, asynchronous";
    peer_work const& todo;
    std::string const path{todo.folder + "/spdlog"};
    std::shared_ptr<spdlog::details::thread_pool> pool = std::make_shared<spdlog::details::thread_pool>(1U << 14, 1U);
    std::shared_ptr<spdlog::sinks::basic_file_sink_mt> sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path);
    std::shared_ptr<spdlog::async_logger> log = std::make_shared<spdlog::async_logger>("bench", sink, pool);
    explicit spdlog_async(peer_work const& it) : todo{it} {}
    void put() {
        if (todo.values.size() == 1) {
            log->info("loss {}", todo.values[0]);
        } else {
            log->info(spdlog::string_view_t{todo.text().data(), todo.text().size()});
        }
    }
    void rest() {
        while (pool->queue_size() > 0) { std::this_thread::sleep_for(std::chrono::milliseconds{1}); }
        std::this_thread::sleep_for(std::chrono::milliseconds{5});  // the last event is being written
        std::filesystem::resize_file(path, 0);
    }
};
#define SPOTTER_BENCH_WITH_SPDLOG , spdlog_async
#else
#define SPOTTER_BENCH_WITH_SPDLOG
#endif

#if defined(SPOTTER_BENCH_HDF5)
// A dataset that grows by a row at a time, in chunks of 64 KiB, or of one row if that is larger.
struct hdf5 {
    static constexpr char const* name = "HDF5, shuffle and deflate 1";
    peer_work const& todo;
    hid_t file = H5Fcreate((todo.folder + "/h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), set = 0, row = 0;
    hsize_t rows = 0, width = todo.values.size();
    explicit hdf5(peer_work const& it) : todo{it} {
        hsize_t const none[2] = {0, width}, most[2] = {H5S_UNLIMITED, width}, one[2] = {1, width};
        hsize_t const chunk[2] = {(std::max)(std::size_t{1}, (64U << 10) / todo.bytes()), width};
        hid_t const how = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(2, none, most);
        H5Pset_chunk(how, 2, chunk);
        H5Pset_shuffle(how);
        H5Pset_deflate(how, 1);
        set = H5Dcreate2(file, "values", H5T_NATIVE_FLOAT, space, H5P_DEFAULT, how, H5P_DEFAULT);
        row = H5Screate_simple(2, one, nullptr);
        H5Sclose(space), H5Pclose(how);
    }
    ~hdf5() { H5Sclose(row), H5Dclose(set), H5Fclose(file); }
    void put() {
        hsize_t const begin[2] = {rows++, 0}, size[2] = {rows, width}, one[2] = {1, width};
        H5Dset_extent(set, size);
        hid_t const space = H5Dget_space(set);
        H5Sselect_hyperslab(space, H5S_SELECT_SET, begin, nullptr, one, nullptr);
        H5Dwrite(set, H5T_NATIVE_FLOAT, row, space, H5P_DEFAULT, todo.values.data());
        H5Sclose(space);
    }
    void rest() { H5Fflush(file, H5F_SCOPE_LOCAL); }
};
#define SPOTTER_BENCH_WITH_HDF5 , hdf5
#else
#define SPOTTER_BENCH_WITH_HDF5
#endif

template <class Peer>
struct contestant {
    Peer peer;
    bench::samples batched, single;
    explicit contestant(peer_work const& todo) : peer{todo} {}
    void round(peer_work const& todo) {
        for (std::size_t i = 0; i < todo.batches; ++i) {
            batched.time(todo.calls, [&] { peer.put(); });
        }
        peer.rest();
        for (std::size_t i = 0; i < todo.batches * todo.calls; ++i) {
            single.time(1, [&] { peer.put(); });
        }
        peer.rest();
    }
    void tell(peer_work const& todo) {
        double const calls = static_cast<double>(todo.calls);
        std::printf("  %-34s %9.0f %10.0f %10.0f %10.0f %10.0f %10.0f %10.0f\n", Peer::name, batched.median(),
                    calls * batched.percentile(0.99), calls * batched.percentile(0.999), calls * batched.percentile(1),
                    single.percentile(0.99), single.percentile(0.999), single.percentile(1));
        std::fflush(stdout);
    }
};

template <class... Peers>
void compare(char const* what, peer_work todo) {
    bench::scratch_folder const folder;
    std::filesystem::create_directories(folder.path());
    todo.folder = folder.path();
    // Constructed in place: none of them can be moved.
    std::tuple<contestant<Peers>...> all{(static_cast<void>(sizeof(Peers)), std::as_const(todo))...};
    for (std::size_t i = 0; i < todo.rounds; ++i) {
        std::apply([&](auto&... each) { (each.round(todo), ...); }, all);
    }
    std::printf("%s: %zu batches of %zu calls, and as many calls one by one\n", what, todo.batches * todo.rounds,
                todo.calls);
    std::apply([&](auto&... each) { (each.tell(todo), ...); }, all);
    auto& control = std::get<0>(all).batched;
    auto& ours = std::get<2>(all).batched;
    bench::figure(std::string{"  spotter, "} + what + ", p50", ours.median() / control.median(), "x memcpy",
                  bench::control("memcpy", control.median(), "ns"));
}
void compare_all(char const* what, peer_work const& todo) {
    compare<copies, bare_ring, recorded, stdio, to_thread, event_thread,
            event_file SPOTTER_BENCH_WITH_SPDLOG SPOTTER_BENCH_WITH_HDF5 SPOTTER_BENCH_WITH_QUILL
                SPOTTER_BENCH_WITH_MCAP>(what, todo);
}

}  // namespace

int main() {
    std::puts(
        "Nanoseconds on the calling thread. p50: a call's share of a batch. batch p99 to max: a whole batch. call p99 "
        "to\n"
        "max: a call timed by itself, reading the clock included. After each round everybody catches up, untimed.");
    std::printf("  %-34s %9s %10s %10s %10s %10s %10s %10s\n", "", "p50", "batch p99", "p99.9", "max", "call p99",
                "p99.9", "max");
    compare_all("4 bytes", {{}, {0.5F}, 64, 50, bench::rounds(60, 3)});
    compare_all("4 KiB", {{}, bench::weights(1U << 10), 4, 50, bench::rounds(50, 3)});
    compare_all("1 MiB", {{}, bench::weights(1U << 18), 1, 8, bench::rounds(20, 2)});
    std::puts("left out, where a name follows:"
#if !defined(SPOTTER_BENCH_SPDLOG)
              " spdlog (libspdlog-dev),"
#endif
#if !defined(SPOTTER_BENCH_HDF5)
              " HDF5 (libhdf5-dev),"
#endif
#if !defined(SPOTTER_BENCH_QUILL)
              " quill (its repository in <folder>/quill, -DSPOTTER_PEERS=<folder>),"
#endif
#if !defined(SPOTTER_BENCH_MCAP)
              " MCAP (its repository in <folder>/mcap, -DSPOTTER_PEERS=<folder>)"
#endif
    );
    return 0;
}
