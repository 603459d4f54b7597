// SPDX-License-Identifier: Apache-2.0
// export and show of a damaged record: what cannot be read is said, on standard error and in the output, and the exit
// code is 5; names that are no UTF-8, endings that nobody knows, and folders that are not there.
#include <tests/export/numpy.hpp>
#include <tests/tools/tool.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t bad_step = 3;

// Six steps of a vector and a number, with only their values kept. The vector's values at one step cannot be read, and
// no row frame is damaged.
void record_with_bad_value(std::string const& path) {
    {
        hook watch{path, everything};
        std::vector<float> values(700);
        std::uint32_t state = 5;
        for (std::uint64_t i = 0; i < 6; ++i) {
            for (float& each : values) {
                state = state * 1664525U + 1013904223U;
                each = static_cast<float>(state >> 8) * 0x1p-24F;
            }
            watch.begin(train(i));
            watch.observe("loss", 1.0 / static_cast<double>(i + 1));
            watch.observe("v", values, role::weight);
            (void)watch.end();
            watch.flush();
        }
    }
    std::string const file = path + "/000000.spot";
    std::vector<char> const whole = read_file(file);
    for (std::size_t place = 200; place < whole.size(); place += 400) {
        std::vector<char> bytes = whole;
        bytes[place] = static_cast<char>(bytes[place] ^ 8);
        write_file(file, bytes);
        trial const run = open(path);
        if (run["v"].at(train(bad_step)).error().code == errc::corrupt && run.damage().empty()) { return; }
    }
    FAIL("no byte spoils that value alone");
}

}  // namespace

TEST_CASE("export: a value that cannot be read is reported in every format that can say so, and on standard error; the "
          "exit code is 5") {
    temporary_folder const folder;
    std::string const run = folder / "run", bad = "v@train:3";
    record_with_bad_value(run);
    auto const exported = [&](std::string const& name, std::string const& more = {}) {
        tool_output const it = ask("export " + run + ' ' + folder / name + more);
        INFO(name << more << '\n' << it.err);
        CHECK(it.code == 5);
        CHECK(it.complains("v"));
        CHECK(it.complains("@train:3 cannot be read"));
        return fs::is_regular_file(folder / name) ? text_of(folder / name) : std::string{};
    };
    std::string const table = exported("x.csv", " --name loss --name v --stat l2 --stat mean");
    CHECK(table.find("\n3,train,3,") != table.npos);
    CHECK(table.find(",0.25,NA,0.25,NA\n") != table.npos);
    CHECK(std::count(table.begin(), table.end(), '\n') == 7);
    CHECK(ask("export --json " + run + ' ' + folder / "y.csv --name v").document().at("damaged") ==
          nlohmann::json{"v:mean@train:3"});
    // Of what was asked for all is there.
    CHECK(ask("export " + run + ' ' + folder / "loss.csv --name loss").code == 0);

    CHECK(exported("x.npz").ends_with("unreadable:\n" + bad));
    CHECK(exported("x.safetensors").find(R"("__metadata__":{"unreadable":"unreadable:\u000av@train:3"})") !=
          std::string::npos);
    (void)exported("values");
    CHECK(text_of(folder / "values/unreadable.txt") == "unreadable:\n" + bad + '\n');
    CHECK_FALSE(fs::exists(folder / "values/v/train-3.npy"));
    CHECK(fs::exists(folder / "values/v/train-4.npy"));
    std::string const lines = exported("x.jsonl", " --stat l2");
    CHECK(lines.find("{\"name\":\"v\",\"step\":3,\"mode\":\"train\",\"index\":3,\"time\":") != lines.npos);
    CHECK(lines.find(",\"unreadable\":true}\n") != lines.npos);
    CHECK(exported("x.json", " --stat l2").find("v cannot be read") != std::string::npos);
    CHECK(exported("x.pftrace", " --stat l2").find("v cannot be read") != std::string::npos);
    (void)exported("x.parquet", " --stat l2");
    (void)exported("x.mcap", " --stat l2");
    CHECK(exported("x.prom", " --stat l2").find("spotter_unreadable_total{run=\"" + run + "\"} 1\n") !=
          std::string::npos);
    (void)exported("board", " --format tensorboard");

    std::string const python = python_with_numpy();
    if (python.empty()) { SPOTTER_SKIP("no Python with NumPy was found"); }
    constexpr char keys[] = "import numpy, sys, zipfile\nx = numpy.load(sys.argv[1])\n"
                            "print('v@train:3' in x.files, len(x['v@train:4']), "
                            "zipfile.ZipFile(sys.argv[1]).comment.decode().split()[-1])\n";
    CHECK(ask_python(python, folder / "", folder / "x.npz", keys) == "False 700 v@train:3\n");
}

TEST_CASE("export: a cell that something unreadable may have superseded is NA, and not what was there before") {
    temporary_folder const folder;
    std::string const run = folder / "run", file = run + "/000001.spot";
    for (int attempt = 0; attempt < 2; ++attempt) {
        hook watch{run, everything, options{.existing = existing::resume}};
        for (std::uint64_t i = 0; i < 6; ++i) {
            (void)watch.step(train(i), "loss"_t = 100.0 * attempt + static_cast<double>(i));
            watch.flush();
        }
    }
    std::vector<char> bytes = read_file(file);
    bytes.resize(bytes.size() * 2 / 3);
    write_file(file, bytes);
    tool_output const it = ask("export " + run + " - --name loss");
    INFO(it.out << it.err);
    CHECK(it.code == 5);
    CHECK(it.says(",100\n"));
    CHECK(it.says(",NA\n"));
    CHECK_FALSE(it.says(",5\n"));
    CHECK(it.complains("loss:mean@train:5 cannot be read"));
}

TEST_CASE("show: a series counts apart what cannot be read and what was not kept, and ends with 5") {
    temporary_folder const folder;
    std::string const run = folder / "run";
    record_with_bad_value(run);
    tool_output const curve = ask("show " + run + " v --stat l2");
    CHECK(curve.code == 5);
    CHECK(curve.says("6 points, 1 cannot be read;"));
    CHECK(curve.complains("1 of 6 points of v cannot be read, first train(3)"));
    tool_output const numbers = ask("show " + run + " v --stat l2 --as numbers");
    CHECK((numbers.code == 5 && numbers.says("train(3)\tunreadable\n")));
    auto const points = ask("show --json " + run + " v --stat l2").document().at("points");
    for (auto const& each : points) { CHECK(each.contains("unreadable") == (each.at("index") == bad_step)); }
    CHECK(ask("show " + run + " loss").code == 0);
}

TEST_CASE("report: the page says of how many values that it looked at nothing could be read") {
    temporary_folder const folder;
    record_with_bad_value(folder / "run");
    CHECK(ask("report " + folder / "run -o " + folder / "page.html").code == 0);
    CHECK(text_of(folder / "page.html").find("1 value that the page looked at cannot be read") != std::string::npos);
}

TEST_CASE("export: names that are no UTF-8 spoil no other, and stay apart, in every format") {
    temporary_folder const folder;
    std::string const run = folder / "run";
    {
        hook watch{run, everything};
        for (std::uint64_t i = 0; i < 2; ++i) {
            (void)watch.step(train(i), "=1+2"_t = 4.0, "\xFFx"_t = 1.0, "\xFEx"_t = 2.0, "\xC3\xA4"_t = 3.0);
        }
    }
    tool_output const table = ask("export " + run + " -");
    CHECK(table.out.starts_with("step,mode,index,time,seconds,'=1+2:mean,\xC3\xA4:mean,\\xfex:mean,\\xffx:mean\n"));
    CHECK(ask("export " + run + " - --format jsonl").says("{\"name\":\"\\\\xfex\","));
    CHECK(ask("export " + run + " - --format prometheus").says("name=\"\\\\xffx\"} 1\n"));
    for (std::string const name : {"x.npz", "x.safetensors", "x.parquet", "x.mcap"}) {
        INFO(name);
        CHECK(ask("export " + run + ' ' + folder / name).code == 0);
        std::string const bytes = text_of(folder / name);
        if (name == "x.mcap") { continue; }  // compressed
        CHECK(bytes.find("\xFFx") == bytes.npos);
    }
    CHECK(text_of(folder / "x.npz").find("\\xfex@train.npy") != std::string::npos);
    CHECK(ask("ls --json " + run).document().dump().find(R"(\\xffx)") != std::string::npos);
    std::string const python = python_with_numpy();
    if (python.empty()) { SPOTTER_SKIP("no Python with NumPy was found"); }
    constexpr char keys[] = "import numpy, sys\nx = numpy.load(sys.argv[1])\n"
                            "print(sorted(k.encode('ascii', 'backslashreplace').decode() for k in x.files if ':' not "
                            "in k), x['\\u00e4@train'].tolist())\n";
    CHECK(ask_python(python, folder / "", folder / "x.npz", keys) ==
          "['=1+2@train', '\\\\xe4@train', '\\\\xfex@train', '\\\\xffx@train'] [3.0, 3.0]\n");
}

TEST_CASE("export: an unknown ending is refused, with the one that was meant; only a name without one is a folder, and "
          "only that is made") {
    temporary_folder const folder;
    std::string const run = folder / "run";
    record_small(run);
    for (std::string const name : {"x.foo", "out.parqet", "a.b.npzz", "v1.2", "dir/x.cvs"}) {
        tool_output const it = ask("export " + run + ' ' + folder / name);
        INFO(name << it.err);
        CHECK(it.code == 2);
        CHECK(it.complains("no format has the ending"));
        CHECK_FALSE(fs::exists(folder / name));
    }
    CHECK(ask("export " + run + ' ' + folder / "out.parqet").complains("did you mean .parquet?"));
    CHECK(ask("export " + run + ' ' + folder / "out.csvv").complains("did you mean .csv?"));
    CHECK_FALSE(ask("export " + run + ' ' + folder / "out.xyz").complains("did you mean"));
    CHECK(ask("export " + run + ' ' + folder / "board.2 --format tensorboard").code == 0);  // said by its name
    for (std::string const name : {"values", ".hidden", "v1.2/"}) {
        CHECK(ask("export " + run + " '" + folder / name + "' --name loss --step 1").code == 0);
        CHECK(fs::exists(folder / name + "/loss/train-1.npy"));
    }
    fs::create_directory(folder / "results");
    tool_output const misspelt = ask("export " + run + ' ' + folder / "reslts/x.csv");
    CHECK(misspelt.code == 2);
    CHECK(misspelt.complains("did you mean \"results\"?"));
    CHECK_FALSE(fs::exists(folder / "reslts"));
    for (std::string const more :
         {"deep/er/out", "deep/tb --format tensorboard", "deep/set --format parquet", "deep/p --format projector"}) {
        tool_output const it = ask("export " + run + ' ' + folder / more);
        INFO(more << it.err);
        CHECK((it.code == 2 && it.complains("there is no folder")));
    }
    CHECK_FALSE(fs::exists(folder / "deep"));
    CHECK(ask("export " + run + ' ' + folder / "results/x.csv").code == 0);
}
