// SPDX-License-Identifier: Apache-2.0
// `spotter recover` replaces a sidecar on a disk that fails: the old one stays until the new one is whole.
#include <tests/fault/loop.hpp>

#include <spotter/file/replacing_file.hpp>
#include <spotter/format/sidecar.hpp>

#include <tests/file/faulty_files.hpp>

using namespace spotter;
using namespace spotter_test;

namespace {

std::vector<std::byte> bytes_in(file_system& files, std::string const& path) {
    auto const mapped = files.map(path);
    if (!mapped) { return {}; }
    std::vector<std::byte> const found{mapped->bytes.begin(), mapped->bytes.end()};
    files.unmap(*mapped);
    return found;
}
void put(file_system& files, std::string const& path, std::vector<std::byte> const& bytes) {
    auto const file = files.create(path);
    REQUIRE(file);
    REQUIRE_FALSE(files.append(*file, bytes));
    REQUIRE_FALSE(files.close(*file));
}

}  // namespace

TEST_CASE("whichever file operation fails while a sidecar is made again: the old one or the new one is there, whole, "
          "and the next "
          "try brings the new one [T15]") {
    std::string const side = "runs/a/000000.spotx";
    memory_file_system sound;
    options choices = small_record;
    choices.clock = &ticks;
    (void)train_watched(sound, "runs/a", choices, 0, 6);
    std::vector<std::byte> const segment = bytes_in(sound, "runs/a/000000.spot"), whole = bytes_in(sound, side);
    byte_buffer again;
    REQUIRE_FALSE(rebuild_sidecar(segment, again));
    CHECK(std::vector<std::byte>{again.view().begin(), again.view().end()} == whole);
    std::vector<std::byte> const damaged{whole.begin(), whole.begin() + 20};
    for (bool const for_good : {false, true}) {
        for (double const written : {0.0, 0.5, 1.0}) {
            bool passed = false;
            for (std::uint64_t fail_at = 1; !passed; ++fail_at) {
                memory_file_system files;
                put(files, side, damaged);
                put(files, side + ".part", damaged);  // left by another process, or by an earlier try
                faulty_file_system faulty{files, fail_at, for_good, errc::disk_full, written};
                error const why = spotter::detail::replace_file(faulty, side, again.view(), true);
                passed = faulty.operations() < fail_at;
                INFO("operation " << fail_at << (for_good ? " for good" : ""));
                REQUIRE(bytes_in(files, side) == (why ? damaged : whole));
                REQUIRE((passed ? !why : why || fail_at == 1));
                REQUIRE_FALSE(spotter::detail::replace_file(files, side, again.view(), true));
                REQUIRE(bytes_in(files, side) == whole);
                REQUIRE(bytes_in(files, side + ".part") == damaged);
                if (passed) { REQUIRE(files.kind_of(side + ".part1").value() == path_kind::missing); }
            }
        }
    }
}
