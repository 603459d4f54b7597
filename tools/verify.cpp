// SPDX-License-Identifier: Apache-2.0
// Command line, `verify`: checks every frame of every segment, every row, every value's checksum and every sidecar
// entry.
#include "folders.hpp"
#include "outcome.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "verbs.hpp"

#include <spotter/format/sidecar.hpp>
#include <spotter/format/zstd_codec.hpp>
#include <spotter/trial.hpp>

#include <optional>

namespace spotter_tool {

namespace {

using namespace spotter;

struct place {
    std::string file{};
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    std::string kind{};
    std::string what{};
};

struct unreadable {
    std::uint32_t worker = 0;
    std::string name{};
    step_id step{};
};

struct checked {
    std::vector<place> damage{};
    std::vector<place> notes{};      // noteworthy, but nothing is lost
    std::vector<unreadable> lost{};  // values lost by damage
    std::uint64_t segments = 0, frames = 0, blocks = 0, bytes = 0;
};

constexpr std::size_t most_lost = 1000;  // limit of the list, so that a broken disk does not fill another one

class segment_check {
public:
    segment_check(std::string const& file, byte_view bytes, payload_unpacker& unpacker, checked& into)
        : file_{file}, bytes_{bytes}, unpacker_{unpacker}, into_{into} {}

    // `growing`: the segment may end within a frame, because a process is still writing it.
    [[nodiscard]] error walk(bool growing, progress& bar) {
        frame_walker walker{bytes_};
        bool hole = false;
        std::uint64_t end = 0;
        for (walked what = walker.next(); what != walked::end; what = walker.next()) {
            if (what == walked::head) {
                if (walker.head_error()) { return walker.head_error(); }
                head_ = walker.head();
                end = layout::head_bytes;
            } else if (what == walked::corrupt) {
                hole = true;
            } else {
                row_frame const& frame = walker.frame();
                check_gap(end, frame.offset, hole, frame.previous_end != end);
                hole = false;
                ++into_.frames;
                flags_ = frame.flags;
                row_reader rows{frame.body};
                for (row_view row{}; rows.next(row);) { has_ring_ = has_ring_ || row.kind == row_kind::drained; }
                bar.advance(frame.end() - end);
                end = frame.end();
            }
        }
        if (hole) { check_gap(end, walker.damage().offset + walker.damage().bytes, true, true); }
        torn_ = walker.torn();
        if (torn_ > 0 && !growing) {
            add(walker.good_end(), torn_, "torn_tail",
                fmt::format("torn tail of {}, which a writer had not finished; `spotter recover --cut` cuts it off",
                            plural(torn_, "byte")));
        }
        return {};
    }

    [[nodiscard]] std::optional<segment_head> const& head() const noexcept { return head_; }
    [[nodiscard]] bool is_closed() const noexcept { return (flags_ & layout::last_of_segment) != 0; }
    [[nodiscard]] std::uint64_t torn() const noexcept { return torn_; }
    [[nodiscard]] bool has_ring() const noexcept { return has_ring_; }  // in shared memory

    void add(std::uint64_t offset, std::uint64_t bytes, std::string_view kind, std::string_view what) {
        into_.damage.push_back({file_, offset, bytes, std::string{kind}, std::string{what}});
    }

private:
    // Checks the values between two row frames: zstd frames one after another. Within a hole the first ones may be
    // sound; the damage begins at the first frame that cannot be measured.
    void check_gap(std::uint64_t at, std::uint64_t end, bool has_hole, bool rows_lost) {
        std::size_t const before = into_.damage.size();
        while (at < end) {
            frame_extent const frame = measure_frame(bytes_, at);
            if (frame.kind != frame_kind::values || frame.bytes > end - at) { break; }
            ++into_.blocks;
            std::vector<std::byte> values(
                static_cast<std::size_t>((std::min)(frame.content, std::uint64_t{layout::block_bytes})));
            if (unpacker_.unpack(bytes_, payload_place{at, frame.bytes, {1}}, values)) {
                add(at, frame.bytes, "values", "a block of values is damaged (its checksum differs)");
            }
            at += frame.bytes;
        }
        if (!has_hole || at >= end) { return; }
        if (into_.damage.size() > before && into_.damage.back().offset + into_.damage.back().bytes == at) {
            into_.damage.back().bytes = end - into_.damage.back().offset;  // a length in its header misled the walk
            return;
        }
        std::uint64_t const lost = end - at;
        if (at == 0) {
            add(at, lost, "head", fmt::format("damaged: {}, the segment's head among them", plural(lost, "byte")));
        } else if (rows_lost) {
            add(at, lost, "rows", fmt::format("damaged: {}, rows of the record among them", plural(lost, "byte")));
        } else {
            add(at, lost, "values", fmt::format("damaged: {} of values", plural(lost, "byte")));
        }
    }

    std::string const& file_;
    byte_view bytes_;
    payload_unpacker& unpacker_;
    checked& into_;
    std::optional<segment_head> head_{};
    std::uint32_t flags_ = 0;
    std::uint64_t torn_ = 0;
    bool has_ring_ = false;
};

void check_sidecar(std::string const& file, byte_view side, bool growing, checked& into) {
    std::uint64_t const places = side_places(side);
    for (std::uint64_t i = 0; i < places; ++i) {
        // An entry beyond the segment's end is sound: the segment was truncated.
        if (decode_side_place(side, i, ~std::uint64_t{0})) { continue; }
        into.damage.push_back({file, i * layout::place_bytes, layout::place_bytes, "sidecar",
                               "a place is damaged; nothing is lost, `spotter recover` rebuilds the file"});
    }
    std::uint64_t const end = places * layout::place_bytes;
    byte_view const rest = side.subspan(static_cast<std::size_t>(end));
    if (rest.empty() || growing) { return; }
    if (rest.size() < 4 || load<std::uint32_t>(rest.data()) != layout::row_magic) {
        into.notes.push_back({file, end, rest.size(), "sidecar", "the last place is incomplete; it is not needed"});
        return;
    }
    frame_walker walk{rest};
    for (walked what = walk.next(); what != walked::end; what = walk.next()) {
        if (what != walked::corrupt) { continue; }
        into.damage.push_back(
            {file, end + walk.damage().offset, walk.damage().bytes, "sidecar",
             "declarations are damaged that the segment has too; `spotter recover` rebuilds the file"});
    }
    if (walk.torn() > 0) {
        into.notes.push_back({file, end + walk.good_end(), walk.torn(), "sidecar",
                              "the last declarations are incomplete; the segment has them too"});
    }
}

// Checks what is missing after the ends of segments, from other files that still know.
void check_ends(recording const& it, checked& into) {
    for (lost_end const& each : spotter::detail::look_for_losses(files_for(it.path), it.path).ends) {
        bool const is_unreadable = std::any_of(into.damage.begin(), into.damage.end(), [&](place const& known) {
            return known.kind == "unreadable" && known.file == each.file;
        });
        if (is_unreadable) { continue; }  // nobody knows what it lacks
        std::erase_if(into.damage, [&](place const& known) {
            return known.kind == "cut_off" && known.file == each.file;  // reported here with its size
        });
        into.damage.push_back({each.file, each.offset, each.bytes, "cut_off",
                               fmt::format("the end of this segment is missing: {} at least, up to the step of "
                                           "ordinal {}, as {}",
                                           plural(each.bytes, "byte"), each.end_ordinal,
                                           each.remembered ? "the file `lost` remembers" : "its sidecar knows")});
    }
}

// Finds row damage that checksums do not show (a writer's bug), and names unreadable values.
void check_reading(recording const& it, std::string const& path, checked& into) {
    auto const run = open_trial(path, worker{it.worker});
    if (!run) { return; }
    for (damaged_place const& each : run->damage()) {
        // A run's own places have absolute names.
        std::string const file = it.path + each.file.substr((std::min)(each.file.rfind('/'), each.file.size()));
        auto const known = std::find_if(into.damage.begin(), into.damage.end(), [&](place const& other) {
            return other.file == file && other.offset <= each.offset + each.bytes &&
                   each.offset <= other.offset + other.bytes;
        });
        if (known == into.damage.end()) {
            bool const cut = each.bytes == 0;
            into.damage.push_back({file, each.offset, each.bytes, cut ? "cut_off" : "rows",
                                   cut ? "the end of this segment is missing" : "a row of the record makes no sense"});
        } else if (known->kind == "torn_tail") {  // a torn tail by itself is no damage of a run
            known->kind = "cut_off";
            known->what = "the end of this segment is missing, as the next one shows";
        }
    }
    bool const values_damaged = std::any_of(into.damage.begin(), into.damage.end(), [&](place const& each) {
        return each.file.starts_with(it.path + '/') && each.kind != "sidecar";
    });
    if (!values_damaged) { return; }
    for (std::string const& name : run->names()) {
        track const tensor = (*run)[name];
        if (tensor.info().shape.rank == 0) { continue; }  // stored in rows, not in blocks of its own
        for (step_id const step : tensor.payload_steps()) {
            if (into.lost.size() == most_lost) { return; }
            if (tensor.at(step).error().code == errc::corrupt) { into.lost.push_back({it.worker, name, step}); }
        }
    }
}

// How the segments of a recording follow one another.
class segment_order {
public:
    segment_order(recording const& it, checked& into) : it_{it}, into_{into} {}

    void take(std::uint32_t number, segment_check& segment) {
        auto const& head = segment.head();
        bool const follows = head && before_;
        if (head && head->number != number) {
            segment.add(0, layout::head_bytes, "foreign",
                        fmt::format("this was segment {}: the file was renamed", head->number));
        } else if (follows && head->run_id != before_->run_id) {
            segment.add(0, layout::head_bytes, "foreign", "this segment belongs to another run");
        }
        if (follows && head->attempt != before_->attempt) {
            end_attempt();
        } else if (follows && lacks_end_) {
            std::string const cut = file_of(it_, before_->number, layout::data_suffix);
            cut_off_.push_back(
                {cut, mapped_file{cut}.bytes().size(), 0, "cut_off", "the end of this segment is missing"});
        }
        ring_ = ring_ || segment.has_ring();
        if (head) { before_ = head; }
        lacks_end_ = !segment.is_closed() && segment.torn() == 0;
    }
    void end_attempt() {
        if (!ring_) { into_.damage.insert(into_.damage.end(), cut_off_.begin(), cut_off_.end()); }
        cut_off_.clear();
        ring_ = false;
    }

private:
    recording const& it_;
    checked& into_;
    std::optional<segment_head> before_{};
    bool lacks_end_ = false;  // the segment before
    // Segments without an end after which the same attempt continued. With a ring in shared memory they are no damage:
    // recoveries continue after them, and may be killed too. Whether there was a ring may only be known later.
    std::vector<place> cut_off_{};
    bool ring_ = false;
};

[[nodiscard]] error check(recording const& it, std::string const& path, bool live, checked& into, progress& bar) {
    auto const add_unreadable = [&](std::string const& file, error const& why) {
        into.damage.push_back({file, 0, 0, "unreadable", std::string{why.what.view()}});
    };
    if (it.why) { add_unreadable(it.path, it.why); }
    payload_unpacker unpacker;
    segment_order order{it, into};
    std::uint32_t expected = 0;
    for (std::uint32_t const number : it.segments) {
        std::string const file = file_of(it, number, layout::data_suffix);
        std::string const side_file = file_of(it, number, layout::side_suffix);
        bool const growing = live && number == it.segments.back();
        for (; expected < number; ++expected) {
            into.damage.push_back(
                {file_of(it, expected, layout::data_suffix), 0, 0, "missing", "this segment is missing"});
        }
        expected = number + 1;
        mapped_file const side{side_file};  // before the segment, so that no entry points beyond it
        mapped_file const data{file};
        ++into.segments;
        if (data.error()) {
            add_unreadable(file, data.error());
            continue;
        }
        into.bytes += data.bytes().size();
        segment_check segment{file, data.bytes(), unpacker, into};
        if (error const why = segment.walk(growing, bar)) { return why; }
        order.take(number, segment);
        if (side.error()) {
            into.notes.push_back(
                {side_file, 0, 0, "sidecar", "is missing; it is not needed, `spotter recover` makes it again"});
        } else {
            check_sidecar(side_file, side.bytes(), growing, into);
        }
    }
    order.end_attempt();
    check_ends(it, into);
    check_reading(it, path, into);
    return {};
}

json list_of(std::vector<place> const& places) {
    return json_list(places, [](place const& each) -> json {
        return {{"file", each.file},
                {"offset", each.offset},
                {"bytes", each.bytes},
                {"kind", each.kind},
                {"what", each.what}};
    });
}

void print(checked const& result, std::string const& path, std::uint64_t steps, bool live) {
    for (place const& each : result.damage) {
        say(fmt::format("{}:{}: {}\n", plain(each.file), each.offset, each.what));
    }
    for (place const& each : result.notes) {
        say(fmt::format("{}:{}: note: {}\n", plain(each.file), each.offset, each.what));
    }
    for (unreadable const& each : result.lost) {
        std::string const worker = each.worker > 0 ? fmt::format(" of worker {}", each.worker) : "";
        say(fmt::format("cannot be read: \"{}\" at {}({}){}\n", plain(each.name), name_of(each.step.mode),
                        each.step.index, worker));
    }
    if (result.lost.size() == most_lost) { say("and perhaps more\n"); }
    say(fmt::format("{}: {}, {}, {} of values, {}: ", plain(path), plural(result.segments, "segment"),
                    plural(result.frames, "row frame"), plural(result.blocks, "block"), plural(result.bytes, "byte")));
    std::size_t const count = result.damage.size();
    say(count == 0 ? "sound" : plural(count, "damaged place"));
    if (steps > 0) { say(fmt::format(", {} lost", plural(steps, "closed step"))); }
    say(live ? ", and still being written\n" : "\n");
}

}  // namespace

int verify(run_and_json const& wanted) {
    std::string const path = tidy(wanted.path);
    std::vector<recording> all;
    if (error const why = find_recordings(path, all)) { return fail(why, wanted.json, "verify", path); }
    checked result;
    bool any_live = false;
    {
        progress bar{"verify", {bytes_of(all)}};
        for (recording const& each : all) {
            // Checked before reading: a run that ends meanwhile is complete then.
            bool const live = is_live(each);
            any_live = any_live || live;
            if (error const why = check(each, path, live, result, bar)) {
                return fail(why, wanted.json, "verify", path);
            }
        }
    }
    std::sort(result.damage.begin(), result.damage.end(),
              [](place const& a, place const& b) { return a.file != b.file ? a.file < b.file : a.offset < b.offset; });
    outcome end{"verify"};
    json loss;
    auto const run = open_trial(path);
    if (run) { loss = end.look_at(*run); }
    bool const takes = std::any_of(result.damage.begin(), result.damage.end(), [](place const& each) {
        return each.kind != "sidecar" && each.kind != "torn_tail";  // these lose no complete data
    });
    if (takes || !result.lost.empty()) { end.note(something_lost); }
    if (end.code() == fine && !result.damage.empty()) { end.note(found); }
    if (wanted.json) {
        json document = document_of("verify", path);
        document["loss"] = loss;
        document["sound"] = result.damage.empty();
        document["live"] = any_live;
        document["recordings"] = all.size();
        document["segments"] = result.segments;
        document["row_frames"] = result.frames;
        document["blocks"] = result.blocks;
        document["bytes"] = result.bytes;
        document["damage"] = list_of(result.damage);
        document["notes"] = list_of(result.notes);
        document["unreadable"] = json_list(result.lost, [](unreadable const& each) -> json {
            return {{"name", each.name}, {"step", step_json(each.step)}, {"worker", each.worker}};
        });
        say_document(document);
    } else {
        print(result, path, run ? run->losses().steps : 0, any_live);
    }
    return end.code();
}

}  // namespace spotter_tool
