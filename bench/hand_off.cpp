// SPDX-License-Identifier: Apache-2.0
// T1 to T3: the cost of handing a value over on the training thread, compared with a memcpy of the same bytes into
// memory like the ring's.
#include "bench.hpp"
#include "scratch_folder.hpp"

#include <spotter/ring/byte_ring.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>

#include <cstring>
#include <new>

#include <sys/resource.h>

using namespace spotter;

namespace {

thread_local std::uint64_t allocations = 0;  // of this thread

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
    ++allocations;
    if (void* const found = std::malloc(size > 0 ? size : 1)) { return found; }
    throw std::bad_alloc{};
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

constexpr std::uint64_t ring_bytes = 256ULL << 20;

// The control: touched memory that is cycled through like a ring, `stride` bytes a copy.
class copies {
public:
    copies() : memory_(ring_bytes) {}
    void put(void const* from, std::size_t bytes, std::size_t stride) noexcept {
        if (at_ + stride > memory_.size()) { at_ = 0; }
        std::memcpy(memory_.data() + at_, from, bytes);
        at_ += stride;
        bench::do_not_optimise(memory_);
    }

private:
    std::vector<std::byte> memory_;
    std::size_t at_ = 0;
};

// How much is handed over at a time: `calls` calls are timed as one sample. After `batches` samples the writer drains
// the ring, so that it never fills.
struct schedule {
    std::size_t calls, batches, rounds;
};

// Measures `call` repeatedly, with `rest` between the rounds.
template <class Call, class Rest>
[[nodiscard]] bench::samples measure(schedule const& plan, Call&& call, Rest&& rest) {
    bench::samples times;
    for (std::size_t round = 0; round < plan.rounds; ++round) {
        for (std::size_t i = 0; i < plan.batches; ++i) { times.time(plan.calls, call); }
        rest();
    }
    return times;
}

// Measures hand-offs at an open step of a recorded run.
template <class Hand>
[[nodiscard]] bench::samples measure_hook(schedule const& plan, Hand&& hand, ring_in where = ring_in::memory) {
    bench::scratch_folder const folder;
    hook watch{std::string_view{folder.path()}, spotter::plan{collection{"all", "*", always{}, payload}},
               options{.ring_bytes = ring_bytes, .ring_in = where}};
    std::uint64_t index = 0;
    tensor_handle const loss = watch.tensor("loss");  // for hand-offs by handle
    auto const give = [&] {
        if constexpr (requires { hand(watch, loss); }) {
            hand(watch, loss);
        } else {
            hand(watch);
        }
    };
    watch.begin(train(index++));
    give();  // declares the tensors; measurements begin at the next step
    (void)watch.end();
    watch.begin(train(index++));
    bench::samples times = measure(plan, give, [&] {
        (void)watch.end();
        watch.flush();
        watch.begin(train(index++));
    });
    (void)watch.end();
    health_report const health = watch.health();
    if (!health.good() || health.sink.dropped + health.sink.thinned > 0) {
        std::printf("  not a measurement: %s, dropped %llu, thinned %llu\n",
                    std::string{health.first_error.what.view()}.c_str(),
                    static_cast<unsigned long long>(health.sink.dropped),
                    static_cast<unsigned long long>(health.sink.thinned));
    }
    if (health.sink.ring_peak > ring_bytes / 2) {
        std::printf("  the ring was more than half full, the figure below is too high\n");
    }
    return times;
}

// The first eight steps after the declaring one, in fresh hooks with a ring of default size.
template <class Hand>
[[nodiscard]] bench::samples measure_first_steps(std::size_t calls, Hand&& hand) {
    bench::samples times;
    for (std::size_t i = 0; i < bench::rounds(9, 2); ++i) {
        bench::scratch_folder const folder;
        hook watch{std::string_view{folder.path()}, spotter::plan{collection{"all", "*", always{}, payload}}};
        watch.begin(train(0));
        hand(watch);
        (void)watch.end();
        for (std::uint64_t index = 1; index <= 8; ++index) {
            watch.begin(train(index));
            times.time(calls, [&] { hand(watch); });
            (void)watch.end();
        }
    }
    return times;
}

// The ring alone; the same thread drains it between the rounds.
[[nodiscard]] bench::samples measure_ring(schedule const& plan, void const* from, std::size_t bytes) {
    byte_ring ring;
    if (!ring.start(ring_bytes)) { return {}; }
    ring.touch(ring_bytes);
    return measure(
        plan,
        [&] {
            for (std::size_t done = 0; done < bytes;) {
                std::size_t const size = (std::min)(std::size_t{1} << 20, bytes - done);
                std::byte* const at = ring.prepare(size);
                if (at == nullptr) { return; }
                std::memcpy(at, static_cast<std::byte const*>(from) + done, size);
                ring.commit(size, 1);
                done += size;
            }
        },
        [&] {
            while (ring.take().some) { ring.release(); }
        });
}

[[nodiscard]] bench::samples measure_copy(schedule const& plan, void const* from, std::size_t bytes,
                                          std::size_t stride) {
    copies memory;
    return measure(plan, [&] { memory.put(from, bytes, stride); }, [] {});
}

// The minimum over several measurements taken in turn: a busy neighbour only adds time.
struct least {
    double median = 1e12, tail = 1e12;
    void take(bench::samples times) {
        median = (std::min)(median, times.median());
        tail = (std::min)(tail, times.percentile(0.999));
    }
};
[[nodiscard]] int turns() { return bench::quick() ? 1 : 7; }

void scalars() {
    schedule const plan{64, 200, bench::rounds(100, 20)};
    float const loss = 0.5F;
    least copy, ring, scalar, by_handle, observed, shared;
    for (int i = 0; i < turns(); ++i) {
        copy.take(measure_copy(plan, &loss, sizeof loss, 32));
        ring.take(measure_ring(plan, &loss, sizeof loss));
        auto const hand = [&](auto& watch) { watch.scalar("loss", loss); };
        scalar.take(measure_hook(plan, hand));
        by_handle.take(measure_hook(plan, [&](auto& watch, tensor_handle it) { watch.scalar(it, loss); }));
        shared.take(measure_hook(plan, hand, ring_in::shared_memory));
        observed.take(measure_hook(plan, [&](auto& watch) { watch.observe("loss", loss); }));
    }
    std::string const beside = bench::control("memcpy", copy.median, "ns");
    std::string const beside_tail = bench::control("memcpy", copy.tail, "ns");
    bench::figure("  bare ring, 4 bytes, p50", ring.median, "ns", beside);
    bench::figure("  bare ring, 4 bytes, p99.9 of batches of 64", ring.tail, "ns", beside_tail);
    bench::figure("  hook.scalar, ring in shared memory, p50", shared.median, "ns", beside);
    bench::figure("  hook.scalar in the first steps after its declaration, p50",
                  measure_first_steps(64, [&](auto& watch) { watch.scalar("loss", loss); }).median(), "ns", beside);
    auto const report = [&](std::string const& what, least const& times) {
        bench::target("T1 " + what + ", p50", times.median, "ns", bench::wanted::at_most, copy.median + 12, beside);
        bench::target("T1 " + what + ", p99.9 of batches of 64", times.tail, "ns", bench::wanted::at_most,
                      1.5 * copy.tail, beside_tail);
    };
    report("hook.scalar", scalar);
    report("hook.observe of a loss", observed);
    std::string const beside_ring = bench::control("bare ring", ring.median, "ns");
    auto const over_ring = [&](std::string const& what, least const& times, double most) {
        bench::target("T1 " + what + " over the bare ring, p50", times.median - ring.median, "ns",
                      bench::wanted::at_most, most, beside_ring);
    };
    over_ring("hook.scalar by handle", by_handle, 4);
    over_ring("hook.scalar by name", scalar, 6);
    over_ring("hook.observe of a loss", observed, 12);
}

void tensors(std::string const& size, std::size_t bytes, schedule const& plan, double limit) {
    std::vector<float> const values = bench::weights(bytes / sizeof(float));
    least copy, ring, handed, shared;
    auto const hand = [&](auto& watch) { watch.observe("weight", values); };
    for (int i = 0; i < turns(); ++i) {
        copy.take(measure_copy(plan, values.data(), bytes, bytes));
        ring.take(measure_ring(plan, values.data(), bytes));
        handed.take(measure_hook(plan, hand));
        shared.take(measure_hook(plan, hand, ring_in::shared_memory));
    }
    std::string const beside = bench::control("memcpy", copy.median, "ns");
    bench::figure("  bare ring, " + size, ring.median / copy.median, "x memcpy", beside);
    bench::figure("  hook.observe of " + size + ", ring in shared memory", shared.median / copy.median, "x memcpy",
                  beside);
    bench::figure("  hook.observe of " + size + " in the first steps after its declaration",
                  measure_first_steps(plan.calls, hand).median() / copy.median, "x memcpy", beside);
    bench::target("T2 hook.observe of " + size, handed.median / copy.median, "x memcpy", bench::wanted::at_most, limit,
                  beside);
}

// How often this thread yielded the processor voluntarily, as a lock or a waiting system call does.
[[nodiscard]] long waits() noexcept {
    rusage used{};
    (void)getrusage(RUSAGE_THREAD, &used);
    return used.ru_nvcsw;
}
// tests/record/system_calls.cpp proves that there is no system call at all.
void memory_and_waits() {
    bench::scratch_folder const folder;
    std::vector<float> const values = bench::weights(1024);
    hook watch{std::string_view{folder.path()},
               spotter::plan{collection{"all", "*", always{}, payload | stats(mean, l2)}},
               options{.ring_bytes = ring_bytes}, exploding_tensor{}, any("*", l2 > 1e6)};
    std::uint64_t index = 0;
    auto const step = [&] {
        watch.begin(train(index++));
        for (int i = 0; i < 10; ++i) {
            watch.observe("weight", values);
            watch.scalar("loss", 0.5F);
        }
        bench::do_not_optimise(watch.end());
    };
    step(), step();
    std::uint64_t const allocated = allocations;
    long const waited = waits();
    for (std::size_t i = 0; i < bench::rounds(2000, 200); ++i) { step(); }
    bench::target("T3 allocations in steps of 20 hand-offs", static_cast<double>(allocations - allocated), "",
                  bench::wanted::at_most, 0);
    bench::target("T3 waits of the thread in them", static_cast<double>(waits() - waited), "", bench::wanted::at_most,
                  0);
}

}  // namespace

int main() {
    scalars();
    tensors("4 KiB", 4096, {16, 200, bench::rounds(10, 3)}, 1.08);
    memory_and_waits();
    tensors("1 MiB", 1U << 20, {1, 32, bench::rounds(6, 2)}, 1.0);
    return 0;
}
