// SPDX-License-Identifier: Apache-2.0
// Shared by the peers: a file that is emptied between rounds, and a thread behind a queue.
#pragma once

#include "bench.hpp"

#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace bench {

// A file that is appended to; a call empties it between the rounds.
class file {
public:
    explicit file(std::string const& path) : to_{std::fopen(path.c_str(), "wb")} {}
    file(file const&) = delete;
    file& operator=(file const&) = delete;
    ~file() { std::fclose(to_); }
    void write(std::span<char const> bytes) { do_not_optimise(std::fwrite(bytes.data(), 1, bytes.size(), to_)); }
    void empty() {
        std::fflush(to_);
        do_not_optimise(::ftruncate(::fileno(to_), 0));
        std::rewind(to_);
    }

private:
    std::FILE* to_;
};

// Mutex, condition variable and deque to a thread that calls `use` for each item. The queue is unbounded, so that no
// caller waits for room.
template <class Use>
class queue {
public:
    explicit queue(Use use) : use_{use}, thread_{[this] { serve(); }} {}
    queue(queue const&) = delete;
    queue& operator=(queue const&) = delete;
    ~queue() {
        push({});
        thread_.join();
    }
    void push(std::vector<char>&& item) {
        {
            std::lock_guard const lock{mutex_};
            items_.push_back(std::move(item));
        }
        filled_.notify_one();
    }
    void wait_until_empty() {
        std::unique_lock lock{mutex_};
        emptied_.wait(lock, [&] { return items_.empty() && !busy_; });
    }

private:
    void serve() {
        for (std::unique_lock lock{mutex_};;) {
            busy_ = false;
            if (items_.empty()) { emptied_.notify_all(); }
            filled_.wait(lock, [&] { return !items_.empty(); });
            std::vector<char> const item = std::move(items_.front());
            items_.pop_front();
            busy_ = true;
            if (item.empty()) { return; }
            lock.unlock();
            use_(item);
            lock.lock();
        }
    }
    Use use_;
    std::mutex mutex_;
    std::condition_variable filled_, emptied_;
    std::deque<std::vector<char>> items_;
    bool busy_ = false;
    std::thread thread_;
};

}  // namespace bench
