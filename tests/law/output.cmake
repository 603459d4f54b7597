# SPDX-License-Identifier: Apache-2.0
# The command line prints through `say` of tools/output.hpp, which escapes all but printable text. Only the terminal's
# progress bar and the programs of `spotter new` write to a stream directly.
file(GLOB_RECURSE sources "${TOOLS}/*.cpp" "${TOOLS}/*.hpp")
set(found "")
foreach(source IN LISTS sources)
    get_filename_component(name "${source}" NAME)
    if(name MATCHES "^(output|progress|terminal|new_texts)\\.hpp$")
        continue()
    endif()
    file(STRINGS "${source}" lines REGEX "std::(fwrite|fputs|fputc|puts|putchar|printf|fprintf|cout|cerr)[^a-z]|fmt::print")
    foreach(line IN LISTS lines)
        string(APPEND found "${source}: ${line}\n")
    endforeach()
endforeach()
if(found)
    message(FATAL_ERROR "say it by `say` (tools/output.hpp):\n${found}")
endif()
