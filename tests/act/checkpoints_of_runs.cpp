// SPDX-License-Identifier: Apache-2.0
// Whose checkpoint it is: a new training gets none of another's, and one that goes on finds its own.
#include <spotter/checkpoints.hpp>
#include <spotter/spotter.hpp>

#include <tests/catch.hpp>
#include <tests/temporary_folder.hpp>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#if !defined(_WIN32)
#include <csignal>
#include <sys/wait.h>
#include <unistd.h>
#endif

using namespace spotter;
using namespace spotter_test;

namespace {

// The last value of the file.
float value_at(std::string const& path) {
    std::string const bytes = bytes_at(path);
    float value = -1;
    if (bytes.size() > 4) { std::memcpy(&value, bytes.data() + bytes.size() - 4, 4); }
    return value;
}
// Trains with saves at each tenth step; the weight is `value`.
template <class Hook>
void train_with(Hook& watch, checkpoints& kept, float value, std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t i = first; i < end; ++i) {
        (void)watch.step(train(i), "w"_t = value);
        if (i % 10 == 9) { CHECK(!kept.save(watch, train(i), "w"_t = value)); }
    }
    kept.review(watch);
}
constexpr options how(existing what) { return options{.existing = what}; }

void train_whole(temporary_folder const& folder, float value, existing what = existing::next) {
    hook watch{folder / "run", plan{}, how(what)};
    checkpoints kept{folder / "kept", {.keep = 2}};
    train_with(watch, kept, value, 0, 200);
    watch.finish();
    REQUIRE(kept.last_good(watch).step == train(199));
}

}  // namespace

TEST_CASE("a new training in the place of another restores none of its checkpoints, and removes none") {
    temporary_folder const folder;
    train_whole(folder, 1);
    existing const what = GENERATE(existing::replace, existing::next);
    INFO("existing " << static_cast<int>(what));
    checkpoints kept{folder / "kept", {.keep = 2}};  // made before the hook
    hook watch{folder / "run", plan{}, how(what)};
    CHECK(kept.last_good(watch).path.empty());
    train_with(watch, kept, 2, 0, 5);  // it stops before its first checkpoint
    CHECK(kept.last_good(watch).path.empty());
    train_with(watch, kept, 2, 5, 15);
    CHECK(kept.last_good(watch).step == train(9));
    CHECK(value_at(kept.last_good(watch).path) == 2);
    SECTION("the steps of the other") {
        train_with(watch, kept, 2, 15, 200);
        CHECK(kept.last_good(watch).step == train(199));
        CHECK(value_at(kept.last_good(watch).path) == 2);
        CHECK(checkpoints{folder / "kept"}.last_good(watch).path == kept.last_good(watch).path);
    }
    SECTION("going back to one of its own") {
        train_with(watch, kept, 3, 5, 10);
        CHECK(value_at(kept.last_good(watch).path) == 3);
        CHECK(kept.last_good(watch).step == train(9));
    }
    CHECK(value_at(folder / "kept/train-199.safetensors") == 1);
    CHECK(value_at(folder / "kept/train-189.safetensors") == 1);
    CHECK(!kept.trouble());
}

TEST_CASE("a training that goes on finds its checkpoints, and not those of one between") {
    temporary_folder const folder;
    {
        hook watch{folder / "run", plan{}};
        checkpoints kept{folder / "kept"};
        train_with(watch, kept, 1, 0, 55);
        watch.fail("no memory");
    }
    {
        hook watch{folder / "other", plan{}};
        checkpoints kept{folder / "kept"};
        train_with(watch, kept, 2, 0, 100);
    }
    {
        hook watch{folder / "run", plan{}, how(existing::next)};  // what failed has an end: a run of its own
        CHECK(checkpoints{folder / "kept"}.last_good(watch).path.empty());
    }
    hook watch{folder / "run", plan{}, how(existing::resume)};
    checkpoints kept{folder / "kept", {.keep = 1}};
    CHECK(kept.last_good(watch).step == train(49));
    CHECK(value_at(kept.last_good(watch).path) == 1);
    train_with(watch, kept, 4, 50, 100);
    CHECK(kept.last_good(watch).step == train(99));
    CHECK(value_at(kept.last_good(watch).path) == 4);
    CHECK_FALSE(std::filesystem::exists(folder / "kept/train-49.safetensors"));  // `keep` of its own
    CHECK(value_at(folder / "kept/train-99.safetensors") == 2);
}

#if !defined(_WIN32)
TEST_CASE("after a kill existing::next goes on, and finds the checkpoints") {
    temporary_folder const folder;
    std::string const run = folder / "run", into = folder / "kept";
    train_whole(folder, 1, existing::replace);
    pid_t const child = ::fork();
    if (child == 0) {
        hook watch{run, plan{}, how(existing::replace)};
        checkpoints kept{into};
        for (std::uint64_t i = 0; i < 25; ++i) {
            (void)watch.step(train(i), "w"_t = 2.0F);
            if (i % 10 == 9) { (void)kept.save(watch, train(i), "w"_t = 2.0F); }
        }
        (void)std::raise(SIGKILL);
    }
    REQUIRE(::waitpid(child, nullptr, 0) == child);
    hook watch{run, plan{}, how(existing::next)};
    checkpoints kept{into};
    CHECK(kept.last_good(watch).step == train(9));
    CHECK(value_at(kept.last_good(watch).path) == 2);
}
#endif

TEST_CASE("a hook that records nothing finds what it saved itself") {
    temporary_folder const folder;
    {
        hook watch{plan{}};
        checkpoints kept{folder / "kept"};
        train_with(watch, kept, 1, 0, 30);
        CHECK(kept.last_good(watch).step == train(29));
        CHECK(checkpoints{folder / "kept"}.last_good(watch).step == train(29));
    }
    hook watch{plan{}};
    checkpoints kept{folder / "kept"};
    CHECK(kept.last_good(watch).path.empty());
    CHECK(kept.last_good_of_any_run().step == train(29));
    train_with(watch, kept, 2, 0, 12);
    CHECK(kept.last_good(watch).step == train(9));
}

TEST_CASE("the checkpoints of a run that is named are found by its record") {
    temporary_folder const folder;
    train_whole(folder, 1);
    {
        hook watch{folder / "second", plan{}};
        checkpoints kept{folder / "kept"};
        train_with(watch, kept, 2, 0, 12);
        CHECK(kept.last_good_of(folder / "run").step == train(199));
        CHECK(kept.last_good_of(folder / "second").step == train(9));
    }
    checkpoints const kept{folder / "kept"};
    CHECK(kept.last_good_of_any_run().step == train(9));
    CHECK(value_at(kept.last_good_of(folder / "run").path) == 1);
    CHECK(kept.last_good_of(folder / "none").path.empty());
    CHECK(kept.last_good_of("").path.empty());
    std::filesystem::create_directories(folder / "empty");
    CHECK(kept.last_good_of(folder / "empty").path.empty());
}

TEST_CASE("all() says which run saved it") {
    temporary_folder const folder;
    train_whole(folder, 1);
    hook watch{folder / "second", plan{}};
    checkpoints kept{folder / "kept"};
    train_with(watch, kept, 2, 0, 10);
    REQUIRE(kept.all().size() == 3);
    CHECK(kept.all()[0].run == kept.all()[1].run);
    CHECK(kept.all()[0].run != 0);
    CHECK(kept.all()[2].run == watch.run_id());
    CHECK(kept.all()[2].run != kept.all()[0].run);
}

TEST_CASE("a list without runs is read: its checkpoints belong to no run, and stay") {
    temporary_folder const folder;
    hook watch{folder / "run", plan{}};
    {
        checkpoints kept{folder / "kept"};
        train_with(watch, kept, 1, 0, 30);
    }
    std::string const path = folder / "kept/checkpoints.list";
    std::string text = bytes_at(path), old = "spotter checkpoints 1\n";
    REQUIRE(text.starts_with("spotter checkpoints 2\n"));
    text.erase(0, old.size());
    while (!text.empty()) {  // without the sixth word
        std::string line = text.substr(0, text.find('\n') + 1);
        text.erase(0, line.size());
        std::size_t const dot = line.rfind(" ."), run = line.rfind(' ', dot - 1);
        old += line.erase(run, dot - run);
    }
    std::ofstream{path, std::ios::binary} << old;
    checkpoints kept{folder / "kept", {.keep = 1}};
    CHECK(!kept.trouble());
    REQUIRE(kept.all().size() == 2);
    CHECK(kept.all()[0].run == 0);
    CHECK(kept.last_good(watch).path.empty());
    CHECK(kept.last_good_of_any_run().step == train(29));
    train_with(watch, kept, 2, 30, 70);
    CHECK(kept.last_good(watch).step == train(69));
    CHECK(bytes_at(path).starts_with("spotter checkpoints 2\n"));
    CHECK(value_at(folder / "kept/train-29.safetensors") == 1);
    CHECK(checkpoints{folder / "kept"}.all().size() == 3);
}

TEST_CASE("a file that the loop wrote goes to its run, too") {
    temporary_folder const folder;
    for (char const* const name : {"a", "b"}) {
        hook watch{folder / name, plan{}};
        checkpoints kept{folder / "kept"};
        (void)watch.step(train(5), "w"_t = 1.0F);
        std::ofstream{folder / "mine.pt"} << name;
        CHECK(!kept.adopt(watch, train(5), folder / "mine.pt"));
        (void)watch.step(train(6), "w"_t = 1.0F);
        kept.review(watch);
        CHECK(bytes_at(kept.last_good(watch).path) == name);
    }
    CHECK(bytes_at(folder / "kept/train-5.pt") == "a");
    CHECK(bytes_at(checkpoints{folder / "kept"}.last_good_of(folder / "a").path) == "a");
}

namespace {

struct shown_net {
    std::vector<float> w = std::vector<float>(4, 1), input = std::vector<float>(4, 2), mean = std::vector<float>(4, 3);
};
template <class Visit>
void visit_tensors(shown_net const& it, Visit visit) {
    visit("input", it.input);
    visit("input/w", it.w);  // of a layer that is called input
    visit("fc1/w", it.w);
    visit("grad/fc1/w", it.w);
    visit("act/fc1", it.input);
    visit("hidden", it.input, role::activation);
    visit("norm/mean", it.mean);
    visit("optimizer/fc1/w", it.mean);
    visit("act/kept", it.mean, role::other);
    for (char const* const name : {"input/ln/scale", "pred/w/m", "best_loss"}) { visit(name, it.mean); }
}

}  // namespace

TEST_CASE("of a net what the next step needs is saved, and what the program names") {
    temporary_folder const folder;
    shown_net it;
    hook watch{plan{}};
    (void)watch.step(train(0), it);
    checkpoints kept{folder / "kept"}, whole{folder / "whole", {.batch = true}};
    CHECK(!kept.save(watch, train(0), it, "act/state"_t = it.input));
    std::string const some = bytes_at(kept.all().at(0).path);
    for (char const* const name : {"input/w", "fc1/w", "norm/mean", "optimizer/fc1/w", "act/kept", "act/state",
                                   "input/ln/scale", "pred/w/m", "best_loss"}) {
        INFO(name);
        CHECK(some.find('"' + std::string{name} + "\":") != std::string::npos);
    }
    for (char const* const name : {"input", "grad/fc1/w", "act/fc1", "hidden"}) {
        INFO(name);
        CHECK(some.find('"' + std::string{name} + "\":") == std::string::npos);
    }
    CHECK(!whole.save(watch, train(0), it));
    CHECK(bytes_at(whole.all().at(0).path).find("\"grad/fc1/w\":") != std::string::npos);
}

TEST_CASE("a file of others that has a checkpoint's name and length stays") {
    temporary_folder const folder;
    std::string const path = folder / "kept/train-0.safetensors";
    hook watch{folder / "run", plan{}};
    float const weight = 1;
    auto const save_two = [&](std::uint64_t first) {  // as a process that ends
        checkpoints kept{folder / "kept", {.keep = 1}};
        for (std::uint64_t i = first; i < first + 2; ++i) {
            (void)watch.step(train(i), "fc1/w"_t = weight);
            CHECK(!kept.save(watch, train(i), "fc1/w"_t = weight));
        }
    };
    save_two(0);
    std::string const foreign(bytes_at(path).size(), 'x');
    REQUIRE(!foreign.empty());
    std::ofstream{path, std::ios::binary} << foreign;
    save_two(2);
    CHECK(bytes_at(folder / "kept/train-2.safetensors").size() == foreign.size());
    CHECK(bytes_at(path) == foreign);
}
