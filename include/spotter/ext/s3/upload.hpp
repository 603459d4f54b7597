// SPDX-License-Identifier: Apache-2.0
// Ext (L6): uploads a run's folder to an object store, repeatedly; what is there already is not sent again.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/core/work_count.hpp>
#include <spotter/ext/s3/store.hpp>
#include <spotter/file/replacing_file.hpp>
#include <spotter/file/system.hpp>
#include <spotter/format/frame.hpp>
#include <spotter/format/names.hpp>

#include <map>
#include <set>

namespace spotter::inline SPOTTER_ABI::s3 {

struct mirror_options {                          // how a run is sent
    std::chrono::milliseconds every{10'000};     // interval for the growing segment and the sign of life
    std::chrono::milliseconds patience{60'000};  // how long the end waits for the rest
    bool remove_local = false;      // deletes closed segments, except the newest, once the store has confirmed them
    work_count* come_by = nullptr;  // counts the bytes of segments in the store
};

// The state of an upload.
struct mirror_health {
    std::uint64_t pending = 0, pending_bytes = 0;  // files whose current state is not in the store
    std::uint64_t done = 0, done_bytes = 0;        // sent by this process
    std::uint64_t failed = 0;                      // failed tries
    std::uint64_t requests = 0;                    // for all that, retries included
    std::uint64_t removed = 0;                     // deleted local files
    error trouble{};                               // the last error, until something succeeds again
};

inline constexpr char writer_name[] = "writer";  // object: identifies the run of the objects in its folder
inline constexpr char alive_name[] = "alive";    // object: how often it is written while the run goes on

namespace detail {

// Whether an object belongs to a run, by its name below the run's place: `000000.spot`, `worker-3/000000.spotx`,
// `worker-3/flight/000000.spot`, …
[[nodiscard]] inline bool is_of_run(std::string_view name) noexcept {
    for (std::size_t depth = 0;; ++depth) {
        std::size_t const slash = name.find('/');
        if (slash == name.npos) { break; }
        std::string_view const folder = name.substr(0, slash);
        bool const known = (depth == 0 && worker_of_folder(folder) > 0) || folder == layout::flight_name ||
                           folder == layout::system_name;
        if (!known || depth > 1) { return false; }
        name.remove_prefix(slash + 1);
    }
    return segment_number(name, layout::data_suffix) >= 0 || segment_number(name, layout::side_suffix) >= 0 ||
           name == layout::set_name || name == layout::lost_name;
}

}  // namespace detail

// The state is in the folder and in the store, so another process can continue after a kill. Use it in one thread.
class upload {
public:
    upload(std::string_view folder, place to, settings how, mirror_options choices)
        : folder_{files().absolute(folder).view()}, to_{std::move(to)}, store_{std::move(how)}, choices_{choices} {
        while (folder_.size() > 1 && folder_.ends_with('/')) { folder_.pop_back(); }
    }

    [[nodiscard]] mirror_health const& health() const noexcept { return health_; }  // as of the last pass
    [[nodiscard]] store& away() noexcept { return store_; }                         // the destination
    // Marks existing files as an earlier run's, until a process writes to them.
    void ignore_what_is_there() {
        for (std::string const& each : workers()) { stale_[each] = newest_of(each); }
    }

    // Sends everything new; growing segments only if `due`. Returns the first error; the other files are tried as well.
    [[nodiscard]] error pass(bool due) {
        error first{};
        health_.pending = health_.pending_bytes = 0;
        auto const note = [&](error const& why) {
            if (why && !first) { first = why; }
        };
        down_ = {};
        for (std::string const& each : workers()) {
            if (is_stale(each)) { continue; }
            error const why = down_ ? down_ : claim(each);  // without a claim it is counted, and not sent
            note(why);
            // Must be checked before the last look at the folder.
            bool const alive = files().is_locked(path_of(each) + '/' + layout::lock_name).value_or(false);
            for (char const* const part : {"", layout::flight_name, layout::system_name}) {
                note(send_folder(inside(each, part), !why, !alive || due, alive));
            }
            if (!why && (due || !alive)) { note(say_alive(each, alive)); }
        }
        if (!first) { note(send_file(layout::set_name)); }
        health_.trouble = first;
        health_.requests = store_.connection().requests();
        return first;
    }

private:
    [[nodiscard]] static file_system& files() noexcept { return system_files(); }
    [[nodiscard]] std::string path_of(std::string const& inside) const {
        return inside.empty() ? folder_ : folder_ + '/' + inside;
    }
    [[nodiscard]] std::string key_of(std::string const& name) const { return to_.folder() + name; }
    [[nodiscard]] static std::string inside(std::string const& folder, std::string_view name) {
        if (name.empty()) { return folder; }
        return folder.empty() ? std::string{name} : folder + '/' + std::string{name};
    }

    // The folders of the existing workers; that of worker 0 is the run's own, "".
    [[nodiscard]] std::vector<std::string> workers() const {
        std::vector<std::string> found;
        if (!numbers_in("").empty()) { found.emplace_back(); }
        std::vector<std::uint32_t> numbers;
        each_name("", [&](std::string_view name) {
            if (std::uint32_t const number = worker_of_folder(name); number > 0) { numbers.push_back(number); }
        });
        std::sort(numbers.begin(), numbers.end());
        for (std::uint32_t const each : numbers) {
            std::string name = "worker-" + std::to_string(each);
            if (!numbers_in(name).empty()) { found.push_back(std::move(name)); }
        }
        return found;
    }

    [[nodiscard]] std::vector<std::uint32_t> numbers_in(std::string const& inside) const {
        std::vector<std::uint32_t> found;
        each_name(inside, [&](std::string_view name) {
            std::int64_t const number = segment_number(name, layout::data_suffix);
            if (number >= 0) { found.push_back(static_cast<std::uint32_t>(number)); }
        });
        std::sort(found.begin(), found.end());
        return found;
    }

    template <class Take>
    void each_name(std::string const& inside, Take take) const {
        auto const give = [](void* context, std::string_view name) noexcept {
            return guarded([&] { (*static_cast<Take*>(context))(name); });
        };
        (void)files().list(path_of(inside), give, &take);  // a missing folder has nothing
    }

    [[nodiscard]] file_facts facts_of(std::string const& name) const {
        auto const found = files().facts_of(path_of(name));
        return found ? *found : file_facts{};
    }

    [[nodiscard]] file_facts newest_of(std::string const& worker) const {
        auto const numbers = numbers_in(worker);
        return numbers.empty() ? file_facts{}
                               : facts_of(inside(worker, name_of_segment(numbers.back(), layout::data_suffix)));
    }

    [[nodiscard]] bool is_stale(std::string const& worker) {
        auto const it = stale_.find(worker);
        if (it == stale_.end()) { return false; }
        file_facts const now = newest_of(worker);
        bool const same = now.bytes == it->second.bytes && now.identity == it->second.identity;
        if (same && !files().is_locked(path_of(worker) + '/' + layout::lock_name).value_or(false)) { return true; }
        stale_.erase(it);
        return false;
    }

    [[nodiscard]] static std::string name_of_segment(std::uint32_t number, char const* suffix) {
        char name[32];
        return {name, name_segment(number, suffix, name)};
    }

    // Checks that the store has this run, or none, in this worker's folder. Lists what it has.
    [[nodiscard]] error claim(std::string const& worker) {
        std::uint64_t const run = run_of(worker);
        if (run == 0) { return {}; }  // its first bytes are not written yet
        if (auto const it = claimed_.find(worker); it != claimed_.end() && it->second == run) { return {}; }
        char mine[64];
        int const size =
            std::snprintf(mine, sizeof mine, "spotter writer 1\nrun %016llx\n", static_cast<unsigned long long>(run));
        std::string const text{mine, static_cast<std::size_t>(size)};
        std::string const key = key_of(inside(worker, writer_name));
        std::string there;
        error why = store_.get(to_.bucket, key, there);
        if (why.code == errc::not_a_run) {
            why = store_.put(to_.bucket, key, std::as_bytes(std::span{text}), true);
            there = text;
            if (why.code == errc::exists) { why = store_.get(to_.bucket, key, there); }  // another process was faster
        }
        if (why) { return failed(why); }
        if (there != text) {
            error other{errc::exists, "another run is stored at \""};
            other.what << to_.url() << '/' << worker << "\": give this one a place of its own";
            return other;
        }
        std::vector<object> all;
        std::string const prefix = key_of(worker.empty() ? worker : worker + '/');
        why = store_.list(to_.bucket, prefix, all);
        if (why) { return failed(why); }
        for (object const& each : all) {
            bool const of_another = worker.empty() && each.key.substr(prefix.size()).starts_with("worker-");
            if (!of_another) { there_[each.key] = each.bytes; }
        }
        if (worker.empty() || !claimed_.contains("")) { store_.forget_parts(to_.bucket, prefix, detail::is_of_run); }
        claimed_[worker] = run;
        return {};
    }

    [[nodiscard]] std::uint64_t run_of(std::string const& worker) const {
        auto const numbers = numbers_in(worker);
        if (numbers.empty()) { return 0; }
        std::byte head[layout::head_bytes];
        auto const read =
            files().read(path_of(inside(worker, name_of_segment(numbers.back(), layout::data_suffix))), 0, head);
        if (!read || *read < sizeof head) { return 0; }
        auto const stated = decode_head(head);
        return stated ? stated->run_id : 0;
    }

    [[nodiscard]] error send_folder(std::string const& folder, bool claimed, bool newest_too, bool alive) {
        error first{};
        std::vector<std::uint32_t> const numbers = numbers_in(folder);
        for (std::uint32_t const number : numbers) {
            bool const newest = number == numbers.back();
            error const why = send_segment(folder, number, claimed && (!newest || newest_too), newest && alive);
            if (why && !first) { first = why; }
            if (claimed && !why && choices_.remove_local && !newest) { remove_local(folder, number); }
        }
        if (claimed && !numbers.empty()) {
            error const why = send_file(inside(folder, layout::lost_name));
            if (why && !first) { first = why; }
        }
        return first;
    }

    // A sidecar is read before its segment and sent after it, so that what it describes is there. Segments only grow.
    // If the store's is larger, the local one was thinned or truncated, and the store's stays. Neither is mapped:
    // another process may truncate them meanwhile.
    [[nodiscard]] error send_segment(std::string const& folder, std::uint32_t number, bool now, bool grows) {
        std::string const data = inside(folder, name_of_segment(number, layout::data_suffix));
        std::string const side = inside(folder, name_of_segment(number, layout::side_suffix));
        constexpr int most_tries = 3;  // for a segment that is replaced repeatedly meanwhile
        error why{errc::replaced};
        for (int tries = 1; why.code == errc::replaced && tries <= most_tries; ++tries) {
            why = send_segment_as_it_is(data, side, now, grows, tries == most_tries);
        }
        return why;
    }
    [[nodiscard]] error send_segment_as_it_is(std::string const& data, std::string const& side, bool now, bool grows,
                                              bool last_try) {
        std::vector<std::byte> sidecar;
        (void)spotter::detail::read_all(files(), path_of(side), sidecar);  // it may be absent
        auto const segment = files().facts_of(path_of(data));
        if (!segment) { return unless_gone(segment.error()); }
        error why{};
        std::uint64_t const there = bytes_there(data);
        std::uint64_t const mine = segment->bytes, beside = sidecar.size();
        bool const send = there < mine;
        bool const send_side = beside > 0 && there <= mine && bytes_there(side) != beside;
        if (now && mine > 0) {
            if (send) { why = put(data, payload::of_file(path_of(data), *segment)); }
            if (!why && send_side) { why = put(side, std::span<std::byte const>{sidecar}); }
        }
        bool const left = why || !now;
        if (!left && choices_.come_by != nullptr) { choices_.come_by->add(mine); }
        bool const again = why.code == errc::replaced && !last_try;
        if (!left || grows || again) { return why; }
        note_pending(send, mine);
        note_pending(send_side, beside);
        return why;
    }
    [[nodiscard]] static error unless_gone(error const& why) noexcept {
        return why.code == errc::not_a_run || why.code == errc::unwritable ? error{} : why;
    }
    void note_pending(bool waits, std::uint64_t bytes) noexcept {
        if (waits) { ++health_.pending, health_.pending_bytes += bytes; }
    }

    // For small files that are replaced as a whole.
    [[nodiscard]] error send_file(std::string const& name) {
        file_facts const now = facts_of(name);
        file_facts& sent = sent_[name];
        if (now.bytes == 0 || (now.bytes == sent.bytes && now.identity == sent.identity)) { return {}; }
        std::vector<std::byte> bytes;
        if (spotter::detail::read_all(files(), path_of(name), bytes)) { return {}; }
        error const why = put(name, std::span<std::byte const>{bytes});
        note_pending(static_cast<bool>(why), now.bytes);
        if (!why) { sent = now; }
        return why;
    }

    [[nodiscard]] error say_alive(std::string const& worker, bool alive) {
        std::string const name = inside(worker, alive_name);
        auto const seconds = std::max<long long>(1, choices_.every.count() / 1000);
        std::string const text =
            alive ? "spotter alive 1\nevery " + std::to_string(seconds) + '\n' : "spotter alive 1\nover\n";
        if (!alive && over_.contains(worker)) { return {}; }
        error const why = down_ ? down_ : store_.put(to_.bucket, key_of(name), std::as_bytes(std::span{text}));
        if (!why && !alive) { over_[worker] = true; }
        if (!why && alive) { over_.erase(worker); }
        return why ? failed(why) : why;
    }

    [[nodiscard]] error put(std::string const& name, payload const& bytes) {
        if (down_) { return down_; }
        error const why = store_.put(to_.bucket, key_of(name), bytes);
        if (why) { return failed(why); }
        there_[key_of(name)] = bytes.size();
        sent_here_.insert(name);
        ++health_.done, health_.done_bytes += bytes.size();
        return {};
    }

    [[nodiscard]] error failed(error const& why) {
        ++health_.failed;
        if (why.code == errc::io_error) { down_ = why; }
        return why;
    }

    [[nodiscard]] std::uint64_t bytes_there(std::string const& name) const {
        auto const it = there_.find(key_of(name));
        return it == there_.end() ? 0 : it->second;
    }

    // Deletes a segment only if the store has the same: it compares the beginning and the end, since a file of that
    // name and length may come from a copy of the run that continued elsewhere. Sidecars can be rebuilt.
    void remove_local(std::string const& folder, std::uint32_t number) {
        std::string const data = inside(folder, name_of_segment(number, layout::data_suffix));
        if (!is_stored(data)) { return; }
        for (char const* const suffix : {layout::data_suffix, layout::side_suffix}) {
            std::string const name = inside(folder, name_of_segment(number, suffix));
            bool const there = files().kind_of(path_of(name)).value_or(path_kind::missing) == path_kind::file;
            if (there && !files().remove(path_of(name))) { ++health_.removed; }
        }
    }
    // A segment that was thinned locally ends differently: then the store's must contain the values that were kept.
    [[nodiscard]] bool is_stored(std::string const& name) {
        std::uint64_t const mine = facts_of(name).bytes;
        if (mine == 0 || bytes_there(name) < mine) { return false; }
        if (sent_here_.contains(name)) { return true; }
        auto const same = [&](std::uint64_t from, std::uint64_t size) {
            std::vector<std::byte> here(as_size(size)), there(here.size());
            request it{.bucket = to_.bucket, .key = key_of(name), .into = there};
            it.headers = {"Range: bytes=" + std::to_string(from) + '-' + std::to_string(from + size - 1)};
            store_.connection().ask(it);
            auto const read = files().read(path_of(name), from, here);
            return it.good() && it.came == size && read && *read == size && here == there;
        };
        constexpr std::uint64_t some = 64U << 10;
        std::uint64_t const size = (std::min)(mine, some);
        if (bytes_there(name) > mine) { return same(0, layout::head_bytes); }
        return same(0, size) && same(mine - size, size);
    }

    std::string folder_;
    place to_;
    store store_;
    mirror_options choices_;
    mirror_health health_{};
    error down_{};                                  // the store does not respond: nothing more is tried in this pass
    std::map<std::string, std::uint64_t> there_{};  // bytes in the store, by key
    std::set<std::string> sent_here_{};             // by this process
    std::map<std::string, file_facts> sent_{}, stale_{};
    std::map<std::string, std::uint64_t> claimed_{};  // run, by the worker's folder
    std::map<std::string, bool> over_{};
};

}  // namespace spotter::inline SPOTTER_ABI::s3
