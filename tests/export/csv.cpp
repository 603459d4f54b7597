// SPDX-License-Identifier: Apache-2.0
// Histories as CSV: columns, quoting, numbers that read back as the same bits, and steps that only some columns have.
#include <tests/trial/runs.hpp>

#include <spotter/workbench/export.hpp>

#include <atomic>
#include <cstdlib>
#include <limits>

using namespace spotter;
using namespace spotter_test;

namespace {

// A clock that returns 1, 2, 3 and so on, so that recorded times are known.
double ticks() noexcept {
    static std::atomic<int> now{0};  // read by the loop and by the writer thread
    return ++now;
}

// The CSV text without its columns `time` and `seconds`.
std::string without_times(std::string const& text) {
    std::string plain;
    std::size_t column = 0;
    for (char const letter : text) {
        if ((column != 3 && column != 4) || letter == '\n') { plain += letter; }
        column = letter == '\n' ? 0 : column + (letter == ',' ? 1 : 0);
    }
    return plain;
}

}  // namespace

TEST_CASE("a field is quoted where it must be, and only there") {
    CHECK(csv_field("plain name") == "plain name");
    CHECK(csv_field("").empty());
    CHECK(csv_field("a,b") == "\"a,b\"");
    CHECK(csv_field("say \"hi\"") == "\"say \"\"hi\"\"\"");
    CHECK(csv_field("two\nlines") == "\"two\nlines\"");
    CHECK(csv_field("cr\r") == "\"cr\r\"");
    CHECK(csv_field("\xFFname\xC3\xA4") == "\\xffname\xC3\xA4");
    for (std::string const name : {"=1+2", "+x", "-x", "@sum", "\tx"}) { CHECK(csv_field(name) == "'" + name); }
    CHECK(csv_field("=a,b") == "\"'=a,b\"");
    CHECK(csv_field("x=1") == "x=1");
}

TEST_CASE("a number reads back as the same bits") {
    for (double each : {0.1, -0.0, 1.0 / 3, 5e-324, 1.7976931348623157e308, 1e22, 123456789.123456789, 2.5e-310}) {
        CHECK(same_bits(std::strtod(csv_number(each).c_str(), nullptr), each));
    }
    CHECK(csv_number(3) == "3");
    CHECK(csv_number(0.1) == "0.1");
    CHECK(csv_number(std::numeric_limits<double>::infinity()) == "inf");
    CHECK(csv_number(-std::numeric_limits<double>::infinity()) == "-inf");
    CHECK(csv_number(std::numeric_limits<double>::quiet_NaN()) == "nan");
}

TEST_CASE("one row a step at which anything is known, in the order in which steps were closed") {
    temporary_folder const folder;
    {
        plan const keep{collection{"loss", "loss", always{}, payload}, collection{"g", "g,*", every{2}, stats(l2)}};
        hook watch{folder / "run", keep};
        std::vector<float> const gradient{3, 4};
        for (std::uint64_t i = 0; i < 4; ++i) {
            (void)watch.step(train(i), "loss"_t = 0.5 * static_cast<double>(i), "g,1"_t = gradient);
            if (i == 1) { (void)watch.step(eval(i), "loss"_t = 9.0); }
            if (i == 2) { (void)watch.step(predict(i), "other"_t = 1.0); }
        }
    }
    trial const run = open(folder / "run");
    CHECK(without_times(to_csv(run, {{"loss"}, {"g,1", l2}, {"nobody", l2, "none"}})) ==
          "step,mode,index,loss:mean,\"g,1:l2\",none\n"
          "0,train,0,0,5,\n"
          "1,train,1,0.5,,\n"
          "2,eval,1,9,,\n"
          "3,train,2,1,5,\n"
          "5,train,3,1.5,,\n");
    CHECK(without_times(to_csv(run, {{"loss"}}, during{mode::eval})) == "step,mode,index,loss:mean\n2,eval,1,9\n");
    CHECK(to_csv(run, {{"nobody"}}) == "step,mode,index,time,seconds,nobody:mean\n");
    CHECK(to_csv(run, {}) == "step,mode,index,time,seconds\n");
}

TEST_CASE("a scalar that is not finite has its row, with its value as a word") {
    temporary_folder const folder;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    {
        hook watch{folder / "run", plan{collection{"c", "w", always{}, stats(mean)}}};
        std::vector<double> const none(2, infinity);
        std::uint64_t i = 0;
        for (double const loss : {1.0, std::numeric_limits<double>::quiet_NaN(), infinity, -infinity}) {
            watch.begin(train(i++));
            watch.scalar("loss", loss);
            (void)watch.end("w"_t = none);
        }
    }
    trial const run = open(folder / "run");
    CHECK(without_times(to_csv(run, {{"loss"}, {"w"}})) ==
          "step,mode,index,loss:mean,w:mean\n0,train,0,1,\n1,train,1,nan,\n2,train,2,inf,\n3,train,3,-inf,\n");
}

TEST_CASE("the time of a step is its closing's; a step that was closed twice is its latest closing, once") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything, options{.clock = ticks}};
        for (std::uint64_t i : {0U, 1U, 2U, 1U, 2U}) { (void)watch.step(train(i), "x"_t = static_cast<double>(i)); }
    }
    trial const run = open(folder / "run");
    std::string expected = "step,mode,index,time,seconds,x:mean\n";
    std::uint64_t ordinal = 0;
    for (std::uint64_t i : {0U, 1U, 2U}) {
        ordinal = i == 0 ? 0 : i + 2;
        expected += std::to_string(ordinal) + ",train," + std::to_string(i) + ',' +
                    csv_number(run["x"].time(train(i)).value()) + ',' + csv_number(run.times()[ordinal].seconds) + ',' +
                    std::to_string(i) + '\n';
    }
    CHECK(to_csv(run, {{"x"}}) == expected);
}

TEST_CASE("an error of the receiver ends the writing and is what is returned") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything};
        for (std::uint64_t i = 0; i < 5; ++i) { (void)watch.step(train(i), "x"_t = 1.0); }
    }
    trial const run = open(folder / "run");
    int lines = 0;
    error const why = write_csv(run, {{"x"}}, always{}, [&](std::string_view) {
        return ++lines == 3 ? error{errc::disk_full, "full"} : error{};
    });
    CHECK(why.code == errc::disk_full);
    CHECK(lines == 3);
}

TEST_CASE(
    "several workers have their rows, with a column for the worker's number; a single worker has no such column") {
    temporary_folder const folder;
    for (std::uint32_t const number : {0U, 2U}) {
        hook watch{folder / "run", plan{collection{"x", "x", always{}, payload}},
                   options{.worker = number, .workers = 3}};
        for (std::uint64_t i = 0; i <= number; ++i) {
            (void)watch.step(train(i), "x"_t = static_cast<double>(10 * number + i));
        }
    }
    auto const column = [](std::string const& text) {  // without times: the fourth and fifth column behind the first
        std::string plain;
        std::size_t place = 0;
        for (char const letter : text) {
            if ((place != 4 && place != 5) || letter == '\n') { plain += letter; }
            place = letter == '\n' ? 0 : place + (letter == ',' ? 1 : 0);
        }
        return plain;
    };
    CHECK(column(to_csv(open_trial(folder / "run").value(), {{"x"}})) ==
          "worker,step,mode,index,x:mean\n0,0,train,0,0\n2,0,train,0,20\n2,1,train,1,21\n2,2,train,2,22\n");
    CHECK(without_times(to_csv(open_trial(folder / "run/worker-2").value(), {{"x"}}, during{mode::train}))
              .find("0,train,0,20\n1,train,1,21") != std::string::npos);
}

TEST_CASE("a record without times of its steps leaves their column empty") {
    trial const run = open_trial(SPOTTER_SOURCE_DIR "/tests/golden/runs/1-training").value();
    std::vector<csv_series> all;
    for (std::string const& name : run.names()) { all.push_back({name}); }
    std::string const table = to_csv(run, all);
    REQUIRE(table.starts_with("step,mode,index,time,seconds,"));
    std::size_t rows = 0;
    for (std::size_t at = table.find('\n') + 1; at < table.size(); at = table.find('\n', at) + 1, ++rows) {
        std::size_t field = at;
        for (int i = 0; i < 4; ++i) { field = table.find(',', field) + 1; }
        REQUIRE(table[field] == ',');
    }
    CHECK(rows > 20);
}
