// SPDX-License-Identifier: Apache-2.0
// Shared by tests of killed recorders on systems with fork: files that kill the process, and a count that outlives it.
#pragma once

#include <tests/record/train_steps.hpp>

#include <csignal>
#include <fstream>

#include <sys/mman.h>
#include <sys/wait.h>

namespace spotter_test {

using namespace spotter;

// The system's files. The n-th operation, counted from 1, kills the process; an append is killed after half of its
// bytes.
class deadly_files final : public file_system {
public:
    explicit deadly_files(std::uint64_t die_at) noexcept : die_at_{die_at} {}

    result<spotter::opened_file> create(std::string_view path) noexcept override { return die(), real_.create(path); }
    result<spotter::opened_file> open_append(std::string_view path) noexcept override {
        return die(), real_.open_append(path);
    }
    error append(spotter::opened_file file, std::span<std::byte const> bytes) noexcept override {
        std::size_t const half = bytes.size() / 2;
        if (error const why = real_.append(file, bytes.first(half))) { return why; }
        die();
        if (error const why = real_.append(file, bytes.subspan(half))) { return why; }
        die();  // the bytes are written, and the call has not returned
        return {};
    }
    error sync(spotter::opened_file file) noexcept override { return real_.sync(file); }
    error close(spotter::opened_file file) noexcept override { return real_.close(file); }
    result<path_kind> kind_of(std::string_view path) noexcept override { return real_.kind_of(path); }
    result<std::uint64_t> size_of(std::string_view path) noexcept override { return real_.size_of(path); }
    result<file_facts> facts_of(std::string_view path) noexcept override { return real_.facts_of(path); }
    error rename(std::string_view from, std::string_view to) noexcept override { return real_.rename(from, to); }
    error remove(std::string_view path) noexcept override { return die(), real_.remove(path); }
    error make_folder(std::string_view path) noexcept override { return real_.make_folder(path); }
    error list(std::string_view path, name_taker take, void* context) noexcept override {
        return real_.list(path, take, context);
    }
    result<file_mapping> map(std::string_view path) noexcept override { return real_.map(path); }
    void unmap(file_mapping mapping) noexcept override { real_.unmap(mapping); }
    result<spotter::opened_file> lock(std::string_view path) noexcept override { return real_.lock(path); }
    void unlock(spotter::opened_file held) noexcept override { real_.unlock(held); }
    result<bool> is_locked(std::string_view path) noexcept override { return real_.is_locked(path); }
    result<shared_memory> create_shared(std::string_view name, std::uint64_t bytes) noexcept override {
        return die(), real_.create_shared(name, bytes);
    }
    result<shared_memory> open_shared(std::string_view name) noexcept override {
        return die(), real_.open_shared(name);
    }
    void unmap_shared(shared_memory memory) noexcept override { real_.unmap_shared(memory); }
    error remove_shared(std::string_view name) noexcept override { return die(), real_.remove_shared(name); }

private:
    void die() noexcept {
        if (++count_ == die_at_) { ::raise(SIGKILL); }
    }

    machine_file_system real_;
    std::atomic<std::uint64_t> count_{0};
    std::uint64_t die_at_;
};

// A tally in shared memory, which outlives the process.
class shared_tally {
public:
    shared_tally() noexcept {
        void* const at = ::mmap(nullptr, sizeof(tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        tally_ = ::new (at) tally{};
    }
    shared_tally(shared_tally const&) = delete;
    shared_tally& operator=(shared_tally const&) = delete;
    ~shared_tally() { ::munmap(tally_, sizeof(tally)); }
    tally* operator->() const noexcept { return tally_; }
    tally& operator*() const noexcept { return *tally_; }

private:
    tally* tally_;
};

// Runs `work` in a child; returns whether a signal ended it.
template <class Work>
bool killed(Work&& work) {
    pid_t const child = ::fork();
    if (child == 0) {
        work();
        ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status);
}

inline std::string ring_of(std::string const& path) {
    std::ifstream file{path + "/ring"};
    std::string name;
    file >> name;
    return name;
}
inline bool in_memory(std::string const& name) {
    machine_file_system files;
    return *files.kind_of("/dev/shm/" + name) == path_kind::file;
}
inline bool has_shared_memory() {
    machine_file_system files;
    return *files.kind_of("/dev/shm") == path_kind::folder;
}
// A process that records `steps` steps and part of one more, and is killed before its writer has drained the ring.
inline void record_and_die(std::string const& path, std::uint64_t first, std::uint64_t steps,
                           options choices = shared()) {
    choices.drain = drain::poll;
    CHECK(killed([&] {
        recorder sink{path, choices};
        declare(sink);
        for (std::uint64_t step = first; step < first + steps; ++step) {
            scalar(sink, step, 1.0);
            sink.close(train(step), {});
        }
        scalar(sink, first + steps, 2.0);
        ::raise(SIGKILL);
    }));
}

}  // namespace spotter_test
