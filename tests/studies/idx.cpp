// SPDX-License-Identifier: Apache-2.0
// The reader of idx files (MNIST's format): sizes and bytes, and errors for files that are cut or of another kind.
#include <examples/studies/common/idx.hpp>

#include <tests/catch.hpp>
#include <tests/temporary_folder.hpp>

#include <fstream>
#include <string>

namespace {

struct written {
    spotter_test::temporary_folder folder{};
    std::string path = folder / "file.idx";

    explicit written(std::string const& bytes) { std::ofstream{path, std::ios::binary} << bytes; }
};
std::string head(char type, std::initializer_list<unsigned char> sizes) {
    std::string bytes{'\0', '\0', type, static_cast<char>(sizes.size())};
    for (unsigned char const size : sizes) { bytes += std::string(3, '\0') + static_cast<char>(size); }
    return bytes;
}
std::string problem_of(std::string const& bytes) {
    written const it{bytes};
    return studies::read_idx(it.path).problem;
}

}  // namespace

TEST_CASE("idx: sizes and bytes are read as they stand", "[studies]") {
    written const it{head(8, {2, 3}) + std::string{"\0\1\2\3\4\377", 6}};
    studies::idx_file const file = studies::read_idx(it.path);
    CHECK(file.problem.empty());
    CHECK(file.sizes == std::vector<std::int64_t>{2, 3});
    CHECK(file.values == std::vector<std::uint8_t>{0, 1, 2, 3, 4, 255});
}

TEST_CASE("idx: a file that is cut off is named with its size and the expected one", "[studies]") {
    std::string const whole = head(8, {2, 3}) + "abcdef";
    for (std::size_t length = 0; length < whole.size(); ++length) {
        std::string const why = problem_of(whole.substr(0, length));
        CAPTURE(length, why);
        CHECK(why.find(std::to_string(length) + " bytes long") != std::string::npos);
        if (length >= 12) { CHECK(why.find("is cut off: ") != std::string::npos); }
        if (length >= 12) { CHECK(why.find("expected 18 for 2 x 3") != std::string::npos); }
    }
}

TEST_CASE("idx: another kind of file is an error", "[studies]") {
    CHECK(studies::read_idx("no/such/file").problem == "no/such/file: cannot be opened");
    CHECK(problem_of("\x1F\x8B\x08\x08") != "");
    CHECK(problem_of("\x1F\x8B\x08\x08").find("gzip -dk") != std::string::npos);
    CHECK(problem_of(head(13, {1}) + "a").find("elements of type 13, expected 8") != std::string::npos);
    CHECK(problem_of(head(8, {})).find("0 axes") != std::string::npos);
    CHECK(problem_of(head(8, {1, 1, 1, 1, 1}) + "a").find("5 axes") != std::string::npos);
    CHECK(problem_of(head(8, {1}) + "ab").find("something behind its elements") != std::string::npos);
    CHECK(problem_of("not an idx file").find("is no IDX file") != std::string::npos);
    std::string large{'\0', '\0', '\10', '\4'};  // sizes whose product exceeds 64 bits
    for (int i = 0; i < 16; ++i) { large += '\377'; }
    CHECK(problem_of(large + "a").find("is cut off") != std::string::npos);
    CHECK(problem_of(head(8, {0, 7})).empty());
}
