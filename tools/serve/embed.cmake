# SPDX-License-Identifier: Apache-2.0
# cmake -D OUT=file.cpp -D FOLDER=tools/serve -D "NAMES=page.html;app.js" -P embed.cmake
# Makes a source file of the files of the live page: the function `asset` of server.hpp.
set(arrays "")
set(rows "")
set(number 0)
foreach(name IN LISTS NAMES)
    file(READ "${FOLDER}/${name}" bytes HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
    string(APPEND arrays "constexpr unsigned char bytes_${number}[] = {\n${bytes}};\n")
    string(APPEND rows "    if (name == \"${name}\") { return {reinterpret_cast<char const*>(bytes_${number}), sizeof bytes_${number}}; }\n")
    math(EXPR number "${number} + 1")
endforeach()
file(WRITE "${OUT}" "// Made by tools/serve/embed.cmake.
#include \"server.hpp\"

namespace spotter_tool::live {

namespace {

${arrays}
}  // namespace

std::string_view asset(std::string_view name) noexcept {
${rows}    return {};
}

}  // namespace spotter_tool::live
")
