// SPDX-License-Identifier: Apache-2.0
// diff: exit codes, the document, errors; and a training in C++ against the same one in NumPy, with a planted
// difference.
#include <tests/export/numpy.hpp>
#include <tests/tools/tool.hpp>

#include <examples/common/regression.hpp>

#include <spotter/plan/dynamic_plan.hpp>

#include <cmath>

using namespace spotter;
using namespace spotter_test;

namespace {

// The regression of the examples, every tensor of ten steps.
void train_in_cpp(std::string const& path) {
    hook watch{path, everything};
    example::regression net;
    for (std::uint64_t i = 0; i < 10; ++i) {
        float const loss = net.forward_backward();
        (void)watch.step(train(i), net, "loss"_t = loss);
        net.update();
    }
}

// The same in NumPy from what the C++ program began with and was fed, dumped as a user of PyTorch or NumPy would.
constexpr char train_in_numpy[] = R"(
import sys
sys.path.insert(0, SOURCE + '/tools/python')
from dump_tensors import dump
import numpy as np

def training(begin, out, dtype, plant=None):
    w1, w2 = begin['fc1/w@train:0'].astype(dtype), begin['fc2/w@train:0'].astype(dtype)
    for i in range(10):
        x = begin['input@train:%d' % i].astype(dtype)
        h = np.maximum(x @ w1, 0)
        gap = h @ w2 - np.sin(3 * x[:, :1]) * x[:, 1:]
        slope = 2 * gap / dtype(len(x))
        g2 = h.T @ slope
        back = (slope @ w2.T) * (h > 0)
        if plant == 'transposed' and i == 4:
            back = back.T.reshape(back.shape)
        g1 = x.T @ back
        dump(out, i, {'fc1.w': w1, 'fc2.w': w2, 'input': x, 'act.fc1': h, 'grad.fc1.w': g1, 'grad.fc2.w': g2,
                      'loss': np.mean(gap * gap)})
        rate = dtype(0.051 if plant == 'rate' and i == 6 else 0.05)
        w1, w2 = w1 - rate * g1, w2 - rate * g2

folder = sys.argv[1]
begin = np.load(folder + 'begin.npz')
training(begin, folder + 'f32', np.float32)
training(begin, folder + 'f64', np.float64)
training(begin, folder + 'transposed', np.float32, 'transposed')
training(begin, folder + 'rate', np.float32, 'rate')
training(begin, folder + 'turned', np.float32)
for i in range(10):
    x = dict(np.load(folder + 'turned/train-%d.npz' % i))
    x['fc1.w'], x['grad.fc1.w'] = x['fc1.w'].T.copy(), x['grad.fc1.w'].T.copy()
    np.savez(folder + 'turned/train-%d.npz' % i, **x)
print('done')
)";

// The same net by PyTorch's own layers, gradients and optimizer.
constexpr char train_in_torch[] = R"(
import sys
sys.path.insert(0, SOURCE + '/tools/python')
from dump_tensors import dump, tensors_of
import numpy as np, torch

folder = sys.argv[1]
begin = np.load(folder + 'begin.npz')
net = torch.nn.Sequential(torch.nn.Linear(2, 16, bias=False), torch.nn.ReLU(), torch.nn.Linear(16, 1, bias=False))
with torch.no_grad():
    net[0].weight.copy_(torch.from_numpy(begin['fc1/w@train:0'].T.copy()))
    net[2].weight.copy_(torch.from_numpy(begin['fc2/w@train:0'].T.copy()))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for i in range(10):
    x = torch.from_numpy(begin['input@train:%d' % i])
    loss = torch.nn.functional.mse_loss(net(x), torch.sin(3 * x[:, :1]) * x[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    dump(folder + 'torch', i, {'input': x, **tensors_of(net), 'half': x.bfloat16(), 'loss': loss})
    optimizer.step()
print('done')
)";

std::string with_source(char const* program) { return "SOURCE = '" SPOTTER_SOURCE_DIR "'\n" + std::string{program}; }

}  // namespace

TEST_CASE("diff: a training in C++ and the same in NumPy, and where a planted difference begins") {
    std::string const python = python_with_numpy();
    if (python.empty()) { SPOTTER_SKIP("no Python with NumPy was found"); }
    temporary_folder const folder;
    train_in_cpp(folder / "run");
    REQUIRE(ask("export " + folder / "run " + folder / "begin.npz").code == 0);
    REQUIRE(ask_python(python, folder / "", folder / "", with_source(train_in_numpy)) == "done\n");
    std::string const run = "diff " + folder / "run ";

    auto const same = ask(run + folder / "f32 --rtol 1e-4 --atol 1e-6 --json").document();
    CHECK(same.at("differs") == false);
    CHECK(same.at("pairs") == 7);
    CHECK(same.at("steps") == 10);
    CHECK(same.at("tensors").at(0).at("a") == "fc1/w");
    CHECK(same.at("tensors").at(0).at("b") == "fc1.w");
    CHECK(ask(run + folder / "f32 --rtol 1e-4 --atol 1e-6").code == 0);

    // A gradient in the wrong order: at its step everything before it is equal.
    tool_output const wrong = ask(run + folder / "transposed --rtol 1e-4 --atol 1e-6 --json");
    CHECK(wrong.code == 1);
    auto const first = wrong.document().at("first");
    CHECK(first.at("step") == nlohmann::json{{"mode", "train"}, {"index", 4}});
    CHECK(first.at("tensor") == "grad/fc1/w");
    CHECK(wrong.document().at("at_first").at(3).at("verdict") != "differs");
    CHECK(wrong.document().at("at_first").at(4).at("errors").at("rel_l2") > 0.1);
    tool_output const words = ask(run + folder / "transposed --rtol 1e-4 --atol 1e-6");
    CHECK(words.says("first difference: train(4), \"grad/fc1/w\": at ["));
    CHECK(words.says("A and B differ"));

    // A wrong learning rate in step 6 shows in the weights of step 7.
    auto const rate = ask(run + folder / "rate --rtol 1e-4 --atol 1e-6 --json").document();
    CHECK(rate.at("first").at("step").at("index") == 7);
    CHECK(rate.at("first").at("tensor") == "fc1/w");

    // PyTorch keeps a linear layer's weight the other way round.
    auto const turned = ask(run + folder / "turned --rtol 1e-4 --atol 1e-6 --json").document();
    CHECK(turned.at("first").at("step").at("index") == 0);
    CHECK(turned.at("at_first").at(0).at("swapped_axes") == true);
    CHECK(ask(run + folder / "turned --rtol 1e-4 --atol 1e-6 --transpose '*fc1/w'").code == 0);

    // Both are float32, and as near to the truth.
    tool_output const truth = ask(run + folder / "f32 --json --reference " + folder / "f64");
    CHECK(truth.code == 1);
    for (auto const& each : truth.document().at("tensors")) {
        CHECK(each.at("reference").at("steps") == 10);
        CHECK(each.at("reference").at("rel_l2_a") < 1e-5);
        CHECK(each.at("reference").at("rel_l2_b") < 1e-5);
    }
    auto const far = ask(run + folder / "rate --json --reference " + folder / "f64").document();
    CHECK(far.at("tensors").at(0).at("reference").at("rel_l2_b") > 1e-5);
    CHECK(ask(run + folder / "f32 --reference " + folder / "f64").says("against the reference"));
}

TEST_CASE("diff: a training in C++ and the same in PyTorch, whose names and axes are others") {
    std::string const python = python_with_numpy();
    if (python.empty()) { SPOTTER_SKIP("no Python with NumPy was found"); }
    if (std::system((python + " -c 'import torch' >/dev/null 2>&1").c_str()) != 0) {
        SPOTTER_SKIP("this Python has no PyTorch");
    }
    temporary_folder const folder;
    train_in_cpp(folder / "run");
    REQUIRE(ask("export " + folder / "run " + folder / "begin.npz").code == 0);
    REQUIRE(ask_python(python, folder / "", folder / "", with_source(train_in_torch)) == "done\n");
    std::string const names = R"({"fc1/w": "0.weight", "fc2/w": "2.weight",
                                  "grad/fc1/w": "grad/0.weight", "grad/fc2/w": "grad/2.weight"})";
    write_file(folder / "names.json", {names.begin(), names.end()});
    std::string const both = folder / "run " + folder / "torch --rtol 1e-4 --atol 1e-6 --map " + folder / "names.json ";
    auto const turned = ask("diff --json " + both).document();
    CHECK(turned.at("at_first").at(0).at("swapped_axes") == true);
    auto const same = ask("diff --json --transpose '*/w' " + both).document();
    CHECK(same.at("differs") == false);
    CHECK(same.at("pairs") == 6);
    CHECK(same.at("names_only_a") == nlohmann::json{"act/fc1"});
    CHECK(same.at("names_only_b") == nlohmann::json{"half"});
}

TEST_CASE("diff: a run and what it was exported as, .npz and a folder of .npy") {
    temporary_folder const folder;
    record_small(folder / "run");
    std::string const run = folder / "run";
    REQUIRE(ask("export " + run + ' ' + folder / "all.npz").code == 0);
    REQUIRE(ask("export " + run + ' ' + folder / "files").code == 0);
    for (std::string const name : {"all.npz", "files", "files/"}) {
        tool_output const it = ask("diff --json " + run + ' ' + folder / name);
        CHECK(it.code == 0);
        CHECK(it.document().at("pairs") == 2);
        CHECK(it.document().at("steps") == 12);
        CHECK(it.document().at("names_only_a") == nlohmann::json{"grad/fc1/w"});
        CHECK(ask("diff " + folder / name + ' ' + run).code == 0);
    }
    CHECK(ask("diff " + run + ' ' + run).says("A and B are equal"));
    CHECK(ask("diff --strict " + run + ' ' + folder / "all.npz").code == 1);
}

TEST_CASE("diff: names by a map, and what is asked for only") {
    temporary_folder const folder;
    record_small(folder / "a");
    {
        hook watch{folder / "b", everything};
        for (std::uint64_t i = 0; i < 10; ++i) {
            std::vector<float> values = weights_at(i);
            values[120] += i == 4 ? 1.0F : 0.0F;
            (void)watch.step(train(i), "layer.weight"_t = view_of(values.data(), {height, width}));
        }
    }
    std::string const both = folder / "a " + folder / "b ";
    CHECK(ask("diff " + both).code == 3);
    CHECK(ask("diff " + both).complains("--map"));
    auto const it = ask("diff --json " + both + "--map fc1/w=layer.weight").document();
    CHECK(it.at("first").at("step").at("index") == 4);
    CHECK(it.at("at_first").at(0).at("worst").at("index") == nlohmann::json{2, 20});
    CHECK(it.at("at_first").at(0).at("errors").at("differing") == 1);
    CHECK(ask("diff " + both + "--map fc1/w=layer.weight --step 6").code == 0);
    CHECK(ask("diff " + both + "--map fc1/w=layer.weight --atol 1").code == 0);
    std::string const map = R"({"fc1/w": "layer.weight"})";
    write_file(folder / "map.json", {map.begin(), map.end()});
    CHECK(ask("diff " + both + "--map " + folder / "map.json").code == 1);
    write_file(folder / "bad.json", {'['});
    CHECK(ask("diff " + both + "--map " + folder / "bad.json").code == 2);
    CHECK(ask("diff " + both + "--map fc1/w=nobody").code == 3);
    CHECK(ask("diff " + both + "--rtol -1").code == 2);
    CHECK(ask("diff " + both + "--step x").code == 2);
    CHECK(ask("diff " + both + "--name '[' --map fc1/w=layer.weight").code == 2);
    CHECK(ask("diff " + folder / "a").code == 2);
    tool_output const nobody = ask("diff " + folder / "a " + folder / "a --name nope");
    CHECK(nobody.code == 3);
    CHECK(nobody.complains("no tensor of A or B matches \"nope\""));
    CHECK(ask("diff " + both + "--name loss").complains("no chosen tensor is in both: \"loss\" is only in A"));
}

TEST_CASE("diff: no run, no files and damaged files are named, with the exit codes of every verb") {
    temporary_folder const folder;
    record_small(folder / "run");
    std::filesystem::create_directory(folder / "empty");
    std::string const run = folder / "run ";
    tool_output it = ask("diff --json " + run + folder / "missing");
    CHECK(it.code == 3);
    CHECK(it.document().at("error").at("code") == "not_a_run");
    CHECK(it.complains("does not exist"));
    CHECK(ask("diff " + run + folder / "empty").complains(".safetensors"));
    CHECK(ask("diff " + folder / "empty " + run).code == 3);
    write_file(folder / "bad.npz", {'P', 'K'});
    it = ask("diff " + run + folder / "bad.npz");
    CHECK(it.code == 5);
    CHECK(it.complains("bad.npz"));
    CHECK(ask("diff " + run + run + " >/dev/full").code == 4);
    tool_output const help = ask("diff --help");
    CHECK(help.says("Example:"));
    CHECK(help.says("Exit codes:"));
}

TEST_CASE(
    "diff: values that cannot be read are reported, and end with 5; a run without a step has nothing to compare") {
    temporary_folder const folder;
    { hook const watch{folder / "empty", everything}; }
    std::vector<float> values(40'000);
    for (std::size_t i = 0; i < values.size(); ++i) { values[i] = static_cast<float>(i * i % 1009) * 0.37F; }
    for (std::string const name : {"whole", "damaged"}) {
        hook watch{folder / name, everything};
        for (std::uint64_t i = 0; i < 3; ++i) { (void)watch.step(train(i), "w"_t = view_of(values, {200, 200})); }
    }
    flip(folder / "damaged/000000.spot", read_file(folder / "damaged/000000.spot").size() / 2);
    tool_output const it = ask("diff --json " + folder / "whole " + folder / "damaged");
    CHECK(it.code == 5);
    CHECK(it.document().at("unreadable") == 1);
    CHECK(it.document().at("first").is_null());
    CHECK(ask("diff " + folder / "damaged " + folder / "whole").says("spotter verify"));
    CHECK(ask("diff " + folder / "whole " + folder / "empty").code == 3);
    CHECK(ask("diff " + folder / "whole " + folder / "empty").complains("B is empty"));
}

TEST_CASE("diff: why a tensor of a .npy file cannot be read is said, of each kind") {
    temporary_folder const folder;
    auto const npy = [](std::string const& type, std::size_t bytes) {
        std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': (4,), }";
        header.append(63 - (10 + header.size()) % 64, ' ');
        header += '\n';
        std::string file{"\x93NUMPY\x01\x00", 8};
        file += static_cast<char>(header.size());
        file += '\0';
        file += header;
        return file + std::string(bytes, 'x');
    };
    std::pair<char const*, char const*> const kinds[] = {{"|O", "Python objects"},      {"|V2", "as NumPy writes bf16"},
                                                         {"|V1", "as NumPy writes f8"}, {"<U3", "texts of UTF-32"},
                                                         {"<M8[s]", "dates"},           {"|V12", "none of ours"}};
    for (std::string const side : {"a", "b"}) {
        std::filesystem::create_directory(folder / side);
        int number = 0;
        for (auto const& [type, why] : kinds) {
            std::string const file = npy(type, 32);
            write_file(folder / side + "/k" + std::to_string(number++) + ".npy", {file.begin(), file.end()});
        }
        std::string const fine = npy("<f4", 16);
        write_file(folder / side + "/w.npy", {fine.begin(), fine.end()});
    }
    tool_output const it = ask("diff " + folder / "a " + folder / "b");
    INFO(it.out);
    for (auto const& [type, why] : kinds) { CHECK(it.says(why)); }
    CHECK(it.says("6 values cannot be read\n"));
    CHECK_FALSE(it.says("spotter verify"));  // nothing is damaged
    for (auto const& each : ask("diff --json " + folder / "a " + folder / "b").document().at("tensors")) {
        CHECK(each.at("trouble").is_null() == (each.at("a") == "w"));
    }
}

TEST_CASE("diff: settings come first, and a run that is being written is compared as far as it is") {
    temporary_folder const folder;
    record_small(folder / "a");
    hook watch{folder / "b", everything};
    watch.scalar("build/flags", "-O3 -march=native");
    (void)watch.step(train(0), "loss"_t = 1.0);
    watch.flush();
    tool_output const it = ask("diff " + folder / "a " + folder / "b");
    CHECK(it.code == 0);
    CHECK(it.says("\"build/flags\": nothing in A, -O3 -march=native in B"));
    CHECK(it.says("may still come"));
    CHECK(it.out.find("settings") < it.out.find("over all steps"));
}

TEST_CASE("diff: a long setting is cut, and where it differs is shown") {
    temporary_folder const folder;
    auto const record = [&](std::string const& name, std::string const& last) {
        dynamic_plan keep;
        std::vector<std::string> names;
        for (int i = 0; i < 5000; ++i) { names.push_back("layer" + std::to_string(i)); }
        names.back() = last;
        std::vector<std::string_view> const views{names.begin(), names.end()};
        keep.add("many", keep.keep_names(views), keep.keep(always{}), payload);
        hook watch{folder / name, keep};
        (void)watch.step(train(0), "layer0"_t = 1.0);
    };
    record("a", "left"), record("b", "right");
    tool_output const it = ask("diff " + folder / "a " + folder / "b");
    CHECK(it.says("left}"));
    CHECK(it.says("right}"));
    CHECK(it.out.size() < 3000);
}

TEST_CASE("diff: what could not be compared is no success, and is said as that") {
    temporary_folder const folder;
    constexpr plan hashes{
        collection{"some", "*", always{}, stats_mask::hash | stats_mask::nonfinite | stats_mask::zeros}};
    constexpr plan counts{collection{"some", "*", always{}, stats_mask::nonfinite | stats_mask::zeros}};
    auto const record = [&](char const* name, auto const& keep, std::uint64_t seed) {
        hook watch{folder / name, keep};
        for (std::uint64_t i = 0; i < 3; ++i) {
            std::vector<float> const values = weights_at(i + seed);
            (void)watch.step(train(i), "w"_t = view_of(values.data(), {height, width}));
        }
    };
    record("hash", hashes, 0), record("other", hashes, 700), record("same", hashes, 0);
    record("counts", counts, 0), record("more", counts, 0);
    tool_output const differ = ask("diff " + folder / "hash " + folder / "other");
    CHECK(differ.code == 1);
    CHECK(differ.says("A and B differ\n"));
    CHECK(differ.says("the hash of its bits is "));
    CHECK(ask("diff --json " + folder / "hash " + folder / "other").document().at("at_first").at(0).at("by_hash") ==
          true);
    CHECK(ask("diff " + folder / "hash " + folder / "same").code == 0);
    tool_output const vague = ask("diff --rtol 1e-3 " + folder / "hash " + folder / "other");
    CHECK(vague.code == 7);
    CHECK_FALSE(vague.says("equal within the tolerance"));
    tool_output const none = ask("diff " + folder / "counts " + folder / "more");
    CHECK(none.code == 7);
    CHECK(none.says("not compared: "));
    CHECK_FALSE(none.says("equal within the tolerance"));
    auto const document = ask("diff --json " + folder / "counts " + folder / "more").document();
    CHECK(document.at("equal") == false);
    CHECK(document.at("compared") == 0);
    CHECK(document.at("not_kept") == 3);
}

TEST_CASE("diff: of statistics that are the same it does not say equal, and says what would decide") {
    temporary_folder const folder;
    constexpr plan statistics{collection{"loss", "loss"}, collection{"some", "*", always{}, stats(l2, mean, maximum)}};
    constexpr plan hashes{collection{"some", "*", always{}, stats_mask::hash}};
    auto const record = [&](std::string const& name, auto const& keep, bool flipped, double loss) {
        hook watch{folder / name, keep};
        std::vector<float> kernel{1, 2, 3, 4, 5, 6};
        if (flipped) { kernel = {4, 5, 6, 1, 2, 3}; }
        (void)watch.step(train(0), "grad/conv1/w"_t = view_of(kernel.data(), {2, 3}), "loss"_t = loss);
    };
    record("a", statistics, false, 1), record("b", statistics, true, 1), record("c", statistics, true, 2);
    record("hash", hashes, false, 1), record("same", hashes, false, 1);
    tool_output const it = ask("diff " + folder / "a " + folder / "b --step 0 --name grad/conv1/w");
    CHECK(it.code == 7);
    CHECK(it.says("the same statistics, values not known: 1 tensor, first \"grad/conv1/w\" at train(0)\n"));
    CHECK(it.says("collection{\"all\", \"*\", always{}, stats_mask::hash}"));
    CHECK(it.says("\nnot known whether A and B are equal: statistics are all that both have\n"));
    CHECK(it.says("grad/conv1/w: 1 step with the same statistics, values not known\n"));
    CHECK_FALSE(it.says("\nA and B are equal"));
    CHECK_FALSE(it.says("tolerance"));
    tool_output const whole = ask("diff " + folder / "a " + folder / "b");
    CHECK(whole.code == 7);
    CHECK(whole.says("the values of some tensors are not known; the others are equal\n"));
    CHECK(ask("diff --rtol 1e-3 " + folder / "a " + folder / "b").says("the others are equal within the tolerance\n"));
    tool_output const later = ask("diff " + folder / "a " + folder / "c");
    CHECK(later.code == 1);
    CHECK(later.says("first difference: train(0), \"loss\""));
    CHECK(later.says("So A and B may part before the first difference above.\n"));
    auto const document = ask("diff --json " + folder / "a " + folder / "b").document();
    CHECK(document.at("equal") == false);
    CHECK(document.at("differs") == false);
    CHECK(document.at("same_statistics") == 1);
    CHECK(document.at("first_unknown").at("tensor") == "grad/conv1/w");
    tool_output const hashed = ask("diff " + folder / "hash " + folder / "same");
    CHECK(hashed.code == 0);
    CHECK(hashed.says("grad/conv1/w: 1 step by hash\n"));
    CHECK(hashed.says("\nA and B are equal\n"));
}

TEST_CASE("diff: times are left out, and named, unless they are asked for") {
    temporary_folder const folder;
    for (std::string const name : {"a", "b"}) {
        hook watch{folder / name, everything};
        for (std::uint64_t i = 0; i < 3; ++i) {
            watch.begin(train(i));
            { auto const data = watch.section("data"); }
            watch.scalar("loss", 1.0);
            (void)watch.end();
        }
    }
    tool_output const it = ask("diff " + folder / "a " + folder / "b");
    CHECK(it.code == 0);
    CHECK(
        it.says("not compared, as no two runs have them alike: \"time/data\" (--strict, or --name, compares them)\n"));
    CHECK(it.says("\nA and B are equal\n"));
    CHECK(ask("diff --json " + folder / "a " + folder / "b").document().at("left_out") == nlohmann::json{"time/data"});
    CHECK(ask("diff --name 'time/*' " + folder / "a " + folder / "b").says("time/data"));
}
