// SPDX-License-Identifier: Apache-2.0
// Ext (L6): downloads a run from an object store into a folder; what exists already is not fetched again.
#pragma once

#include <spotter/core/casts.hpp>
#include <spotter/ext/s3/upload.hpp>

#include <set>

namespace spotter::inline SPOTTER_ABI::s3 {

struct download_health {                 // the result of a download
    std::uint64_t files = 0, bytes = 0;  // fetched ones
    std::uint64_t longer = 0;            // files that are longer locally, and stay
};

namespace detail {

// Downloads one run into one folder, where no process may record meanwhile.
class download {
public:
    download(store& from, place const& where, std::string_view folder) : from_{from}, where_{where}, folder_{folder} {
        while (folder_.size() > 1 && folder_.ends_with('/')) { folder_.pop_back(); }
    }
    download(download const&) = delete;
    download& operator=(download const&) = delete;
    ~download() {
        for (opened_file const each : locks_) { files().unlock(each); }
    }

    // errc::busy where a process records into one of the folders; from then on they are locked.
    [[nodiscard]] error hold(std::vector<object> const& all) {
        std::set<std::string> workers;
        for (object const& each : all) {
            std::string const name = name_of(each);
            workers.insert(worker_of_folder(name.substr(0, name.find('/'))) > 0 ? '/' + name.substr(0, name.find('/'))
                                                                                : "");
        }
        for (std::string const& each : workers) {
            if (error const why = files().make_folder(folder_ + each)) { return why; }
            auto const lock = files().lock(folder_ + each + '/' + layout::lock_name);
            if (!lock) { return lock.error(); }
            locks_.push_back(*lock);
        }
        return {};
    }

    // Fetches a segment before its sidecar. A longer local file stays, together with its sidecar. A shorter one is
    // replaced only by a file that begins with the same bytes, or that has the values which were thinned out locally.
    [[nodiscard]] error take(object const& each, download_health& done) {
        std::string const name = name_of(each), path = folder_ + '/' + name;
        bool const segment = name.ends_with(layout::data_suffix), sidecar = name.ends_with(layout::side_suffix);
        auto const here = files().facts_of(path);
        if (!here && here.error().code != errc::not_a_run) { return here.error(); }
        std::string const stem = name.substr(0, name.rfind('.'));
        if (segment && here) {
            if (error const why = is_same_head(each, path)) { return why; }
        }
        bool const its_segment_stays = sidecar && longer_.contains(stem);
        bool const its_segment_came = sidecar && came_.contains(stem);
        if (here && (its_segment_stays || (here->bytes >= each.bytes && !its_segment_came))) {
            if (here->bytes > each.bytes && !sidecar) { ++done.longer, longer_.insert(stem); }
            return {};
        }
        if (error const why = files().make_folder(path.substr(0, path.rfind('/')))) { return why; }
        if (error const why = fetch(each, path, here && segment)) { return why; }
        if (segment) { came_.insert(stem); }
        ++done.files, done.bytes += each.bytes;
        return {};
    }

private:
    [[nodiscard]] static file_system& files() noexcept { return system_files(); }
    [[nodiscard]] std::string name_of(object const& each) const { return each.key.substr(where_.folder().size()); }

    [[nodiscard]] error is_same_head(object const& each, std::string const& path) {
        std::byte mine[layout::head_bytes]{}, its[layout::head_bytes]{};
        auto const read = files().read(path, 0, mine);
        request head{.bucket = where_.bucket, .key = each.key, .into = its};
        head.headers = {"Range: bytes=0-" + std::to_string(sizeof its - 1)};
        from_.connection().ask(head);
        if (error const why = error_of(head)) { return why; }
        bool const both = read && *read == sizeof mine && head.came == sizeof its;
        return both && std::memcmp(mine, its, sizeof mine) != 0 ? differs(path, "is of another run than") : error{};
    }
    [[nodiscard]] error differs(std::string const& path, std::string_view how) const {
        error other{errc::exists, "\""};
        put_plain(path, [&](std::string_view piece) { other.what << piece; });
        other.what << "\" " << how << " the one in the store: fetch into a new folder";
        return other;
    }

    // Fetches in pieces, so that memory is bounded, and under another name until the file is complete. That name
    // belongs to the run's own files, whose lock is held.
    [[nodiscard]] error fetch(object const& one, std::string const& path, bool compares) {
        constexpr std::uint64_t piece = 8U << 20, at_once = 4;
        std::string const part = path + ".part";
        (void)files().remove(part);  // of a process that was killed
        auto const file = files().create(part);
        if (!file) { return file.error(); }
        std::vector<std::byte> buffer(static_cast<std::size_t>((std::min)(one.bytes, piece * at_once)));
        bool same = !compares || is_thinned(path);
        error why{};
        for (std::uint64_t done = 0; done < one.bytes && !why;) {
            std::size_t const size =
                static_cast<std::size_t>((std::min)(std::uint64_t{buffer.size()}, one.bytes - done));
            why = ask(one, done, std::span{buffer}.first(size), piece);
            if (!why && !same && !begins_alike(path, done, std::span{buffer}.first(size))) {
                why = differs(path, "has other rows than");
            }
            if (!why) { why = files().append(*file, std::span{buffer}.first(size)); }
            done += size;
        }
        if (!why) { why = files().sync(*file); }
        error const end = files().close(*file);
        if (!why) { why = end; }
        if (!why) { why = files().rename(part, path); }
        if (why) { (void)files().remove(part); }
        return why;
    }
    [[nodiscard]] error ask(object const& one, std::uint64_t from, std::span<std::byte> into, std::uint64_t piece) {
        std::vector<request> all;
        for (std::size_t at = 0; at < into.size(); at += as_size(piece)) {
            std::size_t const bytes = (std::min)(as_size(piece), into.size() - at);
            request it{.bucket = where_.bucket, .key = one.key, .into = into.subspan(at, bytes)};
            it.headers = {"Range: bytes=" + std::to_string(from + at) + '-' + std::to_string(from + at + bytes - 1),
                          "If-Match: \"" + one.etag + '"'};
            all.push_back(std::move(it));
        }
        from_.connection().ask(all);
        for (request const& each : all) {
            if (error const why = error_of(each)) { return why; }
            if (each.came != each.into.size()) {
                return {errc::io_error, "the object store answered with less than it was asked for"};
            }
        }
        return {};
    }
    [[nodiscard]] static bool begins_alike(std::string const& path, std::uint64_t from,
                                           std::span<std::byte const> theirs) {
        std::vector<std::byte> mine(theirs.size());
        auto const read = files().read(path, from, mine);
        return read && std::memcmp(mine.data(), theirs.data(), *read) == 0;
    }
    // Checks its first row frame.
    [[nodiscard]] static bool is_thinned(std::string const& path) {
        std::vector<std::byte> begin(std::size_t{64} << 10);
        auto const read = files().read(path, 0, begin);
        auto const frame = decode_row_frame(std::span{begin}.first(read ? *read : 0), layout::head_bytes);
        return frame && (frame->flags & layout::thinned_segment) != 0;
    }

    store& from_;
    place const& where_;
    std::string folder_;
    std::vector<opened_file> locks_{};
    std::set<std::string> longer_{}, came_{};  // segments, by name without extension
};

}  // namespace detail

// Downloads the record at `place_from` into `folder`. A local file of equal or greater length stays, so a second call
// fetches only what is new. errc::busy where a process records into the folder; exists where it holds another run, or
// rows of this one that the store does not have; not_a_run where the store has none. `come_by` counts the bytes of
// these files that are stored locally.
[[nodiscard]] inline result<download_health> fetch_run(std::string_view place_from, std::string_view folder,
                                                       work_count* come_by = nullptr) {
    auto const from = parse_place(place_from);
    if (!from) { return from.error(); }
    auto how = settings_here();
    if (!how) { return how.error(); }
    store there{*std::move(how)};
    std::vector<object> all;
    if (error const why = there.list(from->bucket, from->folder(), all)) { return why; }
    std::erase_if(all, [&](object const& each) {
        return each.bytes == 0 || !detail::is_of_run(std::string_view{each.key}.substr(from->folder().size()));
    });
    if (all.empty()) {
        error none{errc::not_a_run, "\""};
        none.what << from->url() << "\" holds no record of spotter's";
        return none;
    }
    std::sort(all.begin(), all.end(), [](object const& a, object const& b) {
        bool const its = a.key.ends_with(layout::side_suffix), others = b.key.ends_with(layout::side_suffix);
        return its != others ? others : a.key < b.key;
    });
    detail::download work{there, *from, folder};
    if (error const why = work.hold(all)) { return why; }
    download_health done;
    for (object const& each : all) {
        if (come_by != nullptr) { come_by->total += each.bytes; }
    }
    for (object const& each : all) {
        if (error const why = work.take(each, done)) { return why; }
        if (come_by != nullptr) { come_by->add(each.bytes); }
    }
    return done;
}

}  // namespace spotter::inline SPOTTER_ABI::s3
