# SPDX-License-Identifier: Apache-2.0
# Runs PROGRAM with ARGS in the emptied FOLDER and fails unless it ends with EXIT. With DATA=<names> those files of the
# data folder come first among the arguments, by their paths; one that ends with .gz is unpacked before. Without one of
# them: skipped. With SAME=<regex> it runs with spotter off, dry and on, and what the regex matches in its output must be
# the same.
file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")

if(DATA AND NOT SPOTTER_DATA)
    set(SPOTTER_DATA "$ENV{SPOTTER_DATA}")
endif()
set(paths "")
foreach(file IN LISTS DATA)
    set(path "${SPOTTER_DATA}/${file}")
    find_program(GZIP gzip)
    if(NOT SPOTTER_DATA OR NOT EXISTS "${path}" OR (file MATCHES "\\.gz$" AND NOT GZIP))
        message("SPOTTER_SKIP: needs ${file} in the folder SPOTTER_DATA (now '${SPOTTER_DATA}'), and gzip")
        return()
    endif()
    if(file MATCHES "\\.gz$")
        string(REGEX REPLACE "\\.gz$" "" plain "${FOLDER}/${file}")
        execute_process(COMMAND "${GZIP}" -dc "${path}" OUTPUT_FILE "${plain}" RESULT_VARIABLE result)
        if(NOT result EQUAL 0)
            message(FATAL_ERROR "cannot unpack ${path}")
        endif()
        set(path "${plain}")
    endif()
    list(APPEND paths "${path}")
endforeach()
list(PREPEND ARGS ${paths})

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
