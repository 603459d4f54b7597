// SPDX-License-Identifier: Apache-2.0
// Records runs for tests/python: `record WHAT FOLDER [STEPS]`. Those tests contain what a reader has to see.
#include <common/regression.hpp>
#include <spotter/control.hpp>
#include <spotter/plan/live_plan.hpp>
#include <spotter/spotter.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace spotter;

namespace {

constexpr plan everything{collection{"all", "*", always{}, payload}};

std::uint64_t next_of(std::uint64_t& seed) noexcept {
    seed ^= seed << 13U, seed ^= seed >> 7U, seed ^= seed << 17U;
    return seed;
}

// One line of standard input a command, one line of standard output when it is done: a reader looks on between the two.
int record_live(std::string const& path, options const& choices) {
    hook watch{path, everything, choices};
    std::uint64_t seed = 11;
    std::vector<std::uint64_t> w(150);
    bool stopped = false;  // a rule asked the loop to stop
    for (std::string command; std::getline(std::cin, command);) {
        std::uint64_t const index = std::strtoull(command.c_str() + command.find_first_of("0123456789\n"), nullptr, 10);
        for (std::uint64_t& each : w) { each = next_of(seed); }  // which does not compress
        w[0] = index;
        if (command.starts_with("step")) {
            auto const reported = watch.step(train(index), "loss"_t = 1.0 / static_cast<double>(index + 1), "w"_t = w);
            stopped = stopped || reported.decision() == decision::stop;
        } else if (command.starts_with("open")) {
            watch.begin(train(index));
            watch.observe("loss", static_cast<double>(index));
        } else if (command.starts_with("empty")) {
            watch.begin(train(index));
            (void)watch.end();
        } else if (command.starts_with("close")) {
            (void)watch.end();
        } else if (command == "finish") {
            watch.finish();
        } else if (command == "fail") {
            watch.fail("no more data");
            return 0;
        } else if (command == "kill") {
            ::raise(SIGKILL);
        }
        watch.flush();
        std::cout << (stopped ? "stop" : "done") << std::endl;
    }
    return 0;
}

// Worker k closes k + 1 steps; worker 2 alone evaluates.
int record_workers(std::string const& path) {
    for (std::uint32_t worker : {2U, 1U, 0U}) {
        hook watch{path, everything, options{.ring_bytes = 1 << 16, .worker = worker, .workers = 3}};
        for (std::uint64_t i = 0; i <= worker; ++i) {
            (void)watch.step(train(i), "x"_t = 10.0 * worker + static_cast<double>(i));
        }
        if (worker == 2) { (void)watch.step(eval(0), "accuracy"_t = 0.5); }
        watch.finish();
    }
    return 0;
}

// Small records in which a value has another that it may be taken for: of another attempt, of another worker, from
// before the loop went back. A value is 100 times the number of these, and the step. Flushed after every second step,
// so that rows are in several frames. Steps are `apart` from one another.
template <class Hook>
void small_steps(Hook& watch, std::uint64_t number, std::uint64_t first, std::uint64_t end, bool packed,
                 std::uint64_t apart = 1) {
    for (std::uint64_t i = first; i < end; ++i) {
        double const x = 100.0 * static_cast<double>(number) + static_cast<double>(i);
        watch.begin(train(apart * i));
        watch.observe("x", x);
        if (!packed) { watch.observe("v", std::vector<float>(3, static_cast<float>(x))); }
        if (!packed && i % 4 == 1) { watch.observe("x", x + 0.5); }
        (void)watch.end();
        if (i % 2 == 0) { continue; }
        if (i % 4 == 3) { (void)watch.step(eval(apart * i), "x"_t = x); }
        if (!packed) { watch.scalar("lr", x, 1.0 + x); }
        watch.flush();
    }
}
// Three attempts. The first is killed between two steps, the second in a step.
int record_killed(std::string const& path) {
    for (std::uint64_t number = 0; number < 3; ++number) {
        pid_t const child = ::fork();
        if (child < 0) { return 1; }
        if (child > 0) {
            ::waitpid(child, nullptr, 0);
            continue;
        }
        hook watch{path, everything, options{.existing = existing::resume}};
        small_steps(watch, number, 2 * number, 2 * number + 4, false);
        if (number == 1) {
            watch.begin(train(6));
            watch.observe("x", 0.5);
            watch.flush();
        }
        if (number == 2) { watch.finish(); }
        ::_exit(0);
    }
    return 0;
}
int record_small(std::string_view what, std::string const& path) {
    bool const packed = what == "packed";
    bool const back = what == "back" || what == "apart";
    std::uint64_t const apart = what == "apart" ? 10 : 1;
    std::uint32_t const times = back ? 1 : what == "three" ? 3 : 2;
    for (std::uint32_t number = 0; number < times; ++number) {
        options choices{.existing = existing::resume};
        if (what == "pair") { choices = options{.worker = number, .workers = 2}; }
        hook watch{path, everything, choices};
        small_steps(watch, number, what == "three" ? 2 * number : 0, 6, packed, apart);
        if (back) { small_steps(watch, 1, 3, 7, packed, apart); }
        watch.finish();
    }
    return 0;
}

// Tensors of many types and sizes. With all their statistics or with their values: what is stored has to be what
// follows from them.
constexpr plan all_statistics{
    collection{"all", "*", always{},
               stats(minimum, of_abs(minimum), mean, mean_abs, variance, product, l2, zeros) | quantiles | histogram}};
template <class Plan>
int record_many(std::string const& path, Plan const& keep) {
    hook watch{path, keep, options{.ring_bytes = 64 << 20}};
    std::uint64_t seed = 1797;
    for (std::uint64_t i = 0; i < 12; ++i) {
        std::size_t const sizes[] = {1, 15, 16, 17, 1000, 1024, 1025, 5000, 10'003, 0, 265'000, 64};
        std::vector<float> floats(sizes[i]);
        std::vector<double> doubles(sizes[i]);
        std::vector<c64> complexes(sizes[i]);
        std::vector<std::int64_t> integers(sizes[i]);
        std::vector<std::uint8_t> bytes(sizes[i]);
        for (std::size_t k = 0; k < floats.size(); ++k) {
            std::uint64_t const bits = next_of(seed);
            doubles[k] = static_cast<double>(bits) * 1e-18 - 9.0;
            floats[k] = static_cast<float>(doubles[k]) * 1e-3F;
            integers[k] = static_cast<std::int64_t>(bits >> (k % 60));
            bytes[k] = static_cast<std::uint8_t>(bits);
            complexes[k] = {floats[k], static_cast<float>(k)};
        }
        if (i % 2 == 1 && floats.size() > 9) {
            floats[3] = std::numeric_limits<float>::quiet_NaN(), floats[9] = -std::numeric_limits<float>::infinity();
            doubles[7] = -0.0, doubles[8] = 1e300, complexes[5].im = std::numeric_limits<float>::infinity();
        }
        watch.begin(train(i));
        watch.observe("f32", floats);
        watch.observe("f64", doubles, flag::log_probabilities);
        watch.observe("c64", view_of(complexes.data(), {complexes.size()}));
        watch.observe("i64", integers);
        watch.observe("u8", bytes);
        for (dtype const small : {dtype::bf16, dtype::f16, dtype::f8_e4m3, dtype::f8_e5m2}) {
            tensor_ref view = view_of(bytes.data(), {bytes.size() / size_of(small)});
            view.type = small;
            watch.observe(name_of(small), view);
        }
        (void)watch.end();
        if (i % 4 == 3) { watch.flush(); }
    }
    watch.finish();
    return 0;
}

// A run with a limit, whose older segments keep their statistics and not their values.
int record_thinned(std::string const& path) {
    hook watch{path, plan{collection{"all", "*", always{}, payload | stats(l2)}},
               options{.segment_bytes = 64 << 10, .run_bytes = 256 << 10}};
    std::uint64_t seed = 7;
    std::vector<std::uint64_t> noise(1000);
    for (std::uint64_t i = 0; i < 100; ++i) {
        for (std::uint64_t& each : noise) { each = next_of(seed); }
        (void)watch.step(train(i), "noise"_t = noise);
        watch.flush();
    }
    watch.finish();
    return 0;
}

// Steps of a loss alone, which are packed; and what is packed with a count that differs from step to step.
int record_scalars(std::string const& path, std::uint64_t steps) {
    hook watch{path,
               plan{collection{"losses", "loss", always{}, payload},
                    collection{"zeros", "act", every{1000}, stats(zeros, l2)}},
               options{.ring_bytes = 64 << 20}};
    std::vector<float> act(200, 1.0F);
    for (std::uint64_t i = 0; i < steps; ++i) {
        act[i / 1000 % act.size()] = 0.0F;
        (void)watch.step(train(i), "loss"_t = 1.0F / static_cast<float>(i + 1), "act"_t = act);
    }
    watch.finish();
    return watch.health().good() ? 0 : 1;
}

// 200 steps of a small net, evaluated every tenth, with a fault for rules in Python to find.
int record_training(std::string const& path, std::string_view fault) {
    constexpr plan keep{defaults::losses, collection{"gradients", "grad/*", during{mode::train}, stats(mean_abs, l2)},
                        collection{"activations", "*/relu_output", every{5}, payload},
                        collection{"weights", role::weight, every{100}, payload}};
    hook watch{path, keep};
    example::regression net;
    if (fault == "stuck" || fault == "vanishing") { net.learning_rate = 0; }
    for (float& each : net.w1.values) { each = fault == "dead" ? 0.0F : each; }
    for (float& each : net.w2.values) { each = fault == "vanishing" ? 1e-8F * each : each; }
    for (std::uint64_t i = 0; i < 200; ++i) {
        float const loss = net.forward_backward();
        (void)watch.step(train(i), "loss"_t = loss, "fc1/relu_output"_t = net.hidden, net);
        net.update();
        if (i % 10 == 9) { (void)watch.step(eval(i / 10), "loss"_t = net.forward_backward()); }
    }
    watch.finish();
    return watch.health().good() ? 0 : 1;
}

// Known by no word: only what is in the record tells at which steps it asked.
struct third_of_seven {
    using kind = policy_kind;
    constexpr bool operator()(step_id step) const noexcept { return step.index % 7 == 3; }
};

// Rules look at every step; collections ask at a few. What they ask for is less than a rule's, the same, and more.
int record_looked_at(std::string const& path) {
    constexpr char const* long_pattern = "{grad/*,gradients_of_the_encoder/*,gradients_of_the_decoder/*,"
                                         "gradients_of_the_critic/*,gradients_of_the_actor/*}";
    constexpr plan keep{collection{"gradients", long_pattern, every{10} && during{mode::train}, stats(mean_abs)},
                        collection{"weights", "w", at{3, 7} || !before{45}, payload},
                        collection{"hidden", "hidden", third_of_seven{}, stats(l2, maximum)},
                        collection{"spread", "spread", third_of_seven{}, stats(l2) | quantiles}};
    hook watch{path, keep, any("*", mean_abs > 1e9) | named{"sizes"},
               any("{hidden,spread,w}", l2 > 1e9) | named{"lengths"}};
    std::vector<float> const values(40, 0.5F);
    for (std::uint64_t i = 0; i < 50; ++i) {
        (void)watch.step(train(i), "grad/w"_t = values, "w"_t = values, "hidden"_t = values, "spread"_t = values,
                         "seen"_t = values);
        if (i % 10 == 9) { (void)watch.step(eval(i / 10), "grad/w"_t = values); }
    }
    watch.finish();
    return watch.health().good() ? 0 : 1;
}

// The plan is exchanged, paused, resumed and paused again while a rule looks at every step; the next attempt is not.
int record_exchanged(std::string const& path) {
    static constexpr plan first{collection{"first", "x", every{10}, stats(l2)}};
    static constexpr plan second{collection{"second", "x", every{3}, stats(l2)}};
    detail::content_reader const how{
        [](std::string_view, error&) noexcept -> void* { return new (std::nothrow) dynamic_plan{second}; },
        [](void* made) noexcept { delete static_cast<dynamic_plan*>(made); }};
    std::vector<float> const values(40, 0.5F);
    std::uint64_t i = 0;
    {
        hook watch{path, live_plan{first, how}, any("*", l2 > 1e9) | named{"lengths"}};
        std::atomic<bool> over{false};
        std::thread asking{[&] {
            for (control_verb const each :
                 {control_verb::plan, control_verb::pause, control_verb::resume, control_verb::pause}) {
                std::this_thread::sleep_for(std::chrono::milliseconds{40});
                (void)ask_run(path, {.what = each, .document = each == control_verb::plan ? "{}" : ""});
            }
            std::this_thread::sleep_for(std::chrono::milliseconds{40});
            over = true;
        }};
        for (; !over; ++i) {
            (void)watch.step(train(i), "x"_t = values);
            std::this_thread::sleep_for(std::chrono::milliseconds{1});
        }
        asking.join();
        watch.finish();
    }
    hook watch{path, first, any("*", l2 > 1e9) | named{"lengths"}, options{.existing = existing::resume}};
    for (std::uint64_t const end = i + 30; i < end; ++i) { (void)watch.step(train(i), "x"_t = values); }
    watch.finish();
    return watch.health().good() ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
    if (count < 3) { return 2; }
    std::string_view const what = words[1];
    std::string const path = words[2];
    if (what == "live" && count > 3) {
        return record_live(path,
                           {.worker = static_cast<std::uint32_t>(std::strtoul(words[3], nullptr, 10)), .workers = 2});
    }
    if (what == "live") { return record_live(path, {}); }
    if (what == "limited") { return record_live(path, {.segment_bytes = 8 << 10, .run_bytes = 40 << 10}); }
    if (what == "workers") { return record_workers(path); }
    if (what == "statistics") { return record_many(path, all_statistics); }
    if (what == "values") { return record_many(path, everything); }
    if (what == "training") { return record_training(path, count > 3 ? words[3] : "healthy"); }
    if (what == "looked-at") { return record_looked_at(path); }
    if (what == "exchanged") { return record_exchanged(path); }
    if (what == "thinned") { return record_thinned(path); }
    if (what == "scalars") { return record_scalars(path, count > 3 ? std::strtoull(words[3], nullptr, 10) : 10'000); }
    if (what == "killed") { return record_killed(path); }
    for (std::string_view const small : {"attempts", "packed", "back", "apart", "three", "pair"}) {
        if (what == small) { return record_small(what, path); }
    }
    return 2;
}
