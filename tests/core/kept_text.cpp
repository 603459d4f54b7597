// SPDX-License-Identifier: Apache-2.0
// Core: a text that owns its characters: stored inside the object or on the heap, copied, moved, joined from parts.
#include <spotter/core/kept_text.hpp>

#include <tests/catch.hpp>

#include <string>
#include <utility>

using namespace spotter;

TEST_CASE("a text is kept whatever its length, on both sides of what stands in place") {
    for (std::size_t const size : std::initializer_list<std::size_t>{0, 1, 23, 24, 25, 26, 300}) {
        std::string letters(size, 'a');
        for (std::size_t i = 0; i < size; ++i) { letters[i] = static_cast<char>('a' + i % 26); }
        kept_text text;
        REQUIRE(text.assign(letters));
        CHECK(text.view() == letters);
        kept_text copied = text;
        CHECK(copied.view() == letters);
        if (size > 0) { CHECK(copied.view().data() != text.view().data()); }
        kept_text const moved = std::move(copied);
        CHECK(moved.view() == letters);
        REQUIRE(text.assign("short"));
        CHECK(text.view() == "short");
        CHECK(moved.view() == letters);
    }
}

TEST_CASE("a text is put together of parts, of which some may be empty, and another takes its place") {
    kept_text text;
    REQUIRE(text.assign("block/", "12", "/a rather long name of a weight"));
    CHECK(text.view() == "block/12/a rather long name of a weight");
    REQUIRE(text.assign("", "p", ""));
    CHECK(text.view() == "p");
    REQUIRE(text.assign(std::string(40, 'x'), {}, std::string(2, 'y')));
    CHECK(text.view() == std::string(40, 'x') + "yy");
    REQUIRE(text.assign({}));
    CHECK(text.view().empty());
}
