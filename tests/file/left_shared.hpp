// SPDX-License-Identifier: Apache-2.0
// What every system does with the shared memory of a killed process.
#pragma once

#include <spotter/file/file_system.hpp>

#include <tests/catch.hpp>

#include <string>

namespace spotter_test {

// The memory has 8192 bytes, the last one is 77. `too_much` is more than the system has.
inline void check_left_shared(spotter::file_system& files, std::string const& name, std::uint64_t too_much) {
    using spotter::errc;
    auto const found = files.open_shared(name);
    REQUIRE(found);
    CHECK((found->bytes.size() == 8192 && found->bytes[0] == std::byte{0} && found->bytes[8191] == std::byte{77}));
    CHECK(files.open_shared(name).error().code == errc::busy);
    files.unmap_shared(*found);
    CHECK_FALSE(files.remove_shared(name));
    CHECK(files.remove_shared(name).code == errc::not_a_run);
    // Too much memory is an error now, not a signal later, and leaves nothing behind.
    CHECK(files.create_shared(name, too_much).error().code != errc::none);
    CHECK(files.open_shared(name).error().code == errc::not_a_run);
}

}  // namespace spotter_test
