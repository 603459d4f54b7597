// SPDX-License-Identifier: Apache-2.0
// Scalars: kept whatever the plan says, wherever they come, with their bits and times.
#include <tests/trial/runs.hpp>

#include <atomic>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr plan seldom{collection{"c", "*", every{10}, payload}};

// Bit patterns of every class of a format: both signs; NaN of both kinds with payloads of one or two bits; infinities,
// zeros, and the smallest and largest subnormal and normal numbers.
template <class Bits>
std::vector<Bits> special(int mantissa_bits) {
    Bits const sign = Bits{1} << (8 * sizeof(Bits) - 1);
    Bits const fraction = static_cast<Bits>((Bits{1} << mantissa_bits) - 1);
    Bits const exponent = static_cast<Bits>(static_cast<Bits>(~sign) & static_cast<Bits>(~fraction));
    Bits const one = static_cast<Bits>(Bits{1} << mantissa_bits);
    std::vector<Bits> all;
    for (Bits s : {Bits{0}, sign}) {
        for (int high = 0; high < mantissa_bits; ++high) {
            for (int low = 0; low <= high; ++low) {
                Bits const payload_bits = static_cast<Bits>(Bits{1} << high | Bits{1} << low);
                all.push_back(static_cast<Bits>(s | exponent | payload_bits));
                all.push_back(static_cast<Bits>(s | exponent | (fraction ^ payload_bits)));  // all bits but these
                all.push_back(static_cast<Bits>(s | payload_bits));                          // a subnormal
            }
        }
        for (Bits each : {exponent, static_cast<Bits>(exponent | fraction), Bits{0}, fraction, one,
                          static_cast<Bits>(exponent - 1)}) {
            all.push_back(static_cast<Bits>(s | each));
        }
    }
    return all;
}

template <class Float, class Bits>
void check_bits(int mantissa_bits) {
    std::vector<Bits> const bits = special<Bits>(mantissa_bits);
    std::vector<Float> values(bits.size());
    std::memcpy(values.data(), bits.data(), bits.size() * sizeof(Bits));
    temporary_folder const folder;
    hook watch{folder / "run", everything};
    watch.begin(train(0));
    watch.observe("tensor", values);
    for (std::size_t i = 0; i < values.size(); ++i) {
        watch.observe("alone", view_of(&values[i], {}));
        watch.scalar("scalar", values[i]);
    }
    (void)watch.end();
    watch.finish();
    REQUIRE(watch.health().good());
    trial const run = open(watch.path());
    recorded_value const whole = run["tensor"].at(train(0));
    REQUIRE(whole);
    REQUIRE(whole.view().bytes() == bits.size() * sizeof(Bits));
    CHECK(std::memcmp(whole.view().values.raw, bits.data(), bits.size() * sizeof(Bits)) == 0);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < bits.size(); ++i) {
        if (i % 7 != 0 && i + 20 < bits.size()) { continue; }  // reading the n-th of a step reads all before it
        for (char const* name : {"alone", "scalar"}) {
            recorded_value const one = run[name].at(train(0), nth{i});
            bool const same = one && one.type() == dtype_of<Float> && one.view().bytes() == sizeof(Bits) &&
                              std::memcmp(one.view().values.raw, &bits[i], sizeof(Bits)) == 0;
            wrong += same ? 0 : 1;
        }
    }
    CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("every class of f32 and f64 bit patterns comes back bit for bit, in a tensor and alone [D01]") {
    check_bits<float, std::uint32_t>(23);
    check_bits<double, std::uint64_t>(52);
}

TEST_CASE("a scalar each step for 25 steps with a plan of every{10}: 25 values, each at its own step [D11]") {
    temporary_folder const folder;
    hook watch{folder / "run", seldom};
    for (std::uint64_t i = 0; i < 25; ++i) {
        watch.begin(train(i));
        watch.scalar("lr", 1.0 / static_cast<double>(i + 1));
        watch.observe("x", 1.0);
        (void)watch.end();
    }
    watch.finish();
    trial const run = open(watch.path());
    CHECK(run["lr"].steps() == trains(0, 25));
    CHECK(run["x"].steps() == trains(0, 25, 10));
    for (std::uint64_t i = 0; i < 25; ++i) {
        CHECK(run["lr"].at(train(i)).to<double>().value_or(-1) == 1.0 / static_cast<double>(i + 1));
    }
}

TEST_CASE("one scalar is kept though nothing else is: before the first step, inside one, after the last [S39]") {
    for (int place = 0; place < 3; ++place) {
        INFO(place);
        temporary_folder const folder;
        {
            hook watch{folder / "run", plan{}};
            if (place == 0) { watch.scalar("only", 1.5F); }
            watch.begin(train(7));
            if (place == 1) { watch.scalar("only", 1.5F); }
            (void)watch.end();
            if (place == 2) { watch.scalar("only", 1.5F); }
        }
        trial const run = open(folder / "run");
        CHECK(run.status() == run_status::finished);
        CHECK(run.names() == names_list{"only"});
        if (place == 1) {
            CHECK(run["only"].at(train(7)).to<float>().value_or(0) == 1.5F);
            CHECK(run["only"].loose().empty());
            CHECK(run.steps() == ids{train(7)});
        } else {
            REQUIRE(run["only"].loose().size() == 1);
            CHECK(run["only"].loose()[0].value == 1.5);
            CHECK(run["only"].loose()[0].before_ordinal == (place == 0 ? 0U : 1U));
            CHECK(run.steps().empty());
        }
    }
}

TEST_CASE("a given time comes back bit for bit, in a step and loose [S40]") {
    std::vector<double> const times{0.0, 0.1 + 0.2, 1e9 + 0.123456789, -1.5, 1e300, 5e-324, 1700000000.000001};
    temporary_folder const folder;
    {
        hook watch{folder / "run", plan{}};
        for (std::size_t i = 0; i < times.size(); ++i) {
            watch.scalar("loose", 1, times[i]);
            watch.begin(train(i));
            watch.scalar("inside", 1, times[i]);
            (void)watch.end();
        }
    }
    trial const run = open(folder / "run");
    auto const loose = run["loose"].loose();
    REQUIRE(loose.size() == times.size());
    for (std::size_t i = 0; i < times.size(); ++i) {
        CHECK(same_bits(loose[i].time, times[i]));
        CHECK(same_bits(run["inside"].time(train(i)).value_or(-7), times[i]));
    }
}

namespace {
// A clock that is repeatedly set back by an hour.
double set_back() noexcept {
    static std::atomic<int> calls{0};
    int const call = calls.fetch_add(1);
    return 1e9 + call - 3600.0 * (call / 5);
}
}  // namespace

TEST_CASE("without a given time the times never decrease, though the clock is set back [S40]") {
    for (auto const clock : {static_cast<double (*)() noexcept>(nullptr), &set_back}) {
        temporary_folder const folder;
        options const choices{.flush_milliseconds = 1, .clock = clock};
        {
            hook watch{folder / "run", plan{}, choices};
            for (std::uint64_t i = 0; i < 200; ++i) {
                watch.scalar("loose", static_cast<double>(i));
                watch.begin(train(i));
                watch.scalar("inside", static_cast<double>(i));
                (void)watch.end();
                if (i % 50 == 0) { watch.flush(); }
            }
        }
        trial const run = open(folder / "run");
        auto const loose = run["loose"].loose();
        REQUIRE(loose.size() == 200);
        double latest = 1e9;
        std::size_t backwards = 0;
        for (std::uint64_t i = 0; i < 200; ++i) {
            backwards += loose[i].time < latest ? 1 : 0;
            latest = loose[i].time;
            double const inside = run["inside"].time(train(i)).value_or(0);
            backwards += inside < latest ? 1 : 0;
            latest = inside;
        }
        CHECK(backwards == 0);
    }
}

TEST_CASE("a scalar that is not finite at some steps has its value in the history of every step [S42]") {
    temporary_folder const folder;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    float const some[] = {1, std::bit_cast<float>(0x7F800001U), static_cast<float>(-infinity)};  // a signalling NaN
    {
        hook watch{folder / "run",
                   plan{collection{"c", "*", every{10}, payload}, collection{"s", "s", always{}, stats(mean)}}};
        for (std::uint64_t i = 0; i < 48; ++i) {
            watch.begin(train(i));
            watch.scalar("loss", some[i % 3]);
            watch.observe("s", std::vector<float>{some[i % 3]});
            watch.observe("pair", std::vector<float>{some[i % 3], some[i % 3]});
            (void)watch.end();
        }
    }
    trial const run = open(folder / "run");
    auto const check = [&](std::string const& name, statistic which, double const& below) {
        INFO(name << ' ' << which.name());
        auto const curve = run[name].history(which);
        REQUIRE(curve.size() == 48);
        for (std::uint64_t i = 0; i < 48; ++i) {
            double const expected = i % 3 == 2 ? below : 1;
            CHECK(curve[i].step == train(i));
            CHECK(curve[i].known);
            CHECK(run[name].stat(train(i), which).has_value());
            CHECK((i % 3 == 1 ? classify(curve[i].value) == number_class::nan : same_bits(curve[i].value, expected)));
        }
    };
    for (statistic const each : std::initializer_list<statistic>{minimum, maximum, mean, sum, product}) {
        check("loss", each, -infinity);
        check("loss", of_abs(each), infinity);
    }
    check("loss", l1, infinity);
    check("loss", l2, infinity);
    check("s", mean, -infinity);  // only its statistics are kept
    for (statistic const each : std::initializer_list<statistic>{stddev, zero_fraction}) {
        CHECK(run["loss"].stat(train(1), each).error().code == errc::not_in_step);
    }
    CHECK_FALSE(run["pair"].history(mean)[1].known);  // of tensors statistics are over the finite elements
    for (std::uint64_t i = 0; i < 48; ++i) {
        recorded_value const value = run["loss"].at(train(i));
        REQUIRE(value);
        CHECK(std::memcmp(value.view().values.raw, &some[i % 3], sizeof(float)) == 0);
    }
}

TEST_CASE("loose scalars come back with the type they were given, every digit, and texts as texts") {
    temporary_folder const folder;
    std::int64_t const least = std::numeric_limits<std::int64_t>::min() + 1;
    std::uint64_t const most = std::numeric_limits<std::uint64_t>::max() - 1;
    {
        hook watch{folder / "run", plan{}};
        watch.scalar("i64", least);
        watch.scalar("u64", most);
        watch.scalar("f32", 0.1F);
        watch.scalar("bool", true);
        watch.scalar("note", "r\u00e9sum\u00e9, and more than a small string holds");
        watch.scalar("empty", "");
    }
    trial const run = open(folder / "run");
    auto const only = [&](char const* name) {
        auto const all = run[name].loose();
        REQUIRE(all.size() == 1);
        return all[0];
    };
    CHECK(only("i64").type == dtype::i64);
    CHECK(only("i64").to<std::int64_t>().value_or(0) == least);
    CHECK(only("u64").to<std::uint64_t>().value_or(0) == most);
    CHECK(only("u64").to<double>().error().code == errc::wrong_type);
    CHECK(only("f32").to<float>().value_or(0) == 0.1F);
    CHECK(only("bool").to<bool>().value_or(false));
    CHECK(only("note").type == dtype::text);
    CHECK(only("note").to<std::string>().value_or("") == "r\u00e9sum\u00e9, and more than a small string holds");
    CHECK(only("note").to<double>().error().code == errc::wrong_type);
    CHECK(only("empty").to<std::string>().value_or("x").empty());
}

TEST_CASE("a text in a step has no statistics, whatever is asked of it") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", plan{}, any("*", mean > 0.0)};
        watch.begin(train(0));
        watch.scalar("note", "letters");
        CHECK(watch.end().empty());
    }
    trial const run = open(folder / "run");
    track const note = run["note"];
    CHECK(note.at(train(0)).to<std::string>().value_or("") == "letters");
    for (statistic const which : std::initializer_list<statistic>{mean, l2, maximum, nonfinite, zeros, sum}) {
        CHECK(note.stat(train(0), which).error().code == errc::not_in_step);
    }
    CHECK(note.quantile(train(0), 0.5).error().code == errc::not_in_step);
    CHECK(note.distribution(train(0)).error().code == errc::not_in_step);
    CHECK(note.stat(train(0), mean).error().what.view().find("a text has no statistics") != std::string_view::npos);
    REQUIRE(note.history(mean).size() == 1);
    CHECK(!note.history(mean)[0].known);
}
