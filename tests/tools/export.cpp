// SPDX-License-Identifier: Apache-2.0
// export: one tensor, many, and histories; which file, which keys, and that nothing is replaced unasked.
#include <tests/export/numpy.hpp>
#include <tests/tools/tool.hpp>

using namespace spotter;
using namespace spotter_test;

TEST_CASE("export: a tensor at a step as .npy") {
    temporary_folder const folder;
    record_small(folder / "run");
    tool_output const it = ask("export " + folder / "run " + folder / "w.npy --name fc1/w --step train:2");
    CHECK(it.code == 0);
    CHECK(it.says("1 value in 1 file"));
    std::vector<char> const bytes = read_file(folder / "w.npy");
    REQUIRE(bytes.size() == 128 + height * width * sizeof(float));
    std::vector<float> values(height * width);
    std::memcpy(values.data(), bytes.data() + 128, values.size() * sizeof(float));
    CHECK(values == weights_at(2));
    CHECK(!std::filesystem::exists(folder / "w.npy.part"));
}

TEST_CASE("export: everything that has values as one .npz, and as a folder of .npy") {
    temporary_folder const folder;
    record_small(folder / "run");
    auto const document = ask("export --json " + folder / "run " + folder / "all.npz").document();
    CHECK(document.at("format") == "npz");
    CHECK(document.at("tensors") == 17);  // the loss twelve times, the weight five
    CHECK(document.at("files") == nlohmann::json{folder / "all.npz"});
    CHECK(ask("export " + folder / "run " + folder / "files --name 'fc1/*'").says("5 values in 5 files"));
    CHECK(std::filesystem::exists(folder / "files/fc1/w/train-8.npy"));
    CHECK(ask("export " + folder / "run " + folder / "step.npz --step 2").code == 0);

    std::string const python = python_with_numpy();
    if (python.empty()) { SPOTTER_SKIP("no Python with NumPy was found"); }
    constexpr char keys[] = "import numpy, sys\nx = numpy.load(sys.argv[1])\n"
                            "print(len(x.files), x.files[0], x.files[-1], x[x.files[-1]].tolist())\n";
    CHECK(ask_python(python, folder / "", folder / "all.npz", keys) == "9 fc1/w@train:0 loss@eval:steps [4, 9]\n");
    constexpr char sums[] = "import numpy, sys\nx = numpy.load(sys.argv[1])\n"
                            "print(x.files, x['fc1/w'].shape, x['fc1/w'].dtype, float(x['fc1/w'][0, 1]))\n";
    CHECK(ask_python(python, folder / "", folder / "step.npz", sums) ==
          "['fc1/w', 'loss'] (40, 50) float32 -0.19099999964237213\n");
}

TEST_CASE("export: without --name all tensors are written, also where one is called *") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", plan{collection{"all", "*", always{}, payload}}};
        std::vector<float> const values(6, 1.5F);
        (void)watch.step(train(0), "*"_t = values, "other"_t = values);
    }
    CHECK(ask("export --json " + folder / "run " + folder / "all.npz").document().at("tensors") == 2);
    CHECK(ask("export --json " + folder / "run " + folder / "one.npz --name '*'").document().at("tensors") == 1);
}

TEST_CASE("export: histories as .csv, to a file and to standard output") {
    temporary_folder const folder;
    record_small(folder / "run");
    std::string const run = folder / "run";
    tool_output const out = ask("export " + run + " - --name loss --name 'grad/*' --stat mean --stat l2 --mode eval");
    CHECK(out.code == 0);
    CHECK(
        out.out.starts_with("step,mode,index,time,seconds,grad/fc1/w:mean,loss:mean,grad/fc1/w:l2,loss:l2\n5,eval,4,"));
    CHECK(std::count(out.out.begin(), out.out.end(), '\n') == 3);
    CHECK(out.says(",,0.5,,0.5\n"));
    auto const document = ask("export --json " + run + " " + folder / "loss.csv --name loss").document();
    CHECK(document.at("rows") == 12);
    std::vector<char> const text = read_file(folder / "loss.csv");
    CHECK(std::string(text.begin(), text.end()).starts_with("step,mode,index,time,seconds,loss:mean\n0,train,0,"));
}

TEST_CASE("export: a file that is there is replaced only with --force, and a folder's names stay inside it") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything};
        (void)watch.step(train(0), "../../up"_t = 1.0, "/abs"_t = 2.0, "a b"_t = 3.0, ""_t = 4.0);
    }
    std::string const run = folder / "run";
    write_file(folder / "x.csv", {'o', 'l', 'd'});
    tool_output const refused = ask("export " + run + ' ' + folder / "x.csv");
    CHECK(refused.code == 4);
    CHECK(refused.complains("--force"));
    CHECK(read_file(folder / "x.csv").size() == 3);
    CHECK(ask("export --force " + run + ' ' + folder / "x.csv").code == 0);
    CHECK(read_file(folder / "x.csv").size() > 3);

    std::filesystem::create_directory(folder / "deep");
    CHECK(ask("export " + run + ' ' + folder / "deep/out").code == 0);
    CHECK(!std::filesystem::exists(folder / "up"));
    CHECK(std::filesystem::exists(folder / "deep/out/%2E./%2E./up/train-0.npy"));
    CHECK(std::filesystem::exists(folder / "deep/out/%2Fabs/train-0.npy"));
    CHECK(std::filesystem::exists(folder / "deep/out/a%20b/train-0.npy"));
}

TEST_CASE("export: bf16 as its bits, said so, or widened") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything};
        bf16 const values[] = {{0x3F80}, {0xC000}};
        (void)watch.step(train(0), "h"_t = view_of(values, {2}));
    }
    tool_output const bits = ask("export --json " + folder / "run " + folder / "bits.npy");
    CHECK(bits.code == 0);
    CHECK(bits.complains("NumPy has no bf16"));
    CHECK(bits.document().at("as_bits") == nlohmann::json{"bf16"});
    CHECK(read_file(folder / "bits.npy").size() == 128 + 4);
    tool_output const wide = ask("export --widen " + folder / "run " + folder / "wide.npy");
    CHECK(wide.err.empty());
    CHECK(read_file(folder / "wide.npy").size() == 128 + 8);
}

TEST_CASE("export: damaged values are left out, named, and end with 5; the others are there") {
    temporary_folder const folder;
    record_small(folder / "run");
    std::vector<char> const whole = read_file(folder / "run/000000.spot");
    tool_output const good = ask("export --json " + folder / "run " + folder / "whole.npz --name fc1/w");
    bool met = false;
    for (std::size_t place = 500; place < whole.size() && !met; place += 500) {
        write_file(folder / "run/000000.spot", whole);
        flip(folder / "run/000000.spot", place);
        tool_output const it = ask("export --force --json " + folder / "run " + folder / "x.npz --name fc1/w");
        if (it.code != 5 || it.complains("is not whole")) { continue; }
        met = true;
        CHECK(it.document().at("damaged").size() == 1);
        CHECK(it.document().at("tensors").get<int>() == good.document().at("tensors").get<int>() - 1);
        CHECK(it.complains("fc1/w@train:"));
        CHECK(std::filesystem::exists(folder / "x.npz"));
    }
    CHECK(met);
}

TEST_CASE("what is written to a device, a pipe or through a link leaves it there, in every verb") {
    temporary_folder const folder;
    record_small(folder / "run", large_loss);
    std::string const run = folder / "run";
    using std::filesystem::file_type;
    auto const kind = [&](std::string const& name) { return std::filesystem::symlink_status(folder / name).type(); };
    auto const verbs = [&](std::string const& name) {
        return std::vector{"export " + run + ' ' + folder / name + " --format csv --force",
                           "export " + run + ' ' + folder / name + " --format npz --force",
                           "export " + run + ' ' + folder / name + " --format jsonl --follow --force",
                           "export " + run + ' ' + folder / name + " --format prometheus --follow --force",
                           "report " + run + " -o " + folder / name + " --force",
                           "check " + run + " --rules non_finite --junit " + folder / name};
    };
    SECTION("a pipe, with what is written into it") {
        std::string const pipe = folder / "pipe";
        REQUIRE(std::system(("mkfifo " + pipe).c_str()) == 0);
        for (std::string const& each : verbs("pipe")) {
            if (each.find("prometheus") != each.npos) { continue; }  // each page waits for a reader of its own
            INFO(each);
            // One more writer, so that the reader ends where nothing was written into the pipe.
            tool_output const it =
                run_shell("timeout 20 cat '" + pipe + "' >'" + folder / "read" + "' & " + SPOTTER_TOOL + ' ' + each +
                          " >/dev/null 2>&1 </dev/null; code=$?; " + "test -p '" + pipe +
                          "' && timeout 1 sh -c \": >'" + pipe + "'\"; wait; exit $code");
            CHECK(it.code == 0);
            REQUIRE(kind("pipe") == file_type::fifo);
            CHECK(!read_file(folder / "read").empty());
        }
    }
    SECTION("a link to a file, and one to a file that is not there yet") {
        for (bool const is_there : {true, false}) {
            for (std::string const& each : verbs("link")) {
                INFO(each);
                std::filesystem::remove(folder / "target");
                std::filesystem::remove(folder / "link");
                if (is_there) { write_file(folder / "target", {'o', 'l', 'd'}); }
                std::filesystem::create_symlink("target", folder / "link");  // relative to the link's folder
                CHECK(ask(each).code == 0);
                REQUIRE(kind("link") == file_type::symlink);
                REQUIRE(kind("target") == file_type::regular);
                CHECK(read_file(folder / "target").size() > 3);
            }
        }
        CHECK(ask("export " + run + ' ' + folder / "link --format csv").complains("--force"));
        std::filesystem::create_symlink("round", folder / "round");
        CHECK(ask("check " + run + " --junit " + folder / "round").code == 4);
        CHECK(kind("round") == file_type::symlink);
    }
    SECTION("a device") {
        if (std::system(("mknod " + folder / "null c 1 3 2>/dev/null").c_str()) != 0) {
            SPOTTER_SKIP("only root makes a device");
        }
        for (std::string const& each : verbs("null")) {
            INFO(each);
            CHECK(ask(each).code == 0);
            REQUIRE(kind("null") == file_type::character);
        }
        std::filesystem::create_symlink("null", folder / "link");
        CHECK(ask("check " + run + " --rules non_finite --junit " + folder / "link").code == 0);
        CHECK((kind("link") == file_type::symlink && kind("null") == file_type::character));
    }
}

TEST_CASE("export: a step that does not exist is refused in every format, with the steps that there are") {
    temporary_folder const folder;
    record_small(folder / "run");
    std::string const run = folder / "run";
    for (std::string const format : {"npy", "npz", "safetensors", "csv", "jsonl", "parquet", "mcap", "trace",
                                     "perfetto", "openmetrics", "prometheus", "tensorboard", "projector"}) {
        for (std::string const name : {"", " --name loss"}) {
            INFO(format + name);
            tool_output const it =
                ask("export " + run + ' ' + folder / "out --format " + format + " --step 99999" + name);
            CHECK(it.code == 3);
            CHECK(it.complains("nothing that was chosen is at train(99999); it has something at 12 steps"));
            CHECK(!std::filesystem::exists(folder / "out"));
        }
    }
    CHECK(ask("export " + run + " - --step 99999").code == 3);
    CHECK(ask("export " + run + " - --step 3").code == 0);
    CHECK(ask("export " + run + " - --step 3 --name fc1/w").code == 3);  // kept at every second step
    CHECK(ask("export " + run + " - --step 4 --name fc1/w").code == 0);
    CHECK(ask("export " + run + " - --step train:4 --mode eval").code == 3);
}

TEST_CASE("export: a name that is too long is named, and a folder is not begun") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", everything};
        watch.begin(train(0));
        watch.observe("a", 1.0);
        watch.observe("deep/" + std::string(300, 'n'), 2.0);
        watch.observe("w/" + std::string(70000, 'n'), 3.0);
        (void)watch.end();
    }
    std::string const run = folder / "run";
    tool_output const files = ask("export " + run + ' ' + folder / "out");
    CHECK(files.code == 2);
    CHECK(files.complains("\"deep/nnn"));
    CHECK(files.complains("is too long a name for a file"));
    CHECK(!std::filesystem::exists(folder / "out"));
    CHECK(ask("export " + run + ' ' + folder / "out --name a").code == 0);
    tool_output const zip = ask("export " + run + ' ' + folder / "out.npz");
    CHECK(zip.code == 2);
    CHECK(zip.complains("65531 letters at most, and this one has 700"));
    CHECK(zip.complains("\"w/nnn"));
}
