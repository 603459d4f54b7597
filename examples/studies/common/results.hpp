// SPDX-License-Identifier: Apache-2.0
// The results of a study, as the text for its page.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace studies {

// Writes `text` to `folder`/results.md completely or not at all, so that half a study cannot pass for a result. Returns
// the reason of a failure.
[[nodiscard]] inline std::string write_results(std::string const& folder, std::string const& text) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    std::string const path = folder + "/results.md", unfinished = path + ".unfinished";
    {
        std::ofstream file{unfinished, std::ios::binary};
        file << text;
        file.close();
        if (!file) { return unfinished + ": cannot be written"; }
    }
    std::filesystem::rename(unfinished, path, failed);
    return failed ? path + ": " + failed.message() : std::string{};
}

}  // namespace studies
