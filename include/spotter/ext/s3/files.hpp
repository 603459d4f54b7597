// SPDX-License-Identifier: Apache-2.0
// Ext (L6): reads runs in an object store by ranges: lists and sidecars at once, rows and values when they are needed.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/ext/s3/upload.hpp>
#include <spotter/file/file_system.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#if !SPOTTER_EXCEPTIONS
#error "spotter/ext/s3/files.hpp needs exceptions: compile with them, or spotter sync the run first"
#endif

namespace spotter::inline SPOTTER_ABI::s3 {

// For reading only; the mirror writes. Fetched bytes are kept in one sparse file (settings::cache; it has no name and
// is deleted with the process) as long as they are mapped. Callable from any thread; one request at a time, of up to 16
// parts.
class store_files final : public file_system {
public:
    explicit store_files(settings how) : store_{std::move(how)} {}
    ~store_files() override {
        if (cache_ >= 0) { ::close(cache_); }
    }

    [[nodiscard]] result<opened_file> create(std::string_view path) noexcept override { return reads_only(path); }
    [[nodiscard]] result<opened_file> open_append(std::string_view path) noexcept override { return reads_only(path); }
    [[nodiscard]] error append(opened_file, std::span<std::byte const>) noexcept override { return reads_only(""); }
    [[nodiscard]] error sync(opened_file) noexcept override { return {}; }
    [[nodiscard]] error close(opened_file) noexcept override { return {}; }
    [[nodiscard]] error rename(std::string_view from, std::string_view) noexcept override { return reads_only(from); }
    [[nodiscard]] error remove(std::string_view path) noexcept override { return reads_only(path); }
    [[nodiscard]] error make_folder(std::string_view path) noexcept override { return reads_only(path); }
    [[nodiscard]] result<opened_file> lock(std::string_view path) noexcept override { return reads_only(path); }
    void unlock(opened_file) noexcept override {}

    [[nodiscard]] result<path_kind> kind_of(std::string_view path) noexcept override {
        return answered([&]() -> result<path_kind> {
            auto const at = find(path);
            if (!at) { return at.error(); }
            if (at->one != nullptr) { return path_kind::file; }
            return at->has_more ? path_kind::folder : path_kind::missing;
        });
    }
    [[nodiscard]] result<std::uint64_t> size_of(std::string_view path) noexcept override {
        auto const facts = facts_of(path);
        return facts ? result<std::uint64_t>{facts->bytes} : result<std::uint64_t>{facts.error()};
    }
    [[nodiscard]] result<file_facts> facts_of(std::string_view path) noexcept override {
        return answered([&]() -> result<file_facts> {
            auto const at = find(path);
            if (!at) { return at.error(); }
            if (at->one == nullptr) { return missing(path); }
            std::uint64_t identity = 14695981039346656037ULL;  // FNV-1a hash of the etag
            for (char const each : at->one->etag) {
                identity = (identity ^ static_cast<unsigned char>(each)) * 1099511628211ULL;
            }
            return file_facts{at->one->bytes, identity | 1U};
        });
    }
    [[nodiscard]] error list(std::string_view path, name_taker take, void* context) noexcept override {
        return answered([&]() -> error {
            auto const at = find(path);
            if (!at) { return at.error(); }
            std::string const folder = at->where.folder();
            std::string_view last;
            for (auto it = at->among->lower_bound(folder); it != at->among->end() && it->first.starts_with(folder);
                 ++it) {
                std::string_view name = std::string_view{it->first}.substr(folder.size());
                name = name.substr(0, name.find('/'));
                if (name.empty() || name == last) { continue; }
                last = name;
                if (!take(context, name)) { break; }
            }
            return {};
        });
    }
    // A run counts as running while its mirror gives signs of life: up to three times the announced interval, by the
    // store's clock.
    [[nodiscard]] result<bool> is_locked(std::string_view path) noexcept override {
        return answered([&]() -> result<bool> {
            auto const where = parse_place(path);
            if (!where) { return where.error(); }
            std::string const folder = where->key.substr(0, where->key.rfind('/') + 1);
            request it{.bucket = where->bucket, .key = folder + alive_name};
            store_.connection().ask(it);
            if (it.status == 404) { return false; }
            if (!it.good()) { return error_of(it); }
            constexpr std::string_view begin = "spotter alive 1\nevery ";
            if (!it.text.starts_with(begin)) { return false; }
            constexpr std::int64_t longest = 24 * 3600;
            std::int64_t const every = std::strtoll(it.text.c_str() + begin.size(), nullptr, 10);
            return it.date - it.modified <= 3 * std::clamp(every, std::int64_t{1}, longest) + 2;
        });
    }
    [[nodiscard]] result<std::size_t> read(std::string_view path, std::uint64_t from,
                                           std::span<std::byte> into) noexcept override {
        return answered([&]() -> result<std::size_t> {
            auto const at = find(path);
            if (!at) { return at.error(); }
            if (at->one == nullptr) { return missing(path); }
            if (from >= at->one->bytes || into.empty()) { return std::size_t{0}; }
            auto const size = static_cast<std::size_t>((std::min)(std::uint64_t{into.size()}, at->one->bytes - from));
            std::vector<request> all{part_of(at->where.bucket, at->one->key, "", from, into.first(size))};
            store_.connection().ask(all);
            if (!all[0].good()) { return error_of(all[0]); }
            return all[0].came;
        });
    }

    // Small files and sidecars are fetched completely, of other files the beginning. At the first access the other
    // files of the folder are fetched too: one by one, a run of a thousand segments would take a thousand round trips.
    [[nodiscard]] result<file_mapping> map(std::string_view path) noexcept override {
        return answered([&]() -> result<file_mapping> {
            auto const at = find(path);
            if (!at) { return at.error(); }
            if (at->one == nullptr) { return missing(path); }
            if (at->one->bytes == 0) { return file_mapping{}; }
            object const one = *at->one;
            std::string const bucket = at->where.bucket;
            std::vector<object> others;
            if (prefetched_.insert(folder_of(bucket, one.key)).second) {
                std::string const folder = one.key.substr(0, one.key.rfind('/') + 1);
                for (auto it = at->among->lower_bound(folder); it != at->among->end() && it->first.starts_with(folder);
                     ++it) {
                    bool const inside = it->first.find('/', folder.size()) == it->first.npos;
                    bool const ours =
                        it->first.ends_with(layout::data_suffix) || it->first.ends_with(layout::side_suffix);
                    if (inside && ours && it->second.bytes > 0 && it->first != one.key) {
                        others.push_back(it->second);
                    }
                }
            }
            if (error const why = bring_beginnings(bucket, one, others)) { return why; }
            auto const ready = ready_.find(bucket + '/' + one.key);
            if (ready == ready_.end() || ready->second->etag != one.etag) {
                return error{errc::io_error, "an object of the run was replaced while it was read: ask again"};
            }
            std::unique_ptr<mapped> it = std::move(ready->second);
            ready_.erase(ready);
            file_mapping const view{{it->begin, it->bytes}, !it->is_whole()};
            mapped_[it->begin] = std::move(it);
            return view;
        });
    }
    void unmap(file_mapping mapping) noexcept override {
        std::scoped_lock const held{guard_};
        mapped_.erase(mapping.bytes.data());
    }
    [[nodiscard]] error fetch(std::span<std::span<std::byte const> const> parts) noexcept override {
        return answered([&]() -> error {
            std::vector<wanted> all;
            for (std::span<std::byte const> const& part : parts) {
                auto it = mapped_.upper_bound(part.data());
                if (part.empty() || it == mapped_.begin()) { continue; }
                mapped& mine = *(--it)->second;
                auto const from = static_cast<std::uint64_t>(part.data() - mine.begin);
                if (from < mine.bytes) {
                    add_missing(mine, from, (std::min)(from + part.size(), mine.bytes), parts.size() == 1, all);
                }
            }
            return all.empty() ? error{} : ask(all);
        });
    }

private:
    static constexpr std::uint64_t block = 64U << 10;        // smallest fetch
    static constexpr std::uint64_t most = 8U << 20;          // largest fetch in one request
    static constexpr std::uint64_t small_file = 256U << 10;  // files up to this size are fetched completely
    // Sidecars up to this size are, too; also the limit of what is fetched in addition.
    static constexpr std::uint64_t whole = 64U << 20;
    using objects = std::map<std::string, object>;

    struct listing {
        objects all{};
        std::chrono::steady_clock::time_point until{};  // after that it is requested again
    };
    using listings = std::map<std::string, listing>;  // by bucket/prefix

    // Memory of an object's size; part of the cache if it is large.
    struct mapped {
        std::string bucket{}, key{}, etag{};
        std::byte* begin = nullptr;
        std::uint64_t bytes = 0, offset = 0;  // offset: in the cache
        int cache = -1;                       // -1: the memory is in `own`
        std::vector<std::byte> own{};
        std::vector<bool> there{};          // for each block
        std::uint64_t last = 0, ahead = 0;  // end of the last fetch, and how far it went beyond the requested range

        mapped() = default;
        mapped(mapped const&) = delete;
        mapped& operator=(mapped const&) = delete;
        ~mapped() {
            if (cache < 0) { return; }
            ::munmap(begin, as_size(bytes));
#ifdef FALLOC_FL_PUNCH_HOLE
            (void)::fallocate(cache, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                              static_cast<off_t>(bytes));
#endif
        }
        [[nodiscard]] bool is_whole() const noexcept { return cache < 0; }
    };

    // The result of looking up a path. `among`: the listing; valid while the lock is held.
    struct found {
        place where{};
        object const* one = nullptr;
        bool has_more = false;  // there are objects below it
        objects const* among = nullptr;
    };

    struct wanted {
        mapped* of = nullptr;
        std::uint64_t from = 0, end = 0;
    };

    template <class Ask>
    [[nodiscard]] auto answered(Ask const& ask) noexcept -> decltype(ask()) {
        try {
            std::scoped_lock const held{guard_};
            return ask();
        } catch (...) { return error{errc::out_of_memory, "no memory for what an object store holds"}; }
    }

    [[nodiscard]] static error reads_only(std::string_view path) noexcept {
        error why{errc::unwritable, "\""};
        why.what << path << "\" lies in an object store, where spotter only reads: record into a folder and mirror it";
        return why;
    }
    [[nodiscard]] static error missing(std::string_view path) noexcept {
        error why{errc::not_a_run, "there is no \""};
        why.what << path << '"';
        return why;
    }
    [[nodiscard]] static std::string folder_of(std::string const& bucket, std::string const& key) {
        return bucket + '/' + key.substr(0, key.rfind('/') + 1);
    }

    // Uses a listing that is at most a second old, or four times the duration of listing.
    [[nodiscard]] result<found> find(std::string_view path) {
        auto where = parse_place(path);
        if (!where) { return where.error(); }
        auto const now = std::chrono::steady_clock::now();
        auto const mine = listing_of(*where);
        if (now >= mine->second.until) {
            // While the store does not respond, further lookups fail at once instead of waiting again.
            if (now < failed_until_) { return failed_; }
            if (error const why = list_anew(mine)) { return why; }
        }
        auto const& all = mine->second.all;
        found it{std::move(*where), nullptr, false, &all};
        auto const one = all.find(it.where.key);
        if (one != all.end()) { it.one = &one->second; }
        std::string const folder = it.where.folder();
        auto const below = all.lower_bound(folder);
        it.has_more = below != all.end() && below->first.starts_with(folder);
        return it;
    }
    // The listing that contains a place; a new one is empty.
    [[nodiscard]] listings::iterator listing_of(place const& where) {
        std::string const slashed = where.key + '/';
        for (auto it = listings_.begin(); it != listings_.end(); ++it) {
            std::string_view const known = it->first;
            std::size_t const slash = known.find('/');
            if (known.substr(0, slash) == where.bucket && slashed.starts_with(known.substr(slash + 1))) { return it; }
        }
        std::size_t const name = where.key.rfind('/') + 1;  // 0 if there is no slash
        bool const is_file = where.key.find(".spot", name) != where.key.npos;
        std::string const prefix = where.key.empty() ? std::string{} : is_file ? where.key.substr(0, name) : slashed;
        return listings_.try_emplace(where.bucket + '/' + prefix).first;
    }
    // Lists the objects again. Removes a listing that fails and has no objects.
    [[nodiscard]] error list_anew(listings::iterator it) {
        auto const begin = std::chrono::steady_clock::now();
        std::size_t const slash = it->first.find('/');
        std::vector<object> all;
        if (error const why = store_.list(it->first.substr(0, slash), it->first.substr(slash + 1), all)) {
            failed_ = why, failed_until_ = std::chrono::steady_clock::now() + std::chrono::seconds{2};
            if (it->second.all.empty()) { listings_.erase(it); }
            return why;
        }
        it->second.all.clear();
        for (object& each : all) {
            std::string key = each.key;
            it->second.all.emplace(std::move(key), std::move(each));
        }
        auto const end = std::chrono::steady_clock::now();
        it->second.until =
            end + (std::max)(std::chrono::steady_clock::duration{std::chrono::seconds{1}}, 4 * (end - begin));
        return {};
    }

    [[nodiscard]] static request part_of(std::string const& bucket, std::string const& key, std::string const& etag,
                                         std::uint64_t from, std::span<std::byte> into) {
        request it{.bucket = bucket, .key = key, .into = into};
        it.headers.push_back("Range: bytes=" + std::to_string(from) + '-' + std::to_string(from + into.size() - 1));
        if (!etag.empty()) { it.headers.push_back("If-Match: \"" + etag + '"'); }
        return it;
    }

    [[nodiscard]] static bool is_fetched_whole(object const& of) noexcept {
        return of.bytes <= (of.key.ends_with(layout::side_suffix) ? whole : small_file);
    }

    [[nodiscard]] result<std::unique_ptr<mapped>> reserve(std::string const& bucket, object const& of) {
        auto it = std::make_unique<mapped>();
        it->bucket = bucket, it->key = of.key, it->etag = of.etag, it->bytes = of.bytes;
        it->there.resize(as_size((of.bytes + block - 1) / block));
        if (is_fetched_whole(of)) {
            it->own.resize(static_cast<std::size_t>(of.bytes));
            it->begin = it->own.data();
            return it;
        }
        if (error const why = open_cache()) { return why; }
        void* const memory = ::mmap(nullptr, static_cast<std::size_t>(of.bytes), PROT_READ | PROT_WRITE, MAP_SHARED,
                                    cache_, static_cast<off_t>(cache_end_));
        std::uint64_t const end = cache_end_ + (of.bytes + block - 1) / block * block;
        if (memory == MAP_FAILED) { return full(); }
        it->begin = static_cast<std::byte*>(memory), it->offset = std::exchange(cache_end_, end), it->cache = cache_;
        if (::ftruncate(cache_, static_cast<off_t>(cache_end_)) != 0) { return full(); }
        return it;
    }

    [[nodiscard]] error open_cache() {
        if (cache_ >= 0) { return {}; }
        std::string name = store_.how().cache;
        if (name.empty()) { name = detail::of_environment("TMPDIR"); }
        if (name.empty()) { name = "/tmp"; }
        name += "/spotter-s3-XXXXXX";
        spotter::detail::standard_streams_kept const kept;
        cache_ = kept.above(::mkstemp(name.data()));
        if (cache_ < 0) { return full(); }
        (void)::fcntl(cache_, F_SETFD, FD_CLOEXEC);
        ::unlink(name.c_str());
        return {};
    }
    [[nodiscard]] static error full() noexcept {
        return {errc::disk_full, "no room for what is read from the object store: set TMPDIR to a folder with some"};
    }

    [[nodiscard]] error bring_beginnings(std::string const& bucket, object const& one,
                                         std::vector<object> const& others) {
        std::vector<wanted> all;
        std::vector<std::string> fresh;
        auto const add = [&](object const& each) -> error {
            std::string const name = bucket + '/' + each.key;
            auto const known = ready_.find(name);
            if (known != ready_.end() && known->second->etag == each.etag) { return {}; }
            auto made = reserve(bucket, each);
            if (!made) { return made.error(); }
            mapped& it = **made;
            all.push_back({&it, 0, it.is_whole() ? it.bytes : block});
            // Usually its last rows.
            if (!it.is_whole()) { all.push_back({&it, (it.bytes - 1) / block * block, it.bytes}); }
            ready_[name] = std::move(*made);
            fresh.push_back(name);
            return {};
        };
        if (error const why = add(one)) { return why; }
        std::uint64_t left = whole;  // a listing may announce any size
        for (object const& each : others) {
            std::uint64_t const cost = is_fetched_whole(each) ? each.bytes : 2 * block;
            if (cost > left) { continue; }
            left -= cost;
            if (add(each)) { break; }  // no room: it is fetched, or fails, when it is needed
        }
        error const why = ask(all);
        if (why) {
            for (std::string const& each : fresh) { ready_.erase(each); }
        }
        return why;
    }

    // The missing parts of the range, with further blocks ahead where a reader reads `on` sequentially.
    static void add_missing(mapped& it, std::uint64_t from, std::uint64_t end, bool on, std::vector<wanted>& all) {
        std::uint64_t first = from / block;
        while (first * block < end && it.there[as_size(first)]) { ++first; }
        if (first * block >= end) { return; }
        it.ahead = on && first * block == it.last ? (std::min)(most, (std::max)(block, it.ahead * 2)) : 0;
        end = (std::min)(it.bytes, (end + block - 1) / block * block + it.ahead);
        for (std::uint64_t at = first; at * block < end; ++at) {
            if (it.there[as_size(at)]) { continue; }
            std::uint64_t const to = (std::min)(it.bytes, (at + 1) * block);
            bool const same = !all.empty() && all.back().of == &it;
            if (same && all.back().end >= to) { continue; }  // two parts in one block
            if (same && all.back().end == at * block && to - all.back().from <= most) {
                all.back().end = to;
            } else {
                all.push_back({&it, at * block, to});
            }
        }
        it.last = end;
    }

    [[nodiscard]] error ask(std::vector<wanted> const& all) {
        std::vector<request> asked;
        for (wanted const& each : all) {
#if !defined(__APPLE__)                  // which has no such call: there a full disk ends the program
            if (!each.of->is_whole()) {  // otherwise a full disk would end the program when its memory is written
                int const lack = ::posix_fallocate(each.of->cache, static_cast<off_t>(each.of->offset + each.from),
                                                   static_cast<off_t>(each.end - each.from));
                if (lack == ENOSPC) { return full(); }
            }
#endif
            asked.push_back(part_of(each));
        }
        store_.connection().ask(asked);
        error first{};
        for (std::size_t i = 0; i < all.size(); ++i) {
            error const why = take_answer(all[i], asked[i]);
            if (why && !first) { first = why; }
        }
        return first;
    }
    [[nodiscard]] static request part_of(wanted const& it) {
        return part_of(it.of->bucket, it.of->key, it.of->etag, it.from,
                       {it.of->begin + it.from, as_size(it.end - it.from)});
    }
    [[nodiscard]] error take_answer(wanted const& it, request& asked) {
        if (asked.status == 412 && is_longer_copy(*it.of)) {  // it has grown since and begins with the same bytes
            asked = part_of(it);
            store_.connection().ask(asked);
        }
        if (asked.status == 412 || asked.status == 404) {
            return {errc::io_error,
                    "an object of the run was replaced or removed while it was read: open the run anew"};
        }
        if (error const why = error_of(asked)) { return why; }
        if (asked.came != it.end - it.from) {
            return {errc::io_error, "the object store answered with less than it was asked for"};
        }
        for (std::uint64_t at = it.from / block; at * block < it.end; ++at) { it.of->there[as_size(at)] = true; }
        return {};
    }

    // Whether the object of that name now begins like this one and is at least as long. Takes over its etag.
    [[nodiscard]] bool is_longer_copy(mapped& it) {
        request now;
        auto const same = static_cast<std::size_t>((std::min)(block, it.bytes));
        if (it.there.empty() || !it.there[0] || store_.look(it.bucket, it.key, now) || now.length < it.bytes) {
            return false;
        }
        std::string etag = now.etag;
        std::erase(etag, '"');
        std::vector<std::byte> begin(same);
        request head = part_of(it.bucket, it.key, etag, 0, begin);
        store_.connection().ask(head);
        if (!head.good() || head.came != same || std::memcmp(begin.data(), it.begin, same) != 0) { return false; }
        it.etag = std::move(etag);
        return true;
    }

    std::mutex guard_{};
    store store_;
    listings listings_{};
    std::map<std::string, std::unique_ptr<mapped>> ready_{};        // fetched in advance, and not mapped yet
    std::map<std::byte const*, std::unique_ptr<mapped>> mapped_{};  // by address of the first byte
    std::set<std::string> prefetched_{};                            // folders
    error failed_{};
    std::chrono::steady_clock::time_point failed_until_{};
    int cache_ = -1;
    std::uint64_t cache_end_ = 0;
};

}  // namespace spotter::inline SPOTTER_ABI::s3
