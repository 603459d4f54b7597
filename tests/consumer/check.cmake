# SPDX-License-Identifier: Apache-2.0
# Configures, builds and runs the project in SOURCE. With FAILS configuring must fail with a matching message; with SAYS
# it must print one.
file(REMOVE_RECURSE "${FOLDER}")

execute_process(COMMAND "${CMAKE_COMMAND}" --no-warn-unused-cli -S "${SOURCE}" -B "${FOLDER}" -G "${GENERATOR}"
                        "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}"
                        "-DPROGRAMS=${PROGRAMS}" ${OPTIONS}
                RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
string(REGEX REPLACE "[ \n]+" " " words "${output}") # CMake wraps its messages
if(FAILS)
    if(result EQUAL 0 OR NOT words MATCHES "${FAILS}")
        message(FATAL_ERROR "must fail and say '${FAILS}':\n${output}")
    endif()
    return()
elseif(NOT result EQUAL 0)
    message("${output}")
    message(FATAL_ERROR "cannot configure")
elseif(words MATCHES "CMake [A-Za-z]* ?Warning|arch_native_supported")
    message(FATAL_ERROR "a stranger's project must be configured without a warning, and without what it did not ask for:\n${output}")
elseif(NOT words MATCHES "${SAYS}")
    message(FATAL_ERROR "must say '${SAYS}':\n${output}")
endif()
if(NOT PROGRAMS)
    return()
endif()

execute_process(COMMAND "${CMAKE_COMMAND}" --build "${FOLDER}" RESULT_VARIABLE result
                OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(NOT result EQUAL 0)
    message("${output}")
    message(FATAL_ERROR "cannot build")
endif()

foreach(program IN LISTS PROGRAMS)
    execute_process(COMMAND "${FOLDER}/use_${program}" WORKING_DIRECTORY "${FOLDER}" RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "use_${program} ended with ${result}")
    endif()
endforeach()
