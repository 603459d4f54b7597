// SPDX-License-Identifier: Apache-2.0
// What a hook must never do to the program around it: change its numbers, write to its terminal, or fail silently.
#include <tests/trial/runs.hpp>

#include <spotter/replay.hpp>
#include <spotter/rules.hpp>

#include <csignal>
#include <stdexcept>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace spotter;
using namespace spotter_test;

namespace {

// A linear model that learns y = 3a - 2b + 1 by gradient descent from data it generates.
struct line_model {
    std::vector<float> w{0.1F, -0.1F, 0.0F};
    std::vector<float> gradient{0, 0, 0};
    std::uint32_t state = 12345;

    float draw() {
        state = state * 1664525U + 1013904223U;
        return static_cast<float>(state >> 8) / static_cast<float>(1U << 23) - 1;
    }
    float forward_backward() {
        gradient.assign(3, 0.0F);
        float loss = 0;
        for (int sample = 0; sample < 8; ++sample) {
            float const a = draw(), b = draw();
            float const wrong = w[0] * a + w[1] * b + w[2] - (3 * a - 2 * b + 1);
            loss += wrong * wrong / 8;
            gradient[0] += wrong * a / 4, gradient[1] += wrong * b / 4, gradient[2] += wrong / 4;
        }
        return loss;
    }
    void update() {
        for (std::size_t i = 0; i < 3; ++i) { w[i] -= 0.05F * gradient[i]; }
    }
};
template <class Visit>
void visit_tensors(line_model const& net, Visit visit) {
    visit("line/w", net.w);
    visit("grad/line/w", net.gradient);
}

// The bits of the loss at every step, and of the final weights.
using trace = std::vector<std::uint32_t>;
template <class Watch>
trace train_line(Watch&& watch) {
    line_model net;
    trace bits;
    for (std::uint64_t i = 0; i < 60; ++i) {
        float const loss = net.forward_backward();
        bits.push_back(std::bit_cast<std::uint32_t>(loss));
        watch(i, loss, net);
        net.update();
    }
    for (float each : net.w) { bits.push_back(std::bit_cast<std::uint32_t>(each)); }
    return bits;
}
trace unwatched() {
    return train_line([](std::uint64_t, float, line_model const&) {});
}

struct watched {
    trace bits;
    health_report health;
    std::size_t found = 0;
    std::string path;
};
watched train_watched(std::string const& path, options const& choices = {}) {
    hook watch{path, everything, choices, non_finite{}, any("loss", minimum > 0.0)};
    watched seen;
    seen.bits = train_line([&](std::uint64_t i, float loss, line_model const& net) {
        seen.found += watch.step(train(i), "loss"_t = loss, net).size();
        watch.scalar("between", loss);
    });
    watch.finish();
    seen.health = watch.health();
    seen.path = watch.path();
    return seen;
}

// Redirects standard output and standard error to a file during its lifetime; the test then reads what was written.
class captured_output {
public:
    explicit captured_output(std::string const& file) : file_{file} {
        std::fflush(stdout), std::fflush(stderr);
        int const to = ::open(file.c_str(), O_CREAT | O_WRONLY | O_TRUNC | O_APPEND, 0600);
        for (int i = 0; i < 2; ++i) {
            before_[i] = ::dup(i + 1);
            ::dup2(to, i + 1);
        }
        ::close(to);
    }
    captured_output(captured_output const&) = delete;
    captured_output& operator=(captured_output const&) = delete;
    ~captured_output() { (void)end(); }
    std::string end() {
        std::fflush(stdout), std::fflush(stderr);
        for (int i = 0; i < 2 && before_[i] >= 0; ++i) {
            ::dup2(before_[i], i + 1);
            ::close(before_[i]);
            before_[i] = -1;
        }
        auto const bytes = read_file(file_);
        return {bytes.begin(), bytes.end()};
    }

private:
    std::string file_;
    int before_[2] = {-1, -1};
};

}  // namespace

TEST_CASE("a file in the way, a folder that cannot be written, a missing parent without permission; the numbers of the "
          "loop stay the same, the rules judge, and health says why [D13]") {
    temporary_folder const folder;
    write_file(folder / "file", {'x'});
    std::string const locked = folder / "locked";
    REQUIRE(::mkdir(locked.c_str(), 0500) == 0);
    bool const root = ::geteuid() == 0;  // permissions do not stop root, but /proc does
    std::vector<std::string> const paths{folder / "file", folder / "file/run", root ? "/proc/self/task" : locked,
                                         root ? "/proc/none/run" : locked + "/none/run"};
    trace const expected = unwatched();
    for (std::string const& path : paths) {
        for (existing what : {existing::next, existing::refuse, existing::replace, existing::resume}) {
            watched const seen = train_watched(path, options{.existing = what});
            INFO(path << ": " << seen.health.first_error.what.view());
            CHECK(seen.bits == expected);
            CHECK(seen.found == 60);
            CHECK(!seen.health.good());
            CHECK(
                (seen.health.first_error.code == errc::unwritable || seen.health.first_error.code == errc::not_a_run));
            CHECK(seen.health.first_error.what.view().size() > 10);
            CHECK(seen.health.steps == 60);
            CHECK((seen.health.sink.stored == 0 && seen.health.sink.dropped == 4 * 60));
            CHECK(seen.path.empty());
        }
    }
    ::chmod(locked.c_str(), 0700);
    CHECK(read_file(folder / "file") == std::vector<char>{'x'});
    watched const good = train_watched(folder / "run");
    CHECK(good.bits == expected);
    CHECK(good.health.good());
    CHECK(train_watched(folder / "dry", options{.dry_run = true}).bits == expected);
    CHECK(!std::filesystem::exists(folder / "dry"));
}

TEST_CASE(
    "what did not fit the ring is counted in health and in the record, which tells what came of each step [D14]") {
    for (overflow policy : {overflow::drop, overflow::thin}) {
        temporary_folder const folder;
        options const choices{.overflow = policy, .drain = drain::poll, .ring_bytes = 64 << 10};
        std::vector<float> const values(1000, 0.5F);
        hook watch{folder / "run", plan{collection{"c", "x", always{}, payload | stats(l2)}}, choices};
        for (std::uint64_t i = 0; i < 200; ++i) {
            (void)watch.step(train(i), "x"_t = values);
            if (i % 50 == 49) { watch.poll(); }
        }
        watch.finish();
        health_report const health = watch.health();
        trial const run = open(watch.path());
        CHECK(run.status() == run_status::finished);
        CHECK(health.sink.stored + health.sink.dropped == 200);
        CHECK(run.totals().stored == health.sink.stored);
        CHECK(run.totals().dropped == health.sink.dropped);
        CHECK(run.totals().thinned == health.sink.thinned);
        CHECK(run["x"].steps().size() == health.sink.stored);
        CHECK(run["x"].payload_steps().size() == health.sink.stored - health.sink.thinned);
        CHECK((policy == overflow::drop ? health.sink.dropped : health.sink.thinned) > 0);
        CHECK(run.closed_steps() + run.totals().closes_lost == 200);
        for (step_id step : run["x"].steps()) { CHECK(run["x"].stat(step, l2).value_or(0) > 15); }
    }
}

TEST_CASE("a plan that could not be applied, a refused tensor and a rule that was switched off are in the record of a "
          "run that finished [D14]") {
    temporary_folder const folder;
    std::string const bad = "grad/[";
    {
        hook watch{folder / "plan", plan{collection{"good", "*"}, collection{"bad", glob{std::string_view{bad}}}}};
        for (std::uint64_t i = 0; i < 3; ++i) { (void)watch.step(train(i), "x"_t = 1.0); }
        CHECK(!watch.health().good());
    }
    trial run = open(folder / "plan");
    CHECK(run.status() == run_status::finished);
    CHECK(run.names().empty());
    CHECK(run.why_ended().find(bad) != std::string_view::npos);
    CHECK(run.why_ended().find("malformed pattern") != std::string_view::npos);

    {
        float const values[12]{};
        std::int64_t const gaps[] = {4, 1};
        hook watch{folder / "tensor", everything};
        (void)watch.step(train(0), "gaps"_t = view_of(values, {3, 3}, gaps), "fine"_t = 1.0);
    }
    run = open(folder / "tensor");
    CHECK(run.totals().refused == 1);
    CHECK(run.why_ended().find("\"gaps\"") != std::string_view::npos);

    {
        hook watch{folder / "rule", everything, any(glob{std::string_view{bad}}, l2 > 1.0) | named{"broken"}};
        (void)watch.step(train(0), "x"_t = 1.0);
    }
    run = open(folder / "rule");
    CHECK(run.why_ended().find("\"broken\"") != std::string_view::npos);
    REQUIRE(run.coverages().size() == 1);
    CHECK(run.coverages()[0].reason == "switched off: malformed pattern");

    { (void)hook{folder / "good", everything}.step(train(0), "x"_t = 1.0); }
    CHECK(open(folder / "good").why_ended().empty());
}

TEST_CASE("nothing is written to standard output or standard error, whatever happens [D20]") {
    temporary_folder const folder;
    write_file(folder / "file", {'x'});
    float const bad = std::bit_cast<float>(0x7FC00000U);
    std::string const malformed = "[";
    std::string written;
    std::size_t found = 0, read = 0, replayed = 0;
    {
        captured_output output{folder / "output"};
        for (std::string const& path : {folder / "run", folder / "run", folder / "file", folder / "file/run"}) {
            options const choices{.ring_bytes = 64 << 10};
            hook watch{path,
                       plan{collection{"all", "*", every{2}, payload | stats(l2)},
                            collection{"bad", glob{std::string_view{malformed}}}},
                       choices,
                       on(non_finite{}, stop),
                       dead_relu{},
                       any(glob{std::string_view{malformed}}, l2 > 1.0)};
            watch.observe("outside", 1.0);
            for (std::uint64_t i = 0; i < 20; ++i) {
                found += watch.step(train(i), "x"_t = bad, "y"_t = 1.0).size();
                watch.scalar("lr", 0.5);
            }
            watch.fail("on purpose");
        }
        hook second{folder / "busy", everything};
        hook third{folder / "busy", everything, loss_not_decreasing{}};
        (void)third.step(train(0), "loss"_t = 1.0F);
        second.finish();
        auto const opened = open_trial(folder / "run");
        if (opened) {
            read += opened->closed_steps() + opened->findings().size();
            (void)(*opened)["nope"].at(train(0));
            replayed = replay(*opened, non_finite{}, all_zero{}).steps;
        }
        (void)open_trial(folder / "none");
        ::setenv("SPOTTER", "off", 1);
        { (void)hook{folder / "off", everything}.step(train(0), "x"_t = 1.0); }
        ::unsetenv("SPOTTER");
        written = output.end();
    }
    CHECK(written == "");
    CHECK(found > 0);
    CHECK(read > 0);
    CHECK(replayed > 0);
}

namespace {

constexpr options small_ring{.ring_bytes = 64 << 10};  // fast to allocate

struct situation {
    char const* name;
    void (*make)(std::string const& path);
};
void finished_run(std::string const& path) {
    hook watch{path, everything, small_ring};
    for (std::uint64_t i = 0; i < 5; ++i) { (void)watch.step(train(i), "x"_t = -1.0); }
}
void failed_run(std::string const& path) {
    hook watch{path, everything, small_ring};
    (void)watch.step(train(0), "x"_t = -1.0);
    watch.fail("on purpose");
}
void killed_run(std::string const& path) {
    if (::fork() == 0) {
        hook watch{path, everything, small_ring};
        (void)watch.step(train(0), "x"_t = -1.0);
        watch.flush();
        ::raise(SIGKILL);
    }
    ::wait(nullptr);
}
void killed_at_once(std::string const& path) {
    if (::fork() == 0) {
        hook watch{path, everything, small_ring};
        ::raise(SIGKILL);
    }
    ::wait(nullptr);
}
// A finished run whose last segment is cut to this size (negative: by this much).
template <int Bytes>
void cut_run(std::string const& path) {
    finished_run(path);
    auto bytes = read_file(path + "/000000.spot");
    bytes.resize(static_cast<std::size_t>(Bytes < 0 ? static_cast<int>(bytes.size()) + Bytes : Bytes));
    write_file(path + "/000000.spot", bytes);
}
void garbled_run(std::string const& path) {
    finished_run(path);
    auto bytes = read_file(path + "/000000.spot");
    for (char& each : bytes) { each = static_cast<char>(each ^ 0x55); }
    write_file(path + "/000000.spot", bytes);
}
situation const situations[] = {
    {"nothing is there", [](std::string const&) {}},
    {"an empty folder", [](std::string const& path) { std::filesystem::create_directory(path); }},
    {"a folder of other files",
     [](std::string const& path) {
         std::filesystem::create_directory(path);
         write_file(path + "/notes.txt", {'h', 'i'});
     }},
    {"a finished run", &finished_run},
    {"a failed run", &failed_run},
    {"a run that was killed", &killed_run},
    {"a run that was killed before its first step", &killed_at_once},
    {"a segment of no bytes", &cut_run<0>},
    {"a segment cut in its head", &cut_run<20>},
    {"a segment cut near its end", &cut_run<-10>},
    {"a segment of garbage", &garbled_run},
    {"a run whose first segment was removed",
     [](std::string const& path) {
         cut_run<20>(path);
         finished_run(path);
         std::filesystem::remove(path + "/000000.spot");
     }},
    {"a run with a segment missing amid the others",
     [](std::string const& path) {
         cut_run<-10>(path);
         killed_run(path);
         killed_run(path);
         std::filesystem::remove(path + "/000001.spot");
     }},
    {"a file", [](std::string const& path) { write_file(path, {'x'}); }},
};

}  // namespace

TEST_CASE(
    "into whatever a folder holds, a run is recorded whole or says that it is not; it never succeeds with nothing "
    "[D23][A02]") {
    for (situation const& before : situations) {
        for (existing what : {existing::next, existing::refuse, existing::replace, existing::resume}) {
            temporary_folder const folder;
            std::string const path = folder / "run";
            before.make(path);
            INFO(before.name << ", existing " << static_cast<int>(what));
            std::string where;
            health_report health;
            {
                hook watch{path, everything, options{.existing = what, .ring_bytes = small_ring.ring_bytes}};
                for (std::uint64_t i = 10; i < 15; ++i) {
                    (void)watch.step(train(i), "x"_t = static_cast<double>(i));
                    watch.scalar("between", i);
                }
                watch.finish();
                where = watch.path(), health = watch.health();
            }
            CHECK(health.good() == !where.empty());
            if (!health.good()) {
                CHECK((health.sink.stored == 0 && health.sink.dropped == 10));
                CHECK((what == existing::refuse || std::filesystem::is_regular_file(path)));
                continue;
            }
            CHECK((health.sink.stored == 10 && health.sink.dropped == 0));
            trial const run = open(where);
            CHECK(run.status() == run_status::finished);
            for (std::uint64_t i = 10; i < 15; ++i) {
                CHECK(run.state(train(i)) == step_state::present);
                CHECK(run["x"].at(train(i)).to<double>().value_or(0) == static_cast<double>(i));
            }
            CHECK(run["between"].loose().size() == 5);
        }
    }
}

TEST_CASE("a run into a folder that another process writes is refused with an error, and the other's record stays "
          "whole [D23]") {
    for (existing what : {existing::next, existing::refuse, existing::replace, existing::resume}) {
        temporary_folder const folder;
        hook first{folder / "run", everything, small_ring};
        (void)first.step(train(0), "x"_t = 1.0);
        {
            hook second{folder / "run", everything, options{.existing = what}};
            (void)second.step(train(0), "x"_t = 2.0);
            second.finish();
            CHECK(second.health().first_error.code == errc::busy);
            CHECK((second.health().sink.stored == 0 && second.health().sink.dropped == 1));
        }
        (void)first.step(train(1), "x"_t = 1.5);
        first.finish();
        trial const run = open(folder / "run");
        CHECK(run.status() == run_status::finished);
        CHECK(run["x"].at(train(0)).to<double>().value_or(0) == 1);
        CHECK(run["x"].at(train(1)).to<double>().value_or(0) == 1.5);
    }
}
