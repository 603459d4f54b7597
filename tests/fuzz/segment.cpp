// SPDX-License-Identifier: Apache-2.0
// Fuzzer: any bytes as the segments and the sidecar of a run. It calls every query of a trial; nothing may crash, hang,
// or take memory that the input does not justify.
#include <tests/fuzz/pack.hpp>

#include <spotter/file/memory.hpp>
#include <spotter/replay.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

using namespace spotter;
using namespace spotter_test;

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

constexpr std::size_t most_of_each = 5;  // names, and steps a name: more of the same find nothing more

std::uint64_t sink = 0;
void use(std::string_view text) {
    for (char each : text) { sink += static_cast<unsigned char>(each); }
}
void use(tensor_ref const& view) {
    auto const* const bytes = static_cast<unsigned char const*>(view.values.raw);
    for (std::uint64_t i = 0; i < view.bytes(); i += 512) { sink += bytes[i]; }
}

void read_track(track const& it) {
    tensor_info const info = it.info();
    use(info.name);
    std::size_t left = most_of_each;
    for (point const& each : it.history(l2)) {
        if (left-- == 0) { break; }
        for (std::size_t which = 0; which < 2; ++which) {
            recorded_value const value = it.at(each.step, nth{which});
            if (value) { use(value.view()); }
            (void)value.to<std::vector<float>>();
            (void)value.to<double>();
            (void)value.to<std::string>();
        }
        for (statistic const stat : std::initializer_list<statistic>{mean, minimum, l1, nonfinite, mean_abs}) {
            sink += it.stat(each.step, stat) ? 1 : 0;
        }
        sink += it.distribution(each.step) ? 1 : 0;
        sink += it.quantile(each.step, 0.5) ? 1 : 0;
        sink += it.time(each.step) ? 1 : 0;
        sink += it.shape(each.step) ? 1 : 0;
        sink += it.last(3, each.step).size();
    }
    sink += it.history(mean, every{2} && during{mode::train}).size() + it.loose().size() + it.payload_steps().size();
}

void read_run(trial& run) {
    std::size_t left = most_of_each;
    for (std::string const& name : run.names()) {
        if (left-- == 0) { break; }
        read_track(run[name]);
        read_track(run[name].of(worker{run.workers().front()}));
    }
    left = most_of_each;
    for (step_id const step : run.steps()) {
        if (left-- == 0) { break; }
        sink += run.names(filter{.step = step}).size() + static_cast<std::size_t>(run.state(step));
        sink += run.ordinal(step).value_or(0) + (run.step_at(1) ? 1 : 0);
    }
    for (recorded_collection const& each : run.collections()) {
        use(each.name), use(each.what);
        sink += run.names(filter{.collection = each.name}).size();
    }
    for (finding const& each : run.findings()) { use(each.rule), use(each.detail.view()), use(each.tensor); }
    for (recorded_coverage const& each : run.coverages()) { use(each.rule), use(each.reason); }
    sink += run.modes().size() + run.damage().size() + run.closed_steps() + run.attempts() + run.totals().stored;
    use(run.why_ended());
    sink += static_cast<std::uint64_t>(run.age()) + run.expected_workers() + (run.over() ? 1 : 0);
    (void)run.refresh();
}

// What the command line reads of files: every place of the sidecar, and a rebuilt sidecar.
void read_sidecar(folder_contents const& files) {
    auto const segment = files.find(packed_names[0]);
    if (segment == files.end()) { return; }
    byte_buffer again;
    (void)rebuild_sidecar(segment->second, again);
    for (std::uint64_t i = 0; decode_side_place(again.view(), i, segment->second.size()); ++i) { ++sink; }
    auto const side = files.find(packed_names[1]);
    if (side == files.end()) { return; }
    for (std::uint64_t i = 0; i < side_places(side->second); ++i) {
        auto const place = decode_side_place(side->second, i, segment->second.size());
        if (!place) { continue; }
        frame_walker walk{segment->second, place->offset};
        while (walk.next() != walked::end) { ++sink; }
    }
}

// A recorder continues where the record seems to end; what it adds must be readable.
void resume(folder_contents const& given) {
    memory_file_system files;
    for (auto const& [name, bytes] : given) {
        auto const file = files.create(name);
        (void)files.append(*file, bytes);
        (void)files.close(*file);
    }
    options const choices{.existing = existing::resume, .drain = drain::poll, .ring_bytes = 64 << 10};
    {
        recorder record{frozen_files::folder, choices, files};
        hook watch{record, plan{collection{"all", "*", always{}, payload}}};
        (void)watch.step(train(77), "fuzzed_and_resumed"_t = 0.25);
        watch.finish();
        if (!watch.health().good()) { __builtin_trap(); }
    }
    auto run = open_trial(frozen_files::folder, files);
    if (run) {
        auto const value = (*run)["fuzzed_and_resumed"].at(train(77)).to<double>();
        if (!value || *value != 0.25) { __builtin_trap(); }
    } else if (run.error().code != errc::unknown_version) {
        __builtin_trap();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    if (size < 1) { return 0; }
    frozen_files files;
    files.files = unpack_run({data + 1, size - 1});
    if ((data[0] & repairs) != 0) {
        for (auto& [name, bytes] : files.files) { name.ends_with('x') ? repair_sidecar(bytes) : repair_segment(bytes); }
    }
    read_sidecar(files.files);
    if (auto run = open_trial(frozen_files::folder, files)) {
        read_run(*run);
        if ((data[0] & replays) != 0) {
            auto const report = replay(*run, non_finite{}, vanishing_gradient{}, dead_relu{}, loss_not_decreasing{},
                                       all_zero{}, any("*", l2 > 1.0) | for_steps{2});
            sink += report.findings.size() + report.steps;
        }
    }
    if ((data[0] & resumes) != 0) { resume(files.files); }
    return 0;
}

// Mostly changes the body of one row and corrects all lengths around it: so the input reaches the row decoders.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
    auto next = [state = std::uint64_t{seed}](std::uint64_t end) mutable {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return (state >> 33) % end;
    };
    if (size < 2 || next(5) == 0) { return LLVMFuzzerMutate(data, size, most); }
    folder_contents files = unpack_run({data + 1, size - 1});
    auto const at = files.find(packed_names[next(4) == 0 ? 2 : 0]);
    if (at == files.end()) { return LLVMFuzzerMutate(data, size, most); }
    contents& bytes = at->second;
    std::vector<std::size_t> frames;
    for (std::size_t place = next_frame(bytes, 0); place < bytes.size(); place = next_frame(bytes, place + 4)) {
        frames.push_back(place);
    }
    if (frames.empty()) { return LLVMFuzzerMutate(data, size, most); }
    std::size_t const frame = frames[next(frames.size())];
    std::uint64_t const reported =
        load<std::uint32_t>(bytes.data() + frame + 4) + std::uint64_t{layout::skippable_bytes};
    std::size_t const end = frame + static_cast<std::size_t>((std::min)(reported, std::uint64_t{bytes.size() - frame}));
    std::size_t const first = frame + layout::row_head_bytes;
    if (end < first + layout::row_tail_bytes) { return LLVMFuzzerMutate(data, size, most); }
    byte_view const body = byte_view{bytes}.subspan(first, end - layout::row_tail_bytes - first);
    std::vector<row_view> rows;
    row_reader reader{body};
    for (row_view row; reader.next(row);) { rows.push_back(row); }
    if (rows.empty()) { return LLVMFuzzerMutate(data, size, most); }

    std::size_t const chosen = next(rows.size());
    contents made;
    auto const add = [&](row_kind kind, byte_view row) {
        std::byte head[1 + varint_limit];
        byte_writer out{head, sizeof head};
        out.fixed(kind);
        out.varint(row.size());
        made.insert(made.end(), out.view().begin(), out.view().end());
        made.insert(made.end(), row.begin(), row.end());
    };
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (i != chosen) {
            add(rows[i].kind, rows[i].body);
            continue;
        }
        std::uint64_t const what = next(12);
        if (what == 0) { continue; }                         // removed
        if (what == 1) { add(rows[i].kind, rows[i].body); }  // repeated
        std::vector<std::uint8_t> changed(rows[i].body.size() + 64);
        std::copy_n(reinterpret_cast<std::uint8_t const*>(rows[i].body.data()), rows[i].body.size(), changed.data());
        std::size_t const now = LLVMFuzzerMutate(changed.data(), rows[i].body.size(), changed.size());
        auto const kind = what == 2 ? static_cast<row_kind>(next(14)) : rows[i].kind;
        add(kind, std::as_bytes(std::span{changed}).first(now));
    }
    contents whole{bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(first)};
    whole.insert(whole.end(), made.begin(), made.end());
    whole.insert(whole.end(), bytes.begin() + static_cast<std::ptrdiff_t>(end - layout::row_tail_bytes), bytes.end());
    store(whole.data() + frame + 4, static_cast<std::uint32_t>(layout::row_head_bytes - layout::skippable_bytes +
                                                               made.size() + layout::row_tail_bytes));
    bytes = std::move(whole);
    auto const packed = pack_run(data[0], files);
    if (packed.size() > most) { return LLVMFuzzerMutate(data, size, most); }
    std::copy(packed.begin(), packed.end(), data);
    return packed.size();
}
