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
