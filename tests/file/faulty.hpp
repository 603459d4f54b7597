// SPDX-License-Identifier: Apache-2.0
// What tests of files share: the file system that fails, and a folder that goes away.
#pragma once

#include <tests/file/faulty_files.hpp>

#include <cstdlib>
#include <string>

namespace spotter_test {

// A new, empty folder below the working directory of the test.
class temporary_folder {
public:
    temporary_folder() noexcept {
        if (::mkdtemp(name_) == nullptr) { name_[0] = '\0'; }
    }
    ~temporary_folder() {
        (void)!std::system((std::string{"chmod -R u+w '"} + name_ + "'; rm -rf '" + name_ + "'").c_str());
    }
    std::string operator/(std::string_view name) const { return std::string{name_} + "/" + std::string{name}; }

private:
    char name_[32] = "spotter-XXXXXX";
};

}  // namespace spotter_test
