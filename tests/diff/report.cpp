// SPDX-License-Identifier: Apache-2.0
// Comparison of two recorded runs: the first differing step and tensor, all steps, names, settings, and damaged or
// unfinished runs.
#include <tests/diff/files.hpp>

#include <spotter/rule/builtin/non_finite.hpp>
#include <spotter/workbench/diff.hpp>
#include <spotter/workbench/npy.hpp>

#include <cmath>
#include <functional>
#include <limits>

using namespace spotter;
using namespace spotter_test;

namespace {

struct tensors {
    std::vector<float> w{1, 2, 3, 4, 5, 6};
    std::vector<float> grad{0.5F, -0.5F};
    double loss = 1;
};

constexpr auto nothing_planted = [](std::uint64_t, tensors&) {};

// Records six steps; `plant` may change the observed values at any of them.
template <class Plan, class Plant>
void record(std::string const& path, Plan const& keep, Plant const& plant) {
    hook watch{path, keep};
    for (std::uint64_t i = 0; i < 6; ++i) {
        tensors now;
        now.loss = 1.0 / static_cast<double>(i + 1);
        plant(i, now);
        (void)watch.step(train(i), "grad"_t = view_of(now.grad, {2}), "w"_t = view_of(now.w, {2, 3}),
                         "loss"_t = now.loss);
    }
    watch.finish();
}
diff_report held(std::string const& a, std::string const& b, diff_options const& wanted = {}) {
    auto const left = open_side(a), right = open_side(b);
    REQUIRE(left);
    REQUIRE(right);
    auto found = diff(*left, *right, wanted);
    if (!found) { FAIL(std::string{found.error().what.view()}); }
    return std::move(*found);
}
errc error_of(std::string const& a, std::string const& b, diff_options const& wanted = {}) {
    auto const left = open_side(a), right = open_side(b);
    REQUIRE(left);
    REQUIRE(right);
    return diff(*left, *right, wanted).error().code;
}
tensor_history const& history_of(diff_report const& it, std::string_view name) {
    auto const found =
        std::find_if(it.tensors.begin(), it.tensors.end(), [=](tensor_history const& each) { return each.a == name; });
    REQUIRE(found != it.tensors.end());
    return *found;
}

}  // namespace

TEST_CASE("two runs that are the same") {
    temporary_folder const folder;
    record(folder / "a", everything, nothing_planted);
    record(folder / "b", everything, nothing_planted);
    diff_report const it = held(folder / "a", folder / "b");
    CHECK_FALSE(it.differs());
    CHECK(it.steps == 6);
    CHECK(it.pairs == 3);
    CHECK(it.settings.empty());
    CHECK(it.at_first.empty());
    CHECK(it.tensors.size() == 3);
    CHECK(it.tensors[0].a == "grad");  // in the order of observation
    CHECK(history_of(it, "w").steps == 6);
    CHECK(history_of(it, "w").worst.elements == 36);
}

TEST_CASE("one ulp is found at its step and tensor, in program order, and is within a tolerance of one") {
    temporary_folder const folder;
    record(folder / "a", everything, nothing_planted);
    record(folder / "b", everything, [](std::uint64_t i, tensors& it) {
        if (i >= 3) { it.w[4] = std::nextafter(it.w[4], 9.0F); }
        if (i >= 3) { it.loss += 1; }
        if (i == 5) { it.grad[0] = 7; }
    });
    diff_report const it = held(folder / "a", folder / "b");
    CHECK(it.differs());
    CHECK(it.first_step == train(3));
    CHECK(it.first_tensor == "w");
    REQUIRE(it.at_first.size() == 3);
    CHECK(it.at_first[0].verdict == verdict::equal);
    compared_tensor const& w = it.at_first[1];
    CHECK(w.verdict == verdict::differs);
    CHECK(w.errors.ulp == 1);
    CHECK(w.worst == extents{1, 1});
    CHECK(w.errors.worst_a == 5);
    CHECK(history_of(it, "w").first == train(3));
    CHECK(history_of(it, "w").differing_steps == 3);
    CHECK(history_of(it, "w").worst.has_ulp);
    CHECK(history_of(it, "w").worst.ulp == 1);
    CHECK(history_of(it, "w").worst.differing == 3);
    CHECK(history_of(it, "grad").first == train(5));

    diff_report const near = held(folder / "a", folder / "b", {.tolerance = {.ulp = 1}});
    CHECK(near.first_tensor == "loss");
    CHECK(near.at_first[1].verdict == verdict::within);
    CHECK_FALSE(held(folder / "a", folder / "b", {.tolerance = {.ulp = 1}, .only = {"w"}}).differs());
    CHECK_FALSE(held(folder / "a", folder / "b", {.step = train(2)}).differs());
}

TEST_CASE("a NaN against a number, and a NaN against a NaN") {
    temporary_folder const folder;
    float const nan = std::numeric_limits<float>::quiet_NaN();
    record(folder / "a", everything, [=](std::uint64_t i, tensors& it) { it.grad[1] = i == 1 ? nan : it.grad[1]; });
    record(folder / "b", everything, [=](std::uint64_t i, tensors& it) {
        it.grad[1] = i == 1 ? nan : it.grad[1];
        it.w[0] = i == 2 ? nan : it.w[0];
    });
    diff_report const it = held(folder / "a", folder / "b", {.tolerance = {.relative = 10, .absolute = 10}});
    CHECK(it.first_step == train(2));
    CHECK(it.first_tensor == "w");
    CHECK(history_of(it, "w").worst.nan_mismatches == 1);
    CHECK(history_of(it, "grad").worst.nan_mismatches == 0);
}

TEST_CASE("names and steps of one side are reported, and count as a difference if strict") {
    temporary_folder const folder;
    {
        hook a{folder / "a", everything}, b{folder / "b", everything};
        for (std::uint64_t i = 0; i < 4; ++i) {
            (void)a.step(train(i), "x"_t = 1.0, "only_a"_t = 2.0, "fc.w"_t = 3.0, "at_0"_t = 1.0);
            if (i == 2) { continue; }
            if (i == 0) {
                (void)b.step(train(i), "x"_t = 1.0, "fc/w"_t = 3.0, "at_0"_t = 1.0);
            } else {
                (void)b.step(train(i), "x"_t = 1.0, "fc/w"_t = 3.0);
            }
        }
        (void)b.step(eval(0), "x"_t = 1.0);
    }
    diff_report const it = held(folder / "a", folder / "b");
    CHECK_FALSE(it.differs());
    CHECK(it.names_only_a == names_list{"only_a"});
    CHECK(it.names_only_b.empty());
    CHECK(it.steps_only_a == ids{train(2)});
    CHECK(it.steps_only_b == ids{eval(0)});
    CHECK(history_of(it, "fc.w").b == "fc/w");  // '.' and '/' count as equal
    CHECK(history_of(it, "at_0").not_compared == 2);
    CHECK(held(folder / "a", folder / "b", {.strict = true}).differs());
}

TEST_CASE("a map pairs names, each once and only what is there") {
    temporary_folder const folder;
    {
        hook a{folder / "a", everything}, b{folder / "b", everything};
        (void)a.step(train(0), "net.0.weight"_t = 1.0, "net.1.weight"_t = 2.0);
        (void)b.step(train(0), "first"_t = 1.0, "second"_t = 2.0);
    }
    CHECK(error_of(folder / "a", folder / "b") == errc::no_such_name);
    diff_report const it =
        held(folder / "a", folder / "b", {.names = {{"net.0.weight", "first"}, {"net/1/weight", "second"}}});
    CHECK(it.pairs == 2);
    CHECK_FALSE(it.differs());
    CHECK(held(folder / "a", folder / "b", {.names = {{"net.0.weight", "second"}}}).differs());
    CHECK(error_of(folder / "a", folder / "b", {.names = {{"net.0", "first"}}}) == errc::no_such_name);
    CHECK(error_of(folder / "a", folder / "b", {.names = {{"net.0.weight", "third"}}}) == errc::no_such_name);
    CHECK(error_of(folder / "a", folder / "b", {.names = {{"net.0.weight", "first"}, {"net.0.weight", "second"}}}) ==
          errc::bad_config);
}

TEST_CASE("shapes and types that differ, and a transposed weight is recognised") {
    temporary_folder const folder;
    float const rows[] = {1, 2, 3, 4, 5, 6}, columns[] = {1, 4, 2, 5, 3, 6};
    float const square[] = {1, 2, 3, 4}, turned[] = {1, 3, 2, 4};
    std::int32_t const whole[] = {1, 2, 3, 4, 5, 6};
    c64 const complex[] = {{1, 0}};
    {
        hook a{folder / "a", everything}, b{folder / "b", everything};
        (void)a.step(train(0), "type"_t = view_of(rows, {6}), "unit"_t = view_of(rows, {1, 6}),
                     "shape"_t = view_of(rows, {6}), "w"_t = view_of(rows, {2, 3}),
                     "square"_t = view_of(square, {2, 2}), "complex"_t = view_of(complex, {1}));
        (void)b.step(train(0), "type"_t = view_of(whole, {6}), "unit"_t = view_of(rows, {6}),
                     "shape"_t = view_of(rows, {5}), "w"_t = view_of(columns, {3, 2}),
                     "square"_t = view_of(turned, {2, 2}), "complex"_t = view_of(rows, {1}));
    }
    diff_report const it = held(folder / "a", folder / "b");
    REQUIRE(it.at_first.size() == 6);
    CHECK(it.first_tensor == "shape");
    CHECK(it.at_first[0].verdict == verdict::equal);
    CHECK(it.at_first[0].other_type());
    CHECK(it.at_first[1].verdict == verdict::equal);
    CHECK(it.at_first[1].other_shape());
    CHECK(it.at_first[2].verdict == verdict::shapes);
    CHECK_FALSE(it.at_first[2].swapped_axes);
    CHECK(it.at_first[3].verdict == verdict::shapes);
    CHECK(it.at_first[3].swapped_axes);
    CHECK(it.at_first[4].verdict == verdict::differs);
    CHECK(it.at_first[4].swapped_axes);
    CHECK(it.at_first[5].verdict == verdict::types);
    CHECK(held(folder / "a", folder / "b", {.strict = true}).first_tensor == "type");
    CHECK_FALSE(held(folder / "a", folder / "b", {.only = {"w", "square"}, .transposed = {"w", "squ*"}}).differs());
}

TEST_CASE("where only statistics were kept, these are compared, and the report says so") {
    temporary_folder const folder;
    auto const change = [](std::uint64_t i, tensors& it) { it.w[1] = i == 4 ? 20 : it.w[1]; };
    constexpr plan some{collection{"some", "*", always{}, stats(l2, mean, maximum)}};
    record(folder / "a", everything, nothing_planted);
    record(folder / "b", some, change);
    for (bool const swapped : {false, true}) {
        diff_report const it = swapped ? held(folder / "b", folder / "a") : held(folder / "a", folder / "b");
        CHECK(it.first_step == train(4));
        CHECK(it.first_tensor == "w");
        REQUIRE(it.at_first.size() == 3);
        CHECK(it.at_first[1].by_statistics);
        CHECK(it.at_first[1].statistics.size() >= 3);
        CHECK(history_of(it, "w").by_statistics == 6);
        CHECK(history_of(it, "w").differing_steps == 1);
    }
    constexpr plan shapes{collection{"shapes", "*", always{}, shape}};
    record(folder / "c", shapes, nothing_planted);
    CHECK(held(folder / "a", folder / "c").tensors[0].not_compared == 6);
}

TEST_CASE("of what only hashes and counts were kept the hash decides; counts alone are not compared") {
    temporary_folder const folder;
    auto const change = [](std::uint64_t i, tensors& it) { it.w[1] = i >= 4 ? 20 : it.w[1]; };
    constexpr plan hashes{
        collection{"some", "*", always{}, stats_mask::hash | stats_mask::nonfinite | stats_mask::zeros}};
    constexpr plan counts{collection{"some", "*", always{}, stats_mask::nonfinite | stats_mask::zeros}};
    record(folder / "all", everything, nothing_planted);
    record(folder / "hash", hashes, nothing_planted);
    record(folder / "same", hashes, nothing_planted);
    record(folder / "other", hashes, change);
    record(folder / "counts", counts, nothing_planted);
    record(folder / "more_counts", counts, change);
    record(folder / "zeros", counts, [](std::uint64_t i, tensors& it) { it.w[0] = i == 3 ? 0 : it.w[0]; });

    for (auto const& [a, b] : {std::pair{"hash", "other"}, {"other", "hash"}, {"all", "other"}, {"other", "all"}}) {
        diff_report const it = held(folder / a, folder / b);
        INFO(a << " and " << b);
        CHECK(it.differs());
        CHECK(it.has_difference());
        CHECK_FALSE(it.equal());
        CHECK(it.first_step == train(4));
        CHECK(it.first_tensor == "w");
        REQUIRE(it.at_first.size() == 3);
        CHECK(it.at_first[0].verdict == verdict::equal);
        CHECK(it.at_first[1].by_hash);
        CHECK(it.at_first[1].hash_a != it.at_first[1].hash_b);
        CHECK(history_of(it, "w").differing_steps == 2);
    }
    for (auto const& [a, b] : {std::pair{"hash", "same"}, {"all", "same"}}) {
        diff_report const it = held(folder / a, folder / b);
        CHECK(it.equal());
        CHECK(it.not_kept == 0);
        CHECK(it.compared == 18);
    }
    // A hash does not tell how large the difference is.
    diff_report const near = held(folder / "hash", folder / "other", {.tolerance = {.relative = 0.1}});
    CHECK_FALSE(near.differs());
    CHECK_FALSE(near.equal());
    CHECK(near.not_kept == 2);

    diff_report const counted = held(folder / "counts", folder / "more_counts");
    CHECK_FALSE(counted.differs());
    CHECK_FALSE(counted.equal());
    CHECK(counted.not_kept == 18);
    CHECK(counted.compared == 0);
    CHECK_FALSE(counted.is_complete());
    CHECK(history_of(counted, "w").not_compared == 6);
    CHECK(held(folder / "counts", folder / "zeros").first_step == train(3));  // counts that differ are a difference
}

TEST_CASE("of what only statistics were kept nobody knows whether it is equal: a permutation has the same") {
    temporary_folder const folder;
    constexpr plan statistics{collection{"loss", "loss"}, collection{"some", "*", always{}, stats(l2, mean, maximum)}};
    auto const rows_flipped = [](std::uint64_t i, tensors& it) {
        if (i >= 2) { it.w = {4, 5, 6, 1, 2, 3}; }
    };
    record(folder / "a", statistics, nothing_planted);
    record(folder / "same", statistics, nothing_planted);
    record(folder / "flipped", statistics, rows_flipped);
    record(folder / "later", statistics, [&](std::uint64_t i, tensors& it) {
        rows_flipped(i, it);
        if (i == 4) { it.loss = 7; }
    });
    record(folder / "all", everything, nothing_planted);
    for (auto const& [a, b] : {std::pair{"a", "flipped"}, {"a", "same"}, {"all", "flipped"}, {"flipped", "all"}}) {
        INFO(a << " and " << b);
        diff_report const it = held(folder / a, folder / b);
        CHECK_FALSE(it.has_difference());
        CHECK_FALSE(it.equal());
        CHECK_FALSE(it.is_complete());
        CHECK(it.compared == 6);  // the loss
        CHECK(it.same_statistics == 12);
        CHECK(it.unknown_step == train(0));
        CHECK(it.unknown_tensor == "grad");
        CHECK(history_of(it, "w").same_statistics == 6);
        CHECK(history_of(it, "w").by_statistics == 6);
        CHECK(history_of(it, "loss").same_statistics == 0);
    }
    CHECK(held(folder / "a", folder / "flipped", {.only = {"loss"}}).equal());
    diff_report const later = held(folder / "a", folder / "later");
    CHECK(later.first_step == train(4));
    CHECK(later.first_tensor == "loss");
    CHECK(later.unknown_before_first);
    CHECK(later.at_first[1].verdict == verdict::same_statistics);
    // Within a tolerance, too: how far apart the values are is not known.
    record(folder / "near", statistics, [](std::uint64_t, tensors& it) { it.w[5] = std::nextafter(it.w[5], 9.0F); });
    CHECK_FALSE(held(folder / "a", folder / "near", {.tolerance = {.relative = 1e-3}, .only = {"w"}}).equal());
    CHECK(held(folder / "a", folder / "near", {.only = {"w"}}).first_tensor == "w");
}

TEST_CASE("times and samples of the machine are compared only where that is asked for") {
    temporary_folder const folder;
    for (std::string const name : {"a", "b"}) {
        hook watch{folder / name, everything};
        watch.scalar("sys/absent", name);
        watch.scalar("checkpoint", name);
        for (std::uint64_t i = 0; i < 3; ++i) {
            double const seconds = name == "a" ? 0.25 : 0.5;
            (void)watch.step(train(i), "time/data"_t = seconds, "loss"_t = 1.0);
        }
        if (name == "b") { (void)watch.step(train(3), "time/more"_t = 1.0); }
    }
    diff_report const it = held(folder / "a", folder / "b");
    CHECK(it.equal());
    CHECK(it.pairs == 1);
    CHECK(it.left_out == names_list{"time/data", "time/more"});
    CHECK(it.names_only_b.empty());
    CHECK(it.settings.empty());  // what happened is no setting
    CHECK(held(folder / "a", folder / "b", {.only = {"time/*"}}).first_tensor == "time/data");
    CHECK(held(folder / "a", folder / "b", {.strict = true}).first_tensor == "time/data");
    {
        hook watch{folder / "c", everything};
        (void)watch.step(train(0), "time/data"_t = 1.0);
    }
    CHECK(error_of(folder / "a", folder / "c") == errc::no_such_name);
}

TEST_CASE("the intact part of a damaged record may be equal, but not the whole") {
    temporary_folder const folder;
    for (std::string const name : {"a", "b"}) {
        hook watch{folder / name, everything};
        for (std::uint64_t i = 0; i < 6; ++i) {
            (void)watch.step(train(i), "loss"_t = 1.0);
            watch.flush();
        }
    }
    CHECK(held(folder / "a", folder / "b").equal());
    std::string const file = folder / "b/000000.spot";
    std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
    diff_report const it = held(folder / "a", folder / "b");
    CHECK_FALSE(it.has_difference());
    CHECK(it.has_losses());
    CHECK_FALSE(it.equal());
}

TEST_CASE("texts, and what the records say of themselves") {
    temporary_folder const folder;
    constexpr plan half{collection{"half", "*", every{2}, payload}};
    {
        hook a{folder / "a", everything, non_finite{}};
        hook b{folder / "b", half};
        a.scalar("build/flags", "-O2"), b.scalar("build/flags", "-O3 -ffast-math");
        a.scalar("seed", 7), b.scalar("seed", 7);
        for (std::uint64_t i = 0; i < 2; ++i) {
            (void)a.step(train(i), "x"_t = 1.0), (void)b.step(train(i), "x"_t = 1.0);
        }
    }
    diff_report const it = held(folder / "a", folder / "b");
    CHECK_FALSE(it.differs());
    std::map<std::string, std::pair<std::string, std::string>> found;
    for (setting_difference const& each : it.settings) { found[each.what] = {each.a, each.b}; }
    CHECK(found.size() == 4);
    CHECK(found["\"build/flags\""] == std::pair<std::string, std::string>{"-O2", "-O3 -ffast-math"});
    CHECK(found.contains("rule non_finite"));
    CHECK(found.contains("collection all"));
    CHECK(found["collection half"].first.empty());
}

TEST_CASE("a run that is being written may still reach a step") {
    temporary_folder const folder;
    record(folder / "a", everything, nothing_planted);
    hook watch{folder / "b", everything};
    tensors now;
    (void)watch.step(train(0), "loss"_t = 1.0, "w"_t = view_of(now.w, {2, 3}));
    (void)watch.step(train(2), "loss"_t = 1.0 / 3);
    watch.flush();
    diff_report const it = held(folder / "a", folder / "b");
    CHECK_FALSE(it.differs());
    CHECK(it.steps == 2);
    CHECK(it.steps_awaited == 3);
    CHECK(it.steps_only_a == ids{train(1)});  // B has passed this step
    watch.finish();
    CHECK(held(folder / "a", folder / "b").steps_only_a.size() == 4);
}

TEST_CASE("a side that was opened by a relative path is read on from another folder [D09]") {
    temporary_folder const folder;
    std::filesystem::path const before = std::filesystem::current_path();
    record(folder / "a", everything, nothing_planted);
    std::filesystem::create_directory(folder / "there");
    std::filesystem::current_path(folder / "");
    auto const side = open_side("a");
    std::filesystem::current_path(folder / "there");
    REQUIRE(side);
    CHECK(side->path() == "a");
    CHECK(side->run() != nullptr);
    CHECK(side->steps() > 0);
    CHECK(side->at("w", train(0)));
    std::filesystem::current_path(before);
}

TEST_CASE("an empty run has nothing to compare, and a damaged one says which values") {
    temporary_folder const folder;
    record(folder / "a", everything, nothing_planted);
    { hook const watch{folder / "empty", everything}; }
    CHECK(error_of(folder / "a", folder / "empty") == errc::no_such_name);
    CHECK(open_side(folder / "missing").error().code == errc::not_a_run);

    std::vector<float> large(40'000);
    for (std::size_t i = 0; i < large.size(); ++i) { large[i] = static_cast<float>(i * i % 1009) * 0.37F; }
    for (std::string const name : {"x", "y"}) {
        hook watch{folder / name, everything};
        for (std::uint64_t i = 0; i < 3; ++i) { (void)watch.step(train(i), "w"_t = view_of(large, {200, 200})); }
    }
    std::vector<char> bytes = read_file(folder / "y/000000.spot");
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x20);
    write_file(folder / "y/000000.spot", bytes);
    diff_report const it = held(folder / "x", folder / "y");
    CHECK(it.unreadable == 1);
    CHECK(it.differs());
    CHECK(it.steps == 3);
    CHECK_FALSE(it.first_step.has_value());
}

TEST_CASE("a reference tells which side is nearer to it") {
    temporary_folder const folder;
    auto const file = [&](std::string const& name, auto value) {
        using Value = decltype(value);
        std::vector<char> bytes;
        npz_writer writer{[&](std::span<std::byte const> more) {
            auto const* const at = reinterpret_cast<char const*>(more.data());
            bytes.insert(bytes.end(), at, at + more.size());
            return error{};
        }};
        std::vector<Value> const third{value, value * 2};
        CHECK_FALSE(writer.add("x@train:4", view_of(third, {2})));
        CHECK_FALSE(writer.finish());
        write_file(folder / (name + ".npz"), bytes);
    };
    file("truth", 1.0 / 3);
    file("good", static_cast<float>(1.0 / 3));
    file("bad", 0.333F);
    auto const a = open_side(folder / "good.npz"), b = open_side(folder / "bad.npz");
    auto const truth = open_side(folder / "truth.npz");
    REQUIRE((a && b && truth));
    diff_report const it = diff(*a, *b, {}, &*truth).value();
    CHECK(it.first_step == train(4));
    tensor_history const& x = history_of(it, "x");
    CHECK(x.with_reference == 1);
    CHECK(x.reference_ulp_a == 0);
    CHECK(x.reference_a < 1e-7);
    CHECK(x.reference_b > 1e-4);
    CHECK(it.at_first[0].reference_b.relative_l2 == x.reference_b);
}

TEST_CASE("a run against what spotter exports of it, in every form and type") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything};
        bf16 const brain[] = {{0x3F80}, {0xC000}};
        f8_e4m3 const small[] = {{0x38}};
        float const columns[] = {1, 2, 3, 4, 5, 6};
        for (std::uint64_t i = 0; i < 2; ++i) {
            (void)watch.step(train(i), "a b/../h"_t = view_of(brain, {2}), "small"_t = view_of(small, {1}),
                             "columns"_t = view_of(columns, {2, 3}, order::column_major), "loss"_t = 0.5,
                             "flag"_t = true);
        }
    }
    trial const run = open_trial(folder / "run").value();
    std::vector<char> bytes;
    npz_writer writer{[&](std::span<std::byte const> more) {
        auto const* const at = reinterpret_cast<char const*>(more.data());
        bytes.insert(bytes.end(), at, at + more.size());
        return error{};
    }};
    for (std::string const& name : run.names()) {
        for (step_id const step : run[name].payload_steps()) {
            std::string const key = name + '@' + std::string{name_of(step.mode)} + ':' + std::to_string(step.index);
            CHECK_FALSE(writer.add(key, run[name].at(step).view()));
        }
    }
    CHECK_FALSE(writer.finish());
    write_file(folder / "run.npz", bytes);
    for (bool const swapped : {false, true}) {
        diff_report const it = swapped ? held(folder / "run.npz", folder / "run", {.strict = true})
                                       : held(folder / "run", folder / "run.npz", {.strict = true});
        CHECK_FALSE(it.differs());
        CHECK(it.pairs == 5);
        CHECK(it.steps == 2);
    }
}
