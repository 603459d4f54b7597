# SPDX-License-Identifier: Apache-2.0
# cmake -P cmake/reference.cmake: generates the API reference from the headers' comments, in build/reference/html. It
# fails on a warning of Doxygen, and if fewer public entities of a folder have a comment than tools/reference_share.py
# requires. -D FOLDER=... sets another folder.
cmake_minimum_required(VERSION 3.20)
get_filename_component(root "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
if(NOT FOLDER)
    set(FOLDER "${root}/build/reference")
endif()
find_program(SPOTTER_DOXYGEN doxygen)
find_program(SPOTTER_PYTHON3 python3)
foreach(program IN ITEMS SPOTTER_DOXYGEN SPOTTER_PYTHON3)
    if(NOT ${program})
        message(FATAL_ERROR "The reference needs doxygen and python3 (packages of these names on Debian and Ubuntu).")
    endif()
endforeach()

file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")
execute_process(COMMAND "${SPOTTER_PYTHON3}" tools/reference_filter.py include "${FOLDER}/include"
                WORKING_DIRECTORY "${root}" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" -E env "SPOTTER_REFERENCE=${FOLDER}" "${SPOTTER_DOXYGEN}" docs/Doxyfile
                WORKING_DIRECTORY "${root}" RESULT_VARIABLE result)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "Doxygen warned.")
endif()
execute_process(COMMAND "${SPOTTER_PYTHON3}" tools/reference_share.py "${FOLDER}/xml" WORKING_DIRECTORY "${root}" RESULT_VARIABLE result)
if(NOT result EQUAL 0)
    message(FATAL_ERROR "Public entities without a comment.")
endif()
message("The reference is in ${FOLDER}/html/index.html")
