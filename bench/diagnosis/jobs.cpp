// SPDX-License-Identifier: Apache-2.0
// Jobs as processes, which take the next training from a counter in shared memory and leave its lines in a file without
// a name.
#include "jobs.hpp"

#include "family.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <new>
#include <sstream>
#include <string>
#include <utility>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace diagnosis {

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct progress {
    std::atomic<std::size_t> next{0}, done{0};
};

void work(std::vector<assignment> const& list, progress& of_all, std::FILE* into, double start) {
    for (std::size_t i = of_all.next++; i < list.size(); i = of_all.next++) {
        std::clock_t const begun = std::clock();
        course of{list[i]};
        family_named(list[i].family)->train(of);
        outcome made = of.finish();
        made.seconds = static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC;
        std::fputs(csv_lines(made).c_str(), into);
        std::fflush(into);
        std::size_t const count = ++of_all.done;
        if (count % 50 == 0 || count == list.size()) {
            std::fprintf(stderr, "%zu of %zu trainings, %.0f s\n", count, list.size(), now() - start);
        }
    }
}

std::string text_of(std::FILE* file) {
    std::string made;
    char part[4096];
    std::rewind(file);
    while (std::size_t const size = std::fread(part, 1, sizeof part, file)) { made.append(part, size); }
    return made;
}

}  // namespace

std::vector<outcome> train_all(std::vector<assignment> const& list, unsigned jobs) {
    void* const shared = mmap(nullptr, sizeof(progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) { return {}; }
    progress& of_all = *new (shared) progress;
    struct job {
        pid_t process = -1;
        std::FILE* lines = nullptr;
    };
    std::vector<job> running;
    double const start = now();
    std::fflush(nullptr);
    for (unsigned i = 0; i < jobs; ++i) {
        job next{-1, std::tmpfile()};
        if (next.lines == nullptr) { break; }
        next.process = fork();
        if (next.process == 0) {
            work(list, of_all, next.lines, start);
            _exit(0);
        }
        running.push_back(next);
    }
    std::vector<outcome> made;
    for (job const& each : running) {
        int status = 0;
        if (each.process < 0 || waitpid(each.process, &status, 0) != each.process || status != 0) {
            std::fprintf(stderr, "a job died: what it trained is missing\n");
        }
        std::istringstream lines{text_of(each.lines)};
        std::fclose(each.lines);
        for (outcome& one : read_csv(lines)) { made.push_back(std::move(one)); }
    }
    munmap(shared, sizeof(progress));
    std::sort(made.begin(), made.end(), [](outcome const& a, outcome const& b) { return a.what < b.what; });
    return made;
}

}  // namespace diagnosis
