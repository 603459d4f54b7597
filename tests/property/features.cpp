// SPDX-License-Identifier: Apache-2.0
// Rules that extract features from values: their record holds the features and no values, and replays give the same
// [S64].
#include <spotter/record/recover.hpp>

#include <tests/property/stream.hpp>

#include <csignal>
#include <filesystem>

#include <sys/wait.h>

using namespace spotter;
using namespace spotter_test;

namespace {

std::uint64_t extractions = 0;

// Counts the values above a limit, and extracts the first and the last value unchanged. Of biases it only counts
// observations.
struct above {
    using kind = rule_kind;
    static constexpr std::string_view name = "above";
    static constexpr std::string_view remedy = "none";
    double limit = 0;  // determines the extracted features
    double most = 0;   // does not

    struct state {
        violation found{};
        std::uint64_t biases = 0;
        bool seen = false;
    };
    [[nodiscard]] static stats_mask needs(tensor_info const& tensor) {
        return tensor.role == role::bias ? stats_mask::none : stats_mask::feature;
    }
    [[nodiscard]] static stats_mask context(tensor_info const& tensor) {
        return tensor.role == role::bias ? stats_mask::shape : stats_mask::none;
    }
    [[nodiscard]] std::uint64_t feature_key() const noexcept { return key_of("above", limit); }
    void extract(state&, observation const&, tensor_ref const& all_values, feature& out) const {
        ++extractions;
        double count = 0;
        visit_values(all_values, [&](auto all) {
            for (std::size_t i = 0; i < all.size(); ++i) { count += detail::see(all[i]).value > limit ? 1 : 0; }
            out.push(count);
            if (all.size() == 0) { return out.clear(); }
            for (std::size_t const i : {std::size_t{0}, all.size() - 1}) {
                double one = detail::see(all[i]).value;
                if (detail::see(all[i]).kind == number_class::nan) { one = std::bit_cast<double>(0x7FF8000000000001U); }
                out.push(one);
            }
        });
    }
    void observe(state& now, observation const& it, std::span<double const> made) const {
        if (it.tensor.role == role::bias) {
            now.biases += made.empty() ? 1 : 1000;
            return;
        }
        now.seen = true;
        bool const full = made.size() == 3;
        if (!full || made[0] > most || !is_finite(made[1])) {
            now.found.blame(it, full && is_finite(made[2]) ? made[2] : static_cast<double>(made.size()) - 0.5);
        }
    }
    [[nodiscard]] static truth close(state& now, step_id, findings& out) {
        violation const found = std::exchange(now.found, {});
        if (!std::exchange(now.seen, false)) { return truth::undecided; }
        if (found.count == 0) { return truth::no; }
        out.push(found.as_finding("last", relation::greater, static_cast<double>(now.biases), severity::info));
        return truth::yes;
    }
};
static_assert(extracting_rule<above> && rule<above>);

template <class Use>
void with_extracting(std::uint64_t run, Use&& use) {
    random_source random{run * 31 + 7};
    double const limit = random.unit() - 0.5, most = static_cast<double>(random.below(30));
    auto const small = [&] { return 1 + random.below(4); };
    switch (run % 4) {
        case 0:
            return use(above{limit, most}, above{limit, most / 2}, above{limit / 2, most});
        case 1:
            return use(above{limit, most} | only{every{3}}, above{limit, 2} | only{during{mode::eval}},
                       above{limit, most} | for_steps{2} | cooldown{small()});
        case 2:
            return use((above{limit, most} && any("*", sum > 0.0)) || !above{-limit, 1}, above{limit, most},
                       ((above{limit, 3} | only{every{small()}}) || non_finite{}) | rearm{small()});
        default:
            return use(above{limit, most} | named{"one"}, vanishing_gradient{}, above{limit + 1, 0} | once,
                       any("*", l2 > 1.0), dead_relu{.samples = 8});
    }
}
options options_of(random_source& random) {
    options choices;
    choices.drain = random.one_in(3) ? drain::poll : drain::thread;
    choices.segment_bytes = random.one_in(2) ? 4096 : 1 << 20;
    choices.ring_bytes = random.one_in(2) ? 64 << 10 : 1 << 20;
    if (random.one_in(3)) { choices.ring_in = ring_in::shared_memory; }  // falls back to plain memory without /dev/shm
    return choices;
}
// Takes steps with one weight of six values.
template <class Hook>
alarms train_a_little(Hook& watch, std::uint64_t first, std::uint64_t steps) {
    alarms found;
    for (std::uint64_t i = first; i < first + steps; ++i) {
        std::vector<float> w(6, static_cast<float>(i % 7) - 3);
        w[i % 6] += 0.5F;
        keep(found, watch.step(train(i), "fc1/w"_t = w, "fc1/b"_t = w));
    }
    return found;
}
constexpr plan all_values{collection{"all", "*", always{}, payload}};

}  // namespace

TEST_CASE("a rule that extracts says in a replay what it said in the loop, with no all_values in the record [S64]") {
    std::size_t reported = 0;
    for (std::uint64_t run = 0; run < property_runs(32); ++run) {
        with_extracting(run, [&](auto const&... rules) {
            INFO("stream " << run);
            random_source random{run * 7919 + 3};
            stream const all = make_stream(run + 500, 50);
            temporary_folder const folder;
            hook watch{folder / "run", nothing, options_of(random), rules...};
            alarms const inside = run_through(watch, all);
            watch.finish();
            REQUIRE(watch.health().good());
            trial record = open(watch.path());
            extractions = 0;
            replayed const again = play(record, rules...);
            CHECK(again.report.trouble.code == errc::none);
            CHECK(again.report.whole);
            CHECK(inside == again.found);
            CHECK(coverage_of(watch) == again.coverages);
            bool scalars = false;  // other scalars are recorded as such
            for (std::string const& name : record.names()) {
                for (step_id const step : record.steps()) { scalars = scalars || record[name].at(step); }
            }
            CHECK((scalars || extractions == 0));
            alarms followed;
            replay_report const live =
                follow(record, rules..., [&](spotter::step_alarm const& found) { keep(followed, found); });
            CHECK((live.whole && inside == followed));
            reported += inside.size();
        });
    }
    CHECK(reported > 200);
}

TEST_CASE(
    "features and all_values, or all_values alone: a replay says the same, and of what was never extracted as well") {
    for (std::uint64_t run = 0; run < property_runs(8); ++run) {
        with_extracting(run, [&](auto const&... rules) {
            INFO("stream " << run);
            random_source random{run * 7919 + 4};
            stream const all = make_stream(run + 900, 40, false);
            temporary_folder const folder;
            hook both{folder / "both", all_values, options_of(random), rules...};
            hook without{folder / "without", all_values, options_of(random)};
            alarms const inside = run_through(both, all);
            (void)run_through(without, all);
            both.finish(), without.finish();
            for (auto const path : {both.path(), without.path()}) {
                replayed const again = play(open(path), rules...);
                CHECK(again.report.whole);
                CHECK(inside == again.found);
            }
            above const other{0.125, 4};
            hook judge{plan{}, other};
            alarms const asked = run_through(judge, all);
            CHECK(asked == play(open(both.path()), other).found);
        });
    }
}

TEST_CASE("rules of one key extract once, and a replay that has the features extracts nothing and reads no values") {
    above const one{0.25, 1}, two{0.25, 3}, other{0.5, 1};
    temporary_folder const folder;
    hook watch{folder / "run", all_values, one, two, other};
    extractions = 0;
    alarms const inside = train_a_little(watch, 0, 20);
    CHECK(extractions == 40);  // two keys, so two extractions a step
    watch.finish();
    // Damages all values: a replay that read one would report it.
    std::string const file = folder / "run/000000.spot";
    std::vector<char> bytes = read_file(file);
    for (std::size_t i = 0; i + 4 < bytes.size(); ++i) {
        if (std::memcmp(&bytes[i], "\x28\xB5\x2F\xFD", 4) == 0) {
            bytes[i + 12] = static_cast<char>(bytes[i + 12] ^ 0x55);
        }
    }
    write_file(file, bytes);
    trial const record = open(watch.path());
    REQUIRE(record["fc1/w"].at(train(3)).error().code == errc::corrupt);
    extractions = 0;
    replayed const again = play(record, one, two, other);
    CHECK(extractions == 0);
    CHECK((again.report.whole && !again.report.trouble));
    CHECK((!inside.empty() && inside == again.found));
    CHECK(play(record, above{0.75, 1}).report.trouble.code == errc::corrupt);
}

TEST_CASE("a rule whose features and all_values are both missing sees nothing of the tensor, and the replay says so") {
    temporary_folder const folder;
    hook watch{folder / "run", plan{collection{"all", "*", always{}, stats(l2)}}, above{0.25, 1}};
    (void)train_a_little(watch, 0, 10);
    watch.finish();
    trial const record = open(watch.path());
    replayed const again = play(record, above{0.5, 1});
    CHECK(again.found.empty());
    CHECK_FALSE(again.report.whole);
    CHECK(again.report.trouble.code == errc::no_payload);
    CHECK(again.report.trouble.what.view().find("payload") != std::string_view::npos);
    CHECK(play(record, above{0.25, 1}).report.whole);
    // Limited in the loop and unlimited in the replay: the steps in between are missing.
    hook seldom{folder / "seldom", nothing, above{0.25, 1} | only{every{3}}};
    alarms const inside = train_a_little(seldom, 0, 12);
    seldom.finish();
    trial const thin = open(seldom.path());
    replayed const alike = play(thin, above{0.25, 1} | only{every{3}});
    CHECK((alike.report.whole && alike.found == inside));
}

TEST_CASE("attempts and workers have features of their own") {
    above const rule{0.25, 2};
    temporary_folder const folder;
    options choices;
    choices.existing = existing::resume;
    choices.segment_bytes = 4096;
    alarms inside;
    for (std::uint64_t i = 0; i < 3; ++i) {
        hook watch{folder / "run", nothing, choices, rule};
        alarms const found = train_a_little(watch, 40 * i - (i == 2 ? 15 : 0), 40);
        inside.insert(inside.end(), found.begin(), found.end());
        if (i < 2) { continue; }
        auto mine = watch.worker(1);
        alarms const others = train_a_little(mine, 3, 30);
        inside.insert(inside.end(), others.begin(), others.end());
    }
    replayed const again = play(open(folder / "run"), rule);
    CHECK((again.report.whole && !again.report.trouble));
    CHECK(inside == again.found);
}

TEST_CASE("a run that is killed after what was extracted replays what was judged before, recovered or not") {
    if (!std::filesystem::exists("/dev/shm")) { SPOTTER_SKIP("there is no /dev/shm here"); }
    above const rule{0.25, 2};
    temporary_folder const folder;
    options choices;
    choices.ring_in = ring_in::shared_memory;
    pid_t const child = ::fork();
    if (child == 0) {
        hook watch{folder / "run", nothing, choices, rule};
        (void)train_a_little(watch, 0, 50);
        watch.begin(train(50));
        watch.observe("fc1/w", std::vector<float>(6, 9.0F));
        watch.flush();
        watch.observe("fc1/w", std::vector<float>(6, 9.0F));
        ::raise(SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE(WIFSIGNALED(status));
    hook judge{plan{}, rule};
    alarms inside = train_a_little(judge, 0, 50);
    judge.begin(train(50));  // the step open at the kill is judged by what it holds
    judge.observe("fc1/w", std::vector<float>(6, 9.0F));
    judge.observe("fc1/w", std::vector<float>(6, 9.0F));
    keep(inside, judge.end());
    for (bool const recovered : {false, true}) {
        if (recovered) { REQUIRE(recover(folder / "run")); }
        replayed const again = play(open(folder / "run"), rule);
        CHECK((!again.report.trouble && again.report.whole));
        CHECK((!inside.empty() && inside == again.found));
    }
    choices.existing = existing::resume;
    hook watch{folder / "run", nothing, choices, rule};
    alarms const later = train_a_little(watch, 50, 20);
    watch.finish();
    alarms both = inside;
    both.insert(both.end(), later.begin(), later.end());
    replayed const again = play(open(folder / "run"), rule);
    CHECK((again.report.whole && both == again.found));
}

TEST_CASE("features whose observation never came belong to no other") {
    above const rule{0.25, 2};
    tensor_info info{};
    info.id = 0, info.name = "w", info.role = role::weight, info.type = dtype::f32, info.shape = {6};
    tensor_info other = info;
    other.id = 1, other.name = "v";
    double const many[] = {6, 1, 1}, few[] = {1, 0, 0};
    std::uint64_t const key = rule.feature_key();
    summary stats;
    stats.count = 6;
    temporary_folder const folder;
    options choices;
    recorder sink{folder / "run", choices};
    sink.start({});
    sink.declare(info), sink.declare(other);
    auto const see = [&](tensor_info const& which, step_id step) {
        sink.observe({which, step, stats}, stats_mask::shape);
    };
    sink.feature(info, train(0), key, many);  // the observation itself was dropped
    see(other, train(0));
    sink.close(train(0), {});
    sink.feature(info, train(1), key, many);
    sink.close(train(1), {});
    see(info, train(1));
    sink.close(train(1), {});
    sink.feature(info, train(2), key, many);  // for the first of two observations
    sink.feature(info, train(2), key, few);
    see(info, train(2));
    sink.close(train(2), {});
    sink.feature(info, train(3), key, many);
    sink.feature(info, train(3), key + 1, few);
    see(info, train(3));
    sink.close(train(3), {});
    sink.finish({});
    CHECK(sink.health().stored == 4);
    replayed const again = play(open(sink.path()), rule);
    REQUIRE(again.found.size() == 1);
    CHECK(std::get<0>(again.found[0].findings[0]) == "train3");
    CHECK(again.report.trouble.code == errc::no_payload);
    CHECK(again.report.trouble.what.view().find("of 4 observations, 2 lack") != std::string_view::npos);
}

TEST_CASE("features that a full ring drops are counted, the rest of the record stands, and the replay is not whole") {
    for (overflow const policy : {overflow::drop, overflow::thin}) {
        temporary_folder const folder;
        options choices;
        choices.drain = drain::poll;
        choices.overflow = policy;
        choices.ring_bytes = 64 << 10;
        above const rule{0.25, 2};
        hook watch{folder / "run", all_values, choices, rule};
        std::uint64_t came = 0;
        for (std::uint64_t i = 0; i < 3000; ++i, ++came) {
            (void)watch.step(train(i), "fc1/w"_t = std::vector<float>(60, static_cast<float>(i % 3)));
        }
        watch.finish();
        sink_health const health = watch.health().sink;
        CHECK(health.dropped > 0);
        CHECK(health.stored + health.dropped > came);  // both the observation and its feature are counted
        trial const record = open(watch.path());
        CHECK(record.damage().empty());
        CHECK_FALSE(replay(record, rule).whole);
    }
}

TEST_CASE("a feature in a damaged frame is missed: the damage is reported, and the replay is not whole") {
    above const rule{0.25, 2};
    temporary_folder const folder;
    hook watch{folder / "run", nothing, rule};
    (void)train_a_little(watch, 0, 300);
    watch.finish();
    std::string const file = folder / "run/000000.spot";
    std::vector<char> bytes = read_file(file);
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
    write_file(file, bytes);
    trial const record = open(watch.path());
    CHECK(record.damage().size() == 1);
    CHECK_FALSE(replay(record, rule).whole);
}
