// SPDX-License-Identifier: Apache-2.0
// Makes the fuzzers' start inputs: real records of every kind of content, and settings. Usage: seeds <folder>
#include <tests/fuzz/pack.hpp>

#include <spotter/file/memory.hpp>
#include <spotter/rules.hpp>
#include <spotter/spotter.hpp>
#include <spotter/workbench/npy.hpp>

#include <cstdio>
#include <filesystem>

using namespace spotter;
using namespace spotter_test;

namespace {

void put(std::filesystem::path const& path, void const* bytes, std::size_t size) {
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    if (file == nullptr) { return; }
    (void)std::fwrite(bytes, 1, size, file);
    (void)std::fclose(file);
}

template <class Plan, class Loop>
folder_contents record(Plan const& keep, options choices, Loop const& loop) {
    memory_file_system files;
    choices.drain = drain::poll;
    choices.ring_bytes = 64 << 10;
    recorder sink{frozen_files::folder, choices, files};
    {
        hook watch{sink, keep, non_finite{}, dead_relu{}, any("loss", minimum > 0.0)};
        loop(watch);
        watch.finish();
    }
    folder_contents found;
    for (char const* const name : packed_names) {
        auto const mapped = files.map(name);
        if (!mapped) { break; }
        found.emplace(name, contents{mapped->bytes.begin(), mapped->bytes.end()});
        files.unmap(*mapped);
    }
    return found;
}

template <class Value>
std::vector<Value> values(std::size_t count) {
    std::vector<Value> all(count);
    for (std::size_t i = 0; i < count; ++i) { all[i] = static_cast<Value>(i * i + 1); }
    return all;
}

constexpr char const* settings[] = {
    R"({"collections": [{"name": "mine", "pattern": "grad/*", "when": {"every": 10}, "what": ["l2", "mean"]}]})",
    R"({"collections": [{"name": "a", "pattern": {"and": ["*/w", {"not": "x*"}]}, "what": "payload"}],
     "fallback": {"what": ["histogram"]}})",
    R"({"collections": [{"name": "b", "pattern": {"regex": "^(conv|fc)[0-9]{1,2}/\\w+$"},
     "when": {"or": [{"at": [0, 1]}, {"during": "eval"}]}}]})",
    R"({"options": {"ring_bytes": "64 MiB", "overflow": "thin", "compression_level": -3},
     "collections": [{"name": "losses"}]})",
    R"({"collections": [{"name": "c", "pattern": {"or": [{"regex": "(a|aa)+$"},
     {"names": ["a"]}, {"role": "loss"}, "{{{{a,b}}}}"]}}]})",
    R"({"HookParameters": {"save_interval": "100", "include_workers": "all"},
     "CollectionConfigurations": [{"CollectionName":
        "weights", "CollectionParameters": {"include_regex": ".*relu",
         "save_steps": "0,10,20", "reductions": "min,max"}}]})",
    ("((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((a))))))))))))))))))))))))))))))))))))))))))))"
     ")"
     ")))))))))))))))))))))))"),
    "(.|x)*relu",
    "^(a+)+$",
    "((a{1000}){1000}){1000}",
    "(a?){30}a{30}|[^\\w.-]\\b[[:alpha:]]*?\\x41",
    "(|a)*b",
    "*a*a*a*a*{a,{b,[!c-d]*}}b",
    "{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{a}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}}"};

// One tensor as .npy, two as .npz with and without zip64 fields, and one as .safetensors.
std::vector<std::vector<std::byte>> tensor_files() {
    std::vector<float> const numbers = values<float>(6);
    std::vector<std::vector<std::byte>> files;
    files.push_back(to_npy(view_of(numbers, {2, 3}, order::column_major)).value());
    for (zip64 const wide : {zip64::where_needed, zip64::always}) {
        std::vector<std::byte>& file = files.emplace_back();
        npz_writer writer{[&](std::span<std::byte const> bytes) {
                              file.insert(file.end(), bytes.begin(), bytes.end());
                              return error{};
                          },
                          small_floats::bits, wide};
        (void)writer.add("a@train:3", view_of(numbers, {6}));
        (void)writer.add("b", view_of(numbers, {3, 2}));
        (void)writer.finish();
    }
    std::string const header = R"({"__metadata__":{"k":"v"},"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})";
    std::uint64_t const length = header.size();
    auto const add = [&](void const* from, std::size_t size) {
        auto const* const at = static_cast<std::byte const*>(from);
        files.back().insert(files.back().end(), at, at + size);
    };
    files.emplace_back();
    add(&length, sizeof length), add(header.data(), header.size()), add(numbers.data(), 24);
    return files;
}

}  // namespace

int main(int count, char** words) {
    if (count < 2) { return 2; }
    std::filesystem::path const folder = words[1];
    std::filesystem::create_directories(folder / "segment");
    std::filesystem::create_directories(folder / "settings");
    std::vector<folder_contents> runs;
    runs.push_back(record(plan{collection{"all", "*", always{}, payload}}, {}, [](auto& watch) {
        for (std::uint64_t i = 0; i < 3; ++i) {
            (void)watch.step(train(i), "loss"_t = 0.5, "fc/w"_t = values<float>(150), "fc/b"_t = values<double>(3),
                             "mask"_t = values<std::uint8_t>(9), "grad/fc/w"_t = values<float>(20));
            watch.scalar("note", std::string_view{"words"}, 1.5);
            watch.scalar("lr", 0.1);
            watch.flush();
        }
    }));
    runs.push_back(record(plan{collection{"sums", "*", always{}, stats(l2, mean, minimum, maximum, product)},
                               collection{"spread", "x", every{2}, quantiles | histogram}},
                          {}, [](auto& watch) {
                              for (std::uint64_t i = 0; i < 4; ++i) {
                                  (void)watch.step(train(i), "x"_t = values<float>(40), "relu/1"_t = values<float>(12));
                                  (void)watch.step(eval(i), "val_loss"_t = 1.0F);
                              }
                              watch.fail("on purpose");
                          }));
    runs.push_back(record(plan{collection{"all", "*", always{}, payload}}, {.segment_bytes = 4096}, [](auto& watch) {
        for (std::uint64_t i = 0; i < 60; ++i) {
            (void)watch.step(train(i), "loss"_t = 1.0 / static_cast<double>(i + 1), "w"_t = values<std::int16_t>(8));
        }
    }));
    runs.push_back(record(plan{collection{"all", "*", always{}, payload | delta{2}}}, {}, [](auto& watch) {
        std::vector<float> w = values<float>(200);
        std::vector<std::uint8_t> m(600);
        for (std::uint64_t i = 0; i < 3; ++i) {
            for (std::size_t k = 0; k < w.size(); k += 2) { w[k] = 0; }
            w[7 * i] = m[9 * i] = 1;
            (void)watch.step(train(i), "grad/w"_t = w, "mask"_t = m, "none"_t = std::vector<double>(100));
        }
    }));
    runs.push_back(record(plan{collection{"all", "*", always{}, payload}}, {.workers = 2}, [](auto&) {}));
    int number = 0;
    for (folder_contents const& run : runs) {
        for (std::uint8_t const switches :
             {std::uint8_t{0}, std::uint8_t{repairs}, std::uint8_t{repairs | resumes | replays}}) {
            auto const packed = pack_run(switches, run);
            put(folder / "segment" / std::to_string(number++), packed.data(), packed.size());
        }
    }
    for (char const* const text : settings) {
        put(folder / "settings" / std::to_string(number++), text, std::char_traits<char>::length(text));
    }
    // In payload.cpp's input format: a form, 16 bytes of values, a part from byte 3 on, frames.
    std::filesystem::create_directories(folder / "payload");
    constexpr std::uint8_t payloads[][24] = {
        {4, 16, 0, 3, 0, 4, 1, 2, 3, 4, 4, 5, 6, 7, 8, 4, 9, 10, 11, 12, 4, 13, 14, 15},  // planes
        {34, 16, 0, 3, 0, 2, 0xA5, 1, 4, 1, 2, 3, 4, 4, 5, 6, 7, 8},                 // a mask of eight, half nonzero
        {50, 16, 0, 3, 0, 1, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 7, 6, 5, 4, 3, 2},  // no mask, rotated
        {33, 16, 0, 3, 0, 1, 0x80, 1, 0x80, 1, 6, 1, 9, 1, 1}};                      // three blocks, two all zero
    for (auto const& each : payloads) { put(folder / "payload" / std::to_string(number++), each, sizeof each); }
    std::filesystem::create_directories(folder / "files");
    for (auto const& file : tensor_files()) {
        put(folder / "files" / std::to_string(number++), file.data(), file.size());
    }
    return 0;
}
