// SPDX-License-Identifier: Apache-2.0
// export: TensorBoard, safetensors, JSON lines, a trace, Prometheus and the projector, of finished, live, damaged and
// empty runs.
#include <tests/export/event_reader.hpp>
#include <tests/export/numpy.hpp>
#include <tests/tools/tool.hpp>

#include <spotter/rule/builtin/non_finite.hpp>

#include <cmath>
#include <map>
#include <thread>

using namespace spotter;
using namespace spotter_test;

namespace {

std::vector<nlohmann::json> lines_of(std::string const& text) {
    std::vector<nlohmann::json> found;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t const end = text.find('\n', at);
        found.push_back(nlohmann::json::parse(text.substr(at, end - at)));
        at = end + 1;
    }
    return found;
}

}  // namespace

TEST_CASE("export: help and refusals name every format that can do it") {
    temporary_folder const folder;
    record_small(folder / "run");
    std::string const run = folder / "run";
    CHECK(ask("export --help").says("(jsonl, openmetrics, prometheus and tensorboard)"));
    CHECK(ask("export --help").says(".pftrace, .openmetrics or .prom"));
    CHECK(ask("export " + run + " - --format npz").complains("only csv, jsonl, trace, openmetrics and prometheus go"));
    CHECK(ask("export --follow " + run + ' ' + folder / "a.csv")
              .complains("works with jsonl and tensorboard, and into a file with openmetrics and prometheus"));
    CHECK(ask("export --follow " + run + " - --format prometheus").code == 2);
}

TEST_CASE("export: TensorBoard's files of a run have every scalar; they are replaced only with --force [D24]") {
    temporary_folder const folder;
    record_small(folder / "run");
    std::string const run = folder / "run", board = folder / "board";
    tool_output const it = ask("export --json " + run + ' ' + board + " --format tensorboard");
    CHECK(it.code == 0);
    CHECK(it.document().at("format") == "tensorboard");
    CHECK(it.document().at("files").size() == 2);
    auto const all = read_events(board + "/train");
    auto const losses = series_of(all, "loss");
    REQUIRE(losses.size() == 10);
    for (std::size_t i = 0; i < 10; ++i) {
        CHECK(losses[i].scalar == static_cast<float>(1.0 / static_cast<double>(i + 1)));
    }
    CHECK(series_of(all, "fc1/w").size() == 5);
    CHECK(series_of(all, "grad/fc1/w:l2").size() == 10);
    CHECK(series_of(read_events(board + "/eval"), "loss").size() == 2);

    tool_output const again = ask("export " + run + ' ' + board + " --format tensorboard");
    CHECK(again.code == 4);
    CHECK(again.complains("--force"));
    CHECK(
        ask("export --force " + run + ' ' + board + " --format tensorboard --name loss --mode eval").says("2 points"));
    CHECK(
        ask("export " + run + ' ' + folder / "one --format tensorboard --step eval:4 --name loss").says(": 1 point\n"));
    CHECK(ask("export " + run + ' ' + folder / "bad --format tensorboard --image fc1/w=40x").code == 2);
    CHECK(ask("export " + run + ' ' + folder / "bad --format tensorboard --name nothing").code == 3);
    write_file(folder / "file", {'x'});
    CHECK(ask("export " + run + ' ' + folder / "file --format tensorboard").code == 4);
    CHECK(ask("export " + run + " - --format tensorboard").code == 2);
    CHECK(ask("export " + run + ' ' + folder / "pictures --format tensorboard --image fc1/w=5x10 --name fc1/w").code ==
          0);
    CHECK(series_of(read_events(folder / "pictures/train"), "fc1/w:images").size() == 5);
}

TEST_CASE("export: JSON lines, a trace and Prometheus say the same numbers") {
    temporary_folder const folder;
    record_small(folder / "run", non_finite{});
    std::string const run = folder / "run";
    auto const lines = lines_of(ask("export " + run + " - --format jsonl --name loss").out);
    REQUIRE(lines.size() == 12);
    CHECK(lines[4].at("value") == 0.2);
    CHECK(lines[5].at("mode") == "eval");

    CHECK(ask("export " + run + ' ' + folder / "trace.json --name loss").code == 0);
    auto const trace = nlohmann::json::parse(text_of(folder / "trace.json"));
    std::map<std::string, int> kinds;
    double last = -1;
    for (auto const& event : trace.at("traceEvents")) {
        std::string const kind = event.at("ph").get<std::string>();
        ++kinds[kind];
        CHECK(event.at("pid").is_number_integer());
        if (kind == "M") { continue; }
        CHECK(event.at("ts").get<double>() >= 0);
        if (kind == "X") {
            CHECK(event.at("ts").get<double>() >= last);
            CHECK(event.at("dur").get<double>() >= 0);
            last = event.at("ts").get<double>();
        }
        if (kind == "C") { CHECK(event.at("args").at("value").is_number()); }
    }
    CHECK(kinds == std::map<std::string, int>{{"M", 5}, {"X", 12}, {"C", 12}});

    std::string const page = ask("export " + run + " - --format prometheus").out;
    CHECK(page.find(",status=\"finished\"} 1\n") != std::string::npos);
    CHECK(page.find("spotter_value{run=\"" + run + "\",worker=\"0\",mode=\"train\",name=\"loss\"} 0.1\n") !=
          std::string::npos);
    CHECK(page.find(",mode=\"eval\",name=\"loss\"} 0.5\n") != std::string::npos);
    CHECK(page.find("spotter_step{run=\"" + run + "\",worker=\"0\",mode=\"train\"} 9\n") != std::string::npos);
    CHECK(page.find("name=\"grad/fc1/w\",statistic=\"l2\"} ") != std::string::npos);
    CHECK(ask("export " + run + ' ' + folder / "x.prom").code == 0);
    CHECK(text_of(folder / "x.prom") == page);
}

TEST_CASE(
    "export: what is not finite stays in JSON lines and Prometheus, and is left out of a trace, which says so [D24]") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything, non_finite{}};
        (void)watch.step(train(0), "a\"b\\c\nd"_t = std::nan(""), "x"_t = -HUGE_VAL);
    }
    std::string const run = folder / "run";
    auto const lines = lines_of(ask("export " + run + " - --format jsonl").out);
    REQUIRE(lines.size() == 3);
    CHECK(lines[0].at("name") == "a\"b\\c\nd");
    CHECK(lines[0].at("value") == "nan");
    CHECK(lines[1].at("value") == "-inf");
    CHECK(lines[2].at("rule") == "non_finite");
    tool_output const trace = ask("export " + run + ' ' + folder / "t.json");
    CHECK(trace.code == 0);
    CHECK(trace.complains("left out: 2"));
    CHECK(nlohmann::json::parse(text_of(folder / "t.json")).at("traceEvents").size() == 7);
    std::string const page = ask("export " + run + " - --format prometheus").out;
    CHECK(page.find("name=\"a\\\"b\\\\c\\nd\"} NaN\n") != std::string::npos);
    CHECK(page.find("name=\"x\"} -Inf\n") != std::string::npos);
}

TEST_CASE("export: Prometheus' own parser reads the page") {
    std::string const python = python_with("prometheus_client");
    if (python.empty()) { SPOTTER_SKIP("there is no Python with prometheus_client (SPOTTER_PYTHON_VENV)"); }
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything};
        (void)watch.step(train(0), "a\"b\\c\nd"_t = std::nan(""), "x"_t = HUGE_VAL, "y"_t = 0.1);
    }
    CHECK(ask("export " + folder / "run " + folder / "x.prom --force").code == 0);
    constexpr char program[] =
        "import sys\nfrom prometheus_client.parser import text_string_to_metric_families as parse\n"
        "families = {it.name: it for it in parse(open(sys.argv[1]).read())}\n"
        "print(sorted((it.labels['name'], it.value) for it in families['spotter_value'].samples))\n"
        "print(families['spotter_status'].type, families['spotter_steps'].samples[0].value)\n";
    CHECK(ask_python(python, folder / "", folder / "x.prom", program) ==
          "[('a\"b\\\\c\\nd', nan), ('x', inf), ('y', 0.1)]\ngauge 1\n");
}

TEST_CASE("export: safetensors of every type, as its own package reads them") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything};
        std::vector<float> const columns{1, 4, 2, 5, 3, 6};
        std::vector<bf16> const half{{0x3F80}, {0x4000}};
        std::vector<f8_e4m3> const small{{0x38}};
        std::vector<f8_e5m2> const other{{0x3C}};
        bool const flags[] = {true, false};
        c64 const complex[] = {{1, 2}};
        c128 const wide[] = {{1, 2}};
        std::vector<std::int64_t> const whole{-1, 7};
        (void)watch.step(train(0), "columns"_t = view_of(columns, {2, 3}, order::column_major),
                         "bf16"_t = view_of(half, {2}), "e4m3"_t = view_of(small, {1}), "e5m2"_t = view_of(other, {1}),
                         "bool"_t = view_of(flags, {2}), "c64"_t = view_of(complex, {1}), "c128"_t = view_of(wide, {1}),
                         "i64"_t = view_of(whole, {2, 1}), "scalar"_t = 0.5);
    }
    tool_output const it = ask("export " + folder / "run " + folder / "x.safetensors --step train:0");
    CHECK(it.code == 0);
    CHECK(it.says("8 values in 1 file"));
    CHECK(it.complains("safetensors has not, left out: 1"));
    std::string const bytes = text_of(folder / "x.safetensors");
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof size);
    CHECK(size % 8 == 0);
    auto const header = nlohmann::json::parse(bytes.substr(8, static_cast<std::size_t>(size)));
    CHECK(header.at("bf16").at("dtype") == "BF16");
    CHECK(header.at("columns").at("shape") == nlohmann::json{2, 3});
    std::string const python = python_with("safetensors");
    if (python.empty()) { SPOTTER_SKIP("there is no Python with safetensors (SPOTTER_PYTHON_VENV)"); }
    constexpr char program[] = "import sys, safetensors\n"
                               "for name, it in sorted(safetensors.deserialize(open(sys.argv[1], 'rb').read())):\n"
                               "    print(name, it['dtype'], it['shape'], it['data'].hex())\n";
    CHECK(ask_python(python, folder / "", folder / "x.safetensors", program) ==
          "bf16 BF16 [2] 803f0040\nbool BOOL [2] 0100\nc64 C64 [1] 0000803f00000040\n"
          "columns F32 [2, 3] 0000803f0000004000004040000080400000a0400000c040\n"
          "e4m3 F8_E4M3 [1] 38\ne5m2 F8_E5M2 [1] 3c\ni64 I64 [2, 1] ffffffffffffffff0700000000000000\n"
          "scalar F64 [] 000000000000e03f\n");
}

TEST_CASE("export: Parquet as pyarrow and DuckDB read it: a file, and a data set of runs with their workers") {
    temporary_folder const folder;
    for (std::uint32_t const worker : {0U, 1U}) {
        hook watch{folder / "a", everything, any("loss", maximum > 4) | named{"high"},
                   options{.existing = existing::resume, .worker = worker, .workers = 2}};
        watch.scalar("rate", 0.25);
        for (std::uint64_t i = 0; i < 6; ++i) {
            std::vector<float> const w{static_cast<float>(i), -1, static_cast<float>(worker)};
            (void)watch.step(train(i), "loss"_t = static_cast<double>(i), "w"_t = w);
        }
        watch.scalar("note", "a, \"b\"\n\u00e9");
    }
    {
        hook watch{folder / "b=%2", everything};
        (void)watch.step(train(0), "loss"_t = std::nan(""));
        watch.scalar("x", HUGE_VAL);
    }
    std::string const set = folder / "set";
    CHECK(ask("export " + folder / "a " + folder / "a.parquet --stat mean --stat maximum").says("30 points"));
    CHECK(ask("export '" + folder / "b=%2' " + set + " --format parquet").code == 0);
    CHECK(ask("export " + folder / "a " + set + " --format parquet").code == 0);
    CHECK(std::filesystem::exists(set + "/run=a/run.parquet"));
    CHECK(std::filesystem::exists(set + "/run=b%3D%252/run.parquet"));
    tool_output const again = ask("export " + folder / "a " + set + " --format parquet");
    CHECK((again.code == 4 && again.complains("is there already")));
    std::string const bytes = text_of(folder / "a.parquet");
    CHECK((bytes.substr(0, 4) == "PAR1" && bytes.substr(bytes.size() - 4) == "PAR1"));

    // Values are each worker's own, too.
    CHECK(ask("export " + folder / "a " + folder / "values --name w --step train:3").says("2 values in 2 files"));
    CHECK(std::filesystem::exists(folder / "values/worker-1/w/train-3.npy"));
    CHECK(ask("export " + folder / "a " + folder / "a.npz --name w").says("12 values in 1 file"));
    CHECK(ask("export " + folder / "a " + folder / "a.safetensors --name w --step train:3").says("2 values in 1 file"));
    CHECK(text_of(folder / "a.safetensors").find("\"worker-1/w\"") != std::string::npos);
    CHECK(ask("export " + folder / "a - --name loss").says("\n1,5,train,5,"));

    std::string const python = python_with("pyarrow");
    if (python.empty()) { SPOTTER_SKIP("there is no Python with pyarrow (SPOTTER_PYTHON_VENV)"); }
    constexpr char read[] =
        "import sys, pyarrow.parquet as pq\n"
        "t = pq.read_table(sys.argv[1]).to_pylist()\n"
        "print(len(t), sorted({(r['run'], r['worker']) for r in t}))\n"
        "print([r['value'] for r in t if r['name'] == 'loss' and r['worker'] == 1 and not r['rule']])\n"
        "print([(r['index'], r['mean'], r['maximum']) for r in t if r['name'] == 'w' and r['worker'] == 0][-1])\n"
        "print([(r['rule'], r['severity'], r['index'], r['measured'], r['threshold']) for r in t if r['rule']])\n"
        "print([r['text'] for r in t if r['name'] == 'note'][0] == 'a, \"b\"\\n\u00e9', [r['step'] for r in t if "
        "r['name'] == 'rate'])\n";
    CHECK(ask_python(python, folder / "", folder / "a.parquet", read) ==
          "30 [('a', 0), ('a', 1)]\n[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]\n(5, 1.3333333333333333, 5.0)\n"
          "[('high', 'warning', 5, 5.0, 4.0), ('high', 'warning', 5, 5.0, 4.0)]\nTrue [None, None]\n");
    if (python_with("duckdb").empty()) { SPOTTER_SKIP("there is no Python with DuckDB (SPOTTER_PYTHON_VENV)"); }
    constexpr char query[] =
        "import sys, duckdb\n"
        "all = f\"read_parquet('{sys.argv[1]}/*/*.parquet', hive_partitioning = true)\"\n"
        "print(duckdb.sql(f'select run, worker, count(*), max(value) from {all} group by all order by "
        "all').fetchall())\n"
        "print(duckdb.sql(f\"select count(*) from {all} where name = 'loss' and isnan(value)\").fetchall())\n";
    CHECK(ask("export " + folder / "a " + folder / "b.parquet").code == 0);  // what docs/questions.md asks can be asked
    tool_output const answers =
        run_shell(python + " '" SPOTTER_SOURCE_DIR "/bench/questions.py' '" + folder / "b.parquet" + "' 2>&1");
    INFO(answers.out);
    CHECK((answers.code == 0 && answers.says("Which rank is the straggler?: ")));
    CHECK(ask_python(python, folder / "", set, query) ==
          "[('a', 0, 15, 5.0), ('a', 1, 15, 5.0), ('b=%2', 0, 2, nan)]\n[(1,)]\n");
}

TEST_CASE("export: a layer for the embedding projector, with its labels") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything};
        std::vector<float> const points{1, 2, std::nanf(""), 4, 5, 6};
        std::vector<std::int32_t> const labels{7, 8, 9};
        (void)watch.step(eval(0), "act/fc1"_t = view_of(labels, {3, 1}));
        (void)watch.step(eval(5), "act/fc1"_t = view_of(points, {3, 2}), "labels"_t = view_of(labels, {3}),
                         "loss"_t = 1.0);
    }
    std::string const run = folder / "run";
    tool_output const it = ask("export " + run + ' ' + folder / "board --format projector");
    CHECK(it.code == 0);
    CHECK(it.complains("written as 0: 1"));
    CHECK(text_of(folder / "board/projector/act/fc1/eval-5.tsv") == "1\t2\n0\t4\n5\t6\n");
    CHECK(text_of(folder / "board/projector/act/fc1/eval-5.labels.tsv") == "7\n8\n9\n");
    CHECK(text_of(folder / "board/projector_config.pbtxt") ==
          "embeddings {\n  tensor_name: \"act/fc1@eval:5\"\n  tensor_path: \"projector/act/fc1/eval-5.tsv\"\n"
          "  metadata_path: \"projector/act/fc1/eval-5.labels.tsv\"\n}\n");
    CHECK(ask("export " + run + ' ' + folder / "other --format projector --name loss").code == 3);
}

TEST_CASE(
    "export: a run without steps is exported as nothing, in every format, and what is asked for by name is missed") {
    temporary_folder const folder;
    { hook watch{folder / "run", everything}; }
    std::string const run = folder / "run";
    for (std::string const format :
         {"tensorboard", "projector", "safetensors", "npy", "npz", "csv", "jsonl", "parquet", "trace", "prometheus"}) {
        INFO(format);
        tool_output const it = ask("export " + run + ' ' + folder / ("x-" + format) + " --format " + format);
        CHECK(it.code == 0);
        CHECK(it.err.empty());
        CHECK(std::filesystem::exists(folder / ("x-" + format)));
        CHECK(
            ask("export --force " + run + ' ' + folder / ("x-" + format) + " --format " + format + " --name w").code ==
            3);
    }
    CHECK(text_of(folder / "x-safetensors").substr(8, 2) == "{}");
    CHECK(text_of(folder / "x-projector/projector_config.pbtxt").empty());
    CHECK(std::filesystem::is_empty(folder / "x-tensorboard"));
    CHECK(std::filesystem::is_empty(folder / "x-npy"));
    CHECK(ask("export " + run + ' ' + folder / "x.npy").code == 0);
    CHECK(text_of(folder / "x.npy").find("'shape': (0,)") != std::string::npos);
    CHECK(lines_of(text_of(folder / "x-jsonl")).empty());
    CHECK(nlohmann::json::accept(text_of(folder / "x-trace")));
    // A run with nothing readable is not an empty run.
    std::vector<char> bytes = read_file(run + "/000000.spot");
    bytes.resize(64);
    bytes.resize(500, 'x');
    write_file(run + "/000000.spot", bytes);
    std::filesystem::remove(run + "/000000.spotx");
    CHECK(ask("export " + run + ' ' + folder / "y --format tensorboard").code != 0);
    bytes.assign(500, 'x');
    write_file(run + "/000000.spot", bytes);
    CHECK(ask("export " + run + ' ' + folder / "y --format tensorboard").code == 3);
    { hook watch{run, everything, options{.existing = existing::replace}}; }
    CHECK(ask("export " + run + " - --format jsonl").out.empty());
    CHECK(ask("export " + run + " - --format prometheus").says("spotter_steps_total"));
    CHECK(ask("export " + folder / "none x --format tensorboard").code == 3);
    CHECK(ask("export " + run + " x.npz --follow").code == 2);
    CHECK(ask("export --help").says("--format tensorboard"));
}

TEST_CASE("export: damaged values are named, and everything else is exported") {
    temporary_folder const folder;
    record_small(folder / "run");
    std::vector<char> const whole = read_file(folder / "run/000000.spot");
    bool met = false;
    for (std::size_t place = 500; place < whole.size() && !met; place += 500) {
        write_file(folder / "run/000000.spot", whole);
        flip(folder / "run/000000.spot", place);
        tool_output const it = ask("export --force " + folder / "run " + folder / "board --format tensorboard");
        if (it.code != 5 || it.complains("is not whole")) { continue; }
        met = true;
        CHECK(it.complains("fc1/w@train:"));
        CHECK(series_of(read_events(folder / "board/train"), "loss").size() == 10);
        tool_output const other = ask("export --force --json " + folder / "run " + folder / "x.safetensors");
        CHECK(other.code == 5);
        CHECK(other.document().at("damaged").size() == 1);
    }
    CHECK(met);
}

TEST_CASE("export --follow: where another run takes the place of the one that is exported it ends, and says so") {
    temporary_folder const folder;
    for (char const* name : {"other", "run"}) {
        hook watch{folder / name, everything};
        for (std::uint64_t i = 0; i < 9; ++i) { (void)watch.step(train(i), "loss"_t = *name == 'o' ? 5.0 : 1.0); }
        watch.finish();
        if (*name == 'o') { continue; }
        // The first is taken to be live: its end is cut off, and its lock held.
        std::filesystem::remove(folder / "run/000000.spotx");
        std::uint64_t last = 0;
        std::vector<char> bytes = read_file(folder / "run/000000.spot");
        frame_walker walk{std::as_bytes(std::span{bytes})};
        for (walked what = walk.next(); what != walked::end; what = walk.next()) {
            if (what == walked::rows && (walk.frame().flags & layout::has_run_end) != 0) { last = walk.frame().offset; }
        }
        REQUIRE(last > 64);
        std::filesystem::resize_file(folder / "run/000000.spot", last);
    }
    auto const held = system_files().lock(folder / "run/lock");
    REQUIRE(held);
    tool_output lines, board;
    std::thread first{[&] { lines = ask("export --follow " + folder / "run " + folder / "x.jsonl"); }};
    std::thread second{
        [&] { board = ask("export --follow " + folder / "run " + folder / "board --format tensorboard"); }};
    std::this_thread::sleep_for(std::chrono::milliseconds{700});
    std::filesystem::rename(folder / "other/000000.spot", folder / "run/000000.spot");
    first.join();
    second.join();
    for (tool_output const& it : {lines, board}) {
        CHECK(it.code != 0);
        CHECK(it.complains("another run"));
    }
    CHECK(text_of(folder / "x.jsonl").find("5.0") == std::string::npos);  // nothing of the other one
    system_files().unlock(*held);
}

TEST_CASE("export --follow: a live run is exported until it ends") {
    temporary_folder const folder;
    hook watch{folder / "run", everything};
    (void)watch.step(train(0), "loss"_t = 1.0);
    watch.flush();
    tool_output board, lines, page;
    std::thread first{
        [&] { board = ask("export --follow " + folder / "run " + folder / "board --format tensorboard"); }};
    std::thread second{[&] { lines = ask("export --follow " + folder / "run - --format jsonl"); }};
    std::thread third{[&] { page = ask("export --follow " + folder / "run " + folder / "x.prom"); }};
    auto const shown = [&](std::string const& words) {
        std::string const path = folder / "x.prom";
        return std::filesystem::exists(path) && text_of(path).find(words) != std::string::npos;
    };
    for (int i = 0; i < 200 && !shown("spotter_steps_total{run=\"" + folder / "run\"} 1"); ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
    CHECK(shown("status=\"running\"} 1"));
    for (std::uint64_t i = 1; i < 20; ++i) { (void)watch.step(train(i), "loss"_t = 1.0); }
    watch.finish();
    first.join();
    second.join();
    third.join();
    CHECK(board.says("20 points"));
    CHECK(series_of(read_events(folder / "board/train"), "loss").size() == 20);
    CHECK(lines_of(lines.out).size() == 20);
    CHECK(page.code == 0);
    CHECK(shown("status=\"finished\"} 1"));
}
