// SPDX-License-Identifier: Apache-2.0
// A file that replaces another: two writers at once, a file already at the temporary name, and a failure of any
// operation.
#include <spotter/file/memory.hpp>
#include <spotter/file/replacing_file.hpp>

#include <tests/catch.hpp>
#include <tests/file/faulty_files.hpp>

#include <string>

using namespace spotter;
using namespace spotter_test;

namespace {

std::span<std::byte const> bytes_of_words(std::string_view words) { return std::as_bytes(std::span{words}); }
std::string words_in(file_system& files, std::string_view path) {
    std::string text;
    return detail::read_all(files, path, text) ? std::string{"-"} : text;
}
void put_words(file_system& files, std::string_view path, std::string_view words) {
    opened_file const file = files.create(path).value();
    REQUIRE_FALSE(files.append(file, bytes_of_words(words)));
    REQUIRE_FALSE(files.close(file));
}

}  // namespace

TEST_CASE("two that replace the same file at once write two files, and each is whole in its place") {
    memory_file_system files;
    put_words(files, "x", "old");
    detail::replacing_file a{files, "x"}, b{files, "x"};
    a.append(bytes_of_words("first"));
    b.append(bytes_of_words("sec"));
    CHECK(a.part() != b.part());
    CHECK(words_in(files, "x") == "old");
    CHECK_FALSE(a.finish(true));
    CHECK(words_in(files, "x") == "first");
    b.append(bytes_of_words("ond"));
    CHECK_FALSE(b.finish(false));
    CHECK(words_in(files, "x") == "second");
    for (std::string_view const part : {"x.part", "x.part1"}) {
        CHECK(files.kind_of(part).value() == path_kind::missing);
    }
}

TEST_CASE("what lies where a file would be written before it has its place is not removed") {
    memory_file_system files;
    put_words(files, "x.part", "mine");
    put_words(files, "x.part1", "mine, too");
    CHECK_FALSE(detail::replace_file(files, "x", bytes_of_words("new"), true));
    CHECK(words_in(files, "x") == "new");
    CHECK(words_in(files, "x.part") == "mine");
    CHECK(words_in(files, "x.part1") == "mine, too");
    for (int i = 2; i < 100; ++i) { put_words(files, "x.part" + std::to_string(i), "mine"); }
    error const why = detail::replace_file(files, "x", bytes_of_words("newer"), true);
    CHECK(why.code == errc::exists);
    CHECK(words_in(files, "x") == "new");
    { detail::replacing_file const dropped{files, "y"}; }
    CHECK(files.kind_of("y.part").value() == path_kind::missing);
}

TEST_CASE("whichever operation fails while a file is replaced: the old one or the new one is there, whole") {
    for (bool const for_good : {false, true}) {
        bool passed = false;
        for (std::uint64_t at = 1; !passed; ++at) {
            memory_file_system files;
            put_words(files, "x", "old");
            faulty_file_system faulty{files, at, for_good, errc::disk_full};
            error const why = detail::replace_file(faulty, "x", bytes_of_words("new"), true);
            passed = faulty.operations() < at;
            INFO("operation " << at);
            CHECK(words_in(files, "x") == (why ? "old" : "new"));
            CHECK((!passed || !why));
            if (!for_good) { CHECK(files.kind_of("x.part").value() == path_kind::missing); }
        }
    }
}
