// SPDX-License-Identifier: Apache-2.0
// Command line, `serve`: the runs of a folder as they appear, grow and vanish. Separate threads read them while there
// are requests; requests do not wait for that.
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

    // The changes after version `since`, as a document: {version, runs, gone, unread, ...}; for 0 everything.
    [[nodiscard]] std::string changes(std::uint64_t since);
    // The run, for reading; null where it does not exist any more. `name` receives its name.
    [[nodiscard]] std::shared_ptr<live_run> run(std::uint64_t id, std::string* name = nullptr);
    [[nodiscard]] std::string const& root() const noexcept { return root_; }

private:
    struct entry {
        std::uint64_t id = 0;
        found_run found{};
        std::optional<run_card> card{};
        std::uint64_t version = 0;       // of the list, at the last change of this entry
        std::uint64_t read_version = 0;  // of `live`, when the card was made
        bool stale = true;               // its files changed since the card was made
        std::shared_ptr<live_run> live{};
        std::string text{};  // as a document; made when it changes, not at a request

        void write();
    };

    // Two threads read: one the newest runs first, the other the smallest first, so that a long run does not delay the
    // list.
    enum class order { newest, smallest };
    void work();
    void read_small();
    // Takes over the existing runs; requires the lock.
    void take_scan(run_scan found);
    // Makes the card of one run that needs it; false where none does.
    bool read_one(double now, order which);
    void let_go(double now);

    std::string root_;
    std::mutex lock_{};
    std::condition_variable wake_{};
    std::map<std::string, entry> runs_{};  // by name
    std::map<std::uint64_t, std::string> names_{};
    std::map<std::uint64_t, std::uint64_t> gone_{};  // ids, with the version at which they vanished
    std::uint64_t version_ = 1, next_id_ = 1;
    std::uint64_t links_ = 0;
    bool cut_ = false, scanned_ = false, ends_ = false;
    std::string trouble_{};
    double asked_ = 0;  // by steady_seconds
    std::thread thread_{}, second_{};
};

}  // namespace spotter_tool::live
