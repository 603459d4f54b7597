# SPDX-License-Identifier: Apache-2.0
# What the command line says goes through `say` of tools/output.hpp, which lets nothing through but letters. Beside it only the terminal's bar writes
# to a stream, and the programs that `spotter new` makes.
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
