// SPDX-License-Identifier: Apache-2.0
// Reading from a disk that fails, at every file operation: unread parts are reported, and what was read is right.
#include <tests/fault/loop.hpp>

#include <tests/file/faulty_files.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr std::string_view read_folder = "runs/a";

// Records two workers, each with several segments. Worker 0 died (it never ended) and was resumed.
void record_run(memory_file_system& files, std::uint64_t steps) {
    options choices = small_record;
    choices.clock = &ticks;
    choices.existing = existing::resume;
    (void)train_watched(files, read_folder, choices, 0, steps);
    (void)train_watched(files, read_folder, choices, steps, steps + 4);
    choices.worker = 1;
    (void)train_watched(files, read_folder, choices, 0, steps);
}

struct read_trouble {
    bool for_good;
    errc how;
};
constexpr read_trouble read_troubles[] = {{false, errc::io_error}, {true, errc::io_error}, {false, errc::disk_full}};

}  // namespace

TEST_CASE("whichever file operation fails while a run is opened: a named error, or all unread parts are reported; and "
          "refreshing later brings the rest [T15]") {
    memory_file_system files;
    record_run(files, 12);
    picture const whole = picture_of(open_in(files, read_folder));
    REQUIRE(whole.size() > 500);
    std::uint64_t refused = 0, partly = 0;
    for (read_trouble const& how : read_troubles) {
        bool passed = false;
        for (std::uint64_t fail_at = 1; !passed; ++fail_at) {
            faulty_file_system faulty{files, fail_at, how.for_good, how.how};
            auto opened = open_trial(read_folder, faulty);
            passed = faulty.operations() < fail_at;
            INFO("operation " << fail_at << (how.for_good ? " for good" : ""));
            if (!opened) {
                ++refused;
                REQUIRE((opened.error().code == how.how && opened.error().what.view().size() > 10));
                continue;
            }
            difference const found = compare(picture_of(*opened), whole);
            INFO(found.first);
            REQUIRE((found.sound() && found.refused == 0));
            REQUIRE((found.whole() || !opened->damage().empty()));
            REQUIRE((opened->status() == run_status::finished || !opened->damage().empty()));
            partly += found.whole() ? 0 : 1;
            if (how.for_good) { continue; }
            REQUIRE_FALSE(opened->refresh());
            REQUIRE(compare(picture_of(*opened), whole).whole());
            REQUIRE(opened->damage().empty());
            REQUIRE(opened->status() == run_status::finished);
        }
    }
    CHECK((refused > 5 && partly > 5));
}

TEST_CASE(
    "whichever file operation fails while a run that grows is refreshed: everything read before holds, the run is not "
    "taken for dead, and the next refresh brings the rest [T15][S46]") {
    options choices = small_record;
    choices.clock = &ticks;
    constexpr std::uint64_t never = ~std::uint64_t{0};
    for (read_trouble const& how : read_troubles) {
        bool passed = false;
        for (std::uint64_t fail_at = 0; !passed; ++fail_at) {  // 0: counts the operations of opening
            static std::uint64_t opening = 0;
            memory_file_system files;
            faulty_file_system faulty{files, fail_at == 0 ? never : opening + fail_at, how.for_good, how.how};
            std::unique_ptr<trial> reader;
            picture before;
            (void)train_watched(files, read_folder, choices, 0, 10, [&](std::uint64_t i) {
                INFO("operation " << fail_at << (how.for_good ? " for good" : ""));
                if (i == 3) {
                    auto opened = open_trial(read_folder, faulty);
                    REQUIRE(opened);
                    reader = std::make_unique<trial>(std::move(*opened));
                    before = picture_of(*reader);
                    REQUIRE(before.size() > 50);
                    opening = faulty.operations();
                }
                if (i != 9) { return; }
                error const why = reader->refresh();
                passed = fail_at > 0 && faulty.operations() < opening + fail_at;
                REQUIRE((!why || (why.code == how.how && !passed)));
                difference const kept = compare(picture_of(*reader), before);
                INFO(kept.first);
                REQUIRE((kept.wrong == 0 && kept.lacking == 0));
                REQUIRE(reader->status() == run_status::running);
                REQUIRE((reader->state(train(7)) == step_state::present || why));
                if (how.for_good) { return; }
                REQUIRE_FALSE(reader->refresh());
                REQUIRE(reader->state(train(7)) == step_state::present);
                REQUIRE(compare(picture_of(*reader), picture_of(open_in(files, read_folder))).whole());
                REQUIRE(reader->damage().empty());
            });
        }
    }
}
