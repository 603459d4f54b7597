// SPDX-License-Identifier: Apache-2.0
// info, ls and show on a small run: what they print, and their documents.
#include <tests/tools/tool.hpp>

#include <spotter/plan/dynamic_plan.hpp>

using namespace spotter;
using namespace spotter_test;

TEST_CASE("info: status, steps, sizes, ratio, drops and findings") {
    temporary_folder const folder;
    record_small(folder / "run", large_loss);
    tool_output const text = ask("info " + folder / "run/");
    CHECK(text.code == 0);
    CHECK(text.err.empty());
    for (std::string_view const words :
         {"run: finished", "12 closed, 10 train with something kept, 2 eval", " : 1)", "0 dropped", "1 gradient",
          "large_loss", "losses (\"loss\", always: payload): 1 name\n"}) {
        INFO(std::string{words});
        CHECK(text.says(words));
    }
    auto const it = ask("info --json " + folder / "run").document();
    CHECK(ask("who " + folder / "run").says("no rank is behind or slow"));
    CHECK(ask("who --json " + folder / "run").document().at("ranks").at(0).at("status") == "finished");
    CHECK(it.at("verb") == "info");
    CHECK(!it.at("environment").at("compiler").get<std::string>().empty());
    CHECK(it.at("path") == folder / "run");
    CHECK(it.at("status") == "finished");
    CHECK(it.at("attempts") == 1);
    CHECK(it.at("steps") == nlohmann::json{{"closed", 12}, {"train", 10}, {"eval", 2}, {"predict", 0}});
    CHECK(it.at("tensors") == 3);
    CHECK(it.at("roles") == nlohmann::json{{"loss", 1}, {"weight", 1}, {"gradient", 1}});
    CHECK(it.at("collections").size() == 3);
    CHECK(it.at("bytes").at("values_unpacked") == 5 * height * width * sizeof(float));
    CHECK(it.at("bytes").at("values") < it.at("bytes").at("values_unpacked"));
    CHECK(it.at("bytes").at("segments") == std::filesystem::file_size(folder / "run/000000.spot"));
    CHECK(it.at("lost") == nlohmann::json{{"dropped", 0}, {"thinned", 0}, {"closes", 0}, {"refused", 0}});
    CHECK(it.at("last_close") >= it.at("began"));
    CHECK(it.at("damage").empty());
    CHECK(it.at("workers").empty());
    CHECK(it.at("findings").size() == 1);
    CHECK(it.at("findings").at(0).at("rule") == "large_loss");
    CHECK(it.at("findings").at(0).at("step") == nlohmann::json{{"mode", "train"}, {"index", 0}});
    CHECK(it.at("rules").at(0).at("fired") == 1);
}

TEST_CASE("info: what was refused is a line a name, and a list in the document; nothing where nothing was") {
    temporary_folder const folder;
    record_small(folder / "whole", large_loss);
    {
        hook watch{folder / "run", everything};
        float const values[12]{};
        std::int64_t const gaps[] = {4, 1};
        for (std::uint64_t i = 0; i < 3; ++i) {
            watch.begin(train(i));
            watch.observe("ga\nps", view_of(values, {3, 3}, gaps));
            if (i == 0) { watch.observe("null", view_of(static_cast<float const*>(nullptr), {2})); }
            watch.observe("fine", values);
            (void)watch.end();
        }
        watch.finish();
    }
    std::vector<std::string> lines;
    std::string const text = ask("info " + folder / "run").out;
    constexpr std::string_view begin = "\n  refused   ";
    for (std::size_t at = text.find(begin); at != std::string::npos; at = text.find(begin, at + 1)) {
        std::size_t const from = at + begin.size();
        lines.push_back(text.substr(from, text.find('\n', from) - from));
    }
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].starts_with("\"ga\\x0aps\""));
    CHECK(lines[0].find("observe packed(pointer, {sizes}, {byte strides})") != std::string::npos);
    CHECK(lines[1].starts_with("\"null\""));
    CHECK(lines[1].find("is a null pointer") != std::string::npos);
    CHECK(text.find("0 dropped, 0 without their values, 4 refused\n") != std::string::npos);
    auto const it = ask("info --json " + folder / "run").document();
    CHECK(it.at("refused") == lines);
    CHECK(it.at("lost").at("refused") == 4);
    CHECK_FALSE(ask("info " + folder / "whole").says("  refused   "));
    CHECK(ask("info --json " + folder / "whole").document().at("refused") == nlohmann::json::array());
}

TEST_CASE("info --check: 1 where a rule warned, 0 where none did") {
    temporary_folder const folder;
    record_small(folder / "bad", large_loss);
    record_small(folder / "good", any("loss", maximum > 9.0));
    CHECK(ask("info --check " + folder / "bad").code == 1);
    CHECK(ask("info --check " + folder / "good").code == 0);
}

TEST_CASE("info of a run that goes on, that failed, and that died") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything};
        (void)watch.step(train(0), "x"_t = 1.0);
        watch.flush();
        auto const live = ask("info --json " + folder / "run").document();
        CHECK(live.at("status") == "running");
        CHECK(live.at("age") >= 0);
        CHECK(ask("info " + folder / "run").says("run: running, silent for "));
        watch.fail("no more data");
    }
    CHECK(ask("info " + folder / "run").says("run: failed (no more data)"));
    in_killed_child([&] {
        hook watch{folder / "died", everything};
        (void)watch.step(train(0), "x"_t = 1.0);
        watch.flush();
        ::raise(SIGKILL);
    });
    CHECK(ask("info --json " + folder / "died").document().at("status") == "died");
}

TEST_CASE("a run of several workers: each is listed; a worker's folder is a run of its own") {
    temporary_folder const folder;
    for (std::uint32_t worker : {2U, 1U, 0U}) {  // once the first has ended, the run is over
        hook watch{folder / "run", everything, options{.ring_bytes = 1 << 16, .worker = worker}};
        for (std::uint64_t i = 0; i <= worker; ++i) { (void)watch.step(train(i), "x"_t = 1.0); }
    }
    auto const it = ask("info --json " + folder / "run").document();
    REQUIRE(it.at("workers").size() == 3);
    for (std::uint32_t worker = 0; worker < 3; ++worker) {
        CHECK(it.at("workers").at(worker).at("worker") == worker);
        CHECK(it.at("workers").at(worker).at("status") == "finished");
        CHECK(it.at("workers").at(worker).at("closed") == worker + 1);
    }
    CHECK(ask("info " + folder / "run").says("worker 2  finished, 3 steps closed"));
    auto const alone = ask("info --json " + folder / "run/worker-2").document();
    CHECK(alone.at("steps").at("closed") == 3);
    CHECK(alone.at("workers").empty());
    CHECK(ask("verify --json " + folder / "run").document().at("recordings") == 3);
}

TEST_CASE("ls: names with role, type, shape and steps; by pattern, collection, mode and step; the steps") {
    temporary_folder const folder;
    record_small(folder / "run");
    std::string const run = folder / "run";
    auto const names = ask("ls --json " + run).document().at("names");
    REQUIRE(names.size() == 3);
    CHECK(names.at(0) == nlohmann::json{{"name", "fc1/w"},
                                        {"role", "weight"},
                                        {"type", "f32"},
                                        {"shape", {height, width}},
                                        {"steps", 5},
                                        {"values", 5},
                                        {"loose", 0},
                                        {"first", {{"mode", "train"}, {"index", 0}}},
                                        {"last", {{"mode", "train"}, {"index", 8}}}});
    tool_output const text = ask("ls " + run);
    CHECK(text.code == 0);
    CHECK(std::count(text.out.begin(), text.out.end(), '\n') == 4);
    CHECK(text.says("f32   40x50"));
    CHECK(text.says("train(8)"));
    auto const count = [&](std::string const& which) {
        return ask("ls --json " + run + ' ' + which).document().at("names").size();
    };
    CHECK(count("'grad/*'") == 1);
    CHECK(count("--collection losses") == 1);
    CHECK(count("--mode eval") == 1);
    CHECK(count("--step train:1") == 2);
    tool_output const nobody = ask("ls " + run + " 'nobody*'");
    CHECK((nobody.code == 3 && nobody.complains("no name matches \"nobody*\" in this run")));
    tool_output const collection = ask("ls " + run + " --collection weigths");
    CHECK((collection.code == 3 && collection.complains("did you mean \"weights\"?")));
    tool_output const step = ask("ls " + run + " --step 99");
    CHECK((step.code == 3 && step.complains("nothing is at train(99) in this run; it has something at 12 steps")));
    CHECK(ask("ls " + run + " --mode predict").code == 0);
    CHECK(count("--mode predict") == 0);
    for (std::string const& words :
         {"ls " + run + " 'fc['", "export " + run + ' ' + (folder / "none.npz") + " --name 'fc['"}) {
        tool_output const refused = ask(words);
        CHECK(refused.code == 2);
        CHECK(refused.complains("this is no glob: \"fc[\" (at 2: the [ is not closed)"));
    }
    CHECK(ask("ls --steps --json " + run).document().at("steps").size() == 12);
    CHECK(ask("ls --steps --mode eval " + run).out == "eval(4)\neval(9)\n");
}

TEST_CASE("show: a history as a curve, as numbers that read back, and as a histogram") {
    temporary_folder const folder;
    record_small(folder / "run");
    std::string const run = folder / "run";
    tool_output const curve = ask("show " + run + " loss --mode train");
    CHECK(curve.code == 0);
    CHECK(curve.says("mean of loss\n█▄▃▂▁▁▁▁▁▁\n"));
    CHECK(curve.says("10 points; first 1 at train(0); last 0.1 at train(9)"));
    CHECK(ask("show --ascii " + run + " loss --mode train").says("\n#-,.______\n"));
    CHECK(ask("show " + run + " loss --mode eval --as numbers").out == "eval(4)\t0.5\neval(9)\t0.5\n");
    CHECK(ask("show " + run + " loss --as numbers").says("train(2)\t0.3333333333333333\n"));
    CHECK(ask("show " + run + " loss --as histogram").says("median "));
    auto const points = ask("show --json " + run + " loss").document();
    CHECK(points.at("statistic") == "mean");
    CHECK(points.at("points").size() == 12);
    CHECK(points.at("points").at(2) == nlohmann::json{{"mode", "train"}, {"index", 2}, {"value", 1.0 / 3}});
    // Only l2 was kept of it, so that is what is shown; what was not kept is unknown.
    CHECK(ask("show --json " + run + " grad/fc1/w").document().at("statistic") == "l2");
    CHECK(ask("show --json " + run + " grad/fc1/w --stat mean").document().at("points").at(0).at("value").is_null());
    CHECK(ask("show " + run + " grad/fc1/w --stat mean").says("10 unknown"));
}

TEST_CASE("show: scalars that were given between steps") {
    temporary_folder const folder;
    {
        spotter::hook watch{folder / "run", spotter::plan{spotter::defaults::losses}};
        for (int i = 0; i < 5; ++i) {
            watch.scalar("lr", 0.5 / (i + 1), 1000.25 + i);
            (void)watch.step(spotter::train(static_cast<std::uint64_t>(i)));
        }
        watch.finish();
    }
    tool_output const curve = ask("show " + folder / "run lr");
    CHECK((curve.code == 0 && curve.says("5 scalars; first 0.5; last 0.1")));
    CHECK(ask("show --as numbers " + folder / "run lr").says("1000.250\t0.5\n"));
    auto const document = ask("show --json " + folder / "run lr").document();
    REQUIRE(document.at("loose").size() == 5);
    CHECK((document.at("loose")[4].at("time") == 1004.25 && document.at("loose")[4].at("before_ordinal") == 4));
}

TEST_CASE("show: the history of a text is each text with its step") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything};
        for (std::uint64_t i = 0; i < 3; ++i) {
            watch.begin(train(i));
            watch.scalar("phase", i < 2 ? "warm up" : "main");
            watch.scalar("loss", 1.0);
            (void)watch.end();
        }
    }
    std::string const run = folder / "run";
    tool_output const text = ask("show " + run + " phase");
    CHECK(text.code == 0);
    CHECK(text.err.empty());
    CHECK(text.out == "train(0)\twarm up\ntrain(1)\twarm up\ntrain(2)\tmain\n");
    CHECK(ask("show " + run + " phase --step train:2..").out == "train(2)\tmain\n");
    auto const all = ask("show --json " + run + " phase").document().at("texts");
    REQUIRE(all.size() == 3);
    CHECK(all.at(2).at("index") == 2);
    CHECK(all.at(2).at("text") == "main");
}

TEST_CASE("info: a collection without a tensor is named, and a long list of names is cut before what follows it") {
    temporary_folder const folder;
    dynamic_plan keep;
    std::vector<std::string> names;
    for (int i = 0; i < 1000; ++i) { names.push_back("layer" + std::to_string(i)); }
    std::vector<std::string_view> const views{names.begin(), names.end()};
    keep.add("many", keep.keep_names(views), keep.keep(every{7}), payload);
    keep.add("none", keep.keep(glob{"nothing/*"}), keep.keep(always{}), payload);
    {
        hook watch{folder / "run", keep};
        (void)watch.step(train(0), "layer0"_t = 1.0);
    }
    tool_output const text = ask("info " + folder / "run");
    CHECK(text.says("layer0, layer1, "));
    CHECK(text.says("layer999}"));
    CHECK(text.says("every{7}: payload): 1 name\n"));
    CHECK(text.says("payload): no tensor matched\n"));
    CHECK(text.out.size() < 3000);
}

TEST_CASE("show: values, a statistic and the distribution at a step") {
    temporary_folder const folder;
    record_small(folder / "run");
    std::string const run = folder / "run";
    tool_output const values = ask("show " + run + " fc1/w --step train:2");
    CHECK(values.code == 0);
    CHECK(values.says("fc1/w at train(2): f32 40x50\n"));
    CHECK(values.says("..."));
    CHECK(std::count(values.out.begin(), values.out.end(), '\n') == 8);  // a title, three rows, one of dots, three rows
    CHECK(ask("show --all " + run + " fc1/w --step 2").out.size() > 10'000);
    auto const document = ask("show --json " + run + " fc1/w --step 2").document();
    CHECK(document.at("shape") == nlohmann::json{height, width});
    CHECK(document.at("values").get<std::vector<float>>() == weights_at(2));
    tool_output const norm = ask("show " + run + " fc1/w --step 2 --stat maximum");
    CHECK(std::strtof(norm.out.c_str(), nullptr) ==
          static_cast<float>(open(run)["fc1/w"].stat(train(2), maximum).value()));
    CHECK(ask("show " + run + " loss --step 'train(3)'").says("0.25\n"));

    for (std::string const name : {"fc1/w", "grad/fc1/w"}) {  // from the values, and as kept
        INFO(name);
        tool_output const bins = ask("show " + run + ' ' + name + " --step 2 --as histogram");
        CHECK(bins.code == 0);
        CHECK(bins.says("█"));
        CHECK(bins.says("median "));
        auto const counts = ask("show --json " + run + ' ' + name + " --step 2 --as histogram").document();
        CHECK(counts.at("bins").size() == 64);
        std::uint64_t all = 0;
        for (auto const& each : counts.at("bins")) { all += each.get<std::uint64_t>(); }
        CHECK(all == height * width);
        CHECK(counts.at("quantiles").size() == 19);
    }
    CHECK(ask("show " + run + " grad/fc1/w --step 2").complains("only statistics were kept"));
}

TEST_CASE("show: by columns, of every type, NaN and infinity") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything};
        double const values[] = {1, 2, 3, 4, 5, 6};
        bool const flags[] = {true, false};
        c64 const complexes[] = {{1, -2}};
        bf16 const brains[] = {{0x3F80}, {0x7FC0}, {0xFF80}};
        (void)watch.step(train(0), "m"_t = view_of(values, {2, 3}, order::column_major), "b"_t = view_of(flags, {2}),
                         "c"_t = view_of(complexes, {1}), "h"_t = view_of(brains, {3}));
    }
    std::string const run = folder / "run";
    CHECK(ask("show " + run + " m --step 0").says("recorded by columns\n1  3  5\n2  4  6\n"));
    CHECK(ask("show --json " + run + " m --step 0").document().at("values") ==
          nlohmann::json{1.0, 3.0, 5.0, 2.0, 4.0, 6.0});
    CHECK(ask("show " + run + " b --step 0").says(" true  false\n"));
    CHECK(ask("show " + run + " c --step 0").says("1-2i\n"));
    CHECK(ask("show " + run + " h --step 0").says("   1   nan  -inf\n"));
    CHECK(ask("show --json " + run + " h --step 0").document().at("values") == nlohmann::json{1.0, "nan", "-inf"});
}
