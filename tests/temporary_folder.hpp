// SPDX-License-Identifier: Apache-2.0
// A folder for one test.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <system_error>

namespace spotter_test {

// A fresh folder under the system's, removed with all that is in it.
class temporary_folder {
public:
    temporary_folder() {
        std::string const begin = (std::filesystem::temp_directory_path() / "spotter-").generic_string();
        std::random_device random;
        std::error_code why;
        do {
            path_ = begin + std::to_string(random()) + std::to_string(random());
            // False without an error: the name is taken.
        } while (!std::filesystem::create_directory(path_, why) && !why);
        if (why) {
            std::fprintf(stderr, "%s: %s\n", path_.c_str(), why.message().c_str());
            std::abort();
        }
    }
    temporary_folder(temporary_folder const&) = delete;
    temporary_folder& operator=(temporary_folder const&) = delete;
    ~temporary_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    [[nodiscard]] std::string operator/(std::string_view name) const { return path_ + "/" + std::string{name}; }

private:
    std::string path_;
};

// The bytes of a file; none where it cannot be read.
[[nodiscard]] inline std::string bytes_at(std::string const& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace spotter_test
