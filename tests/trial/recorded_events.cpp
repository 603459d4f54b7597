// SPDX-License-Identifier: Apache-2.0
// One worker's record as events, in the order of writing.
#include <spotter/rule/builtin/non_finite.hpp>
#include <spotter/trial/recorded_events.hpp>

#include <tests/trial/runs.hpp>

#include <limits>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr auto everything_kept = plan{collection{"all", "*", always{}, payload}};

// The events that a sink receives, as text.
struct story {
    std::string text{};
    void add(std::string_view what, std::uint64_t number) {
        text += std::string{what} + ' ' + std::to_string(number) + '\n';
    }
    [[nodiscard]] auto sink(worker_index const& run) {
        return recorded_sink{[this](recorded_attempt it) { add("attempt", it.number); },
                             [this](tensor_info const& it) { text += "declare " + std::string{it.name} + '\n'; },
                             [this, &run](recorded_observation const& it) {
                                 std::vector<std::byte> bytes;
                                 tensor_ref view{};
                                 run.guard(it.segment);
                                 CHECK_FALSE(read_values(run, it.segment, it.row, run.unpacker(), bytes, view));
                                 add(run.tensors()[it.id]->name + " has", view.count);
                             },
                             [this, &run](recorded_scalar const& it) {
                                 add(run.tensors()[it.id]->name + (it.row.has_step ? " at" : " before"),
                                     it.row.step.index);
                             },
                             [this](rows::finding const& it) { add(it.rule, it.step.index); },
                             [this](rows::close const& it) { add("close", it.step.index); }};
    }
};

void record_step(std::string const& path, std::uint64_t first, float loss) {
    hook watch{path, everything_kept, options{.existing = existing::resume}, non_finite{}};
    if (first == 0) { watch.scalar("seed", 7); }
    (void)watch.step(train(first), "loss"_t = loss, "w"_t = std::vector<float>{1, 2, 3});
}

}  // namespace

TEST_CASE("events of a record come in the order of writing, and a further attempt precedes its rows") {
    temporary_folder const folder;
    record_step(folder / "run", 0, 1);
    record_step(folder / "run", 1, std::numeric_limits<float>::quiet_NaN());
    trial const run = open(folder / "run");
    worker_index const& index = run.readers().front()->index();
    story reported;
    recorded_events events{index};
    events.advance(reported.sink(index));
    INFO(reported.text);
    auto const at = [&](std::string_view what) {
        std::size_t const place = reported.text.find(what);
        REQUIRE(place != std::string::npos);
        return place;
    };
    CHECK(at("declare seed") < at("seed before"));
    CHECK(at("seed before") < at("declare loss"));
    CHECK(at("declare loss") < at("loss at 0"));
    CHECK(at("w has 3") < at("close 0"));
    CHECK(at("close 0") < at("attempt 1"));
    CHECK(at("attempt 1") < at("loss at 1"));
    CHECK(at("loss at 1") < at("non_finite 1"));
    CHECK(at("close 1") < reported.text.size());
    CHECK(events.attempt() == 1);
    CHECK(reported.text.find("attempt 0") == std::string::npos);
}

TEST_CASE("a walk over events that was ended goes on with the row at which it ended") {
    temporary_folder const folder;
    record_step(folder / "run", 0, 1);
    record_step(folder / "run", 1, 2);
    trial const run = open(folder / "run");
    worker_index const& index = run.readers().front()->index();
    story whole, parts;
    recorded_events{index}.advance(whole.sink(index));
    recorded_events events{index};
    for (std::size_t i = 0; i < 100; ++i) {
        std::size_t rows = 0;
        events.advance([&] { return rows++ == 0; }, parts.sink(index));
    }
    CHECK(parts.text == whole.text);
}

TEST_CASE("rows that were kept are decoded later as they are at once") {
    temporary_folder const folder;
    record_step(folder / "run", 0, 1);
    record_step(folder / "run", 1, std::numeric_limits<float>::quiet_NaN());
    trial const run = open(folder / "run");
    worker_index const& index = run.readers().front()->index();
    kept_rows kept;
    recorded_events{index}.advance([&](recorded_row const& it) { kept.push(it); });
    story at_once, later;
    recorded_events{index}.advance(at_once.sink(index));
    for (std::size_t i = 0; i < kept.size(); ++i) { hand_over(index, kept[i], later.sink(index)); }
    auto const lines_of_tensors = [](std::string const& text) {
        std::string lines;
        for (std::size_t from = 0; from < text.size();) {
            std::size_t const end = text.find('\n', from) + 1;
            std::string const line = text.substr(from, end - from);
            if (line.find("close") != 0 && line.find("attempt") != 0) { lines += line; }
            from = end;
        }
        return lines;
    };
    CHECK(later.text == lines_of_tensors(at_once.text));
}
