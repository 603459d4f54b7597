// SPDX-License-Identifier: Apache-2.0
// Command line, `version`: the versions of the program and of the files that it reads, and its build options.
#include "command_tree.hpp"
#include "output.hpp"

#include <spotter/format/layout.hpp>

namespace spotter_tool {

int version(std::string_view of_program) {
#if defined(SPOTTER_WITH_S3)
    constexpr std::string_view stores = "yes";
#else
    constexpr std::string_view stores = "no (libcurl and OpenSSL were not found)";
#endif
    say(fmt::format("spotter {}\nreads records of format version 1 to {}\nreads s3:// places: {}\n", of_program,
                    spotter::layout::version, stores));
    return fine;
}

}  // namespace spotter_tool
