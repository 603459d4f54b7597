// SPDX-License-Identifier: Apache-2.0
// Ext (L6): a run from an object store into a folder: what is there already is not fetched twice.
#pragma once

#include <spotter/ext/s3/upload.hpp>

namespace spotter::inline SPOTTER_ABI::s3 {

struct download_health {  // what a download came to
    std::uint64_t files = 0, bytes = 0;  // that were fetched
};

namespace detail {

// Which objects are a run's, by their names below its place: `000000.spot`, `worker-3/000000.spotx`, `worker-3/flight/000000.spot`, …
[[nodiscard]] inline bool is_of_run(std::string_view name) noexcept {
    for (std::size_t depth = 0;; ++depth) {
        std::size_t const slash = name.find('/');
        if (slash == name.npos) { break; }
        std::string_view const folder = name.substr(0, slash);
        bool const known = (depth == 0 && worker_of_folder(folder) > 0) || folder == layout::flight_name || folder == layout::system_name;
        if (!known || depth > 1) { return false; }
        name.remove_prefix(slash + 1);
    }
    return segment_number(name, layout::data_suffix) >= 0 || segment_number(name, layout::side_suffix) >= 0 ||
           name == layout::set_name || name == layout::lost_name;
}

// In pieces, so that memory stays bounded; under another name until it is whole.
[[nodiscard]] inline error fetch_file(store& from, std::string const& bucket, object const& one, std::string const& path) {
    constexpr std::uint64_t piece = 8U << 20, at_once = 4;
    file_system& files = system_files();
    std::string const part = path + ".part";
    (void)files.remove(part);
    auto const file = files.create(part);
    if (!file) { return file.error(); }
    std::vector<std::byte> buffer(static_cast<std::size_t>((std::min)(one.bytes, piece * at_once)));
    error why{};
    for (std::uint64_t done = 0; done < one.bytes && !why;) {
        std::vector<request> all;
        std::size_t const size = static_cast<std::size_t>((std::min)(std::uint64_t{buffer.size()}, one.bytes - done));
        for (std::size_t at = 0; at < size; at += piece) {
            std::size_t const bytes = (std::min)(static_cast<std::size_t>(piece), size - at);
            request it{.bucket = bucket, .key = one.key, .into = std::span{buffer}.subspan(at, bytes)};
            it.headers = {"Range: bytes=" + std::to_string(done + at) + '-' + std::to_string(done + at + bytes - 1),
                          "If-Match: \"" + one.etag + '"'};
            all.push_back(std::move(it));
        }
        from.connection().ask(all);
        for (request const& each : all) {
            if (!why) { why = error_of(each); }
            if (!why && each.came != each.into.size()) { why = {errc::io_error, "the object store answered with less than it was asked for"}; }
        }
        if (!why) { why = files.append(*file, std::span{buffer}.first(size)); }
        done += size;
    }
    if (!why) { why = files.sync(*file); }
    error const end = files.close(*file);
    if (!why) { why = end; }
    if (!why) { why = files.rename(part, path); }
    if (why) { (void)files.remove(part); }
    return why;
}

}  // namespace detail

// The record at `place_from` into `folder`, segments before the sidecars that speak of them. A file that is as long here stays; so a
// second call fetches what has come meanwhile. errc::exists where the folder holds another run, not_a_run where there is none there.
[[nodiscard]] inline result<download_health> fetch_run(std::string_view place_from, std::string_view folder) {
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
        none.what << place_from << "\" holds no record of spotter's";
        return none;
    }
    std::sort(all.begin(), all.end(), [](object const& a, object const& b) {
        bool const its = a.key.ends_with(layout::side_suffix), others = b.key.ends_with(layout::side_suffix);
        return its != others ? others : a.key < b.key;
    });
    file_system& files = system_files();
    download_health done;
    for (object const& each : all) {
        std::string const path = std::string{folder} + '/' + each.key.substr(from->folder().size());
        auto const here = files.facts_of(path);
        bool const segment = each.key.ends_with(layout::data_suffix);
        if (segment && here) {  // of the same run?
            std::byte mine[layout::head_bytes]{}, its[layout::head_bytes]{};
            auto const read = files.read(path, 0, mine);
            request head{.bucket = from->bucket, .key = each.key, .into = its};
            head.headers = {"Range: bytes=0-" + std::to_string(sizeof its - 1)};
            there.connection().ask(head);
            if (error const why = error_of(head)) { return why; }
            if (read && *read == sizeof mine && head.came == sizeof its && std::memcmp(mine, its, sizeof mine) != 0) {
                error other{errc::exists, "\""};
                other.what << path << "\" is of another run than \"" << place_from << "\": fetch into a new folder";
                return other;
            }
        }
        if (here && here->bytes == each.bytes) { continue; }
        if (error const why = files.make_folder(path.substr(0, path.rfind('/')))) { return why; }
        if (error const why = detail::fetch_file(there, from->bucket, each, path)) { return why; }
        ++done.files, done.bytes += each.bytes;
    }
    return done;
}

}  // namespace spotter::inline SPOTTER_ABI::s3
