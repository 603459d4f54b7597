// SPDX-License-Identifier: Apache-2.0
// Shared by benchmarks that write: a folder that is removed at the end.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

namespace bench {

class scratch_folder {
public:
    scratch_folder() {
        std::string const name = (std::filesystem::temp_directory_path() / "spotter_bench_").string();
        path_ = name + std::to_string(std::chrono::steady_clock::now().time_since_epoch().count());
    }
    scratch_folder(scratch_folder const&) = delete;
    scratch_folder& operator=(scratch_folder const&) = delete;
    ~scratch_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    [[nodiscard]] std::string const& path() const noexcept { return path_; }
    // Total size of its files.
    [[nodiscard]] std::uintmax_t bytes() const {
        std::error_code ignored;
        std::uintmax_t sum = 0;
        for (auto const& each : std::filesystem::recursive_directory_iterator{path_, ignored}) {
            if (each.is_regular_file(ignored)) { sum += each.file_size(ignored); }
        }
        return sum;
    }

private:
    std::string path_;
};

}  // namespace bench
