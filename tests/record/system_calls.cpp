// SPDX-License-Identifier: Apache-2.0
// T3: once tensors are declared, a step that is judged and recorded makes no system call, wakes no thread, takes no
// lock and allocates nothing on the training thread.
#include <tests/catch.hpp>

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define SPOTTER_TEST_SANITIZED
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define SPOTTER_TEST_SANITIZED
#endif
#endif

#if !defined(__linux__) || !(defined(__x86_64__) || defined(__aarch64__))
TEST_CASE("a judged and recorded step makes no system call [T3]") {
    SPOTTER_SKIP("system calls are forbidden by seccomp, which needs Linux on x86-64 or AArch64");
}
#elif defined(SPOTTER_TEST_SANITIZED)
TEST_CASE("a judged and recorded step makes no system call [T3]") {
    SPOTTER_SKIP("a sanitizer makes system calls of its own");
}
#else

#include <tests/hook/count_allocations.hpp>
#include <tests/trial/runs.hpp>

#include <spotter/record/recover.hpp>
#include <spotter/rules.hpp>

#include <atomic>
#include <csignal>
#include <cstddef>
#include <mutex>

#include <dlfcn.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

using namespace spotter;
using namespace spotter_test;

namespace {

thread_local std::size_t locks = 0;
std::atomic<int (*)(pthread_mutex_t*)> library_lock{
    nullptr};  // not a static of the function: libc++abi would lock a mutex for it

}  // namespace

// Replaces the C library's function in this executable and its libraries: taking a free lock makes no system call.
extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
    auto library = library_lock.load(std::memory_order_relaxed);
    if (library == nullptr) {
        library = reinterpret_cast<int (*)(pthread_mutex_t*)>(::dlsym(RTLD_NEXT, "pthread_mutex_lock"));
        library_lock.store(library, std::memory_order_relaxed);
    }
    ++locks;
    return library(mutex);
}

namespace {

// The result of a child, in memory shared with its parent.
struct outcome {
    long call = -1;  // the system call that ended it
    std::size_t steps = 0, findings = 0, allocations = 0, locks = 0;
    std::uint64_t stored = 0, dropped = 0;
};
outcome* seen_by_child = nullptr;
enum ended { well = 0, by_system_call = 3, not_allowed = 4 };

// From here on any system call of this thread, except those that end the process, is recorded and ends the process.
void forbid_system_calls() {
    struct sigaction action{};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = [](int, siginfo_t* what, void*) {
        seen_by_child->call = what->si_syscall;
        ::_exit(by_system_call);
    };
    ::sigaction(SIGSYS, &action, nullptr);
#if defined(__x86_64__)
    constexpr std::uint32_t processor = AUDIT_ARCH_X86_64;
#else
    constexpr std::uint32_t processor = AUDIT_ARCH_AARCH64;
#endif
    auto const jump_if = [](std::uint32_t value, std::uint8_t then, std::uint8_t otherwise) {
        return sock_filter{BPF_JMP | BPF_JEQ | BPF_K, then, otherwise, value};
    };
    sock_filter lines[] = {{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, arch)},
                           jump_if(processor, 0, 3),
                           {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
                           jump_if(__NR_exit, 2, 0),
                           jump_if(__NR_exit_group, 1, 0),
                           {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_TRAP},
                           {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
    sock_fprog program{std::size(lines), lines};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        ::_exit(not_allowed);
    }
}

// Runs `work` in a child; until it forbids system calls it may make any.
template <class Work>
int in_child(outcome& into, Work&& work) {
    void* const memory = ::mmap(nullptr, sizeof(outcome), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    seen_by_child = new (memory) outcome;
    pid_t const child = ::fork();
    if (child == 0) {
        work();
        ::_exit(well);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    into = *seen_by_child;
    ::munmap(memory, sizeof(outcome));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// A network with tensor sizes that enter the ring in different ways: inside a row, behind it, larger than the caches,
// in several blocks.
struct small_net {
    std::vector<float> bias = std::vector<float>(16, 0.5F), weight = std::vector<float>(32 * 32, 0.25F),
                       gradient = std::vector<float>(32 * 32, 0.1F), out = std::vector<float>(50 * 100, 1.0F),
                       large = std::vector<float>(1 << 18, 0.125F);
};
template <class Visit>
void visit_tensors(small_net const& net, Visit visit) {
    visit("fc/b", net.bias);
    visit("fc/w", view_of(net.weight.data(), {32, 32}));
    visit("act/fc", view_of(net.out.data(), {50, 100}), role::activation, activated_by(activation_kind::relu));
    visit("grad/fc/w", view_of(net.gradient.data(), {32, 32}));
    visit("large", net.large);
}
constexpr std::uint64_t warm_up = 3;
constexpr std::size_t bytes_a_step = 32 << 10;  // at most; and a hundredth of the large tensor

constexpr plan large_seldom{
    collection{"large", "large", every{100}, payload}, collection{"losses", "loss*", always{}, payload},
    collection{"spread", "fc/*", every{7}, quantiles | histogram},
    collection{"all", "{fc,act,grad}/*", always{}, payload | stats(mean, stddev, product, l1, zeros)}};

// Steps of a run whose ring has room for all of them: so the writer's speed has no influence.
void train_without_system_calls(std::string const& path, ring_in where, std::uint64_t steps) {
    hook watch{
        path,
        large_seldom,
        options{.overflow = overflow::block, .ring_bytes = steps * (bytes_a_step + (1 << 20) / 100), .ring_in = where},
        packs::supervised |
            severity::warning,  // the writer stores an error before the loop gets it (reported_and_dead.cpp)
        packs::system,
        any("*", l2 > 1e3) || (all("grad/*", mean_abs < 1e-7) | for_steps{3}),
        any("loss", minimum > 0.0)};
    small_net net;
    tensor_handle const rate = watch.tensor("rate");
    auto const step = [&](std::uint64_t i) {
        net.weight[i % 1024] += 0.01F, net.gradient[i % 1024] = -net.gradient[i % 1024];
        net.out[i % 5000] *= 0.5F, net.large[i] += 1;
        watch.begin(i % 10 == 2 ? eval(i) : train(i));
        watch.observe(net);
        watch.observe("loss", 1.0F);
        watch.scalar("note", "a text longer than any small string");
        watch.scalar(rate, 0.5);
        std::size_t const found = watch.end().size();
        watch.scalar("between", 1);
        watch.scalar("at a time", 2, 12.5);
        return found;
    };
    // Warm-up: the first step meets all names, the second begins comparisons, and the first of another mode copies
    // tensors.
    for (std::uint64_t i = 0; i < warm_up; ++i) { seen_by_child->findings += step(i); }
    std::size_t const locks_before = locks;
    forbid_system_calls();
    seen_by_child->allocations = allocations_in([&] {
        for (std::uint64_t i = warm_up; i < steps; ++i) {
            seen_by_child->findings += step(i);
            ++seen_by_child->steps;
        }
    });
    seen_by_child->locks = locks - locks_before;
    seen_by_child->dropped = watch.health().sink.dropped + watch.health().sink.thinned;
    seen_by_child->stored = watch.health().sink.stored;
    ::_exit(well);
}

}  // namespace

TEST_CASE("a judged and recorded step makes no system call, takes no lock and allocates nothing, with a warning as "
          "well [T3]") {
    outcome seen;
    // The test's premises: a system call is caught, and taking a free lock is counted.
    int const caught = in_child(seen, [] {
        static std::mutex mutex;
        std::size_t const before = locks;
        { std::lock_guard const lock{mutex}; }
        seen_by_child->locks = locks - before;
        forbid_system_calls();
        (void)::syscall(__NR_getppid);
    });
    if (caught == not_allowed) { SPOTTER_SKIP("seccomp is not allowed here"); }
    REQUIRE(caught == by_system_call);
    REQUIRE(seen.call == __NR_getppid);
    REQUIRE(seen.locks == 1);

    int const clock = in_child(seen, [] {
        forbid_system_calls();
        timespec now{};
        for (clockid_t const each : {CLOCK_REALTIME, CLOCK_MONOTONIC}) { (void)::clock_gettime(each, &now); }
    });
    if (clock == by_system_call) { SPOTTER_SKIP("reading the clock is a system call on this machine"); }
    REQUIRE(clock == well);

    for (ring_in const where : {ring_in::memory, ring_in::shared_memory}) {
        std::uint64_t const steps = where == ring_in::memory ? 2000 : 500;  // /dev/shm may be small
        temporary_folder const folder;
        int const how = in_child(seen, [&] { train_without_system_calls(folder / "run", where, steps); });
        INFO("ring in " << (where == ring_in::memory ? "plain" : "shared") << " memory; ended by system call "
                        << seen.call << " after " << seen.steps << " steps");
        CHECK(how == well);
        CHECK(seen.steps == steps - warm_up);
        CHECK(seen.findings > steps / 2);
        CHECK(seen.allocations == 0);
        CHECK(seen.locks == 0);
        CHECK(seen.stored >= 9 * steps);
        CHECK(seen.dropped == 0);
        if (where == ring_in::shared_memory) {  // the writer ended with the process, so all is in the ring
            REQUIRE(recover(folder / "run"));
            CHECK(open(folder / "run").closed_steps() == steps);
        }
    }
}
#endif
