// SPDX-License-Identifier: Apache-2.0
// Checkpoints: which is good and stays, what is refused, and what is there after any failure and any end of the process.
#include <spotter/checkpoints.hpp>
#include <spotter/core/narrow.hpp>
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

std::string bytes_at(std::string const& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}
list names_at(std::string const& folder) {
    std::set<std::string> names;
    for (auto const& each : std::filesystem::directory_iterator{folder}) { names.insert(each.path().filename().string()); }
    return {names.begin(), names.end()};
}
// The header of a file of safetensors, and its values behind it; empty where it is none that is whole.
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

// Steps from `first` on, at which a rule says something where `w` is beyond 5, and a checkpoint at every tenth.
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
    CHECK(kept.last_good().path.empty());
    train_on(watch, kept, it, 0, 20);
    CHECK(names_at(folder / "kept") == list{"train-0.safetensors", "train-10.unproven.safetensors"});
    train_on(watch, kept, it, 20, 25);
    CHECK(names_at(folder / "kept") == list{"train-0.safetensors", "train-10.safetensors", "train-20.unproven.safetensors"});
    it.w[3] = 9;  // at 25 to 31
    train_on(watch, kept, it, 25, 32);
    CHECK(kept.last_good().step == train(10));
    CHECK(names_at(folder / "kept") == list{"train-0.safetensors", "train-10.safetensors", "train-30.unproven.safetensors"});
    it.w[3] = 1;
    train_on(watch, kept, it, 32, 42);
    CHECK(kept.last_good().step == train(10));  // 30 was bad, too
    kept.review(watch);
    CHECK(kept.last_good().step == train(40));
    CHECK(names_at(folder / "kept") == list{"train-10.safetensors", "train-40.safetensors"});
    CHECK(kept.last_good().path == folder / "kept/train-40.safetensors");
    watch.finish();
    CHECK(!kept.trouble());
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
    CHECK(header_of(bytes).starts_with(R"({"fc1/w":{"dtype":"F32","shape":[16],"data_offsets":[0,64]},"fc1/b":{"dtype":"F32","shape":[],"data_offsets":[64,68]},"step":{"dtype":"U64","shape":[],"data_offsets":[68,76]}})"));
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
    it.w[5] = 65519;  // the largest that rounds to a finite f16
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
        bool const nan16 = (bits & 0x7C00U) == 0x7C00U && (bits & 0x3FFU) != 0, nanb = (bits & 0x7F80U) == 0x7F80U && (bits & 0x7FU) != 0;
        if (!nan16) { REQUIRE(detail::narrow_bits<5, 10>(float_bits_of(half)) == bits); }
        if (!nanb && ((bits & 0x7F80U) != 0 || (bits & 0x7FU) == 0)) { REQUIRE(detail::narrow_bits<8, 7>(float_bits_of(brain)) == bits); }
        // Between two of them: the half goes to the even one, and a little beside it to the nearer one.
        std::uint32_t const next = bits + 1;
        if ((bits & 0x7FFFU) >= 0x7BFFU) { continue; }
        double const low = static_cast<double>(to_float(half)), high = static_cast<double>(to_float(f16{static_cast<std::uint16_t>(next)}));
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

TEST_CASE("with a bad one only the newest stays, until one is good") {
    temporary_folder const folder;
    net it;
    it.w[3] = 9;
    hook watch{plan{}, too_large};
    checkpoints kept{folder / "kept"};
    train_on(watch, kept, it, 0, 31);
    kept.review(watch);
    CHECK(names_at(folder / "kept") == list{"train-30.bad.safetensors"});
    CHECK(kept.last_good().path.empty());
    it.w[3] = 1;
    train_on(watch, kept, it, 31, 42);
    kept.review(watch);
    CHECK(names_at(folder / "kept") == list{"train-40.safetensors"});
}

TEST_CASE("another process finds what is there: good ones are good, and nobody vouches for the rest") {
    temporary_folder const folder;
    net it;
    {
        hook watch{plan{}};
        checkpoints kept{folder / "kept"};
        train_on(watch, kept, it, 0, 15);
    }
    std::ofstream{folder / "kept/train-20.part"} << "half";
    std::ofstream{folder / "kept/notes.txt"} << "mine";
    hook watch{plan{}};
    checkpoints kept{folder / "kept"};
    CHECK(kept.last_good().step == train(0));
    REQUIRE(kept.all().size() == 2);
    CHECK(kept.all()[1].state == checkpoint_state::unproven);
    kept.review(watch);
    CHECK(kept.last_good().step == train(0));
    CHECK(!std::filesystem::exists(folder / "kept/train-20.part"));
    train_on(watch, kept, it, 20, 35);
    CHECK(names_at(folder / "kept") == list{"notes.txt", "train-0.safetensors", "train-20.safetensors", "train-30.unproven.safetensors"});
}

TEST_CASE("whichever operation fails, once or for good, every file of a good one is whole and one is there") {
    std::uint64_t failed_saves = 0;
    for (bool const for_good : {false, true}) {
        for (std::uint64_t at = 1; at < 90; ++at) {
            INFO("operation " << at << (for_good ? " and all behind it" : ""));
            temporary_folder const folder;
            net it;
            hook watch{plan{}};
            {
                checkpoints first{folder / "kept", {.keep = 1}};  // one that is good, before anything fails
                (void)watch.step(0, it);
                REQUIRE(!first.save(watch, train(0), it));
                first.review(watch);
            }
            faulty_file_system files{at, for_good};
            {
                checkpoints kept{folder / "kept", {.keep = 1}, files};
                for (std::uint64_t i = 1; i < 6; ++i) {
                    it.w[0] = static_cast<float>(i);
                    (void)watch.step(i, it);
                    if (kept.save(watch, train(i), it)) { ++failed_saves; }
                    if (!kept.last_good().path.empty()) { REQUIRE(std::filesystem::exists(kept.last_good().path)); }
                }
                kept.review(watch);
            }
            // As after a kill there: another process looks.
            checkpoints const later{folder / "kept"};
            REQUIRE(!later.last_good().path.empty());
            for (checkpoint_file const& each : later.all()) {
                std::string const bytes = bytes_at(each.path);
                REQUIRE(header_of(bytes).starts_with("{\"fc1/w\""));
                REQUIRE(bytes.size() == 8 + header_of(bytes).size() + 68);
                float first = -1;
                std::memcpy(&first, bytes.data() + bytes.size() - 68, 4);
                CHECK(first == (each.step.index == 0 ? 0.5F : static_cast<float>(each.step.index)));
            }
            for (std::string const& name : names_at(folder / "kept")) { CHECK(!name.ends_with(".part")); }
        }
    }
    CHECK(failed_saves > 100);
}

TEST_CASE("a folder that cannot be made, a type that is none, and nothing to write are told") {
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
