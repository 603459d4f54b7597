# SPDX-License-Identifier: Apache-2.0
# Preprocesses HEADER alone and fails if the result has more lines than CEILING.
set(source "${CMAKE_CURRENT_BINARY_DIR}/lines.cpp")
file(WRITE "${source}" "#include <${HEADER}>\n")
execute_process(COMMAND "${COMPILER}" -std=c++20 -E "-I${INCLUDE}" "${source}"
                OUTPUT_VARIABLE output ERROR_VARIABLE error RESULT_VARIABLE result)
if(NOT result EQUAL 0)
    message("${error}")
    message(FATAL_ERROR "cannot preprocess ${HEADER}")
endif()
string(REGEX REPLACE "[^\n]+" "" output "${output}")
string(LENGTH "${output}" lines)
message("${HEADER}: ${lines} lines after preprocessing, at most ${CEILING} allowed")
if(lines GREATER CEILING)
    message(FATAL_ERROR "too many")
endif()
