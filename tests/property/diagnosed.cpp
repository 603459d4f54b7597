// SPDX-License-Identifier: Apache-2.0
// The library's law for packs with a diagnosis, over runs long enough for an outcome [S64].
#include <tests/diagnosis/program.hpp>
#include <tests/property/both_ways.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

template <class Pack, class Change>
void check_course(Pack const& pack, habits const& like, Change change, std::size_t at_least) {
    constexpr std::uint64_t steps = 520;
    temporary_folder const folder;
    alarms inside;
    std::vector<plain_finding> reported;
    std::vector<plain_coverage> covered;
    for (bool const values : {false, true}) {
        INFO((values ? "with the values recorded" : "without values"));
        Change once = change;
        inside.clear();
        hook watch{folder / (values ? "values" : "features"), payload_from(values ? 0 : ~std::uint64_t{0}), pack};
        show_run(watch, steps, like, once, [&](std::uint64_t, step_alarm const& found) { keep(inside, found); });
        watch.finish();
        REQUIRE(watch.health().good());
        reported = plain_list(open(watch.path()).findings());
        CHECK(reported.size() >= at_least);
        covered.clear();
        watch.coverage_of_rules([&](coverage const& each) { covered.push_back(plain(each)); });
        compare_with_replay(watch.path(), inside, reported, covered, pack);
    }
    INFO("of values that were recorded without rules");
    hook record{folder / "bare", payload_from(0)};
    show_run(record, steps, like, change, [](std::uint64_t, step_alarm const&) {});
    record.finish();
    compare_with_replay(record.path(), inside, reported, covered, pack);
}

}  // namespace

TEST_CASE("what a pack makes of a whole run it makes of its record [S64]") {
    auto const dead = [](shown_step& it, std::uint64_t i) {
        if (i > 40) { it.act.assign(it.act.size(), 0.0F), it.gradients[0].assign(32, 0.0F); }
    };
    auto const spoiled = [](shown_step& it, std::uint64_t i) {
        if (i >= 100) { it.gradients[1][3] = std::bit_cast<float>(0x7FC00000U); }
    };
    auto const late = [](shown_step& it, std::uint64_t i) {
        if (i > 200) { it.loss *= std::exp(0.05 * static_cast<double>(i - 200)); }
    };
    check_course(packs::supervised, {}, as_it_is, 0);
    check_course(packs::supervised, {}, flat, 1);
    check_course(packs::supervised, {}, worse, 2);
    check_course(packs::supervised, {}, late, 1);
    check_course(packs::supervised, {}, spoiled, 2);
    check_course(packs::supervised, {.rate = 0}, as_it_is, 2);
    check_course(packs::supervised, {.rate = 500}, worse, 3);
    check_course(packs::supervised, {.weight_size = 20}, dead, 3);
    check_course(packs::supervised, {.input_size = 8, .shows_loss = false}, dead, 3);
    check_course(packs::rl, {.rate = 1e-4}, dead, 3);
}
