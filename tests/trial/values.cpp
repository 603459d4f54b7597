// SPDX-License-Identifier: Apache-2.0
// Values, statistics and scalars are read back bit for bit, with type, shape and order; errors have names.
#include <tests/trial/runs.hpp>

#include <array>
#include <cstring>
#include <map>

using namespace spotter;
using namespace spotter_test;

namespace {

// Every bit pattern of a small type; for a large type a mixture with all special values.
template <class Value>
std::vector<Value> hostile() {
    std::size_t const count = sizeof(Value) == 1 ? 256 : sizeof(Value) == 2 ? 65536 : 3000;
    std::vector<Value> values(count);
    std::uint64_t state = 88172645463325252ULL;
    for (std::size_t i = 0; i < count; ++i) {
        unsigned char bytes[sizeof(Value)];
        for (std::size_t k = 0; k < sizeof(Value); ++k) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            bytes[k] = static_cast<unsigned char>(sizeof(Value) <= 2 ? i >> (8 * k)
                                                  : i % 7 == 0       ? 0
                                                  : i % 7 == 1       ? 0xFF
                                                                     : state >> 32);
        }
        std::memcpy(&values[i], bytes, sizeof(Value));
    }
    return values;
}

struct kept_tensor {
    std::vector<unsigned char> bytes;
    tensor_ref view;
};
using originals = std::map<std::string, kept_tensor>;

void keep(originals& all, std::string const& name, tensor_ref const& view) {
    auto const* bytes = static_cast<unsigned char const*>(view.values.raw);
    all[name] = {bytes == nullptr ? std::vector<unsigned char>{}
                                  : std::vector<unsigned char>(bytes, bytes + view.bytes()),
                 view};
}
template <class Value>
void keep_hostile(originals& all) {
    std::vector<Value> const values = hostile<Value>();
    keep(all, std::string{name_of(dtype_of<Value>)}, view_of(values.data(), {values.size()}));
}

}  // namespace

TEST_CASE("values of every type come back with type, shape and bits [D01][D02][D03][A10]") {
    originals all;
    keep_hostile<std::int8_t>(all), keep_hostile<std::int16_t>(all), keep_hostile<std::int32_t>(all),
        keep_hostile<std::int64_t>(all);
    keep_hostile<std::uint8_t>(all), keep_hostile<std::uint16_t>(all), keep_hostile<std::uint32_t>(all),
        keep_hostile<std::uint64_t>(all);
    keep_hostile<f16>(all), keep_hostile<bf16>(all), keep_hostile<float>(all), keep_hostile<double>(all);
    keep_hostile<c64>(all), keep_hostile<c128>(all), keep_hostile<f8_e4m3>(all), keep_hostile<f8_e5m2>(all);
    bool const flags[] = {true, false, true};
    keep(all, "bool", view_of(flags, {3}));
    temporary_folder const folder;
    hook watch{folder / "run", everything};
    watch.begin(train(0));
    for (auto& [name, tensor] : all) {
        tensor.view.values.raw = tensor.bytes.data();
        watch.observe(name, tensor.view);
    }
    (void)watch.end();
    watch.finish();
    REQUIRE(watch.health().good());
    trial const run = open(watch.path());
    CHECK(run.names().size() == all.size());
    for (auto const& [name, tensor] : all) {
        INFO(name);
        recorded_value const value = run[name].at(train(0));
        REQUIRE(value);
        CHECK(value.type() == tensor.view.type);
        CHECK(value.shape() == tensor.view.shape);
        REQUIRE(value.view().bytes() == tensor.bytes.size());
        CHECK(std::memcmp(value.view().values.raw, tensor.bytes.data(), tensor.bytes.size()) == 0);
    }
    CHECK(run["bool"].at(train(0)).to<std::vector<bool>>().value_or({}) == std::vector<bool>{true, false, true});
    CHECK(run["i8"].at(train(0)).to<std::vector<std::int8_t>>().value_or({})[255] == -1);
}

TEST_CASE("ranks 0 to 8, empty tensors and tensors of zeros come back as they were, in either order [S36][S62]") {
    temporary_folder const folder;
    std::vector<double> values(256);
    for (std::size_t i = 0; i < values.size(); ++i) { values[i] = static_cast<double>(i); }
    std::vector<float> const zero(30, 0.0F);
    std::vector<extents> const shapes{{},
                                      {2},
                                      {2, 3},
                                      {3, 1, 2},
                                      {2, 2, 2, 2},
                                      {1, 2, 3, 1, 2},
                                      {2, 1, 2, 1, 2, 1},
                                      {1, 1, 1, 1, 1, 1, 5},
                                      {2, 2, 2, 2, 2, 2, 2, 2},
                                      {0},
                                      {0, 4},
                                      {3, 0, 2}};
    hook watch{folder / "run", everything};
    watch.begin(train(0));
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        watch.observe("r" + std::to_string(i), view_of(values.data(), shapes[i]));
        watch.observe("c" + std::to_string(i), view_of(values.data(), shapes[i], order::column_major));
    }
    watch.observe("zero", view_of(zero.data(), {5, 6}));
    watch.observe("no memory", view_of(static_cast<float const*>(nullptr), {0, 4}));
    (void)watch.end();
    watch.finish();
    trial const run = open(watch.path());
    for (std::size_t i = 0; i < shapes.size(); ++i) {
        for (char const* kind : {"r", "c"}) {
            std::string const name = kind + std::to_string(i);
            INFO(name);
            recorded_value const value = run[name].at(train(0));
            REQUIRE(value);
            CHECK(value.shape() == shapes[i]);
            CHECK((value.view().layout == order::column_major) == (*kind == 'c'));
            auto const bytes = static_cast<std::size_t>(value.view().bytes());
            CHECK((bytes == 0 || std::memcmp(value.view().values.raw, values.data(), bytes) == 0));
        }
    }
    // {2, 3}, stored column by column, is 0 2 4 1 3 5 row by row.
    CHECK(run["c2"].at(train(0)).to<std::vector<double>>().value_or({}) == std::vector<double>{0, 2, 4, 1, 3, 5});
    CHECK(run["c3"].at(train(0)).to<std::vector<double>>().value_or({}) == std::vector<double>{0, 3, 1, 4, 2, 5});
    CHECK(run["zero"].at(train(0)).to<std::vector<float>>().value_or({}) == zero);
    CHECK(run["no memory"].shape(train(0)).value_or({}) == extents{0, 4});
    CHECK(run["r10"].stat(train(0), sum).value_or(1) == 0);
    CHECK(run["r10"].stat(train(0), product).value_or(0) == 1);
    CHECK(run["r10"].stat(train(0), mean).error().code == errc::not_in_step);
    CHECK(run["r0"].at(train(0)).to<double>().value_or(-1) == 0);
}

TEST_CASE("statistics from stored terms and from stored values are the same numbers [S33][D21]") {
    std::vector<float> values = hostile<float>();
    for (std::size_t i = 0; i < values.size(); i += 5) { values[i] = static_cast<float>(i) * 0.37F - 100.0F; }
    std::vector<statistic> const all{minimum,
                                     maximum,
                                     mean,
                                     stddev,
                                     variance,
                                     sum,
                                     product,
                                     l1,
                                     l2,
                                     nonfinite,
                                     zeros,
                                     zero_fraction,
                                     nan_count,
                                     pos_inf,
                                     neg_inf,
                                     of_abs(minimum),
                                     of_abs(maximum),
                                     of_abs(mean),
                                     of_abs(stddev),
                                     of_abs(variance),
                                     of_abs(sum),
                                     of_abs(product)};
    constexpr stats_mask every_term = stats(minimum, maximum, mean, stddev, product, l1, l2, zeros, of_abs(minimum));
    temporary_folder const folder;
    auto const record = [&](char const* name, stats_mask what) {
        hook watch{folder / name, plan{collection{"c", "x", always{}, what}}};
        for (std::size_t i = 0; i < 4; ++i) {
            (void)watch.step(train(i), "x"_t = view_of(values.data(), {values.size() >> i}));
        }
        watch.finish();
        return open(watch.path());
    };
    trial const stored = record("stored", every_term);
    trial const computed = record("computed", payload);
    trial const both = record("both", every_term | payload);
    for (std::size_t i = 0; i < 4; ++i) {
        for (statistic const& each : all) {
            INFO(each.name() << " at " << i);
            auto const expected = stored["x"].stat(train(i), each);
            REQUIRE(expected);
            CHECK(same_bits(*expected, computed["x"].stat(train(i), each).value_or(-1)));
            CHECK(same_bits(*expected, both["x"].stat(train(i), each).value_or(-1)));
        }
    }
}

TEST_CASE("all statistics asked and no payload: all readable, the values are no_payload and the text says what there "
          "is [S29][S31]") {
    temporary_folder const folder;
    hook watch{folder / "run",
               plan{collection{"few", "few", every{2}, stats(minimum, of_abs(maximum))},
                    collection{"many", "x", always{}, stats(minimum, maximum, mean, stddev, sum, product, l1, l2)},
                    defaults::losses}};
    for (std::uint64_t i = 0; i < 3; ++i) {
        (void)watch.step(train(i), "x"_t = std::array{-3.0, 4.0}, "few"_t = std::array{-3.0, 1.0}, "loss"_t = 1.0F);
    }
    watch.finish();
    trial const run = open(watch.path());
    CHECK(run["x"].stat(train(1), l2).value_or(0) == 5);
    CHECK(run["x"].stat(train(1), stddev).value_or(0) == 3.5);
    error const why = run["x"].at(train(1)).error();
    CHECK(why.code == errc::no_payload);
    CHECK(why.what.view().ends_with("Kept: minimum, maximum, mean, stddev, variance, sum, product, l1, l2, nonfinite, "
                                    "mean_abs"));
    CHECK(run["few"].steps() == ids{train(0), train(2)});
    CHECK(run["few"].stat(train(0), of_abs(maximum)).value_or(0) == 3);
    CHECK(run["few"].stat(train(0), l2).error().code == errc::no_payload);
    CHECK(run["few"].shape(train(0)).value_or({}) == extents{2});
    CHECK(run["loss"].at(train(2)).to<float>().value_or(0) == 1);  // [S30]
}

TEST_CASE("two observations in one step are both there, in order [S26][A09]") {
    temporary_folder const folder;
    hook watch{folder / "run", everything};
    (void)watch.step(train(0), "x"_t = 1.0, "y"_t = 5.0, "x"_t = std::array{2.0, 3.0});
    watch.finish();
    trial const run = open(watch.path());
    CHECK(run["x"].at(train(0), nth{0}).to<double>().value_or(0) == 1);
    CHECK(run["x"].at(train(0), nth{1}).shape() == extents{2});
    CHECK(run["x"].at(train(0)).shape() == extents{2});
    CHECK(run["x"].at(train(0), nth{2}).error().code == errc::not_in_step);
    CHECK(run["x"].steps() == ids{train(0)});
    CHECK(run["x"].history(mean).size() == 2);
}

TEST_CASE(
    "scalars before, inside and after the steps are kept with type and time; a text byte for byte [S39][S40][S62]") {
    temporary_folder const folder;
    std::string const words = "Füße \xE2\x88\x9E \0 end";
    {
        hook watch{folder / "run", plan{}};
        watch.scalar("lr", 0.5F);
        watch.scalar("lr", 0.25F, 123.0625);
        for (std::uint64_t i = 0; i < 3; ++i) {
            watch.begin(train(i));
            watch.scalar("epoch", static_cast<std::int16_t>(-static_cast<int>(i)));
            watch.scalar("given", 1.0, 1e9 + 0.125 * static_cast<double>(i));
            watch.scalar("note", words);
            (void)watch.end();
        }
        watch.scalar("lr", 0.125F);
    }
    trial const run = open(folder / "run");
    auto const loose = run["lr"].loose();
    REQUIRE(loose.size() == 3);
    CHECK(loose[0].value == 0.5);
    CHECK(loose[1].time == 123.0625);
    CHECK(loose[0].time <= loose[2].time);
    CHECK(loose[0].time > 1e9);
    CHECK(loose[1].before_ordinal == 0);
    CHECK(loose[2].before_ordinal == 3);
    CHECK(run["epoch"].at(train(2)).to<std::int16_t>().value_or(0) == -2);
    CHECK(run["given"].time(train(2)).value_or(0) == 1e9 + 0.25);
    CHECK(run["epoch"].time(train(0)).value_or(1e99) <= run["epoch"].time(train(1)).value_or(0));
    CHECK(run["note"].at(train(1)).to<std::string>().value_or("") == words);
    CHECK(run["note"].at(train(1)).to<double>().error().code == errc::wrong_type);
    CHECK(run.steps() == trains(0, 3));
    CHECK(run["lr"].steps().empty());
}

TEST_CASE("a NaN scalar stays a NaN with its payload, and a history has no gap [S42]") {
    temporary_folder const folder;
    auto const odd = std::bit_cast<double>(0x7FF8000000001234ULL);
    hook watch{folder / "run", plan{}};
    for (std::uint64_t i = 0; i < 3; ++i) {
        watch.begin(train(i));
        watch.scalar("loss", i == 1 ? odd : 2.0);
        (void)watch.end();
    }
    watch.finish();
    trial const run = open(watch.path());
    auto const value = run["loss"].at(train(1)).to<double>();
    REQUIRE(value);
    CHECK(same_bits(*value, odd));
    auto const curve = run["loss"].history(mean);
    REQUIRE(curve.size() == 3);
    CHECK(curve[1].step == train(1));
    CHECK(curve[1].known);
    CHECK(classify(curve[1].value) == number_class::nan);
    CHECK(run["loss"].history(mean, from{2}).size() == 1);
    CHECK(run["loss"].history(nonfinite)[1].value == 1);
}

TEST_CASE("last(n, id) is the n steps up to and with id [S50]") {
    temporary_folder const folder;
    hook watch{folder / "run", everything};
    for (std::uint64_t i = 0; i < 10; ++i) {
        (void)watch.step(train(i), "x"_t = 1.0), (void)watch.step(eval(i), "x"_t = 1.0);
    }
    watch.finish();
    trial const run = open(watch.path());
    CHECK(run["x"].last(3, train(6)) == trains(4, 7));
    CHECK(run["x"].last(3, train(1)) == trains(0, 2));
    CHECK(run["x"].last(0, train(1)).empty());
    CHECK(run["x"].last(2, train(99)) == trains(8, 10));
    CHECK(run["x"].last(2, predict(5)).empty());
}

TEST_CASE("every failure to read has the most specific name and says what to do [S47][A39]") {
    temporary_folder const folder;
    hook watch{folder / "run", plan{collection{"c", "x", every{2}, payload}}};
    for (std::uint64_t i = 0; i < 3; ++i) { (void)watch.step(train(i), "x"_t = std::array{1.0F, 2.0F}); }
    watch.finish();
    trial const run = open(watch.path());
    CHECK(!run["nope"]);
    for (error const& why : {run["nope"].at(train(0)).error(), run["nope"].stat(train(0), l2).error(),
                             run["nope"].shape(train(0)).error(), run["nope"].time(train(0)).error()}) {
        CHECK(why.code == errc::no_such_name);
        CHECK(why.what.view().find("\"nope\"") != std::string_view::npos);
    }
    CHECK(run["nope"].steps().empty());
    CHECK(run["nope"].history(mean).empty());
    CHECK(run["nope"].loose().empty());
    CHECK(run["x"].at(train(1)).error().code == errc::not_in_step);
    CHECK(run["x"].at(train(99)).error().code == errc::no_such_step);
    CHECK(run["x"].at(eval(0)).error().code == errc::no_such_step);
    CHECK(run["x"].at(train(0)).to<std::vector<double>>().error().code == errc::wrong_type);
    CHECK(run["x"].at(train(0)).to<float>().error().code == errc::wrong_type);
    CHECK(run["x"].at(train(99)).to<float>().error().code == errc::no_such_step);
#if SPOTTER_EXCEPTIONS
    CHECK_THROWS_AS(run["x"].at(train(1)).to<float>().value(), failure);
#endif
}
