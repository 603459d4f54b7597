// SPDX-License-Identifier: Apache-2.0
// Every verb on every kind of damaged run: its exit code agrees with what was lost, and it reports the loss.
#include <tests/tools/tool.hpp>

#include <spotter/rule/builtin/non_finite.hpp>

#include <functional>
#include <numeric>

using namespace spotter;
using namespace spotter_test;

namespace {

constexpr std::uint64_t step_count = 30;
constexpr int lost = 5;

// Thirty steps in some segments, each flushed by itself, and all of them judged.
void record_steps(std::string const& path, options choices = {.segment_bytes = 6000}) {
    hook watch{path, everything, non_finite{}, choices};
    std::vector<float> values(500);
    for (std::uint64_t i = 0; i < step_count; ++i) {
        std::iota(values.begin(), values.end(), static_cast<float>(i * i) * 0.37F);
        (void)watch.step(train(i), "x"_t = view_of(values, {20, 25}), "loss"_t = 1.0 / static_cast<double>(i + 1));
        watch.flush();
    }
    watch.finish();
}

struct damage_kind {
    char const* name;
    std::function<void(std::string const&)> spoil;  // a run
    bool loses;                                     // and every verb says so
};

[[nodiscard]] std::vector<std::string> segments_of(std::string const& run) {
    std::vector<std::string> all;
    for (auto const& each : std::filesystem::directory_iterator{run}) {
        if (each.path().extension() == ".spot") { all.push_back(each.path()); }
    }
    std::sort(all.begin(), all.end());
    REQUIRE(all.size() > 3);
    return all;
}
// The offset of a row frame with a close in it, the n-th of its segment.
[[nodiscard]] std::size_t frame_with_step(std::string const& file, std::size_t n) {
    std::vector<char> const bytes = read_file(file);
    frame_walker walker{std::as_bytes(std::span{bytes})};
    for (walked what = walker.next(); what != walked::end; what = walker.next()) {
        if (what == walked::rows && walker.frame().closes > 0 && n-- == 0) {
            return static_cast<std::size_t>(walker.frame().offset);
        }
    }
    FAIL("no such frame");
    return 0;
}
void halve(std::string const& file) { std::filesystem::resize_file(file, (std::filesystem::file_size(file) + 64) / 2); }

[[nodiscard]] std::vector<damage_kind> kinds_of_damage() {
    return {
        {"whole", [](std::string const&) {}, false},
        {"a sidecar is missing", [](std::string const& run) { std::filesystem::remove(run + "/000001.spotx"); }, false},
        {"a row frame is damaged",
         [](std::string const& run) { flip(segments_of(run)[1], frame_with_step(segments_of(run)[1], 1) + 70); }, true},
        {"the first row frame of a step is damaged",
         [](std::string const& run) { flip(segments_of(run)[2], frame_with_step(segments_of(run)[2], 0) + 70); }, true},
        {"the last segment is cut", [](std::string const& run) { halve(segments_of(run).back()); }, true},
        {"the last segment is cut to its head",
         [](std::string const& run) { std::filesystem::resize_file(segments_of(run).back(), 64); }, true},
        {"a segment in the middle is cut", [](std::string const& run) { halve(segments_of(run)[1]); }, true},
        {"a segment in the middle is gone",
         [](std::string const& run) { std::filesystem::remove(segments_of(run)[1]); }, true},
        {"the last segment is gone, its sidecar is there",
         [](std::string const& run) { std::filesystem::remove(segments_of(run).back()); }, true},
        {"the last segment was cut, and recovered",
         [](std::string const& run) {
             halve(segments_of(run).back());
             tool_output const it = ask("recover --cut " + run);
             CHECK(it.code == lost);
             CHECK(it.says("the file `lost` remembers it"));
         },
         true},
        {"the last segment was cut, and its sidecar made again without --cut",
         [](std::string const& run) {
             halve(segments_of(run).back());
             CHECK(ask("recover " + run).code == lost);
             CHECK(ask("recover " + run).code == lost);
         },
         true},
        {"it was cut, recovered and gone on with",
         [](std::string const& run) {
             halve(segments_of(run).back());
             CHECK(ask("recover --cut " + run).code == lost);
             hook watch{run, everything, non_finite{}, options{.existing = existing::resume}};
             for (std::uint64_t i = 0; i < 2 * step_count; ++i) {
                 (void)watch.step(train(i), "x"_t = std::vector<float>(500, 1), "loss"_t = 1.0);
             }
             watch.finish();
         },
         true},
    };
}

// Of these kinds, so that the cases can run side by side.
void try_every_verb(std::size_t first, std::size_t end) {
    std::vector<damage_kind> const kinds = kinds_of_damage();
    REQUIRE(first < kinds.size());
    for (std::size_t i = first; i < (std::min)(end, kinds.size()); ++i) {
        damage_kind const& kind = kinds[i];
        temporary_folder const folder;
        std::string const run = folder / "run", out = folder / "out", other = folder / "other";
        record_steps(run);
        record_steps(other);
        kind.spoil(run);
        trial const there = open(run);
        std::uint64_t const steps = there.losses().steps;
        INFO(kind.name << ", " << steps << " steps");
        CHECK((steps > 0) == kind.loses);
        CHECK(there.losses().any() == kind.loses);
        if (there.attempts() == 1) { CHECK(there.closed_steps() + steps == step_count); }
        int const expected = kind.loses ? lost : 0;
        std::string const words =
            std::to_string(steps) + (steps == 1 ? " closed step is lost" : " closed steps are lost");
        for (std::string const verb :
             {"info RUN", "info --check RUN", "ls RUN", "show RUN loss", "show RUN x --step 0 --stat l2", "verify RUN",
              "recover --dry-run RUN", "recover RUN", "check RUN --rules non_finite", "watch RUN --rules non_finite",
              "report RUN --force -o OUT.html", "export RUN OUT.csv --force", "export RUN OUT.jsonl --force",
              "export RUN OUT.npz --force", "export RUN OUT --format tensorboard --force", "diff RUN RUN",
              "diff RUN OTHER --name loss", "diff OTHER RUN --name loss"}) {
            if (verb.starts_with("diff") && verb.find("OTHER") != verb.npos && there.attempts() > 1) { continue; }
            std::string words_of_verb = verb;
            for (auto const& [name, path] : {std::pair{std::string{"RUN"}, run}, {"OUT", out}, {"OTHER", other}}) {
                for (std::size_t at = 0; (at = words_of_verb.find(name, at)) != words_of_verb.npos; at += path.size()) {
                    words_of_verb.replace(at, name.size(), path);
                }
            }
            tool_output const it = ask(words_of_verb);
            INFO(verb << ": " << it.code << '\n' << it.out.substr(0, 2000) << it.err);
            CHECK(it.code == expected);
            CHECK(it.complains("is not whole: ") == kind.loses);
            CHECK(it.complains(words) == kind.loses);
            CHECK((it.says("sound") || it.says("nothing is lost") || it.says("\nA and B are equal\n")) ==
                  (!kind.loses && (verb.starts_with("verify") || verb.starts_with("diff"))));
        }
    }
}

}  // namespace

TEST_CASE(
    "every verb on a whole run, and with a row frame damaged: its exit code is what was lost, and it is reported") {
    try_every_verb(0, 4);
}
TEST_CASE("every verb on a run with segments cut or gone: its exit code is what was lost, and it is reported") {
    try_every_verb(4, 9);
}
TEST_CASE(
    "every verb on a run that was cut and recovered: its exit code is what was lost, and it is reported for ever") {
    try_every_verb(9, 99);
}

TEST_CASE("what is asked for and may have been lost is no \"not there\"") {
    temporary_folder const folder;
    std::string const run = folder / "run";
    record_steps(run);
    CHECK(ask("show " + run + " loss --step 99").code == 3);
    CHECK(ask("export " + run + ' ' + folder / "a.npy --name x --step 99").code == 3);
    halve(segments_of(run).back());
    CHECK(ask("show " + run + " loss --step 29").code == lost);
    CHECK(ask("export " + run + ' ' + folder / "a.npy --name x --step 29").code == lost);
    CHECK(ask("show " + run + " no_such_name").code == lost);
}

TEST_CASE("the losses of a run are in the document of every verb, and null where there are none") {
    temporary_folder const folder;
    std::string const run = folder / "run";
    record_steps(run);
    for (std::string const verb : {"info", "ls", "verify"}) {
        CHECK(ask(verb + " --json " + run).document().at("loss").is_null());
    }
    halve(segments_of(run).back());
    std::uint64_t const steps = open(run).losses().steps;
    for (std::string const verb : {"info ", "ls ", "verify ", "show loss "}) {
        std::string const words = verb == "show loss " ? "show --json " + run + " loss" : verb + "--json " + run;
        auto const loss = ask(words).document().at("loss");
        CHECK(loss.at("steps") == steps);
        REQUIRE(loss.at("ends").size() == 1);
        CHECK(loss.at("ends").at(0).at("file") == segments_of(run).back());
        CHECK(loss.at("ends").at(0).at("remembered") == false);
    }
    auto const checked = ask("check --json " + run).document();
    CHECK(checked.at("runs").at(0).at("loss").at("steps") == steps);
    auto const mended = ask("recover --cut --json " + run).document();
    CHECK(mended.at("loss").at(0).at("steps") == steps);
    CHECK(mended.at("actions").at(0).at("action") == "remembered");
    CHECK(ask("info --json " + run).document().at("loss").at("ends").at(0).at("remembered") == true);
    CHECK(ask("recover --cut " + run).says("nothing to do"));
}

TEST_CASE("what was dropped while recording is reported for ever, too") {
    temporary_folder const folder;
    std::string const run = folder / "run";
    {
        hook watch{run, everything, options{.overflow = overflow::drop, .ring_bytes = 1 << 16}};
        for (std::uint64_t i = 0; i < 50; ++i) { (void)watch.step(train(i), "x"_t = std::vector<float>(20'000, 1)); }
    }
    REQUIRE(open(run).totals().dropped > 0);
    for (std::string const verb : {"ls", "info", "verify", "recover"}) {
        tool_output const it = ask(verb + ' ' + run);
        CHECK(it.code == lost);
        CHECK(it.complains(std::to_string(open(run).totals().dropped) +
                           " observations were dropped while it was recorded"));
    }
}

TEST_CASE("values that are damaged: those who read them say so, verify finds them") {
    temporary_folder const folder;
    std::string const run = folder / "run";
    record_steps(run);
    std::string const file = segments_of(run)[1];
    std::size_t const rows = frame_with_step(file, 1);
    flip(file, rows - 30);  // the end of the values before it
    REQUIRE(open(run).losses().steps == 0);
    std::uint64_t bad = step_count;
    trial const there = open(run);
    for (std::uint64_t i = 0; i < step_count; ++i) { bad = there["x"].at(train(i)) ? bad : i; }
    REQUIRE(bad < step_count);
    CHECK(ask("verify " + run).code == lost);
    CHECK(ask("show " + run + " x --step " + std::to_string(bad)).code == lost);
    CHECK(ask("export " + run + ' ' + folder / "out.npz").code == lost);
    CHECK(ask("export " + run + ' ' + folder / "out.safetensors").code == lost);
    CHECK(ask("diff " + run + ' ' + run).code == lost);
}
