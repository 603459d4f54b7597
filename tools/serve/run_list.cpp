// SPDX-License-Identifier: Apache-2.0
// Command line, `serve`: the bodies of run_list.hpp.
#include "run_list.hpp"

#include <algorithm>
#include <chrono>
#include <exception>

namespace spotter_tool::live {

namespace {

constexpr double quiet_after = 5;      // seconds without a request, after which nothing is read
constexpr double let_go_after = 30;    // seconds without a request, after which a run is closed
constexpr double looks_each = 0.25;    // seconds between two checks of the folder, and of each running run
constexpr std::size_t most_open = 64;  // ended runs that stay open for viewers

}  // namespace

run_list::run_list(std::string root) : root_{std::move(root)}, asked_{steady_seconds()} {
    thread_ = std::thread{[this] { work(); }};
    second_ = std::thread{[this] { read_small(); }};
}

run_list::~run_list() {
    {
        std::lock_guard const held{lock_};
        ends_ = true;
    }
    wake_.notify_all();
    thread_.join();
    second_.join();
}

std::string run_list::changes(std::uint64_t since) {
    std::lock_guard const held{lock_};
    asked_ = steady_seconds();
    wake_.notify_all();
    json head = {{"version", version_}, {"folder", root_}, {"scanned", scanned_},
                 {"links", links_},     {"cut", cut_},     {"trouble", trouble_}};
    std::size_t unread = 0;
    std::string runs;
    for (auto const& [name, each] : runs_) {
        unread += each.card ? 0U : 1U;
        if (each.version <= since) { continue; }
        if (!runs.empty()) { runs += ','; }
        runs += each.text;
    }
    head["unread"] = unread;
    head["gone"] = json::array();
    for (auto const& [id, when] : gone_) {
        if (when > since && since > 0) { head["gone"].push_back(id); }
    }
    std::string made = dump_utf8(head);
    made.pop_back();
    return made + ",\"runs\":[" + runs + "]}";
}

void run_list::entry::write() {
    json one = {{"id", id}, {"name", found.name}, {"changed", found.changed}};
    if (card) { one["card"] = card_json(*card); }
    text = dump_utf8(one);
}

std::shared_ptr<live_run> run_list::run(std::uint64_t id, std::string* name) {
    std::lock_guard const held{lock_};
    asked_ = steady_seconds();
    auto const named = names_.find(id);
    if (named == names_.end()) { return nullptr; }
    entry& mine = runs_.at(named->second);
    if (name != nullptr) { *name = named->second; }
    if (!mine.found.refused.empty()) { return nullptr; }
    if (!mine.live) { mine.live = std::make_shared<live_run>(mine.found.path); }
    mine.live->touch();
    return mine.live;
}

void run_list::take_scan(run_scan found) {
    std::map<std::string, entry> kept;
    bool changed = !std::exchange(scanned_, true) || found.trouble != trouble_ || found.links != links_;
    std::uint64_t const next = version_ + 1;
    for (found_run& each : found.runs) {
        auto const before = runs_.find(each.name);
        entry one;
        if (before != runs_.end()) { one = std::move(before->second); }
        bool const is_new = one.id == 0;
        if (is_new) { one.id = next_id_++; }
        if (is_new || one.found.stamp != each.stamp || one.found.refused != each.refused) { one.stale = true; }
        if (is_new) { one.version = next, changed = true; }
        names_[one.id] = each.name;
        one.found = std::move(each);
        if (is_new) { one.write(); }
        kept.emplace(one.found.name, std::move(one));
        if (before != runs_.end()) { runs_.erase(before); }
    }
    for (auto const& [name, each] : runs_) {
        gone_[each.id] = next;
        names_.erase(each.id);
        changed = true;
    }
    runs_ = std::move(kept);
    links_ = found.links, cut_ = found.cut, trouble_ = found.trouble;
    if (changed) { version_ = next; }
}

bool run_list::read_one(double now, order which) {
    std::shared_ptr<live_run> live;
    std::string name;
    std::uint64_t known = 0;
    {
        std::lock_guard const held{lock_};
        entry* best = nullptr;
        for (auto& [each_name, each] : runs_) {
            if (!each.stale) { continue; }
            bool const sooner = best == nullptr || (which == order::newest ? each.found.changed > best->found.changed
                                                                           : each.found.bytes < best->found.bytes);
            if (sooner) { best = &each; }
        }
        if (best == nullptr) { return false; }
        best->stale = false;
        name = best->found.name;
        if (!best->found.refused.empty()) {
            best->card.emplace();
            best->card->status = "unreadable", best->card->why = best->found.refused, best->card->over = true;
            best->version = ++version_;
            best->write();
            return true;
        }
        if (!best->live) { best->live = std::make_shared<live_run>(best->found.path); }
        live = best->live;
        known = best->read_version;
    }
    run_card card;
    {
        std::lock_guard const held{live->lock()};
        try {
            (void)live->refresh();
            if (live->version() == known) { return true; }
            known = live->version();
            card = card_of(*live);
        } catch (std::exception const& why) {  // out of memory: the other runs are kept
            card.status = "unreadable", card.why = why.what();
        }
    }
    std::lock_guard const held{lock_};
    auto const found = runs_.find(name);
    if (found == runs_.end() || found->second.live != live) { return true; }
    entry& mine = found->second;
    mine.version = ++version_;
    mine.read_version = known;
    if (card.over && now - live->touched() > let_go_after) { mine.live = nullptr, mine.read_version = 0; }
    mine.card = std::move(card);
    mine.write();
    return true;
}

// Closes runs without viewers, except running ones.
void run_list::let_go(double now) {
    std::lock_guard const held{lock_};
    std::vector<entry*> open;
    for (auto& [name, each] : runs_) {
        if (each.live && each.card && each.card->over) { open.push_back(&each); }
        if (each.card && !each.card->over && each.live) { each.stale = true; }  // it may have died since
    }
    std::sort(open.begin(), open.end(), [](entry* a, entry* b) { return a->live->touched() > b->live->touched(); });
    for (std::size_t i = 0; i < open.size(); ++i) {
        if (i >= most_open || now - open[i]->live->touched() > let_go_after) {
            open[i]->live = nullptr, open[i]->read_version = 0;
        }
    }
}

void run_list::read_small() {
    while (true) {
        {
            std::unique_lock held{lock_};
            if (ends_) { return; }
        }
        if (read_one(steady_seconds(), order::smallest)) { continue; }
        std::unique_lock held{lock_};
        wake_.wait_for(held, std::chrono::milliseconds{100}, [this] { return ends_; });
    }
}

void run_list::work() {
    while (true) {
        double const begin = steady_seconds();
        {
            std::unique_lock held{lock_};
            while (!ends_ && steady_seconds() - asked_ > quiet_after) { wake_.wait_for(held, std::chrono::seconds{1}); }
            if (ends_) { return; }
        }
        run_scan found = scan_runs(root_);
        {
            std::lock_guard const held{lock_};
            take_scan(std::move(found));
        }
        let_go(begin);
        double next_look = begin + looks_each;
        for (bool more = true; more && steady_seconds() < next_look;) { more = read_one(begin, order::newest); }
        // A slow folder is checked less often.
        double const spent = steady_seconds() - begin;
        double const rest = (std::max)(begin + looks_each - steady_seconds(), spent > looks_each ? 0.0 : spent / 4);
        std::unique_lock held{lock_};
        if (rest > 0) {
            wake_.wait_for(held, std::chrono::duration<double>(rest), [this] { return ends_; });
        }
    }
}

}  // namespace spotter_tool::live
