// SPDX-License-Identifier: Apache-2.0
// export and check --junit as the tools that they are for read them: MCAP, Perfetto, OpenMetrics, JUnit.
#include <tests/export/numpy.hpp>
#include <tests/tools/tool.hpp>

#include <spotter/export/crc32.hpp>
#include <spotter/rule/builtin/non_finite.hpp>

#include <cmath>
#include <cstring>

using namespace spotter;
using namespace spotter_test;

namespace {

// Two workers: a loss that is NaN at step 3 of worker 0, statistics of a gradient, a section, a text, a scalar between
// steps.
void record_two(std::string const& path) {
    plan const keep{collection{"numbers", "{loss,count,time/*,note*}", always{}, payload},
                    collection{"gradients", "grad*", always{}, stats(l2, maximum)}};
    hook first{path, keep, non_finite{}, options{.worker = 0, .workers = 2}};
    auto second = first.worker(1);
    first.scalar("rate", 0.25, 1000.5);
    std::vector<float> const gradient{3, 4};
    for (std::uint64_t i = 0; i < 5; ++i) {
        double const loss = i == 3 ? std::nan("") : 1.0 / static_cast<double>(i + 1);
        (void)first.step(train(i), "loss"_t = loss, "grad"_t = gradient, "count"_t = std::uint64_t{1} << 60U,
                         "time/forward"_t = 1e-9);
        (void)second.step(train(i), "loss"_t = 2.0);
    }
    (void)first.step(eval(0), "loss"_t = 0.5, "note \"of\" it"_t = 1.0);
    first.finish(), second.finish();
}

template <class Integer>
Integer integer_at(std::string const& bytes, std::size_t at) {
    Integer value{};
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return value;
}

}  // namespace

TEST_CASE("export: MCAP has its magic at both ends, and a footer whose checksum is that of the summary") {
    temporary_folder const folder;
    record_two(folder / "run");
    tool_output const it = ask("export " + folder / "run " + folder / "x.mcap");
    CHECK(it.code == 0);
    CHECK(it.complains("numbers that are not finite, written as null: 1"));
    std::string const bytes = text_of(folder / "x.mcap");
    std::string const magic{"\x89MCAP0\r\n", 8};
    REQUIRE(bytes.size() > 100);
    CHECK(bytes.starts_with(magic));
    CHECK(bytes.ends_with(magic));
    std::size_t const footer = bytes.size() - 8 - 29;
    REQUIRE(bytes[footer] == 2);
    auto const summary = integer_at<std::uint64_t>(bytes, footer + 9);
    REQUIRE(summary < footer);
    std::span const part{reinterpret_cast<std::byte const*>(bytes.data()) + summary, footer + 25 - summary};
    CHECK(integer_at<std::uint32_t>(bytes, footer + 25) == crc32(part));
    // Each record from the front on lies behind the one before, up to the footer.
    std::size_t at = 8;
    std::size_t chunks = 0;
    while (at < footer) {
        chunks += bytes[at] == 6 ? 1 : 0;
        at += 9 + integer_at<std::uint64_t>(bytes, at + 1);
    }
    CHECK(at == footer);
    CHECK(chunks == 1);
    CHECK(ask("export " + folder / "run - --format mcap").code == 2);
    { hook watch{folder / "empty", everything}; }
    CHECK(ask("export " + folder / "empty " + folder / "empty.mcap").code == 0);
    CHECK(text_of(folder / "empty.mcap").ends_with(magic));
}

TEST_CASE("export: MCAP as its own package reads it, by the index and from the front, of many chunks") {
    std::string const python = python_with("mcap");
    if (python.empty()) { SPOTTER_SKIP("there is no Python with mcap (SPOTTER_PYTHON_VENV)"); }
    temporary_folder const folder;
    record_two(folder / "run");
    CHECK(ask("export " + folder / "run " + folder / "x.mcap").code == 0);
    constexpr char read[] =
        "import json, sys\n"
        "from mcap.reader import make_reader, NonSeekingReader\n"
        "def reported(reader):\n"
        "    return [(c.topic, s.name, m.sequence, json.loads(m.data)) for s, c, m in reader.iter_messages()]\n"
        "file = open(sys.argv[1], 'rb')\n"
        "reader = make_reader(file, validate_crcs=True)\n"
        "all = reported(reader)\n"
        "front = reported(NonSeekingReader(open(sys.argv[1], 'rb'), validate_crcs=True))\n"
        "print(sorted(map(str, front)) == sorted(map(str, all)), len(all))\n"
        "for topic in ('/worker-0/train/loss', '/worker-0/train/rate', '/worker-0/eval/loss'):\n"
        "    print([d for t, s, n, d in all if t == topic])\n"
        "print([d for t, s, n, d in all if t == '/worker-0/train/grad'][:1], [d for t, s, n, d in all if t == "
        "'/worker-0/train/count'][:1])\n"
        "print([(s, d['level'], d['name'], d['line']) for t, s, n, d in all if t == '/worker-0/findings'])\n"
        "summary = reader.get_summary()\n"
        "print(summary.statistics.message_count, len(summary.chunk_indexes), sorted(s.name for s in "
        "summary.schemas.values()))\n"
        "print([(m.name, m.metadata['status'], m.metadata['steps']) for m in reader.iter_metadata()])\n"
        "rate = [m for s, c, m in reader.iter_messages(topics=['/worker-0/train/rate'])]\n"
        "times = [m.log_time for s, c, m in reader.iter_messages()]\n"
        "print([m.log_time for m in rate], times == sorted(times))\n";
    CHECK(ask_python(python, folder / "", folder / "x.mcap", read) ==
          "True 29\n"
          "[{'step': 0, 'value': 1}, {'step': 1, 'value': 0.5}, {'step': 2, 'value': 0.3333333333333333}, {'step': 3, "
          "'value': None}, "
          "{'step': 4, 'value': 0.2}]\n"
          "[{'value': 0.25}]\n"
          "[{'step': 0, 'value': 0.5}]\n"
          "[{'step': 0, 'minimum': 3, 'maximum': 4, 'l2': 5, 'nonfinite': 0}] [{'step': 0, 'value': "
          "1152921504606846976}]\n"
          "[('foxglove.Log', 4, 'non_finite', 3)]\n"
          "29 1 ['foxglove.Log', 'spotter.Number', 'spotter.Statistics', 'spotter.Text']\n"
          "[('spotter', 'finished', '11')]\n"
          "[1000500000000] True\n");
    {
        hook watch{folder / "long", everything};
        for (std::uint64_t i = 0; i < 20'000; ++i) { (void)watch.step(train(i), "a"_t = 1.0, "b"_t = 2.0); }
    }
    CHECK(ask("export " + folder / "long " + folder / "long.mcap").code == 0);
    constexpr char count[] = "import sys\nfrom mcap.reader import make_reader\n"
                             "reader = make_reader(open(sys.argv[1], 'rb'), validate_crcs=True)\n"
                             "summary = reader.get_summary()\n"
                             "chunks = summary.chunk_indexes\n"
                             "seen = sum(1 for _ in reader.iter_messages(topics=['/train/b']))\n"
                             "print(summary.statistics.message_count, len(chunks) > 1, seen, all(c.compression == "
                             "'zstd' for c in chunks))\n";
    CHECK(ask_python(python, folder / "", folder / "long.mcap", count) == "40000 True 20000 True\n");
}

TEST_CASE("export: Perfetto's packets, decoded by its own definitions, are the time line of the JSON trace") {
    std::string const python = python_with("perfetto.protos.perfetto.trace.perfetto_trace_pb2");
    if (python.empty()) { SPOTTER_SKIP("there is no Python with perfetto (SPOTTER_PYTHON_VENV)"); }
    temporary_folder const folder;
    record_two(folder / "run");
    CHECK(ask("export " + folder / "run " + folder / "x.json").code == 0);
    tool_output const it = ask("export " + folder / "run " + folder / "x.pftrace");
    CHECK(it.code == 0);
    CHECK(it.complains("left out: 1"));
    constexpr char read[] =
        "import json, sys\n"
        "from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace\n"
        "trace = Trace()\n"
        "trace.ParseFromString(open(sys.argv[1], 'rb').read())\n"
        "tracks, parents, begun, slices, counters, instants = {}, {}, {}, [], [], []\n"
        "for packet in trace.packet:\n"
        "    if packet.HasField('track_descriptor'):\n"
        "        it = packet.track_descriptor\n"
        "        assert it.uuid not in tracks\n"
        "        tracks[it.uuid] = it.name or it.thread.thread_name or it.process.process_name\n"
        "        parents[it.uuid] = it.parent_uuid\n"
        "        continue\n"
        "    it, at = packet.track_event, packet.timestamp / 1000\n"
        "    where = (parents[it.track_uuid] - 1) // 8\n"
        "    if it.type == it.TYPE_SLICE_BEGIN: begun[it.track_uuid] = (it.name, list(it.categories)[0], at)\n"
        "    if it.type == it.TYPE_SLICE_END:\n"
        "        name, kind, since = begun.pop(it.track_uuid)\n"
        "        slices.append((where, tracks[it.track_uuid], name, kind, round(since), round(at)))\n"
        "    if it.type == it.TYPE_COUNTER: counters.append((where, tracks[it.track_uuid], round(at), "
        "it.double_counter_value))\n"
        "    if it.type == it.TYPE_INSTANT: instants.append((where, it.name, round(at), "
        "it.debug_annotations[0].string_value))\n"
        "old = json.load(open(sys.argv[1].replace('.pftrace', '.json')))['traceEvents']\n"
        "threads = {1: 'train', 2: 'eval', 3: 'predict'}\n"
        "near = lambda a, b: len(a) == len(b) and all(x[:-2] == y[:-2] and abs(x[-2] - y[-2]) <= 1 and abs(x[-1] - "
        "y[-1]) <= 1 for x, y in zip(a, b))\n"
        "print(near(slices, [(e['pid'], threads[e['tid']], e['name'], e['cat'], round(e['ts']), round(e['ts'] + "
        "e['dur'])) for e in old if e['ph'] == 'X']), len(slices))\n"
        "print([(c[0], c[1], c[3]) for c in counters] == [(e['pid'], e['name'], e['args']['value']) for e in old if "
        "e['ph'] == 'C'], len(counters))\n"
        "print([(i[0], i[1], i[3]) for i in instants] == [(e['pid'], e['name'], e['args']['text']) for e in old if "
        "e['ph'] == 'i'], [i[1] for i in instants])\n"
        "print(sorted(set(tracks[t] for t in tracks if not parents[t])), not begun)\n";
    CHECK(ask_python(python, folder / "", folder / "x.pftrace", read) ==
          "True 16\nTrue 42\nTrue ['non_finite']\n['worker 0', 'worker 1'] True\n");
    CHECK(std::filesystem::file_size(folder / "x.pftrace") < std::filesystem::file_size(folder / "x.json"));
}

TEST_CASE("export: OpenMetrics as its strict parser reads it, by the ending and by the format") {
    temporary_folder const folder;
    record_two(folder / "run");
    std::string const page = ask("export " + folder / "run - --format openmetrics").out;
    CHECK(page.ends_with("\n# EOF\n"));
    CHECK(page.find("# TYPE spotter_steps counter\nspotter_steps_total{") != page.npos);
    CHECK(ask("export " + folder / "run - --format prometheus").out.find("# TYPE spotter_steps_total counter\n") !=
          std::string::npos);
    std::string const python = python_with("prometheus_client.openmetrics.parser");
    if (python.empty()) { SPOTTER_SKIP("there is no Python with prometheus_client (SPOTTER_PYTHON_VENV)"); }
    CHECK(ask("export " + folder / "run " + folder / "x.openmetrics").code == 0);
    constexpr char program[] =
        "import sys\nfrom prometheus_client.openmetrics.parser import text_string_to_metric_families as parse\n"
        "families = {it.name: it for it in parse(open(sys.argv[1]).read())}\n"
        "print(sorted((it.labels['worker'], it.labels['mode'], it.labels['name'], it.value) for it in "
        "families['spotter_value'].samples if 'loss' in it.labels['name']))\n"
        "print(families['spotter_steps'].type, families['spotter_steps'].samples[0].value, "
        "families['spotter_findings'].samples[0].value)\n";
    CHECK(ask_python(python, folder / "", folder / "x.openmetrics", program) ==
          "[('0', 'eval', 'loss', 0.5), ('0', 'train', 'loss', 0.2), ('1', 'train', 'loss', 2)]\ncounter 11 1\n");
}

TEST_CASE("check --junit: as Ant's schema has it, and as junitparser reads it") {
    temporary_folder const folder;
    record_two(folder / "run");
    CHECK(ask("check " + folder / "run --rules non_finite --rules dead_relu --junit " + folder / "x.xml").code == 1);
    std::string const text = text_of(folder / "x.xml");
    // A failure has a type, a suite its errors, time, host and the time when it began; a case a time.
    for (std::string_view const part : {" type=\"error\"", " errors=\"0\"", " time=\"", " timestamp=\"", " hostname=\"",
                                        "<properties/>", "<system-out/>", "<system-err/>"}) {
        INFO(std::string{part});
        CHECK(text.find(part) != text.npos);
    }
    std::string const python = python_with("junitparser");
    if (python.empty()) { SPOTTER_SKIP("there is no Python with junitparser (SPOTTER_PYTHON_VENV)"); }
    constexpr char program[] = "import sys\nfrom junitparser import JUnitXml\n"
                               "for suite in JUnitXml.fromfile(sys.argv[1]):\n"
                               "    print(suite.tests, suite.failures, suite.errors, suite.skipped)\n"
                               "    for case in suite:\n"
                               "        print(case.name, [(type(it).__name__, it.type) for it in case.result])\n";
    std::string const reported_by_it = ask_python(python, folder / "", folder / "x.xml", program);
    // A suite a worker.
    CHECK(reported_by_it == "2 1 0 1\nnon_finite [('Failure', 'error')]\ndead_relu [('Skipped', None)]\n"
                            "2 0 0 1\nnon_finite []\ndead_relu [('Skipped', None)]\n");
}
