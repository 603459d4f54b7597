// SPDX-License-Identifier: Apache-2.0
// The recorder: its files hold the arguments of its calls bit for bit, in every mode of draining and overflow.
#include <tests/record/read_back.hpp>

#include <chrono>
#include <limits>
#include <thread>

#if !defined(_WIN32)
#include <sys/wait.h>
#endif

using namespace spotter;
using namespace spotter_test;

namespace {

// Read from memory: under -ffast-math a literal -0.0 may be stored as 0.
std::uint64_t const volatile minus_zero_bits = 1ULL << 63;
double minus_zero() { return std::bit_cast<double>(static_cast<std::uint64_t>(minus_zero_bits)); }

constexpr stats_mask sum_and_payload = stats_mask::sum | stats_mask::payload;

std::vector<float> numbered_values(std::size_t count, std::uint64_t seed) {
    std::vector<float> values(count);
    std::uint64_t state = seed * 0x9E3779B97F4A7C15ULL + 1;
    for (float& each : values) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        each = std::bit_cast<float>(static_cast<std::uint32_t>(state));  // NaN payloads, infinities, subnormals, all
    }
    return values;
}
bool same_bytes(std::vector<std::byte> const& stored, void const* values, std::size_t bytes) {
    return stored.size() == bytes && (bytes == 0 || std::memcmp(stored.data(), values, bytes) == 0);
}
options small_ring(overflow policy = overflow::block, drain how = drain::thread) {
    options choices{};
    choices.ring_bytes = 64 << 10;
    choices.overflow = policy;
    choices.drain = how;
    return choices;
}
void give_tensor(recorder& sink, tensor_id id, std::uint64_t step, std::vector<float> const& values,
                 stats_mask keep = sum_and_payload) {
    tensor_info const info = tensor_named(id, "t");
    summary const stats = summary_of(values.size(), static_cast<double>(step));
    sink.observe({info, train(step), stats, view_of(values.data(), {values.size()}), {}}, keep);
}
void give_scalar(recorder& sink, tensor_id id, std::uint64_t step, double value) {
    step_id const at = train(step);
    sink.scalar(tensor_named(id, "s"), &at, view_of(&value, extents{}), nullptr);
}

}  // namespace

TEST_CASE("everything the recorder is given is in the files, bit for bit") {
    temporary_folder const folder;
    std::string const path = folder / "deep/er/run";
    for (drain how : {drain::thread, drain::poll}) {
        options choices{};
        choices.existing = existing::replace;
        choices.drain = how;
        choices.instant = instant::after_update;
        recorder sink{path, choices};
        CHECK(sink.path() == path);
        collection_info const kept[] = {{"losses", "\"loss\", always"}, {"weights", "role weight"}};
        sink.start({kept});
        sink.declare(tensor_named(0, "w"));
        sink.declare(tensor_named(1, "loss"));
        sink.declare(tensor_named(2, "note"));

        // Every type, sizes around the borders of planes and blocks, both orders, rank 8, empty.
        std::vector<std::vector<std::byte>> expected;
        std::uint64_t step = 0;
        for (int type = 1; type <= 18; ++type) {
            for (std::uint64_t count : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{63}, std::uint64_t{64},
                                        std::uint64_t{511}, std::uint64_t{512}, std::uint64_t{70001}}) {
                auto const values = numbered_values(static_cast<std::size_t>(count) * 4 + 4, step);
                tensor_ref view{};
                view.values.raw = values.data();
                view.count = count;
                view.type = static_cast<dtype>(type);
                view.shape = {1, 1, 1, 1, 1, 1, 1, count};
                view.layout = step % 2 == 0 ? order::row_major : order::column_major;
                auto const* const raw = reinterpret_cast<std::byte const*>(values.data());
                expected.emplace_back(raw, raw + view.bytes());
                tensor_info const info = tensor_named(0, "w");
                summary const stats = summary_of(count, minus_zero());
                sink.observe({info, train(step), stats, view, {}}, sum_and_payload);
                sink.close(train(step), {});
                ++step;
                sink.poll();
            }
        }
        std::uint32_t const active[] = {1, 2, 3}, finite[] = {4, 5, 6};
        tensor_info const info = tensor_named(0, "w");
        summary const stats = summary_of(3, std::numeric_limits<double>::quiet_NaN());
        sink.observe({info, train(step), stats, {}, {active, finite}}, stats_mask::sum | stats_mask::unit_activity);
        double const bad = std::bit_cast<double>(0x7FF00000DEADBEEFULL);
        step_id const now = train(step);
        double const time = 12.5;
        sink.scalar(tensor_named(1, "loss"), &now, view_of(&bad, extents{}), nullptr);
        sink.scalar(tensor_named(1, "loss"), &now, view_of(&bad, extents{}), &time);
        sink.scalar(tensor_named(1, "loss"), nullptr, view_of(&bad, extents{}), nullptr);
        tensor_ref note{};
        note.values.raw = "some words";
        note.count = 10;
        note.type = dtype::text;
        note.shape = {10};
        sink.scalar(tensor_named(2, "note"), nullptr, note, &time);
        spotter::step_alarm found;  // unistd.h has a function `alarm`
        finding one{};
        one.rule = "vanishing_gradient";
        found.add(one);
        sink.close(now, found);
        coverage const covered[] = {{"vanishing_gradient", 1, 2, 3, 4, ""}, {"dead_relu", 0, 0, 0, 0, "no relu"}};
        sink.finish({ending::finished, "", covered, 7});
        sink_health const health = sink.health();
        CHECK_FALSE(health.first_error);
        CHECK((health.stored == step + 5 && health.dropped == 0 && health.thinned == 0));

        run_on_disk const run = read_run(path);
        CHECK((run.segments == 1 && run.torn == 0 && run.damaged == 0 && run.last_marked == 1));
        CHECK(run.collections == std::vector<std::string>{"\"loss\", always", "role weight"});
        CHECK((run.names.at(0) == "w" && run.names.at(1) == "loss" && run.names.at(2) == "note"));
        REQUIRE(run.values.size() == expected.size() + 1);
        for (std::size_t i = 0; i < expected.size(); ++i) {
            stored_value const& it = run.values[i];
            REQUIRE(it.values == expected[i]);
            REQUIRE(it.row.step == train(i));
            REQUIRE(it.row.shape.rank == 8);
            REQUIRE(it.row.layout == (i % 2 == 0 ? order::row_major : order::column_major));
            REQUIRE(std::bit_cast<std::uint64_t>(it.stats.sum) == 1ULL << 63);
        }
        CHECK(run.values.back().active == std::vector<std::uint32_t>{1, 2, 3});
        CHECK(run.values.back().finite == std::vector<std::uint32_t>{4, 5, 6});
        CHECK_FALSE(run.values.back().row.has_values);
        REQUIRE(run.scalars.size() == 4);
        for (int i = 0; i < 3; ++i) { CHECK(same_bytes(run.scalars[static_cast<std::size_t>(i)].value, &bad, 8)); }
        CHECK((run.scalars[0].row.has_step && !run.scalars[0].row.has_time));
        CHECK((run.scalars[1].row.has_time && run.scalars[1].row.time == 12.5));
        CHECK((!run.scalars[2].row.has_step && run.scalars[2].row.time > 1.6e9));
        CHECK(same_bytes(run.scalars[3].value, "some words", 10));
        REQUIRE(run.closes.size() == step + 1);
        for (std::size_t i = 0; i < run.closes.size(); ++i) {
            REQUIRE((run.closes[i].ordinal == i && run.closes[i].time > 1.6e9));
        }
        CHECK(run.findings == std::vector<std::string>{"vanishing_gradient"});
        CHECK((run.ended && run.end.how == 1 && run.end.refused == 7 && run.end.stored == step + 5 &&
               run.end.closes == step + 1));
        CHECK(run.coverages == std::vector<std::string>{"vanishing_gradient", "dead_relu"});
    }
}

TEST_CASE("zstd itself checks a closed segment") {
    if (std::system("zstd --version > /dev/null 2>&1") != 0) { SPOTTER_SKIP("there is no zstd program here"); }
    temporary_folder const folder;
    std::string const path = folder / "run";
    {
        recorder sink{path};
        sink.start({});
        sink.declare(tensor_named(0, "w"));
        for (std::uint64_t step = 0; step < 20; ++step) {
            give_tensor(sink, 0, step, numbered_values(20000, step));
            give_tensor(sink, 0, step, std::vector<float>(20000, 0.5F));
            sink.close(train(step), {});
        }
        sink.finish({});
    }
    CHECK(std::system(("zstd -q -t < " + path + "/000000.spot").c_str()) == 0);
    {
        recorder sink{folder / "no_values"};
        sink.start({});
        sink.finish({});
    }
    CHECK(std::system(("zstd -q -t < " + (folder / "no_values") + "/000000.spot").c_str()) == 0);
}

TEST_CASE("what was closed and flushed is in the file at once; what is only closed, soon") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    for (drain how : {drain::thread, drain::poll}) {
        options choices{};
        choices.existing = existing::replace;
        choices.drain = how;
        recorder sink{path, choices};
        sink.start({});
        sink.declare(tensor_named(0, "w"));
        give_tensor(sink, 0, 0, numbered_values(100, 0));
        sink.close(train(0), {});
        sink.flush();
        CHECK(read_run(path).closes.size() == 1);
        CHECK(sink.health().bytes > 0);
        sink.close(train(1), {});
        for (int round = 0; round < 500 && read_run(path).closes.size() < 2; ++round) {
            std::this_thread::sleep_for(std::chrono::milliseconds{2});
            sink.poll();
        }
        CHECK(read_run(path).closes.size() == 2);
        sink.finish({});
    }
}

TEST_CASE("tensors larger than the ring stream through it, by thread and by poll") {
    temporary_folder const folder;
    for (drain how : {drain::thread, drain::poll}) {
        std::string const path = folder / (how == drain::thread ? "a" : "b");
        recorder sink{path, small_ring(overflow::block, how)};
        sink.start({});
        sink.declare(tensor_named(0, "w"));
        auto const large = numbered_values(1'000'003, 5);
        for (std::uint64_t step = 0; step < 3; ++step) {
            give_tensor(sink, 0, step, large);
            give_scalar(sink, 0, step, 1.5);
            sink.close(train(step), {});
        }
        sink.finish({});
        CHECK_FALSE(sink.health().first_error);
        run_on_disk const run = read_run(path);
        REQUIRE(run.values.size() == 3);
        for (auto const& each : run.values) { CHECK(same_bytes(each.values, large.data(), large.size() * 4)); }
        CHECK(run.scalars.size() == 3);
        CHECK(sink.health().ring_peak > 0);
    }
}

TEST_CASE(
    "block loses nothing, thin keeps the statistics, drop counts exactly: stored + dropped is what came in [D14]") {
    temporary_folder const folder;
    for (overflow policy : {overflow::block, overflow::thin, overflow::drop}) {
        for (drain how : {drain::thread, drain::poll}) {
            std::string const path =
                folder / ("run" + std::to_string(static_cast<int>(policy)) + std::to_string(static_cast<int>(how)));
            faulty_file_system files{~std::uint64_t{0}};
            recorder sink{path, small_ring(policy, how), files};
            sink.start({});
            sink.declare(tensor_named(0, "w"));
            files.slow_microseconds = 200;
            std::uint64_t observed = 0;
            for (std::uint64_t step = 0; step < 300; ++step) {
                give_tensor(sink, 0, step, numbered_values(3000, step));
                give_scalar(sink, 0, step, static_cast<double>(step));
                observed += 2;
                sink.close(train(step), {});
                if (step % 50 == 0) { sink.poll(); }
            }
            sink.finish({});
            sink_health const health = sink.health();
            run_on_disk const run = read_run(path);
            CHECK_FALSE(health.first_error);
            CHECK(health.stored + health.dropped == observed);
            CHECK(run.values.size() + run.scalars.size() == health.stored);
            std::uint64_t thinned = 0;
            for (auto const& each : run.values) {
                thinned += each.row.thinned;
                CHECK(each.row.thinned != each.row.has_values);
                if (each.row.has_values) {
                    auto const values = numbered_values(3000, each.row.step.index);
                    CHECK(same_bytes(each.values, values.data(), values.size() * 4));
                }
            }
            CHECK(thinned == health.thinned);
            CHECK((run.end.dropped == health.dropped && run.end.thinned == health.thinned));
            if (policy == overflow::block) {
                CHECK((health.dropped == 0 && health.thinned == 0 && run.closes.size() == 300));
            }
            if (policy == overflow::drop) { CHECK(health.thinned == 0); }
            if (how == drain::poll && policy == overflow::thin) {
                CHECK((health.thinned > 0 && run.drops.thinned > 0));
            }
            if (how == drain::poll && policy == overflow::drop) {
                CHECK((health.dropped > 0 && run.drops.dropped > 0));
            }
        }
    }
}

TEST_CASE("the disk is waited for never, at the end of each segment, or at each flush that wrote something") {
    for (disk_sync const when : {disk_sync::never, disk_sync::segments, disk_sync::flushes}) {
        temporary_folder const folder;
        faulty_file_system files{~std::uint64_t{0}};
        options choices = small_ring(overflow::block, drain::poll);
        choices.flush_milliseconds = 1'000'000;
        choices.segment_bytes = 64 << 10;
        choices.disk_sync = when;
        recorder sink{folder / "run", choices, files};
        sink.start({});
        sink.declare(tensor_named(0, "w"));
        for (std::uint64_t step = 0; step < 40; ++step) {
            give_tensor(sink, 0, step, numbered_values(1000, step));
            sink.close(train(step), {});
            if (step % 10 == 9) { sink.flush(); }
        }
        sink.flush();  // nothing new
        sink.finish({});
        auto const segments = static_cast<unsigned>(read_run(folder / "run").segments);
        CHECK(segments > 2);
        CHECK(!sink.health().first_error);
        if (when == disk_sync::never) { CHECK(files.syncs == 0); }
        if (when == disk_sync::segments) { CHECK(files.syncs == segments); }
        if (when == disk_sync::flushes) { CHECK((files.syncs >= 4 && files.syncs <= 4 + segments)); }
    }
}

TEST_CASE("a writer that does not move for 2 s turns block into thin, and says so [D14]") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    faulty_file_system files{~std::uint64_t{0}};
    options choices = small_ring();
    choices.flush_milliseconds = 0;
    recorder sink{path, choices, files};
    sink.start({});
    sink.declare(tensor_named(0, "w"));
    sink.flush();
    files.slow_microseconds = 3'500'000;
    std::uint64_t observed = 0;
    auto const begin = std::chrono::steady_clock::now();
    for (std::uint64_t step = 0; step < 40; ++step, ++observed) {
        give_tensor(sink, 0, step, numbered_values(20000, step));  // larger than the ring: cut in the middle of one
        sink.close(train(step), {});
    }
    auto const took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    CHECK(took < 3.4);
    files.slow_microseconds = 0;
    sink.finish({});
    sink_health const health = sink.health();
    CHECK(health.first_error.code == errc::dropped);
    CHECK(health.thinned > 0);
    CHECK(health.stored + health.dropped == observed);
    run_on_disk const run = read_run(path);
    CHECK(run.values.size() == health.stored);
    std::uint64_t thinned = 0;
    for (auto const& each : run.values) { thinned += each.row.thinned; }
    CHECK(thinned == health.thinned);
}

TEST_CASE("segments rotate by bytes, each can be read alone, and nothing is lost between them") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    options choices{};
    choices.segment_bytes = 100'000;
    recorder sink{path, choices};
    collection_info const kept[] = {{"all", "everything"}};
    sink.start({kept});
    std::vector<std::string> names;
    for (tensor_id id = 0; id < 300; ++id) { names.push_back("layer" + std::to_string(id) + "/w"); }
    for (tensor_id id = 0; id < 300; ++id) { sink.declare(tensor_named(id, names[id])); }
    for (std::uint64_t step = 0; step < 200; ++step) {
        give_tensor(sink, static_cast<tensor_id>(step % 300), step, numbered_values(1500, step));
        give_scalar(sink, 7, step, static_cast<double>(step));
        sink.close(train(step), {});
    }
    sink.finish({});
    run_on_disk const run = read_run(path);
    CHECK(run.segments > 5);
    CHECK(run.last_marked == run.segments);
    CHECK(run.names.size() == 300);
    CHECK(run.names.at(299) == "layer299/w");
    CHECK(run.collections == std::vector<std::string>{"everything"});
    REQUIRE(run.values.size() == 200);
    for (std::uint64_t step = 0; step < 200; ++step) {
        auto const values = numbered_values(1500, step);
        REQUIRE(same_bytes(run.values[step].values, values.data(), values.size() * 4));
    }
    REQUIRE(run.closes.size() == 200);
    for (std::size_t i = 0; i < 200; ++i) { REQUIRE(run.closes[i].ordinal == i); }
}

TEST_CASE("a tensor that is declared again is restated as it is now") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    options choices{};
    choices.segment_bytes = 20'000;
    recorder sink{path, choices};
    sink.start({});
    sink.declare(tensor_named(0, "first"));
    sink.declare(tensor_named(0, "other"));
    sink.declare(tensor_named(0, "a much longer name"));
    for (std::uint64_t step = 0; step < 30; ++step) {
        give_tensor(sink, 0, step, numbered_values(1000, step));
        sink.close(train(step), {});
    }
    sink.finish({});
    run_on_disk const run = read_run(path);
    CHECK(run.segments > 2);
    CHECK(run.names.at(0) == "a much longer name");
}

TEST_CASE("a recorder that is destroyed without finish ends its run as failed") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    {
        recorder first{path};
        first.start({});
        recorder sink{std::move(first)};
        sink.declare(tensor_named(0, "w"));
        give_scalar(sink, 0, 0, 1);
    }
    run_on_disk const run = read_run(path);
    CHECK((run.ended && run.end.how == 2));
    CHECK(run.why == "hook was destroyed without finish");
    CHECK(run.scalars.size() == 1);
}

TEST_CASE("a dry run writes nothing, and so does a recorder that was never started") {
    temporary_folder const folder;
    options choices{};
    choices.dry_run = true;
    {
        recorder sink{folder / "dry", choices};
        sink.start({});
        give_scalar(sink, 0, 0, 1);
        sink.finish({});
        CHECK_FALSE(sink.health().first_error);
        CHECK(sink.path().empty());
    }
    { recorder const sink{folder / "idle"}; }
    machine_file_system files;
    CHECK(*files.kind_of(folder / "dry") == path_kind::missing);
    CHECK(*files.kind_of(folder / "idle/000000.spot") == path_kind::missing);
    CHECK_FALSE(*files.is_locked(folder / "idle/lock"));
}

TEST_CASE("a scalar that is not one value is refused and counted") {
    temporary_folder const folder;
    recorder sink{folder / "run", small_ring()};
    sink.start({});
    sink.declare(tensor_named(0, "s"));
    double const two[] = {1, 2};
    sink.scalar(tensor_named(0, "s"), nullptr, view_of(two, {2}), nullptr);
    CHECK(sink.health().first_error.code == errc::wrong_type);
    CHECK((sink.health().dropped == 1 && sink.health().stored == 0));
    sink.finish({});
}

#if !defined(_WIN32)
TEST_CASE("in a forked child every call is ignored and counted, and the parent's record is as if there were no child") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    {
        recorder sink{path, small_ring()};
        sink.start({});
        sink.declare(tensor_named(0, "w"));
        give_scalar(sink, 0, 0, 1);
        pid_t const child = ::fork();
        if (child == 0) {
            for (std::uint64_t step = 1; step < 50; ++step) {
                give_tensor(sink, 0, step, numbered_values(5000, step));
                give_scalar(sink, 0, step, 2);
                sink.close(train(step), {});
            }
            sink.flush();
            sink.poll();
            sink.finish({});
            bool const good = sink.health().dropped == 98 && sink.health().first_error.code == errc::busy;
            { recorder const gone{std::move(sink)}; }
            ::_exit(good ? 7 : 1);
        }
        int status = 0;
        ::waitpid(child, &status, 0);
        CHECK(WEXITSTATUS(status) == 7);
        give_scalar(sink, 0, 1, 3);
        sink.close(train(1), {});
        sink.finish({});
    }
    run_on_disk const run = read_run(path);
    CHECK((run.scalars.size() == 2 && run.values.empty() && run.closes.size() == 1 && run.ended && run.damaged == 0));
}
#endif
