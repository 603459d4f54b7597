// SPDX-License-Identifier: Apache-2.0
// Checkpoints: which one counts as good and is kept, which saves are refused, and which files exist after any failure
// or kill of the process.
#include <spotter/checkpoints.hpp>
#include <spotter/core/narrow.hpp>
#include <spotter/file/memory.hpp>
#include <spotter/spotter.hpp>
#include <spotter/trial.hpp>

#include <tests/catch.hpp>
#include <tests/file/faulty_files.hpp>
#include <tests/temporary_folder.hpp>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

using namespace spotter;
using namespace spotter_test;

namespace {

using list = std::vector<std::string>;

// All file names in the folder except the checkpoint list and its lock.
list names_at(std::string const& folder) {
    std::set<std::string> names;
    for (auto const& each : std::filesystem::directory_iterator{folder}) {
        names.insert(each.path().filename().string());
    }
    names.erase("checkpoints.list"), names.erase("checkpoints.lock");
    return {names.begin(), names.end()};
}
// The JSON header of a .safetensors file; empty if the file ends within the header.
std::string header_of(std::string const& bytes) {
    std::uint64_t size = 0;
    if (bytes.size() < 8) { return {}; }
    std::memcpy(&size, bytes.data(), 8);
    return bytes.size() >= 8 + size ? bytes.substr(8, static_cast<std::size_t>(size)) : std::string{};
}

struct net {
    std::vector<float> w = std::vector<float>(16, 0.5F);
    float b = 1;
};
template <class Visit>
void visit_tensors(net const& it, Visit visit) {
    visit("fc1/w", it.w);
    visit("fc1/b", it.b, role::bias);
}

// Trains from step `first` on with a rule that fires where `w` exceeds 5. Saves a checkpoint at every tenth step.
template <class Hook>
void train_on(Hook& watch, checkpoints& kept, net& it, std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t i = first; i < end; ++i) {
        (void)watch.step(i, it);
        if (i % 10 == 0) { CHECK(!kept.save(watch, train(i), it)); }
        it.w[0] += 0.001F;
    }
}
constexpr auto too_large = any("fc1/w", maximum > 5.0);

}  // namespace

TEST_CASE("a checkpoint is good once the steps behind it were, and only good ones take the place of good ones") {
    temporary_folder const folder;
    net it;
    hook watch{folder / "run", plan{}, too_large};
    checkpoints kept{folder / "kept", {.keep = 2}};
    CHECK(kept.last_good(watch).path.empty());
    train_on(watch, kept, it, 0, 20);
    CHECK(names_at(folder / "kept") == list{"train-0.safetensors", "train-10.unproven.safetensors"});
    train_on(watch, kept, it, 20, 25);
    CHECK(names_at(folder / "kept") ==
          list{"train-0.safetensors", "train-10.safetensors", "train-20.unproven.safetensors"});
    it.w[3] = 9;  // at 25 to 31
    train_on(watch, kept, it, 25, 32);
    CHECK(kept.last_good(watch).step == train(10));
    CHECK(names_at(folder / "kept") ==
          list{"train-0.safetensors", "train-10.safetensors", "train-30.unproven.safetensors"});
    it.w[3] = 1;
    train_on(watch, kept, it, 32, 42);
    CHECK(kept.last_good(watch).step == train(10));  // the checkpoint of step 30 is bad, too
    kept.review(watch);
    CHECK(kept.last_good(watch).step == train(40));
    CHECK(names_at(folder / "kept") == list{"train-10.safetensors", "train-40.safetensors"});
    CHECK(kept.last_good(watch).path == folder / "kept/train-40.safetensors");
    CHECK(watch.health().good());
    CHECK(!kept.save(watch, train(41), it));
    watch.finish();
    CHECK(!kept.trouble());
    kept.review(watch);  // the file is good, and the record does not say so
    CHECK(kept.last_good(watch).step == train(41));
    CHECK(watch.health().refused == 1);
    CHECK(watch.health().first_error.what.view().starts_with("\"checkpoint\" given after finish()"));
}

TEST_CASE("what is written is the net, tensor by tensor, in the type that was asked for") {
    temporary_folder const folder;
    net it;
    it.w[1] = 1.0F / 3;
    hook watch{plan{}};
    (void)watch.step(0, it);
    checkpoints whole{folder / "whole"}, half{folder / "half", {.as = dtype::f16}};
    CHECK(!whole.save(watch, train(0), it, "step"_t = std::uint64_t{7}));
    CHECK(!half.save(watch, train(0), it, "step"_t = std::uint64_t{7}));
    std::string const bytes = bytes_at(whole.all().at(0).path), small = bytes_at(half.all().at(0).path);
    CHECK(header_of(bytes).starts_with(R"({"fc1/w":{"dtype":"F32","shape":[16],"data_offsets":[0,64]},)"
                                       R"("fc1/b":{"dtype":"F32","shape":[],"data_offsets":[64,68]},)"
                                       R"("step":{"dtype":"U64","shape":[],"data_offsets":[68,76]}})"));
    CHECK(header_of(small).find(R"("fc1/w":{"dtype":"F16","shape":[16],"data_offsets":[0,32]})") != std::string::npos);
    CHECK(std::memcmp(bytes.data() + bytes.size() - 76, it.w.data(), 64) == 0);
    std::uint16_t third = 0;
    std::memcpy(&third, small.data() + small.size() - 42 + 2, 2);
    CHECK(third == 0x3555);
}

TEST_CASE("what is not finite as it is written is refused, and the files that were there stay") {
    temporary_folder const folder;
    net it;
    hook watch{folder / "run", plan{}};
    (void)watch.step(0, it);
    checkpoints half{folder / "half", {.as = dtype::f16}}, brain{folder / "brain", {.as = dtype::bf16}};
    CHECK(!half.save(watch, train(0), it));
    it.w[5] = 65519;  // the largest float that rounds to a finite f16
    CHECK(!half.save(watch, train(1), it));
    it.w[5] = 65520, it.w[6] = -1e9F;
    error const why = half.save(watch, train(2), it);
    CHECK(why.code == errc::wrong_type);
    CHECK(why.what.view() == "fc1/w: 2 of 16 values are not finite as f16");
    CHECK(!brain.save(watch, train(2), it));
    it.w[5] = std::bit_cast<float>(0x7FC00000U);
    CHECK(brain.save(watch, train(3), it).what.view() == "fc1/w: 1 of 16 values are not finite as bf16");
    CHECK(names_at(folder / "half") == list{"train-0.safetensors", "train-1.safetensors"});
    CHECK(names_at(folder / "brain") == list{"train-2.safetensors"});
}

TEST_CASE("narrowing rounds to the nearest, of two to the even one, as every f16 and bf16 widens") {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        f16 const half{static_cast<std::uint16_t>(bits)};
        bf16 const brain{static_cast<std::uint16_t>(bits)};
        bool const nan16 = (bits & 0x7C00U) == 0x7C00U && (bits & 0x3FFU) != 0,
                   nanb = (bits & 0x7F80U) == 0x7F80U && (bits & 0x7FU) != 0;
        if (!nan16) { REQUIRE(detail::narrow_bits<5, 10>(float_bits_of(half)) == bits); }
        if (!nanb && ((bits & 0x7F80U) != 0 || (bits & 0x7FU) == 0)) {
            REQUIRE(detail::narrow_bits<8, 7>(float_bits_of(brain)) == bits);
        }
        // Between two neighbours: the midpoint rounds to the even one, a value beside it to the nearer one.
        std::uint32_t const next = bits + 1;
        if ((bits & 0x7FFFU) >= 0x7BFFU) { continue; }
        double const low = static_cast<double>(to_float(half)),
                     high = static_cast<double>(to_float(f16{static_cast<std::uint16_t>(next)}));
        auto const middle = static_cast<float>((low + high) / 2);
        auto const narrow = [](float value) { return std::uint32_t{detail::to_f16(value).bits}; };
        REQUIRE(narrow(middle) == (bits % 2 == 0 ? bits : next));
        REQUIRE(narrow(static_cast<float>(low + (high - low) * 0.49)) == bits);
        REQUIRE(narrow(static_cast<float>(low + (high - low) * 0.51)) == next);
    }
    CHECK(detail::to_f16(65520).bits == 0x7C00);
    CHECK(detail::to_bf16(3.4e38F).bits == 0x7F80);
}

TEST_CASE("a file that the loop wrote itself is taken in, with its own kind of name") {
    temporary_folder const folder;
    hook watch{plan{}};
    (void)watch.step(0, "x"_t = 1.0F);
    checkpoints kept{folder / "kept"};
    std::ofstream{folder / "mine.pt"} << "all of it";
    CHECK(!kept.adopt(watch, train(0), folder / "mine.pt"));
    CHECK(!std::filesystem::exists(folder / "mine.pt"));
    (void)watch.step(1, "x"_t = 1.0F);
    kept.review(watch);
    CHECK(names_at(folder / "kept") == list{"train-0.pt"});
    CHECK(bytes_at(folder / "kept/train-0.pt") == "all of it");
    CHECK(kept.adopt(watch, train(1), folder / "missing.pt").code == errc::unwritable);
}

TEST_CASE("a file is the same one however its path is spelled: adopt refuses a checkpoint, and takes a file in place") {
    temporary_folder const folder;
    bool const is_relative = GENERATE(false, true);
    std::filesystem::create_directories(folder / "kept");
    std::filesystem::path const before = std::filesystem::current_path();
    if (is_relative) { std::filesystem::current_path(folder / "kept"); }
    std::string const at = is_relative ? "" : folder / "kept/../kept/";
    hook watch{plan{}};
    (void)watch.step(0, "x"_t = 1.0F);
    checkpoints kept{folder / "kept"};
    CHECK(!kept.save(watch, train(0), "x"_t = 1.0F));
    kept.review(watch);
    checkpoint_file const good = kept.last_good(watch);
    (void)watch.step(1, "x"_t = 1.0F);
    CHECK(kept.adopt(watch, train(1), at + "train-0.safetensors").code == errc::exists);
    CHECK(kept.last_good(watch).path == good.path);
    CHECK(std::filesystem::exists(good.path));
    std::ofstream{folder / "kept/train-1.pt"} << "mine";
    CHECK(!kept.adopt(watch, train(1), at + "train-1.pt"));
    kept.review(watch);
    CHECK(bytes_at(folder / "kept/train-1.pt") == "mine");
    CHECK(kept.last_good(watch).step == train(1));
    std::filesystem::current_path(before);
}

TEST_CASE("with a bad one only the newest stays, until one is good") {
    temporary_folder const folder;
    net it;
    it.w[3] = 9;
    hook watch{plan{}, too_large};
    checkpoints kept{folder / "kept"};
    train_on(watch, kept, it, 0, 31);
    kept.review(watch);
    CHECK(names_at(folder / "kept") == list{"train-30.bad.safetensors"});
    CHECK(kept.last_good(watch).path.empty());
    it.w[3] = 1;
    train_on(watch, kept, it, 31, 42);
    kept.review(watch);
    CHECK(names_at(folder / "kept") == list{"train-40.safetensors"});
}

TEST_CASE("another process finds the checkpoints: good ones are still good, the others unproven") {
    temporary_folder const folder;
    net it;
    options const resumed{.existing = existing::resume};
    {
        hook watch{folder / "run", plan{}, resumed};
        checkpoints kept{folder / "kept"};
        train_on(watch, kept, it, 0, 15);
    }
    std::ofstream{folder / "kept/checkpoints.part"} << "half";  // the temporary file of a killed process
    std::ofstream{folder / "kept/notes.txt"} << "mine";
    hook watch{folder / "run", plan{}, resumed};
    checkpoints kept{folder / "kept"};
    CHECK(kept.last_good(watch).path == folder / "kept/train-0.safetensors");
    REQUIRE(kept.all().size() == 2);
    CHECK(kept.all()[1].state == checkpoint_state::unproven);
    kept.review(watch);
    CHECK(kept.last_good(watch).step == train(0));
    CHECK(std::filesystem::exists(folder / "kept/checkpoints.part"));  // a reader changes nothing
    train_on(watch, kept, it, 20, 35);
    CHECK(names_at(folder / "kept") ==
          list{"notes.txt", "train-0.safetensors", "train-20.safetensors", "train-30.unproven.safetensors"});
}

// In memory: on a disk, the kills between any two of some ten thousand operations would take minutes.
std::string bytes_at(memory_file_system& files, std::string const& path) {
    std::string bytes(files.size_of(path).value_or(0), '\0');
    (void)files.read(path, 0, std::as_writable_bytes(std::span{bytes}));
    return bytes;
}
// The first value of the first tensor of a checkpoint; -1 if the file is incomplete.
float first_value_of(memory_file_system& files, std::string const& path) {
    std::string const bytes = bytes_at(files, path), header = header_of(bytes);
    float first = -1;
    if (header.starts_with("{\"fc1/w\"") && bytes.size() == 8 + header.size() + 68) {
        std::memcpy(&first, bytes.data() + bytes.size() - 68, 4);
    }
    return first;
}

TEST_CASE("whichever operation fails while a loop goes back and saves the same steps again, once or for good, a good "
          "one is there, whole, and no "
          "file of others is touched") {
    // When to save, when an alarm falls, and where the loop continues. The saved value is attempt + step / 100.
    struct point {
        std::uint64_t step;
        bool saves, alarm;
    };
    constexpr point course[] = {{10, true, false}, {20, true, false}, {25, false, true},  {11, false, false},
                                {20, true, false}, {30, true, false}, {20, true, false},  {21, false, false},
                                {30, true, false}, {35, false, true}, {21, false, false}, {30, true, false},
                                {40, true, false}};
    std::uint64_t operations = 0, failed_saves = 0;
    for (std::uint32_t const keep : {1U, 2U}) {
        for (bool const for_good : {false, true}) {
            bool more = true;
            for (std::uint64_t at = 1; more; ++at) {
                INFO("keep " << keep << ", operation " << at << (for_good ? " and all behind it" : ""));
                memory_file_system disk;
                net it;
                hook watch{plan{}, too_large};
                std::set<float> bad;
                {
                    checkpoints first{"kept", {.keep = keep}, disk};
                    (void)watch.step(0, it);
                    REQUIRE(!first.save(watch, train(0), it));
                    first.review(watch);
                }
                std::string_view const mine = "mine";
                opened_file const other = disk.create("kept/train-20.optimizer.pt").value();
                REQUIRE(!disk.append(other, std::as_bytes(std::span{mine})));
                REQUIRE(!disk.close(other));
                std::vector<std::pair<std::uint64_t, float>> since;  // saved, not judged yet
                faulty_file_system files{disk, at, for_good, errc::disk_full};
                {
                    checkpoints kept{"kept", {.keep = keep}, files};
                    float attempt = 1;
                    std::uint64_t before = 0;
                    for (point const& each : course) {
                        attempt += each.step <= before ? 1.0F : 0.0F;
                        before = each.step;
                        it.w[0] = attempt + static_cast<float>(each.step) / 100;
                        it.w[3] = each.alarm ? 9.0F : 1.0F;
                        (void)watch.step(each.step, it);
                        if (each.alarm) {
                            for (auto const& [step, value] : since) { bad.insert(value); }
                        }
                        if (each.saves) {
                            since.clear();
                            if (kept.save(watch, train(each.step), it)) { ++failed_saves; }
                            since.emplace_back(each.step, it.w[0]);
                        }
                        checkpoint_file const good = kept.last_good(watch);
                        if (!good.path.empty()) {
                            REQUIRE(first_value_of(disk, good.path) > 0);
                            REQUIRE(!bad.contains(first_value_of(disk, good.path)));
                        }
                    }
                    kept.review(watch);
                }
                operations = at;
                more = files.operations() >= at;
                // Another process opens the folder, as after a kill at this operation.
                checkpoints const later{"kept", {}, disk};
                REQUIRE(!later.last_good(watch).path.empty());
                REQUIRE(!bad.contains(first_value_of(disk, later.last_good(watch).path)));
                for (checkpoint_file const& each : later.all()) { REQUIRE(first_value_of(disk, each.path) > 0); }
                REQUIRE(bytes_at(disk, "kept/train-20.optimizer.pt") == mine);
                if (!more) { CHECK(first_value_of(disk, later.last_good(watch).path) == Approx(4.4)); }
            }
        }
    }
    CHECK(operations > 100);
    CHECK(failed_saves > 100);
}

TEST_CASE("whichever operation fails, once or for good, every file of a good one is whole and one is there") {
    std::uint64_t failed_saves = 0;
    for (bool const for_good : {false, true}) {
        bool more = true;
        for (std::uint64_t at = 1; more; ++at) {
            INFO("operation " << at << (for_good ? " and all behind it" : ""));
            memory_file_system disk;
            net it;
            hook watch{plan{}};
            {
                checkpoints first{"kept", {.keep = 1}, disk};  // a good one, before any operation fails
                (void)watch.step(0, it);
                REQUIRE(!first.save(watch, train(0), it));
                first.review(watch);
            }
            faulty_file_system files{disk, at, for_good, errc::disk_full};
            {
                checkpoints kept{"kept", {.keep = 1}, files};
                for (std::uint64_t i = 1; i < 6; ++i) {
                    it.w[0] = static_cast<float>(i);
                    (void)watch.step(i, it);
                    if (kept.save(watch, train(i), it)) { ++failed_saves; }
                    checkpoint_file const good = kept.last_good(watch);
                    if (!good.path.empty()) { REQUIRE(first_value_of(disk, good.path) >= 0.5F); }
                }
                kept.review(watch);
            }
            more = files.operations() >= at;
            // Another process opens the folder, as after a kill at this operation.
            checkpoints later{"kept", {}, disk};
            REQUIRE(!later.last_good(watch).path.empty());
            for (checkpoint_file const& each : later.all()) {
                CHECK(first_value_of(disk, each.path) ==
                      (each.step.index == 0 ? 0.5F : static_cast<float>(each.step.index)));
            }
            // It continues training: the half-written file is removed.
            (void)watch.step(9, it);
            REQUIRE(!later.save(watch, train(9), it));
            CHECK(disk.kind_of("kept/checkpoints.part").value() == path_kind::missing);
        }
    }
    CHECK(failed_saves > 100);
}

TEST_CASE("a folder that cannot be created, an invalid type, and an empty net are errors") {
    temporary_folder const folder;
    hook watch{plan{}};
    (void)watch.step(0, "x"_t = 1.0F);
    std::ofstream{folder / "file"} << "x";
    checkpoints nowhere{folder / "file/kept"};
    CHECK(nowhere.trouble());
    CHECK(nowhere.save(watch, train(0), "x"_t = 1.0F));
    checkpoints whole{folder / "whole", {.as = dtype::i8}};
    CHECK(whole.trouble().code == errc::bad_config);
    CHECK(whole.save(watch, train(0)).code == errc::no_payload);
    std::vector<float> const values(8);
    CHECK(whole.save(watch, train(0), "x"_t = values, "x"_t = values).code == errc::exists);
    CHECK(names_at(folder / "whole").empty());
}

TEST_CASE("what is unproven when an alarm falls is bad, wherever the loop goes on from") {
    temporary_folder const folder;
    net it;
    hook watch{folder / "run", plan{}, too_large};
    checkpoints kept{folder / "kept"};
    auto const steps = [&](std::uint64_t first, std::uint64_t end) {
        for (std::uint64_t i = first; i < end; ++i) { (void)watch.step(i, it); }
    };
    steps(0, 101);
    CHECK(!kept.save(watch, train(100), it));
    steps(101, 201);
    CHECK(!kept.save(watch, train(200), it));
    steps(201, 250);
    it.w[3] = 9;
    steps(250, 251);
    it.w[3] = 1;  // from step 100 on, a second time
    SECTION("back to before it") { steps(101, 102); }
    SECTION("beyond it, once more") { steps(101, 231); }
    SECTION("to the first step") { steps(0, 1); }
    SECTION("at once") {}
    kept.review(watch);
    CHECK(kept.last_good(watch).step == train(100));
    for (checkpoint_file const& each : kept.all()) { CHECK(each.state != checkpoint_state::unproven); }
}

TEST_CASE("whether another hook's steps were good is unknown") {
    temporary_folder const folder;
    net it;
    checkpoints kept{folder / "kept"};
    {
        hook watch{plan{}, too_large};
        (void)watch.step(100, it);
        CHECK(!kept.save(watch, train(100), it));
        it.w[3] = 9;
        (void)watch.step(101, it);
        it.w[3] = 1;
    }
    hook watch{plan{}, too_large};  // perhaps at the address of the hook before it
    (void)watch.step(100, it);
    kept.review(watch);
    CHECK(kept.last_good(watch).path.empty());
}

TEST_CASE("a step that is saved again takes the place of the one before once it is good, and not earlier") {
    temporary_folder const folder;
    net it;
    hook watch{folder / "run", plan{}, too_large};
    std::uint32_t const keep = GENERATE(1U, 2U, 3U);
    INFO("keep " << keep);
    checkpoints kept{folder / "kept", {.keep = keep}};
    auto const first_value = [&] {
        std::string const bytes = bytes_at(kept.last_good(watch).path);
        float first = -1;
        if (bytes.size() > 68) { std::memcpy(&first, bytes.data() + bytes.size() - 68, 4); }
        return first;
    };
    (void)watch.step(500, it);
    CHECK(!kept.save(watch, train(500), it));
    (void)watch.step(501, it);
    kept.review(watch);
    REQUIRE(first_value() == 0.5F);
    it.w[0] = 0.75F;
    (void)watch.step(500, it);
    CHECK(!kept.save(watch, train(500), it));
    CHECK(first_value() == 0.5F);
    (void)watch.step(501, it);
    SECTION("the second is good") {
        kept.review(watch);
        CHECK(first_value() == 0.75F);
    }
    SECTION("the second is bad") {
        it.w[3] = 9;
        (void)watch.step(502, it);
        kept.review(watch);
        CHECK(first_value() == 0.5F);
    }
    CHECK(kept.last_good(watch).step == train(500));
    checkpoints const later{folder / "kept"};
    CHECK(later.last_good(watch).path == kept.last_good(watch).path);
}

TEST_CASE("what was saved before the loop went back is not the newest because its number is larger") {
    temporary_folder const folder;
    net it;
    hook watch{plan{}};
    {
        checkpoints kept{folder / "kept", {.keep = 3}};
        for (std::uint64_t const i : {100U, 200U, 300U, 150U}) {
            (void)watch.step(i, it);
            CHECK(!kept.save(watch, train(i), it));
        }
        kept.review(watch);
        CHECK(kept.last_good(watch).step == train(150));
    }
    checkpoints const later{folder / "kept"};
    CHECK(later.last_good(watch).step == train(150));
    CHECK(later.all().size() == 3);
}

TEST_CASE("files beside checkpoints that are not theirs are neither taken for them nor removed nor replaced") {
    temporary_folder const folder;
    list const foreign{"train-10.optimizer.pt",
                       "train-10.txt",
                       "train-10.part",
                       "train-010.safetensors",
                       "train-0.bad.safetensors.bak",
                       "train-20.unproven.pt",
                       "train-0.json",
                       "eval-3.bad.txt",
                       "notes.txt"};
    std::filesystem::create_directories(folder / "kept");
    for (std::string const& each : foreign) { std::ofstream{folder / "kept/" + each} << "mine: " << each; }
    net it;
    hook watch{plan{}};
    {
        checkpoints kept{folder / "kept", {.keep = 1}};
        CHECK(kept.all().empty());
        train_on(watch, kept, it, 0, 62);
        kept.review(watch);
        CHECK(kept.last_good(watch).step == train(60));
    }
    checkpoints kept{folder / "kept", {.keep = 1}};
    train_on(watch, kept, it, 62, 82);
    for (std::string const& each : foreign) {
        INFO(each);
        CHECK(bytes_at(folder / "kept/" + each) == "mine: " + each);
    }
    std::ofstream{folder / "kept/train-90.safetensors"} << "mine";
    (void)watch.step(90, it);
    error const why = kept.save(watch, train(90), it);
    CHECK(why.code == errc::exists);
    CHECK(bytes_at(folder / "kept/train-90.safetensors") == "mine");
    CHECK(kept.last_good(watch).path == folder / "kept/train-80.safetensors");
}

TEST_CASE("a file that is not as it was written is no good one: of one byte, cut off, with a flipped bit, gone") {
    temporary_folder const folder;
    net it;
    hook watch{plan{}};
    {
        checkpoints kept{folder / "kept", {.keep = 2}};
        train_on(watch, kept, it, 0, 12);
        kept.review(watch);
        REQUIRE(kept.last_good(watch).step == train(10));
    }
    std::string const path = folder / "kept/train-10.safetensors", whole = bytes_at(path);
    std::filesystem::path const at{path};
    SECTION("one byte") { std::ofstream{path} << "x"; }
    SECTION("cut off") { std::filesystem::resize_file(at, whole.size() - 1); }
    SECTION("longer") { std::ofstream{path, std::ios::app} << "x"; }
    SECTION("gone") { std::filesystem::remove(at); }
    SECTION("flipped") {
        std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
        file.seekp(static_cast<std::streamoff>(whole.size() / 2));
        file.put(static_cast<char>(whole[whole.size() / 2] ^ 4));
    }
    checkpoints const later{folder / "kept"};
    CHECK(later.last_good(watch).step == train(0));
    std::ofstream{folder / "kept/train-0.safetensors"} << "x";
    checkpoints const none{folder / "kept"};
    CHECK(none.last_good(watch).path.empty());
}

TEST_CASE("checkpoints that were copied without their list are still there to begin from, and stay") {
    temporary_folder const folder;
    net it;
    hook watch{plan{}};
    {
        checkpoints kept{folder / "kept", {.keep = 2}};
        train_on(watch, kept, it, 0, 12);
        kept.review(watch);
    }
    std::filesystem::create_directories(folder / "copy");
    std::filesystem::copy_file(folder / "kept/train-0.safetensors", folder / "copy/train-0.safetensors");
    std::filesystem::copy_file(folder / "kept/train-10.safetensors", folder / "copy/train-10.safetensors");
    std::ofstream{folder / "copy/train-20.safetensors"} << "x";
    checkpoints kept{folder / "copy", {.keep = 1}};
    CHECK(kept.last_good(watch).path.empty());  // nobody knows whose they are
    CHECK(kept.last_good_of_any_run().step == train(10));
    (void)watch.step(30, it);
    CHECK(!kept.save(watch, train(30), it));
    CHECK(checkpoints{folder / "copy"}.last_good_of_any_run().step == train(10));
    kept.review(watch);
    CHECK(kept.last_good(watch).step == train(30));
    CHECK(bytes_at(folder / "copy/train-10.safetensors") == bytes_at(folder / "kept/train-10.safetensors"));
    CHECK(bytes_at(folder / "copy/train-20.safetensors") == "x");
}

TEST_CASE("of two that save into one folder the second is busy; a reader blocks neither") {
    temporary_folder const folder;
    net it;
    hook watch{plan{}};
    checkpoints first{folder / "kept"}, second{folder / "kept"};
    (void)watch.step(0, it);
    CHECK(!first.save(watch, train(0), it));
    first.review(watch);
    CHECK(second.save(watch, train(1), it).code == errc::busy);
    checkpoints const third{folder / "kept"};
    CHECK(third.last_good(watch).step == train(0));
    CHECK(!first.save(watch, train(2), it));
    CHECK(!second.trouble());
}

TEST_CASE("a damaged list of checkpoints is reported and left alone; a torn line costs only itself") {
    temporary_folder const folder;
    net it;
    hook watch{plan{}};
    {
        checkpoints kept{folder / "kept"};
        train_on(watch, kept, it, 0, 12);
        kept.review(watch);
    }
    std::string const path = folder / "kept/checkpoints.list";
    SECTION("damaged") {
        std::ofstream{path} << "something else\n";
        checkpoints kept{folder / "kept", {.keep = 1}};
        CHECK(kept.trouble().code == errc::corrupt);
        CHECK(kept.last_good_of_any_run().step == train(10));  // found by the file's content
        (void)watch.step(20, it);
        CHECK(kept.save(watch, train(20), it).code == errc::corrupt);
        CHECK(bytes_at(path) == "something else\n");
        CHECK(names_at(folder / "kept") == list{"train-0.safetensors", "train-10.safetensors"});
    }
    SECTION("torn") {
        std::ofstream{path, std::ios::app} << "saved train 20 3";
        checkpoints kept{folder / "kept", {.keep = 1}};
        CHECK(!kept.trouble());
        train_on(watch, kept, it, 20, 32);
        kept.review(watch);
        CHECK(checkpoints{folder / "kept"}.last_good(watch).step == train(30));
        CHECK(names_at(folder / "kept") == list{"train-30.safetensors"});
    }
    SECTION("taken away meanwhile") {
        checkpoints kept{folder / "kept", {.keep = 3}};
        train_on(watch, kept, it, 20, 22);
        std::filesystem::remove(path);
        train_on(watch, kept, it, 30, 32);
        kept.review(watch);
        CHECK(checkpoints{folder / "kept"}.all().size() == 3);
        CHECK(names_at(folder / "kept") ==
              list{"train-10.safetensors", "train-20.safetensors", "train-30.safetensors"});
    }
    SECTION("of many that are gone") {
        {
            checkpoints kept{folder / "kept", {.keep = 1}};
            train_on(watch, kept, it, 20, 1220);
        }
        checkpoints kept{folder / "kept", {.keep = 1}};
        train_on(watch, kept, it, 1230, 1232);
        CHECK(bytes_at(path).size() < 4000);  // although 1200 lines were written
        CHECK(checkpoints{folder / "kept"}.last_good(watch).step == train(1200));
    }
}

TEST_CASE(
    "a file that the loop wrote into the folder itself is taken in, and one that is a checkpoint already is not") {
    temporary_folder const folder;
    hook watch{plan{}};
    (void)watch.step(0, "x"_t = 1.0F);
    checkpoints kept{folder / "kept"};
    std::ofstream{folder / "kept/train-0.pt"} << "all of it";
    CHECK(!kept.adopt(watch, train(0), folder / "kept/train-0.pt"));
    kept.review(watch);
    CHECK(kept.last_good(watch).path == folder / "kept/train-0.pt");
    CHECK(kept.adopt(watch, train(0), folder / "kept/train-0.pt").code == errc::exists);
    CHECK(bytes_at(kept.last_good(watch).path) == "all of it");
}
