// SPDX-License-Identifier: Apache-2.0
// Names, steps, modes, collections and ordinals of a recorded run.
#include <tests/trial/runs.hpp>

#include <cstring>

using namespace spotter;
using namespace spotter_test;

namespace {

// Records "x" at every step, and returns the trial.
template <class Plan>
trial recorded(temporary_folder const& folder, Plan const& keep, ids const& steps) {
    hook watch{folder / "run", keep};
    for (step_id each : steps) { (void)watch.step(each, "x"_t = static_cast<double>(each.index)); }
    watch.finish();
    return open(watch.path());
}
template <class Policy>
ids payload_steps(Policy const& when, std::uint64_t count) {
    temporary_folder const folder;
    return recorded(folder, plan{collection{"c", "x", when, payload}}, trains(0, count))["x"].payload_steps();
}

}  // namespace

TEST_CASE("a policy keeps exactly its steps in the record [S01][S02][S03][S04][S05]") {
    CHECK(payload_steps(every{100} && from{5}, 450) == ids{train(100), train(200), train(300), train(400)});
    CHECK(payload_steps(every{100} && before{200}, 450) == ids{train(0), train(100)});
    CHECK(payload_steps(every{500} || at{3, 7}, 1001) == ids{train(0), train(3), train(7), train(500), train(1000)});
    CHECK(payload_steps((every{100} && before{101}) || at{700}, 1000) == ids{train(0), train(100), train(700)});
    CHECK(payload_steps(every{1}, 10) == payload_steps(always{}, 10));
}

TEST_CASE("never and before{0} leave no step, no name and no byte of payload [S06]") {
    temporary_folder const folder;
    hook watch{folder / "run", plan{collection{"a", "a", never{}, payload}, collection{"b", "b", before{0}, payload}}};
    for (std::uint64_t i = 0; i < 10; ++i) { (void)watch.step(train(i), "a"_t = 1.0, "b"_t = 2.0); }
    watch.finish();
    trial const run = open(watch.path());
    CHECK(run.names().empty());
    CHECK(run.steps().empty());
    CHECK(run.modes().empty());
    CHECK(run.closed_steps() == 10);
    CHECK((run.totals().stored == 0 && watch.health().observed == 0));
    CHECK(run["a"].payload_steps().empty());
    CHECK(run["a"].at(train(0)).error().code == errc::not_in_step);
    CHECK(run.names(filter{.collection = "a"}).empty());
}

TEST_CASE("steps of the run are the union of what collections kept, each once [S08]") {
    temporary_folder const folder;
    hook watch{folder / "run",
               plan{collection{"late", "x", at{4, 5, 6}, payload}, collection{"early", "y", before{4}, payload}}};
    for (std::uint64_t i = 0; i < 10; ++i) { (void)watch.step(train(i), "x"_t = 1.0, "y"_t = 2.0); }
    watch.finish();
    CHECK(open(watch.path()).steps() == trains(0, 7));
}

TEST_CASE("ordinals count closes of every mode; step_at is their inverse [S13][S19]") {
    temporary_folder const folder;
    ids order;
    for (std::uint64_t i = 0; i < 5; ++i) { order.push_back(train(i)), order.push_back(eval(i)); }
    trial const run = recorded(folder, everything, order);
    for (std::uint64_t i = 0; i < 5; ++i) {
        CHECK(run.ordinal(train(i)).value_or(99) == 2 * i);
        CHECK(run.ordinal(eval(i)).value_or(99) == 2 * i + 1);
    }
    CHECK(run.modes() == std::vector{mode::train, mode::eval});
    CHECK(run.steps(mode::train).size() == 5);
    CHECK(run.steps(mode::eval).size() == 5);
    CHECK(run.steps() == order);
    CHECK(run["x"].at(run.step_at(7).value_or(train(99))).to<double>().value_or(-1) == 3);
    for (std::uint64_t ordinal = 0; ordinal < 10; ++ordinal) {
        step_id const step = run.step_at(ordinal).value_or(train(99));
        CHECK(step == order[ordinal]);
        CHECK(run.ordinal(step).value_or(99) == ordinal);
        recorded_value const one = run["x"].at(step), other = run["x"].at(order[ordinal]);
        REQUIRE((one && other));
        CHECK(std::memcmp(one.view().values.raw, other.view().values.raw, sizeof(double)) == 0);
        CHECK(one.to<double>().value_or(-1) == static_cast<double>(ordinal / 2));
    }
    CHECK(run.ordinal(train(5)).error().code == errc::no_such_step);
    CHECK(run.step_at(10).error().code == errc::no_such_step);
}

TEST_CASE("three train, two eval, two train: indices within a mode, ordinals over all [S14]") {
    temporary_folder const folder;
    trial const run =
        recorded(folder, everything, {train(0), train(1), train(2), eval(0), eval(1), train(3), train(4)});
    std::uint64_t const of_train[] = {0, 1, 2, 5, 6};
    for (std::uint64_t i = 0; i < 5; ++i) { CHECK(run.ordinal(train(i)).value_or(99) == of_train[i]); }
    CHECK(run.ordinal(eval(0)).value_or(99) == 3);
    CHECK(run.ordinal(eval(1)).value_or(99) == 4);
    CHECK(run.steps(mode::train) == trains(0, 5));
}

TEST_CASE("a plan that keeps in train only: eval steps count as closed and hold nothing [S15]") {
    temporary_folder const folder;
    trial const run =
        recorded(folder, plan{collection{"t", "*", during{mode::train}, payload}}, {train(0), eval(0), train(1)});
    CHECK(run.steps(mode::eval).empty());
    CHECK(run.modes() == std::vector{mode::train});
    CHECK(run.ordinal(train(1)).value_or(99) == 2);
    CHECK(run.state(eval(0)) == step_state::present);
}

TEST_CASE("names by mode, step, pattern and collection, alone and together; unknown values give an empty list [S18]") {
    temporary_folder const folder;
    hook watch{folder / "run", plan{collection{"as", "a*", during{mode::train}, payload},
                                    collection{"bs", "b", during{mode::eval}, payload},
                                    collection{"late", "a2", from{1} && during{mode::train}, payload}}};
    for (std::uint64_t i = 0; i < 2; ++i) {
        (void)watch.step(train(i), "b"_t = 1.0, "a2"_t = 2.0, "a1"_t = 3.0);
        (void)watch.step(eval(i), "a1"_t = 1.0, "b"_t = 2.0);
    }
    watch.finish();
    trial const run = open(watch.path());
    CHECK(run.names() == names_list{"a1", "a2", "b"});
    CHECK(run.names("a?") == names_list{"a1", "a2"});
    CHECK(run.names(filter{.mode = mode::train}) == names_list{"a1", "a2"});
    CHECK(run.names(filter{.mode = mode::eval}) == names_list{"b"});
    CHECK(run.names(filter{.mode = mode::predict}).empty());
    CHECK(run.names(filter{.step = eval(1)}) == names_list{"b"});
    CHECK(run.names(filter{.step = train(99)}).empty());
    CHECK(run.names(filter{.collection = "late"}) == names_list{"a2"});
    CHECK(run.names(filter{.collection = "nope"}).empty());
    CHECK(run.names(filter{.mode = mode::train, .pattern = "*2", .collection = "as"}) == names_list{"a2"});
    REQUIRE(run.collections().size() == 3);
    CHECK(run.collections()[0].name == "as");
    CHECK(run.collections()[0].what == "\"a*\", during{train}: payload");
}

TEST_CASE("a collection of everything holds every name of the run, whenever and in whatever mode it came [S22]") {
    temporary_folder const folder;
    hook watch{folder / "run", plan{collection{"all", "*", every{1}, payload}}};
    (void)watch.step(train(0), "a"_t = 1.0);
    (void)watch.step(eval(0), "deep/er/name"_t = 1.0, ""_t = 2.0);
    watch.scalar("loose", 1.0);
    (void)watch.step(predict(3), "z.grad"_t = 1.0);
    watch.finish();
    trial const run = open(watch.path());
    CHECK(run.names() == names_list{"", "a", "deep/er/name", "loose", "z.grad"});
    CHECK(run.names(filter{.collection = "all"}) == run.names());
}

TEST_CASE("all names of the run are members of a collection of everything [S22]; of listed names only those that came "
          "[S23]") {
    temporary_folder const folder;
    hook watch{folder / "run", plan{collection{"all", "*", every{1}, stats(l2)},
                                    collection{"some", names{"a", "zz"}, always{}, payload}}};
    (void)watch.step(train(0), "a"_t = 1.0, "b"_t = 2.0);
    watch.finish();
    trial const run = open(watch.path());
    CHECK(run.names(filter{.collection = "all"}) == run.names());
    CHECK(run.names(filter{.collection = "some"}) == names_list{"a"});
    CHECK(run["b"].payload_steps().empty());
    CHECK(run["b"].steps() == ids{train(0)});
    CHECK(run["b"].at(train(0)).error().code == errc::no_payload);
}

TEST_CASE("a tensor in several collections is stored once and listed in each [S25][D18]") {
    temporary_folder const folder;
    hook watch{folder / "run",
               plan{collection{"one", "x", always{}, payload}, collection{"two", "*", always{}, payload | stats(l2)},
                    collection{"three", names{"x"}, always{}, stats(mean)}}};
    (void)watch.step(train(0), "x"_t = 2.0);
    watch.finish();
    trial const run = open(watch.path());
    for (char const* each : {"one", "two", "three"}) {
        CHECK(run.names(filter{.collection = each}) == names_list{"x"});
    }
    CHECK(run.totals().stored == 1);
    CHECK(run["x"].stat(train(0), l2).value_or(0) == 2);
}

TEST_CASE("default collections keep losses at all steps, gradients in training only [S17][S21][D17]") {
    temporary_folder const folder;
    hook watch{folder / "run", plan{defaults::losses, defaults::gradients, defaults::weights}};
    for (std::uint64_t i = 0; i < 501; ++i) {
        for (step_id each : {train(i), eval(i), predict(i)}) {
            (void)watch.step(each, "loss"_t = 1.0, "grad/fc/w"_t = 2.0, "fc/w"_t = 3.0, "fc/b"_t = 4.0);
        }
    }
    watch.finish();
    trial const run = open(watch.path());
    CHECK(run["loss"].payload_steps().size() == 3 * 501);
    CHECK(run["grad/fc/w"].payload_steps() == ids{train(0), train(500)});
    CHECK(run["fc/w"].payload_steps().size() == 6);
    CHECK(run.names() == names_list{"fc/w", "grad/fc/w", "loss"});
}

TEST_CASE("steps by policy are bounded however long the run, and those of a track are among the run's [S49]") {
    temporary_folder const folder;
    trial const run = recorded(folder, plan{collection{"c", "x", every{2}, payload}}, trains(0, 100));
    CHECK(run.steps(between{0, 5}) == ids{train(0), train(2), train(4)});
    CHECK(run["x"].steps() == run.steps());
    CHECK(run["x"].steps(between{0, 5}) == run.steps(between{0, 5}));
    CHECK(run["x"].steps(mode::eval).empty());
    for (std::uint64_t length : {5ULL, 6ULL, 400ULL}) {
        temporary_folder const another;
        CHECK(recorded(another, everything, trains(0, length)).steps(between{0, 5}) == trains(0, 5));
    }
}

TEST_CASE("which steps were closed is known whatever their order: counting up, with gaps, backwards, at random [A36]") {
    std::uint64_t const last = ~std::uint64_t{0};
    for (std::vector<std::uint64_t> const& order : {std::vector<std::uint64_t>{0, 1, 2, 3},
                                                    {5, 3, 4, 9, 7, 8, 1},
                                                    {9, 8, 7, 3, 2, 1},
                                                    {0, 100, 50, 51, 49},
                                                    {last, 0, last - 1, 1},
                                                    {7, 7, 7}}) {
        step_ranges closed;
        std::set<std::uint64_t> known;
        for (std::uint64_t each : order) {
            closed.add(eval(each));
            known.insert(each);
            for (std::uint64_t i = 0; i < 110; ++i) {
                CHECK(closed.contains(eval(i)) == known.contains(i));
                CHECK(closed.any_after(eval(i)) == (*known.rbegin() > i));
                CHECK(!closed.contains(train(i)));
                CHECK(!closed.any_after(train(i)));
            }
            CHECK(closed.contains(eval(last)) == known.contains(last));
            CHECK(!closed.any_after(eval(last)));
        }
    }
    step_ranges closed;
    std::set<std::uint64_t> known;
    std::uint64_t draw = 1;
    for (int i = 0; i < 300; ++i) {
        draw = draw * 6364136223846793005ULL + 1442695040888963407ULL;
        closed.add(train(draw >> 56));
        known.insert(draw >> 56);
    }
    for (std::uint64_t i = 0; i < 256; ++i) { CHECK(closed.contains(train(i)) == known.contains(i)); }
}

TEST_CASE("a rewind within a run: the later closing is read, every step is listed once [S59]") {
    temporary_folder const folder;
    hook watch{folder / "run", everything};
    for (std::uint64_t i : {0ULL, 1ULL, 2ULL, 3ULL, 1ULL, 2ULL, 5ULL}) {
        (void)watch.step(train(i), "x"_t = static_cast<double>(100 * watch.health().steps + i));
    }
    watch.finish();
    trial const run = open(watch.path());
    CHECK(run.closed_steps() == 7);
    CHECK(run.steps() == ids{train(0), train(1), train(2), train(3), train(5)});
    CHECK(run["x"].steps() == run.steps());
    CHECK(run["x"].at(train(1)).to<double>().value_or(0) == 401);
    CHECK(run["x"].at(train(3)).to<double>().value_or(0) == 303);
    CHECK(run.ordinal(train(1)).value_or(0) == 4);
    CHECK(run.state(train(4)) == step_state::absent);
}

TEST_CASE(
    "partners, roles, types and shapes come back, also where the partner was declared later and over many segments") {
    temporary_folder const folder;
    options const small{.segment_bytes = 4096};
    hook watch{folder / "run", everything, small};
    std::vector<float> const w(6, 1.0F);
    for (std::uint64_t i = 0; i < 300; ++i) {
        (void)watch.step(train(i), "grad/fc/w"_t = view_of(w.data(), {2, 3}),
                         "fc/w"_t = view_of(w.data(), {2, 3}, order::column_major));
    }
    watch.finish();
    CHECK(std::filesystem::exists(folder / "run/000001.spot"));
    trial const run = open(watch.path());
    tensor_info const gradient = run["grad/fc/w"].info();
    CHECK(gradient.role == role::gradient);
    CHECK(gradient.partner_role == role::weight);
    CHECK(gradient.partner == run["fc/w"].info().id);
    CHECK(run["fc/w"].info().partner == gradient.id);
    CHECK(gradient.shape == extents{2, 3});
    CHECK(gradient.type == dtype::f32);
    CHECK(run["fc/w"].steps().size() == 300);
}
