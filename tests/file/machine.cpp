// SPDX-License-Identifier: Apache-2.0
// The machine's own file system, on every system: its operations, and the names of its errors.
#include <spotter/file/memory.hpp>
#include <spotter/file/system.hpp>

#include <tests/catch.hpp>
#include <tests/temporary_folder.hpp>
#include <tests/words.hpp>

#include <set>
#include <string>

using namespace spotter;
using spotter_test::bytes_in;
using spotter_test::temporary_folder;

TEST_CASE("a file is created once, appended to, sized, mapped, renamed and removed") {
    temporary_folder const folder;
    machine_file_system files;
    std::string const path = folder / "a/b/c/file";
    REQUIRE_FALSE(files.make_folder(folder / "a/b/c"));
    REQUIRE_FALSE(files.make_folder(folder / "a/b/c"));
    auto const file = files.create(path);
    REQUIRE(file);
    CHECK(files.create(path).error().code == errc::exists);
    CHECK(files.map(path)->bytes.empty());
    CHECK_FALSE(files.append(*file, bytes_in("hello ")));
    CHECK_FALSE(files.append(*file, {}));
    CHECK_FALSE(files.append(*file, bytes_in("world")));
    CHECK_FALSE(files.sync(*file));
    CHECK_FALSE(files.close(*file));
    auto const again = files.open_append(path);
    REQUIRE(again);
    CHECK_FALSE(files.append(*again, bytes_in("!")));
    CHECK_FALSE(files.close(*again));
    CHECK(*files.size_of(path) == 12);
    CHECK(files.facts_of(path)->bytes == 12);
    auto const mapping = files.map(path);
    REQUIRE(mapping);
    CHECK(std::memcmp(mapping->bytes.data(), "hello world!", 12) == 0);
    files.unmap(*mapping);
    CHECK(*files.kind_of(path) == path_kind::file);
    CHECK(*files.kind_of(folder / "a") == path_kind::folder);
    CHECK_FALSE(files.rename(path, folder / "a/other"));
    CHECK(*files.kind_of(path) == path_kind::missing);
    CHECK_FALSE(files.remove(folder / "a/other"));
    CHECK(files.remove(folder / "a/other").code == errc::not_a_run);
}

TEST_CASE("a folder lists every name once, and stops on request") {
    temporary_folder const folder;
    machine_file_system files;
    REQUIRE_FALSE(files.make_folder(folder / "d"));
    for (char const* name : {"d/one", "d/two", "d/three"}) { CHECK_FALSE(files.close(*files.create(folder / name))); }
    std::set<std::string> names;
    auto const take = [](void* context, std::string_view name) {
        static_cast<std::set<std::string>*>(context)->insert(std::string{name});
        return true;
    };
    CHECK_FALSE(files.list(folder / "d", take, &names));
    CHECK(names == std::set<std::string>{"one", "two", "three"});
    int count = 0;
    CHECK_FALSE(files.list(
        folder / "d",
        [](void* context, std::string_view) {
            ++*static_cast<int*>(context);
            return false;
        },
        &count));
    CHECK(count == 1);
    CHECK(files.list(folder / "none", take, &names).code == errc::not_a_run);
}

TEST_CASE("what cannot be has a name and a sentence with the path") {
    temporary_folder const folder;
    machine_file_system files;
    CHECK_FALSE(files.close(*files.create(folder / "file")));
    error const why = files.make_folder(folder / "file/below");
    CHECK(why.code == errc::unwritable);
    CHECK(why.what.view().find("file/below") != std::string_view::npos);
    CHECK(files.make_folder(folder / "file").code == errc::unwritable);
    CHECK(*files.kind_of(folder / "file/below") == path_kind::missing);
    CHECK(files.create(folder / "missing/file").error().code == errc::not_a_run);
    CHECK(files.map(folder / "").error().code == errc::unwritable);
    std::string const deep(5000, 'x');
    CHECK(files.create(deep).error().code == errc::unwritable);
    CHECK(files.kind_of(deep).error().code == errc::unwritable);
    CHECK(files.create(std::string_view{"a\0b", 3}).error().code == errc::unwritable);
}

TEST_CASE("a new name takes the place of a file, in one step, and an open file knows whether it has its name") {
    temporary_folder const folder;
    machine_file_system files;
    std::string const path = folder / "file", other = folder / "other";
    auto const old_one = files.create(path), new_one = files.create(other);
    REQUIRE(old_one);
    REQUIRE(new_one);
    CHECK_FALSE(files.append(*new_one, bytes_in("new")));
    std::uint64_t const before = files.facts_of(path)->identity;
    CHECK(before != 0);
    CHECK(*files.is_at(*old_one, path));
    CHECK_FALSE(*files.is_at(*new_one, path));
    CHECK_FALSE(files.close(*old_one));
    REQUIRE_FALSE(files.rename(other, path));
    CHECK(*files.is_at(*new_one, path));
    CHECK(files.facts_of(path)->identity != before);
    CHECK(*files.size_of(path) == 3);
    CHECK(*files.kind_of(other) == path_kind::missing);
    CHECK_FALSE(files.close(*new_one));
}

TEST_CASE("part of a file is read, as far as it goes, also while it is appended to") {
    temporary_folder const folder;
    machine_file_system files;
    std::string const path = folder / "file";
    auto const file = files.create(path);
    REQUIRE(file);
    CHECK_FALSE(files.append(*file, bytes_in("hello world")));
    std::byte some[8];
    CHECK(*files.read(path, 6, some) == 5);
    CHECK(std::memcmp(some, "world", 5) == 0);
    CHECK(*files.read(path, 11, some) == 0);
    CHECK(*files.read(path, 1'000'000, some) == 0);
    CHECK_FALSE(files.append(*file, bytes_in("!")));
    CHECK(*files.read(path, 8, some) == 4);
    CHECK(files.read(folder / "none", 0, some).error().code == errc::not_a_run);
    CHECK(files.read(folder / "", 0, some).error().code == errc::unwritable);
    CHECK_FALSE(files.close(*file));
}

TEST_CASE("names are UTF-8") {
    temporary_folder const folder;
    machine_file_system files;
    std::string const name = "gr\xC3\xBC\xC3\x9F-\xE6\xA8\xA1\xE5\x9E\x8B-\xF0\x9F\x8F\x8B";
    REQUIRE_FALSE(files.make_folder(folder / name));
    auto const file = files.create(folder / (name + "/" + name));
    REQUIRE(file);
    CHECK_FALSE(files.close(*file));
    std::string found;
    CHECK_FALSE(files.list(
        folder / name,
        [](void* context, std::string_view each) {
            static_cast<std::string*>(context)->append(each);
            return true;
        },
        &found));
    CHECK(found == name);
    CHECK_FALSE(files.remove(folder / (name + "/" + name)));
}

TEST_CASE("a lock excludes everyone else of the same process until it is given back, and its file can be read") {
    temporary_folder const folder;
    machine_file_system files;
    std::string const path = folder / "lock";
    CHECK_FALSE(*files.is_locked(path));
    auto const held = files.lock(path);
    REQUIRE(held);
    CHECK(*files.is_locked(path));
    CHECK(files.lock(path).error().code == errc::busy);
    std::byte some[4];
    CHECK(*files.read(path, 0, some) == 0);
    files.unlock(*held);
    CHECK_FALSE(*files.is_locked(path));
    auto const again = files.lock(path);
    REQUIRE(again);
    files.unlock(*again);
}

TEST_CASE("a relative path is made absolute, an absolute one stays as it is, and so does one of a file system without "
          "folders to work in") {
    file_system& files = system_files();
    std::string const here = std::filesystem::current_path().generic_string();
    std::string const whole{files.absolute("runs/a").view()};
    CHECK(std::filesystem::path{whole}.is_absolute());
    CHECK(std::filesystem::path{whole} == std::filesystem::path{here} / "runs/a");
    CHECK(files.absolute(whole).view() == whole);
    CHECK(files.absolute("").view().empty());
    CHECK(memory_file_system{}.absolute("runs/a").view() == "runs/a");
    CHECK_FALSE(files.absolute(std::string(longest_path, 'a')).good());
}
