# SPDX-License-Identifier: Apache-2.0
# What the command line says goes through `say` of tools/output.hpp, which lets nothing through but letters: no file beside it and the bar of
# tools/progress.hpp writes to a stream of its own.
file(GLOB_RECURSE sources "${TOOLS}/*.cpp" "${TOOLS}/*.hpp")
set(found "")
foreach(source IN LISTS sources)
    get_filename_component(name "${source}" NAME)
    if(name STREQUAL "output.hpp" OR name STREQUAL "progress.hpp")
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
