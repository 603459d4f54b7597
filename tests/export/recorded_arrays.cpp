// SPDX-License-Identifier: Apache-2.0
// Values of a run as named arrays: the scalars of a name and mode in one array, every other value in its own.
#include <spotter/workbench/export.hpp>

#include <tests/trial/runs.hpp>

#include <cstring>
#include <map>

using namespace spotter;
using namespace spotter_test;

namespace {

struct kept_array {
    dtype type{};
    extents shape{};
    std::vector<std::byte> bytes{};
    std::uint64_t values = 0;

    template <class Value>
    [[nodiscard]] std::vector<Value> as() const {
        CHECK(type == dtype_of<Value>);
        std::vector<Value> all(bytes.size() / sizeof(Value));
        if (!bytes.empty()) { std::memcpy(all.data(), bytes.data(), bytes.size()); }
        return all;
    }
};
using arrays = std::map<std::string, kept_array>;
using indices = std::vector<std::uint64_t>;

arrays arrays_of(trial const& run, export_choice const& choice = {}, std::vector<std::string>* damaged = nullptr) {
    auto const names = run.names();
    recorded_arrays from{run, choice, names};
    arrays found;
    for (int round = 0; round < 2; ++round) {  // the second export gives the same
        arrays again;
        CHECK(!from.each([&](recorded_array const& it) {
            auto const* const first = static_cast<std::byte const*>(it.view.values.raw);
            CHECK(again
                      .emplace(it.key,
                               kept_array{it.view.type, it.view.shape, {first, first + it.view.bytes()}, it.values})
                      .second);
            return error{};
        }));
        if (round > 0) { CHECK(again.size() == found.size()); }
        found = std::move(again);
    }
    if (damaged != nullptr) { *damaged = from.damaged(); }
    return found;
}
std::vector<std::string> keys_of(arrays const& all) {
    std::vector<std::string> keys;
    for (auto const& each : all) { keys.push_back(each.first); }
    return keys;
}

}  // namespace

TEST_CASE("numbers of a name are one array a mode with their steps beside it, whatever stands between them [D24]") {
    temporary_folder const folder;
    indices steps;
    std::vector<float> losses;
    {
        hook watch{folder / "run", everything};
        for (std::uint64_t i = 0; i < 5000; ++i) {
            std::uint64_t const at = i * 3 + i / 100;
            auto const loss = 1.0F / static_cast<float>(i + 1);
            steps.push_back(at), losses.push_back(loss);
            (void)watch.step(train(at), "loss"_t = loss);
            if (i % 1000 == 0) { (void)watch.step(eval(at), "loss"_t = 0.5, "w"_t = std::vector<float>{loss, 2}); }
        }
    }
    trial const run = open(folder / "run");
    arrays const all = arrays_of(run);
    CHECK(keys_of(all) == names_list{"loss@eval", "loss@eval:steps", "loss@train", "loss@train:steps", "w@eval:0",
                                     "w@eval:12040", "w@eval:3010", "w@eval:6020", "w@eval:9030"});
    CHECK(all.at("loss@train").as<float>() == losses);
    CHECK(all.at("loss@train:steps").as<std::uint64_t>() == steps);
    CHECK(all.at("loss@train").shape == extents{5000});
    CHECK((all.at("loss@train").values == 5000 && all.at("loss@train:steps").values == 0));
    CHECK(all.at("loss@eval").as<double>() == std::vector<double>(5, 0.5));
    CHECK(all.at("w@eval:3010").as<float>() == std::vector<float>{1.0F / 1001, 2});

    arrays const one = arrays_of(run, {.step = eval(3010)});
    CHECK(keys_of(one) == names_list{"loss", "w"});
    CHECK(one.at("loss").shape == extents{});
    CHECK(keys_of(arrays_of(run, {.mode = mode::train})) == names_list{"loss@train", "loss@train:steps"});
}

TEST_CASE("a number with statistics is a number, one of another type and a text are arrays of their own") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", plan{collection{"all", "*", always{}, payload | stats(l2)}}};
        for (std::uint64_t i = 0; i < 3; ++i) {
            watch.begin(train(i));
            watch.observe("measured", 2.0 * static_cast<double>(i));
            if (i == 1) {
                watch.scalar("mixed", std::int32_t{7});
            } else {
                watch.scalar("mixed", 0.5);
            }
            watch.observe("list", std::vector<double>{1});
            watch.scalar("note", "letters");
            (void)watch.end();
        }
    }
    arrays const all = arrays_of(open(folder / "run"));
    CHECK(all.at("measured@train").as<double>() == std::vector<double>{0, 2, 4});
    CHECK(all.at("mixed@train").as<double>() == std::vector<double>{0.5, 0.5});
    CHECK(all.at("mixed@train:steps").as<std::uint64_t>() == indices{0, 2});
    CHECK(all.at("mixed@train:1").as<std::int32_t>() == std::vector<std::int32_t>{7});
    CHECK(all.at("mixed@train:1").shape == extents{});
    CHECK(all.at("list@train:2").shape == extents{1});
    CHECK(all.at("note@train:0").type == dtype::text);
    CHECK(all.size() == 11);
}

TEST_CASE("of a step that was closed again the array has the latest, once; each worker has its own") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything};
        auto other = watch.worker(2);
        double value = 0;
        for (std::uint64_t const i : {0U, 1U, 2U, 1U, 2U, 3U}) { (void)watch.step(train(i), "loss"_t = ++value); }
        (void)other.step(train(9), "loss"_t = -1.0);
    }
    arrays const all = arrays_of(open(folder / "run"));
    CHECK(all.at("worker-0/loss@train").as<double>() == std::vector<double>{1, 4, 5, 6});
    CHECK(all.at("worker-0/loss@train:steps").as<std::uint64_t>() == indices{0, 1, 2, 3});
    CHECK(all.at("worker-2/loss@train").as<double>() == std::vector<double>{-1});
    CHECK(all.size() == 4);
}

TEST_CASE("nothing that was kept is an error, and so is what the taker says") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", plan{collection{"all", "*", always{}, stats(l2)}}};
        (void)watch.step(train(0), "w"_t = std::vector<float>{1, 2});
    }
    trial const run = open(folder / "run");
    export_choice const choice;
    auto const names = run.names();
    CHECK(recorded_arrays{run, choice, names}.each([](recorded_array const&) { return error{}; }).code ==
          errc::no_payload);
    {
        hook watch{folder / "full", everything};
        for (std::uint64_t i = 0; i < 3; ++i) { (void)watch.step(train(i), "w"_t = std::vector<float>{1, 2}); }
    }
    trial const full = open(folder / "full");
    int calls = 0;
    error const why = recorded_arrays{full, choice, names}.each(
        [&](recorded_array const&) { return ++calls == 2 ? error{errc::disk_full, "full"} : error{}; });
    CHECK((why.code == errc::disk_full && calls == 2));
}
