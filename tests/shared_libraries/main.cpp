// SPDX-License-Identifier: Apache-2.0
// Loads both libraries and runs three hooks at the same time: first step by step in turn, then on three threads. One
// library is unloaded in the middle. Arguments: local or global, and the two libraries.
#include "plugin.h"

#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <cstdio>
#include <cstring>
#include <string>
#include <thread>

#include <dlfcn.h>

using namespace spotter;

namespace {

int failures = 0;
void expect(bool good, char const* what, int line) {
    if (good) { return; }
    std::printf("main.cpp:%d: not so: %s\n", line, what);
    ++failures;
}
#define EXPECT(condition) expect(static_cast<bool>(condition), #condition, __LINE__)

struct library {
    void* handle = nullptr;
    plugin_start* start = nullptr;
    plugin_step* step = nullptr;
    plugin_finish* finish = nullptr;

    library(char const* path, int how) : handle{::dlopen(path, how)} {
        if (handle == nullptr) {
            std::printf("%s\n", ::dlerror());
            return;
        }
        find("start", start), find("step", step), find("finish", finish);
    }
    [[nodiscard]] bool whole() const { return start != nullptr && step != nullptr && finish != nullptr; }

private:
    template <class Function>
    void find(char const* name, Function*& into) {
        void* const found = ::dlsym(handle, name);
        static_assert(sizeof into == sizeof found);
        std::memcpy(&into, &found, sizeof found);
    }
};

constexpr unsigned long steps = 300;  // in turn; then the same number on threads

// Checks that the run has this one name at each of its steps, with these values.
void check_run(char const* path, char const* name, double first, unsigned long count) {
    auto const run = open_trial(path);
    EXPECT(run);
    if (!run) { return; }
    EXPECT(run->status() == run_status::finished);
    EXPECT(run->names() == std::vector<std::string>{name});
    EXPECT(run->steps().size() == count);
    EXPECT((run->totals().stored == count && run->totals().dropped == 0));
    for (unsigned long i = 0; i < count; i += 7) {
        EXPECT((*run)[name].at(train(i)).to<double>().value_or(-1) == first + static_cast<double>(i));
    }
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 4) { return 2; }
    int const how = RTLD_NOW | (std::strcmp(arguments[1], "global") == 0 ? RTLD_GLOBAL : RTLD_LOCAL);
    library const a{arguments[2], how}, b{arguments[3], how};
    if (!a.whole() || !b.whole()) { return 2; }

    EXPECT(a.step(0, "x", 1) == -1);
    EXPECT(a.start("a", 1e9) == 1);
    EXPECT(b.step(0, "x", 1) == -1);  // the other library's hook is separate
    EXPECT(b.start("b", -1) == 1);
    EXPECT(a.start("c", 0) == 0);
    hook watch{"main", plan{collection{"all", "*", always{}, payload}}, options{.ring_bytes = 64 << 10},
               any("main", maximum > 1e9)};
    int found_a = 0, found_b = 0, found = 0;
    auto const step_a = [&](unsigned long i) { found_a += a.step(i, "of a", 1000 + static_cast<double>(i)); };
    auto const step_b = [&](unsigned long i) { found_b += b.step(i, "of b", 2000 + static_cast<double>(i)); };
    auto const step_main = [&](unsigned long i) {
        found += static_cast<int>(watch.step(train(i), "main"_t = 3000 + static_cast<double>(i)).size());
    };
    for (unsigned long i = 0; i < steps; ++i) { step_a(i), step_b(i), step_main(i); }
    auto const all = [](auto const& step) {
        for (unsigned long i = steps; i < 2 * steps; ++i) { step(i); }
    };
    {
        std::thread one{[&] { all(step_a); }}, other{[&] { all(step_b); }};
        all(step_main);
        one.join(), other.join();
    }
    EXPECT(found_a == 0);
    EXPECT(found_b == static_cast<int>(2 * steps));
    EXPECT(found == 0);

    EXPECT(a.finish() == 1);
    ::dlclose(a.handle);  // the others continue without it
    for (unsigned long i = 2 * steps; i < 3 * steps; ++i) { step_b(i), step_main(i); }
    EXPECT(b.finish() == 1);
    ::dlclose(b.handle);
    watch.finish();
    EXPECT(watch.health().good());

    check_run("a", "of a", 1000, 2 * steps);
    check_run("b", "of b", 2000, 3 * steps);
    check_run("main", "main", 3000, 3 * steps);
    return failures == 0 ? 0 : 1;
}
