# SPDX-License-Identifier: Apache-2.0
# Runs PROGRAM with ARGS in the emptied FOLDER and fails unless it ends with EXIT. With DATA=<name>.gz that file is
# unpacked from the data folder first, and the program gets its path; without the file: skipped. With SAME=<regex> it
# runs with spotter off, dry and on, and what the regex matches in its output must be the same.
file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")

if(DATA)
    if(NOT SPOTTER_DATA)
        set(SPOTTER_DATA "$ENV{SPOTTER_DATA}")
    endif()
    find_program(GZIP gzip)
    if(NOT SPOTTER_DATA OR NOT EXISTS "${SPOTTER_DATA}/${DATA}" OR NOT GZIP)
        message("SPOTTER_SKIP: needs ${DATA} in the folder SPOTTER_DATA (now '${SPOTTER_DATA}'), and gzip")
        return()
    endif()
    string(REGEX REPLACE "\\.gz$" "" plain "${FOLDER}/${DATA}")
    execute_process(COMMAND "${GZIP}" -dc "${SPOTTER_DATA}/${DATA}" OUTPUT_FILE "${plain}" RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "cannot unpack ${SPOTTER_DATA}/${DATA}")
    endif()
    list(PREPEND ARGS "${plain}")
endif()

if(NOT SAME)
    execute_process(COMMAND "${PROGRAM}" ${ARGS} WORKING_DIRECTORY "${FOLDER}" RESULT_VARIABLE result)
    if(NOT result STREQUAL EXIT)
        message(FATAL_ERROR "${PROGRAM} ${ARGS}: ended with ${result}, expected ${EXIT}")
    endif()
    return()
endif()

# With SAME=<regex>: the text that it matches in the output must not depend on whether spotter is off, dry or on.
foreach(state IN ITEMS off dry on)
    execute_process(COMMAND "${CMAKE_COMMAND}" -E env SPOTTER=${state} "${PROGRAM}" ${ARGS} WORKING_DIRECTORY "${FOLDER}"
                    RESULT_VARIABLE result OUTPUT_VARIABLE output)
    string(REGEX MATCH "${SAME}" found "${output}")
    if(NOT result STREQUAL EXIT OR found STREQUAL "")
        message(FATAL_ERROR "SPOTTER=${state} ${PROGRAM} ${ARGS}: ended with ${result}, expected ${EXIT}, and said\n${output}")
    endif()
    message("SPOTTER=${state}: ${found}")
    if(DEFINED first AND NOT found STREQUAL first)
        message(FATAL_ERROR "the results differ")
    endif()
    set(first "${found}")
endforeach()
