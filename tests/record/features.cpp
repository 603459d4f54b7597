// SPDX-License-Identifier: Apache-2.0
// Features in the record: they precede their observations in order, and packed steps surround them.
#include <tests/record/read_back.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

void store_tensor(recorder& sink, tensor_id id, std::uint64_t step) {
    tensor_info const info = tensor_named(id, "t");
    summary const stats = summary_of(3, static_cast<double>(step));
    sink.observe({info, train(step), stats}, stats_mask::sum);
}
void store_scalar(recorder& sink, tensor_id id, std::uint64_t step) {
    step_id const at = train(step);
    double const value = static_cast<double>(step);
    sink.scalar(tensor_named(id, "s"), &at, view_of(&value, extents{}), nullptr);
}
void keep_feature(recorder& sink, tensor_id id, std::uint64_t step, std::vector<double> const& numbers) {
    sink.feature(tensor_named(id, "t"), train(step), 7 + id, numbers);
}
// The rows of steps in order, a letter each: o, s, f and c, with their step.
std::string rows_of(std::string const& folder) {
    machine_file_system files;
    std::string found;
    for (std::uint32_t number = 0;; ++number) {
        char name[24];
        auto const mapped =
            files.map(folder + "/" + std::string{name, name_segment(number, layout::data_suffix, name)});
        if (!mapped) { return found; }
        frame_walker walk{mapped->bytes};
        for (walked what = walk.next(); what != walked::end; what = walk.next()) {
            if (what != walked::rows) { continue; }
            row_reader rows{walk.frame().body};
            for (row_view row{}; rows.next(row);) {
                rows::observe seen;
                rows::scalar value;
                rows::feature made;
                rows::close closed;
                summary stats;
                if (row.kind == row_kind::observe && !decode(row, seen, stats)) {
                    found += "o" + std::to_string(seen.step.index) + ' ';
                } else if (row.kind == row_kind::scalar && !decode(row, value)) {
                    found += "s" + std::to_string(value.step.index) + ' ';
                } else if (row.kind == row_kind::feature && !decode(row, made)) {
                    found += "f" + std::to_string(made.step.index) + ' ';
                } else if (row.kind == row_kind::close && !decode(row, closed)) {
                    found += "c" + std::to_string(closed.step.index) + ' ';
                }
            }
        }
        files.unmap(*mapped);
    }
}

}  // namespace

TEST_CASE("features come back bit for bit where they came, among steps that are packed and in several segments") {
    for (std::uint64_t const segment_bytes : {std::uint64_t{4096}, std::uint64_t{1} << 30}) {
        for (ring_in const where : {ring_in::memory, ring_in::shared_memory}) {
            temporary_folder const folder;
            options choices;
            choices.segment_bytes = segment_bytes;
            choices.ring_in = where;
            recorder sink{folder / "run", choices};
            sink.start({});
            for (tensor_id id = 0; id < 3; ++id) { sink.declare(tensor_named(id, "t")); }
            std::string expected;
            std::vector<std::vector<double>> given;
            std::uint64_t came = 0;
            auto const put = [&](char what, std::uint64_t step, tensor_id id) {
                if (what == 'o') { store_tensor(sink, id, step); }
                if (what == 's') { store_scalar(sink, id, step); }
                if (what == 'f') {
                    given.emplace_back(step % 40, step % 3 == 0 ? -0.5 : static_cast<double>(step));
                    keep_feature(sink, id, step, given.back());
                }
                if (what == 'c') { sink.close(train(step), {}); }
                came += what == 'o' || what == 's' ? 1U : 0U;
                expected += what + std::to_string(step) + ' ';
            };
            std::string_view const steps[] = {"sso", "ofo", "ffos", "so", "", "fo", "fo", "sfofos", "s", "oo", "sf"};
            for (std::uint64_t step = 0; step < 400; ++step) {
                tensor_id id = 0;
                for (char const what : steps[step % std::size(steps)]) { put(what, step, id++ % 3); }
                put('c', step, 0);
                if (step % 90 == 89) { sink.flush(); }
            }
            sink.finish({});
            INFO(sink.health().first_error.what.view());
            bool const in_plain_memory =
                where == ring_in::shared_memory && machine_file_system{}.shared_place().empty();
            CHECK(static_cast<bool>(sink.health().first_error) == in_plain_memory);
            CHECK(sink.health().stored == came);
            CHECK(sink.health().dropped == 0);
            CHECK(rows_of(folder / "run") == expected);
            run_on_disk const run = read_run(folder / "run");
            REQUIRE(run.features.size() == given.size());
            for (std::size_t i = 0; i < given.size(); ++i) {
                REQUIRE(run.features[i].row.key == 7 + run.features[i].row.id);
                REQUIRE(run.features[i].numbers == given[i]);
            }
            CHECK((run.damaged == 0 && run.ended && run.segments > (segment_bytes == 4096 ? 1 : 0)));
        }
    }
}

TEST_CASE("a feature larger than half the ring is dropped, counted and named; its observation is kept") {
    temporary_folder const folder;
    options choices;
    choices.ring_bytes = 64 << 10;
    recorder sink{folder / "run", choices};
    sink.start({});
    sink.declare(tensor_named(0, "t"));
    keep_feature(sink, 0, 0, std::vector<double>(10'000, 0.5));
    store_tensor(sink, 0, 0);
    keep_feature(sink, 0, 0, std::vector<double>(2'000, 0.5));
    store_tensor(sink, 0, 0);
    sink.close(train(0), {});
    sink.finish({});
    CHECK(sink.health().first_error.code == errc::bad_config);
    CHECK((sink.health().stored == 2 && sink.health().dropped == 1));
    run_on_disk const run = read_run(folder / "run");
    CHECK((run.values.size() == 2 && run.features.size() == 1 && run.features[0].numbers.size() == 2'000));
    CHECK(run.end.dropped == 1);
}

TEST_CASE("where nothing is recorded features are not counted beside their observations") {
    options choices;
    choices.dry_run = true;
    recorder sink{"nowhere", choices};
    sink.start({});
    keep_feature(sink, 0, 0, {1, 2});
    store_tensor(sink, 0, 0);
    CHECK((sink.health().stored == 0 && sink.health().dropped == 0));
}
