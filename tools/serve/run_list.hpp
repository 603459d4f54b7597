// SPDX-License-Identifier: Apache-2.0
// Command line, `serve`: the runs of a folder as they come, grow and go. A thread of its own reads them while somebody
// asks; nobody who asks waits for it.
#pragma once

#include "run_card.hpp"
#include "run_scan.hpp"

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace spotter_tool::live {

class run_list {
public:
    explicit run_list(std::string root);
    run_list(run_list const&) = delete;
    run_list& operator=(run_list const&) = delete;
    ~run_list();

    // What changed behind version `since`, as a document: {version, runs, gone, unread, ...}; of 0 all.
    [[nodiscard]] std::string changes(std::uint64_t since);
    // To read from; null where there is no such run any more. `name` becomes its name.
    [[nodiscard]] std::shared_ptr<live_run> run(std::uint64_t id, std::string* name = nullptr);
    [[nodiscard]] std::string const& root() const noexcept { return root_; }

private:
    struct entry {
        std::uint64_t id = 0;
        found_run found{};
        std::optional<run_card> card{};
        std::uint64_t version = 0;       // of the list, when this changed
        std::uint64_t read_version = 0;  // of `live`, when the card was made
        bool stale = true;               // its files are not those that the card was made of
        std::shared_ptr<live_run> live{};
        std::string text{};  // as a document, made when it changes and not when it is asked for

        void write();
    };

    // Two threads read: one the newest runs first, which people look for, the other the smallest, so that a long one
    // keeps no list waiting.
    enum class order { newest, smallest };
    void work();
    void read_small();
    // Which runs there are; under the lock.
    void take_scan(run_scan found);
    // Makes the card of one run that needs it; false where none does.
    bool read_one(double now, order which);
    void let_go(double now);

    std::string root_;
    std::mutex lock_{};
    std::condition_variable wake_{};
    std::map<std::string, entry> runs_{};  // by name
    std::map<std::uint64_t, std::string> names_{};
    std::map<std::uint64_t, std::uint64_t> gone_{};  // ids, and the version at which they went
    std::uint64_t version_ = 1, next_id_ = 1;
    std::uint64_t links_ = 0;
    bool cut_ = false, scanned_ = false, ends_ = false;
    std::string trouble_{};
    double asked_ = 0;  // by steady_seconds
    std::thread thread_{}, second_{};
};

}  // namespace spotter_tool::live
