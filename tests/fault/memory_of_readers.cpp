// SPDX-License-Identifier: Apache-2.0
// A run is opened, refreshed and queried while the n-th allocation fails, for every n: the lack is a named error, and
// nothing already read is lost.
#include <tests/catch.hpp>
#include <tests/fault/failing_memory.hpp>
#include <tests/fault/frozen_files.hpp>
#include <tests/temporary_folder.hpp>

#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <filesystem>
#include <fstream>
#include <optional>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr options small{.drain = drain::poll, .ring_bytes = 64 << 10, .segment_bytes = 4096};

// The current files of a run's folder.
folder_contents frozen_copy(std::string const& path) {
    folder_contents found;
    for (auto const& each : std::filesystem::directory_iterator{path}) {
        std::ifstream in{each.path(), std::ios::binary};
        std::string const bytes{std::istreambuf_iterator<char>{in}, {}};
        auto const* const first = reinterpret_cast<std::byte const*>(bytes.data());
        found.emplace("run/" + each.path().filename().string(), contents{first, first + bytes.size()});
    }
    return found;
}

struct two_looks {
    folder_contents early{}, late{};  // while it runs; after it ended
};

// Records several segments with values, statistics, texts, findings and late declarations.
two_looks recorded() {
    temporary_folder const folder;
    std::string const path = folder / "run";
    two_looks found;
    {
        constexpr plan keep{collection{"values", "v/*", always{}, payload},
                            collection{"sums", "s/*", always{}, stats(l2)}};
        hook watch{path, keep, any("loss", minimum > 0.5) | cooldown{2}, small};
        std::vector<float> a(300);
        for (std::uint64_t i = 0; i < 8; ++i) {
            for (std::size_t k = 0; k < a.size(); ++k) { a[k] = static_cast<float>((k * 7919 + i * 104729) % 1013); }
            float const loss = static_cast<float>(i % 3);
            (void)watch.step(i % 4 == 3 ? eval(i) : train(i), "loss"_t = loss, "v/a"_t = a, "s/a"_t = a);
            watch.scalar("note", std::string_view{"a few words that are no short string"}, static_cast<double>(i));
            if (i > 4) { (void)watch.scalar("late", 0.5); }
            watch.flush();
            if (i == 2) { found.early = frozen_copy(path); }
        }
        watch.finish();
        REQUIRE(watch.health().good());
    }
    found.late = frozen_copy(path);
    REQUIRE(found.late.size() > found.early.size());
    return found;
}

void damage_in(folder_contents& files) {
    contents& first = files.at("run/000000.spot");
    first[first.size() - 200] ^= std::byte{1};
}

// All that a trial returns, as text.
std::vector<std::string> count_reported(trial const& run) {
    std::vector<std::string> all;
    auto const add = [&](std::string_view what, auto const&... numbers) {
        std::string& line = all.emplace_back(what);
        ((line += ' ' + std::to_string(numbers)), ...);
    };
    for (std::uint32_t const each : run.workers()) { add("worker", each); }
    for (step_id const step : run.steps()) { add("step", static_cast<int>(step.mode), step.index); }
    for (std::string const& name : run.names()) {
        add(name);
        track const mine = run[name];
        for (point const& each : mine.history(l2)) {
            recorded_value const value = mine.at(each.step);
            add("point", each.step.index, each.value, static_cast<int>(value.error().code), value.view().count);
        }
        for (loose_scalar const& each : mine.loose()) { add("loose " + each.bytes, each.before_ordinal); }
    }
    for (finding const& each : run.findings()) { add(each.reason, each.step.index, each.measured); }
    for (recorded_coverage const& each : run.coverages()) { add(each.rule, each.judged, each.fired, each.workers); }
    for (recorded_collection const& each : run.collections()) { add(each.name + each.what); }
    for (damaged_place const& each : run.damage()) { add(each.file, each.offset, each.bytes); }
    for (open_step const& each : run.open_steps()) { add("open", each.step.index, each.values); }
    add(run.why_ended(), static_cast<int>(run.status()), run.closed_steps(), run.totals().stored, run.totals().bytes);
    return all;
}

// Runs `call` with the n-th allocation failing; returns whether it threw. Only std::bad_alloc is expected. `sentence`:
// its text says that there was no memory.
template <class Call>
bool threw(std::size_t n, outage how, std::size_t& asked, bool& sentence, Call const& call) {
    bool thrown = false;
    try {
        (void)allocations_of(n, how, call);
    } catch (std::bad_alloc const& why) {
        memory.active = false;
        thrown = true;
        sentence = std::string_view{why.what()}.find("no memory") != std::string_view::npos;
    }
    asked = memory.asked;
    return thrown;
}

template <class Body>
void for_each_failure(std::size_t needed, Body const& body) {
    REQUIRE(needed > 0);
    std::size_t const stride = 1 + needed / 400;
    for (std::size_t n = 1; n <= needed; n += stride) {
        body(n, outage::once);
        if (n % 5 == 1) { body(n, outage::for_good); }
    }
}

// Asks a newly opened trial, for every n. `describe(answer)` is its text; `failed(answer)`: the answer reports
// out_of_memory.
template <class Ask, class Describe, class Failed>
void ask_each(std::string const& what, frozen_files& files, Ask const& ask, Describe const& describe,
              Failed const& failed) {
    INFO(what);
    auto const open = [&] { return open_trial(frozen_files::folder, files).value(); };
    using answer = decltype(ask(std::declval<trial const&>()));
    std::size_t needed = 0;
    std::string whole;
    {
        trial const run = open();
        std::optional<answer> reported;
        needed = allocations_of(0, outage::once, [&] { reported.emplace(ask(run)); });
        whole = describe(*reported);
        REQUIRE_FALSE(failed(*reported));
    }
    if (needed == 0) { return; }
    for_each_failure(needed, [&](std::size_t n, outage how) {
        trial const run = open();
        std::optional<answer> reported;
        std::size_t asked = 0;
        bool sentence = false;
        bool const thrown = threw(n, how, asked, sentence, [&] { reported.emplace(ask(run)); });
        bool const right = thrown ? sentence : failed(*reported) || describe(*reported) == whole;
        if (!right || describe(ask(run)) != whole) {
            FAIL_CHECK("allocation " << n << " of " << needed << ": thrown " << thrown << ", with its sentence "
                                     << sentence << ", asked again " << (describe(ask(run)) == whole));
        }
    });
}
template <class Ask, class Describe>
void list_each(std::string const& what, frozen_files& files, Ask const& ask, Describe const& describe) {
    ask_each(what, files, ask, describe, [](auto const&) { return false; });
}
template <class Ask, class Describe>
void result_each(std::string const& what, frozen_files& files, Ask const& ask, Describe const& describe) {
    ask_each(what, files, ask, describe, [](auto const& answer) { return answer.error().code == errc::out_of_memory; });
}

}  // namespace

TEST_CASE("opening a run where memory gives out is errc::out_of_memory, or the whole run") {
    frozen_files files;
    files.files = recorded().late;
    for (bool const damaged : {false, true}) {
        if (damaged) { damage_in(files.files); }
        std::vector<std::string> whole;
        std::size_t const needed =
            allocations_of(0, outage::once, [&] { (void)open_trial(frozen_files::folder, files); });
        whole = count_reported(open_trial(frozen_files::folder, files).value());
        for_each_failure(needed, [&](std::size_t n, outage how) {
            std::optional<result<trial>> opened;
            (void)allocations_of(n, how, [&] { opened.emplace(open_trial(frozen_files::folder, files)); });
            bool const right =
                *opened ? count_reported(**opened) == whole : opened->error().code == errc::out_of_memory;
            if (!right) { FAIL_CHECK("allocation " << n << " of " << needed << ": " << opened->error().what.view()); }
        });
    }
}

TEST_CASE("a refresh for which memory gives out loses nothing that was known, and the next one has it all") {
    two_looks const looks = recorded();
    for (bool const damaged : {false, true}) {
        folder_contents late = looks.late;
        if (damaged) { damage_in(late); }
        auto const early_and_late = [&](auto const& between) {
            frozen_files files;
            files.files = looks.early;
            trial run = open_trial(frozen_files::folder, files).value();
            std::vector<std::string> const before = count_reported(run);
            folder_contents const mapped = std::exchange(files.files, late);
            between(run, before);
        };
        std::size_t needed = 0;
        std::vector<std::string> whole;
        early_and_late([&](trial& run, std::vector<std::string> const& before) {
            error why;
            needed = allocations_of(0, outage::once, [&] { why = run.refresh(); });
            REQUIRE_FALSE(why);
            whole = count_reported(run);
            REQUIRE(whole != before);
        });
        for_each_failure(needed, [&](std::size_t n, outage how) {
            early_and_late([&](trial& run, std::vector<std::string> const& before) {
                error why;
                (void)allocations_of(n, how, [&] { why = run.refresh(); });
                std::vector<std::string> const meanwhile = count_reported(run);
                // The run's status may change as it continues; what was read of tensors does not.
                bool kept = true;
                for (std::string const& each : before) {
                    bool const of_tensor =
                        each.starts_with("point") || each.starts_with("loose") || each.starts_with("step");
                    kept =
                        kept && (!of_tensor || std::find(meanwhile.begin(), meanwhile.end(), each) != meanwhile.end());
                }
                error const again = run.refresh();
                bool const right = why ? why.code == errc::out_of_memory : meanwhile == whole;
                std::vector<std::string> const after = count_reported(run);
                if (!right || !kept || again || after != whole) {
                    for (std::size_t i = 0; i < (std::max)(after.size(), whole.size()); ++i) {
                        if (i < after.size() && i < whole.size() && after[i] == whole[i]) { continue; }
                        UNSCOPED_INFO((i < after.size() ? after[i] : "-")
                                      << " | " << (i < whole.size() ? whole[i] : "-"));
                        break;
                    }
                    FAIL_CHECK("allocation " << n << " of " << needed << ": " << why.what.view() << ", kept " << kept
                                             << ", again " << again.what.view() << ", then whole " << (after == whole));
                }
            });
        });
    }
}

TEST_CASE(
    "a question for which memory gives out throws no_memory where it asks for a list, is out_of_memory otherwise") {
    frozen_files files;
    files.files = recorded().late;
    auto const number = [](auto const& answer) { return answer ? std::to_string(*answer) : std::string{"[error]"}; };
    auto const size = [](auto const& answer) { return std::to_string(answer.size()); };
    for (bool const damaged : {false, true}) {
        INFO("damaged: " << damaged);
        if (damaged) { damage_in(files.files); }
        list_each("steps", files, [](trial const& run) { return run.steps(); }, size);
        list_each("steps of a worker", files, [](trial const& run) { return run.steps(worker{0}); }, size);
        list_each("modes", files, [](trial const& run) { return run.modes(); }, size);
        list_each("names", files, [](trial const& run) { return run.names(); }, size);
        list_each("workers", files, [](trial const& run) { return run.workers(); }, size);
        list_each("open steps", files, [](trial const& run) { return run.open_steps(); }, size);
        list_each(
            "closed steps", files, [](trial const& run) { return run.closed_steps(); },
            [](std::uint64_t count) { return std::to_string(count); });
        list_each(
            "state", files, [](trial const& run) { return run.state(train(5)); },
            [](step_state state) { return std::to_string(static_cast<int>(state)); });
        list_each(
            "age", files, [](trial const& run) { return run.age() > 0; },
            [](bool positive) { return std::to_string(positive); });
        list_each(
            "damage", files, [](trial const& run) { return &run.damage(); },
            [](auto const* places) { return std::to_string(places->size()); });
        list_each(
            "losses", files, [](trial const& run) { return run.losses(); },
            [](run_losses const& lost) {
                return std::to_string(lost.steps) + ' ' + std::to_string(lost.places) + ' ' +
                       std::to_string(lost.ends.size());
            });
        list_each(
            "a track", files, [](trial const& run) { return run["a name that is longer than a short string"]; },
            [](track const& it) { return std::string{it.name()}; });
        list_each(
            "a worker's track", files, [](trial const& run) { return run["v/a"].of(worker{0}); },
            [](track const& it) { return std::string{it.name()}; });
        list_each("history", files, [](trial const& run) { return run["v/a"].history(stddev); }, size);
        list_each("steps of a track", files, [](trial const& run) { return run["v/a"].steps(); }, size);
        list_each("last", files, [](trial const& run) { return run["v/a"].last(2, train(6)); }, size);
        list_each("loose", files, [](trial const& run) { return run["note"].loose(); }, size);
        if (damaged) { continue; }
        result_each("ordinal", files, [](trial const& run) { return run.ordinal(train(5)); }, number);
        result_each(
            "step_at", files, [](trial const& run) { return run.step_at(5); },
            [](auto const& it) { return it ? std::to_string(it->index) : std::string{"[error]"}; });
        result_each(
            "state of a worker", files, [](trial const& run) { return run.state(train(5), worker{0}); },
            [](auto const& it) { return it ? std::to_string(static_cast<int>(*it)) : std::string{"[error]"}; });
        result_each(
            "values", files, [](trial const& run) { return run["v/a"].at(train(5)); },
            [](recorded_value const& it) { return std::to_string(it.view().count); });
        result_each(
            "some values", files, [](trial const& run) { return run["v/a"].at(train(5), elements{3, 4}); },
            [](recorded_value const& it) { return std::to_string(it.view().count); });
        result_each(
            "values of an attempt", files, [](trial const& run) { return run["v/a"].at(train(5), attempt{0}); },
            [](recorded_value const& it) { return std::to_string(it.view().count); });
        result_each(
            "values as a vector", files,
            [](trial const& run) { return run["v/a"].at(train(5)).to<std::vector<float>>(); },
            [](auto const& it) { return it ? std::to_string(it->size()) : std::string{"[error]"}; });
        result_each("a statistic", files, [](trial const& run) { return run["s/a"].stat(train(5), l2); }, number);
        result_each(
            "a statistic of values", files, [](trial const& run) { return run["v/a"].stat(train(5), stddev); }, number);
        result_each("a quantile", files, [](trial const& run) { return run["v/a"].quantile(train(5), 0.5); }, number);
        result_each("a time", files, [](trial const& run) { return run["v/a"].time(train(5)); }, number);
        result_each(
            "a shape", files, [](trial const& run) { return run["v/a"].shape(train(5)); },
            [](auto const& it) { return it ? std::to_string(it->elements()) : std::string{"[error]"}; });
    }
}

TEST_CASE("of several workers a run that is opened or asked while memory gives out says so, too") {
    temporary_folder const folder;
    std::string const path = folder / "run";
    for (std::uint32_t number = 0; number < 3; ++number) {
        options choices = small;
        choices.worker = number, choices.workers = 3;
        hook watch{path, plan{collection{"all", "*", always{}, payload}}, any("x", minimum > 1.5), choices};
        for (std::uint64_t i = 0; i < 3; ++i) { (void)watch.step(train(i), "x"_t = static_cast<float>(i + number)); }
        watch.finish();
    }
    std::vector<std::string> const whole = count_reported(open_trial(path).value());
    std::size_t const needed = allocations_of(0, outage::once, [&] { (void)open_trial(path); });
    for_each_failure(needed, [&](std::size_t n, outage how) {
        std::optional<result<trial>> opened;
        (void)allocations_of(n, how, [&] { opened.emplace(open_trial(path)); });
        bool const opening = *opened ? count_reported(**opened) == whole : opened->error().code == errc::out_of_memory;
        trial run = open_trial(path).value();
        error why;
        (void)allocations_of(n, how, [&] { why = run.refresh(); });
        bool const refreshing = (!why || why.code == errc::out_of_memory) && count_reported(run) == whole;
        if (!opening || !refreshing || run.refresh() || count_reported(run) != whole) {
            FAIL_CHECK("allocation " << n << " of " << needed << ": opened " << bool(*opened) << ' ' << opening
                                     << ", refreshed " << refreshing << ' ' << why.what.view());
        }
    });
}
