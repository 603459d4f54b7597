# SPDX-License-Identifier: Apache-2.0
# Runs after EXECUTABLE is built: lists its test cases and writes FILE with one ctest for each, named PREFIX and the
# test case's name. EMULATOR runs a program for another machine. Catch2's own catch_discover_tests splits a name at a
# semicolon.
execute_process(COMMAND ${EMULATOR} "${EXECUTABLE}" ${LIST} OUTPUT_VARIABLE names ERROR_VARIABLE error RESULT_VARIABLE result)
if(NOT result MATCHES "^[0-9]+$") # version 2 returns the number of test cases
    message("${error}")
    message(FATAL_ERROR "${EXECUTABLE} cannot list its test cases (${result})")
endif()

# A run that finds no test case must not pass. One that left early counts as skipped only if nothing failed before.
set(properties "TIMEOUT 300 WORKING_DIRECTORY [==[${FOLDER}]==]")
string(APPEND properties " FAIL_REGULAR_EXPRESSION [==[No test(s ran| cases matched)]==]")
string(APPEND properties " SKIP_REGULAR_EXPRESSION [==[SPOTTER_SKIP: .*All tests passed]==]")
if(DATA)
    string(APPEND properties " ENVIRONMENT [==[SPOTTER_DATA=${DATA}]==]")
endif()

set(command "")
foreach(word IN LISTS EMULATOR ITEMS "${EXECUTABLE}")
    string(APPEND command " [==[${word}]==]")
endforeach()
set(script "")
while(names MATCHES "^([^\n]*)\n(.*)$")
    set(name "${CMAKE_MATCH_1}")
    set(names "${CMAKE_MATCH_2}")
    if(NOT name STREQUAL "")
        string(REGEX REPLACE "([][,\"~\\])" "\\\\\\1" pattern "${name}")
        string(APPEND script "add_test([==[${PREFIX}${name}]==]${command} [==[${pattern}]==])\n"
                             "set_tests_properties([==[${PREFIX}${name}]==] PROPERTIES ${properties})\n")
    endif()
endwhile()
file(WRITE "${FILE}" "${script}")
