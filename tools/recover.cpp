// SPDX-License-Identifier: Apache-2.0
// Command line, `recover`: moves data of killed processes from shared memory into the record, rebuilds sidecars from
// their segments and, if requested, cuts off torn tails. Never while a process writes the run.
#include "folders.hpp"
#include "outcome.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "verbs.hpp"

#include <spotter/file/replacing_file.hpp>
#include <spotter/format/sidecar.hpp>
#include <spotter/record/recover.hpp>
#include <spotter/trial.hpp>

#include <string>
#include <vector>

namespace spotter_tool {

namespace {

using namespace spotter;

struct deed {
    std::string file{};
    std::string action{};  // rebuilt, cut, tail_left, drained, remembered
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::uint64_t steps = 0;  // number of drained steps
};

// Adds the flight and system recordings in the folders of these recordings.
void add_inner_ones(std::vector<recording>& all) {
    for (std::size_t i = 0, count = all.size(); i < count; ++i) {
        for (std::string const name : {layout::flight_name, layout::system_name}) {
            recording inner = detail::look_into(all[i].path + '/' + name, all[i].worker);
            auto const ring = system_files().kind_of(inner.path + '/' + layout::ring_name);
            bool const has_ring = ring && *ring == path_kind::file;
            if (has_ring || !inner.segments.empty()) { all.push_back(std::move(inner)); }
        }
    }
}

// The locks of all recordings of a run, held until the end. All are taken at first, so that a run with one live worker
// is not touched.
class locks {
public:
    locks() = default;
    locks(locks const&) = delete;
    locks& operator=(locks const&) = delete;
    ~locks() {
        for (spotter::opened_file const each : held_) { system_files().unlock(each); }
    }
    [[nodiscard]] error take(recording const& it) {
        if (it.why) { return it.why; }
        auto const lock = system_files().lock(it.path + '/' + layout::lock_name);
        if (lock) {
            held_.push_back(*lock);
            return {};
        }
        if (lock.error().code != errc::busy) { return lock.error(); }
        return error_of(errc::busy, it.path.substr(it.path.size() > 150 ? it.path.size() - 150 : 0),
                        " is being written: nothing was touched; recover it when the writer is gone");
    }

private:
    std::vector<spotter::opened_file> held_{};
};

[[nodiscard]] bool same_bytes(byte_view a, byte_view b) noexcept {
    return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}

class recovery {
public:
    explicit recovery(recover_options const& wanted) : wanted_{wanted} {}

    // Writes the rest of the ring to an additional segment.
    [[nodiscard]] error drain(recording const& it) {
        std::string const file = it.path + '/' + layout::ring_name;
        if (system_files().kind_of(file).value_or(path_kind::missing) == path_kind::missing) { return {}; }
        recovered report{1, 0, 0, 0, {}};
        if (!wanted_.dry_run) {
            auto const done = recover_folder(system_files(), it.path);
            if (!done) { return done.error(); }
            report = *done;
        }
        if (report.rings > 0) { deeds_.push_back({file, "drained", 0, 0, report.closes}); }
        if (report.first_error) {
            ++damaged_;
            say(fmt::format("spotter recover: {}\n", plain(report.first_error.what.view())), stderr);
        }
        return {};
    }

    // Saves what sidecars know beyond their segments to the folder's file `lost`, before sidecars are rebuilt.
    [[nodiscard]] error remember(recording const& it) {
        auto const known = spotter::detail::look_for_losses(files_for(it.path), it.path);
        std::string const file = it.path + '/' + layout::lost_name;
        std::string text;
        {
            mapped_file const before{file};
            text.assign(reinterpret_cast<char const*>(before.bytes().data()), before.bytes().size());
        }
        bool news = false;
        for (lost_end const& each : known.ends) {
            std::string const line = spotter::detail::lost_line(each, known.run_id);
            if (text.find(line) != text.npos) { continue; }
            news = true;
            text += (text.empty() || text.ends_with('\n') ? "" : "\n") + line;
            deeds_.push_back({each.file, "remembered", each.offset, each.bytes});
        }
        if (!news || wanted_.dry_run) { return {}; }
        return spotter::detail::replace_file(system_files(), file, std::as_bytes(std::span{text}), true);
    }

    // Rebuilds the sidecar of a segment, and cuts off its torn tail if that is wanted.
    [[nodiscard]] error treat(recording const& it, std::uint32_t number, progress& bar) {
        byte_buffer side;
        if (error const why = treat_segment(it, number, side, bar)) { return why; }
        std::string const side_file = file_of(it, number, layout::side_suffix);
        mapped_file const old{side_file};
        if (!old.error() && same_bytes(old.bytes(), side.view())) { return {}; }
        if (!wanted_.dry_run) {
            if (error const why = spotter::detail::replace_file(system_files(), side_file, side.view(), true)) {
                return why;
            }
        }
        deeds_.push_back({side_file, "rebuilt", 0, side.size()});
        return {};
    }

    // All of it. After locking no process can add to the folders, and a drained ring has.
    [[nodiscard]] error treat(std::vector<recording>& all) {
        for (recording const& each : all) {
            if (error const why = drain(each)) { return why; }
        }
        for (recording& each : all) { each = detail::look_into(each.path, each.worker); }
        progress bar{"recover", {bytes_of(all)}};
        for (recording const& each : all) {
            if (error const why = remember(each)) { return why; }
            for (std::uint32_t const number : each.segments) {
                if (error const why = treat(each, number, bar)) { return why; }
            }
        }
        return {};
    }

    [[nodiscard]] std::vector<deed> const& deeds() const noexcept { return deeds_; }
    [[nodiscard]] std::uint64_t damaged() const noexcept { return damaged_; }

private:
    // `side`: what its sidecar should be.
    [[nodiscard]] error treat_segment(recording const& it, std::uint32_t number, byte_buffer& side, progress& bar) {
        std::string const file = file_of(it, number, layout::data_suffix);
        mapped_file const data{file};
        if (data.error()) { return data.error(); }
        frame_walker walker{data.bytes()};
        for (walked what = walker.next(); what != walked::end; what = walker.next()) {
            if (what == walked::head && walker.head_error()) { return walker.head_error(); }
            damaged_ += what == walked::corrupt ? 1 : 0;
        }
        mapped_file const older{file_of(it, number, layout::side_suffix)};
        if (error const why = rebuild_sidecar(data.bytes(), side, older.bytes())) { return why; }
        bool const torn = walker.torn() > 0;
        if (torn && wanted_.cut && !wanted_.dry_run) {
            // A shorter copy replaces it: truncating the file would kill readers that have mapped it.
            byte_view const good = data.bytes().first(static_cast<std::size_t>(walker.good_end()));
            if (error const why = spotter::detail::replace_file(system_files(), file, good, true)) { return why; }
        }
        bar.advance(data.bytes().size());
        if (torn) { deeds_.push_back({file, wanted_.cut ? "cut" : "tail_left", walker.good_end(), walker.torn()}); }
        return {};
    }

    recover_options const& wanted_;
    std::vector<deed> deeds_{};
    std::uint64_t damaged_ = 0;  // damaged places that cannot be restored
};

void print(recovery const& result, std::string const& path, bool dry_run) {
    for (deed const& each : result.deeds()) {
        std::string_view const would = dry_run ? "would be " : "";
        if (each.action == "rebuilt") {
            say(fmt::format("{}: {}rebuilt, {}\n", plain(each.file), would, plural(each.bytes, "byte")));
        } else if (each.action == "drained") {
            say(fmt::format("{}: {}drained{}\n", plain(each.file), would,
                            dry_run ? "" : fmt::format(", {} more", plural(each.steps, "closed step"))));
        } else if (each.action == "remembered") {
            say(fmt::format("{}:{}: {} or more lost; the file `lost` {}remember{} it\n", plain(each.file), each.offset,
                            plural(each.bytes, "byte"), dry_run ? "would " : "", dry_run ? "" : "s"));
        } else if (each.action == "cut") {
            say(fmt::format("{}:{}: {}cut off: a torn tail of {}\n", plain(each.file), each.offset, would,
                            plural(each.bytes, "byte")));
        } else {
            say(fmt::format("{}:{}: a torn tail of {} was left; --cut cuts it off\n", plain(each.file), each.offset,
                            plural(each.bytes, "byte")));
        }
    }
    if (result.deeds().empty()) { say(fmt::format("{}: nothing to do\n", plain(path))); }
    if (result.damaged() > 0) {
        say(fmt::format("{} cannot be brought back: `spotter verify` lists {}; the rest can be read\n",
                        plural(result.damaged(), "damaged place"), result.damaged() == 1 ? "it" : "them"));
    }
}

}  // namespace

int recover(recover_options const& wanted) {
    std::string const path = tidy(wanted.path);
    auto const refuse = [&](error const& why) { return fail(why, wanted.json, "recover", path); };
    if (error const why = not_in_a_store(path)) { return refuse(why); }
    std::vector<recording> all;
    if (error const why = find_recordings(path, all)) { return refuse(why); }
    add_inner_ones(all);
    locks held;
    for (recording const& each : all) {
        if (error const why = held.take(each)) { return refuse(why); }
    }
    recovery result{wanted};
    if (error const why = result.treat(all)) { return refuse(why); }
    outcome end{"recover"};
    if (result.damaged() > 0) { end.note(something_lost); }
    json const losses = json_list(all, [&](recording const& each) {
        auto const run = each.worker == 0 ? open_trial(each.path, worker{0}) : open_trial(each.path);
        return run ? end.look_at(*run) : json();
    });
    if (wanted.json) {
        json document = document_of("recover", path);
        document["loss"] = losses;
        document["dry_run"] = wanted.dry_run;
        document["actions"] = json::array();
        for (deed const& each : result.deeds()) {
            document["actions"].push_back(
                {{"file", each.file}, {"action", each.action}, {"offset", each.offset}, {"bytes", each.bytes}});
            if (each.action == "drained") { document["actions"].back()["steps"] = each.steps; }
        }
        document["damage_left"] = result.damaged();
        say_document(document);
    } else {
        print(result, path, wanted.dry_run);
    }
    return end.code();
}

}  // namespace spotter_tool
