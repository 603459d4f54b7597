# SPDX-License-Identifier: Apache-2.0
# Catch2, version 2 or 3, as a library with a main function.
find_package(Catch2 QUIET)
spotter_usable(Catch2 Catch2::Catch2 usable)
if(NOT usable)
    message(FATAL_ERROR "Catch2 was not found (catch2 on Debian and Ubuntu; catch2 in brew, vcpkg and Conan). "
                        "Set SPOTTER_TESTS=OFF to do without tests.")
endif()

# The packaged library was built with exceptions. Version 2 without exceptions has another layout: then, and without a
# packaged library, the main function is compiled here, once. Version 3 without exceptions still links the packaged
# library: a failed REQUIRE then ends the program instead of the test case. A packaged library cannot serve another
# machine or standard library.
add_library(spotter_catch INTERFACE)
if(TARGET Catch2::Catch2WithMain AND (SPOTTER_HAS_EXCEPTIONS OR Catch2_VERSION VERSION_GREATER_EQUAL 3)
   AND NOT CMAKE_CROSSCOMPILING AND NOT CMAKE_CXX_FLAGS MATCHES "-stdlib=libc\\+\\+")
    target_link_libraries(spotter_catch INTERFACE Catch2::Catch2WithMain)
else()
    add_library(spotter_catch_main STATIC catch_main.cpp)
    target_compile_features(spotter_catch_main PUBLIC cxx_std_20)
    target_compile_options(spotter_catch_main PRIVATE -O0)
    target_include_directories(spotter_catch_main PRIVATE "${PROJECT_SOURCE_DIR}")
    target_link_libraries(spotter_catch_main PUBLIC Catch2::Catch2)
    target_link_libraries(spotter_catch INTERFACE spotter_catch_main)
endif()
target_include_directories(spotter_catch INTERFACE "${PROJECT_SOURCE_DIR}")

set(SPOTTER_CATCH_LIST --list-test-names-only)
if(Catch2_VERSION VERSION_GREATER_EQUAL 3)
    set(SPOTTER_CATCH_LIST --list-tests --verbosity quiet)
endif()

# Compiling most tests takes longer than running them: those are compiled without optimisation if SPOTTER_TEST_QUICK is
# set.
set(SPOTTER_TEST_QUICK "" CACHE STRING "Compile the tests that do not compute much with this, such as -O0")
set(SPOTTER_COMPUTING format fault golden pages_cookbook stress ring stat)

# What most tests include is parsed once for the quick tests and once for the others, not in each file
# (docs/internals/tests.md). Only with g++ and spotter::compiled: other configurations show which test includes too
# little. These tests have flags of their own:
set(SPOTTER_NOT_PRECOMPILED thrown ext_torch ext_torch_preflight)

function(spotter_precompile target name)
    if(NOT SPOTTER_COMPILED OR NOT TARGET spotter::compiled OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR name IN_LIST SPOTTER_NOT_PRECOMPILED)
        return()
    endif()
    set(shared spotter_tests_quick)
    if(name IN_LIST SPOTTER_COMPUTING)
        set(shared spotter_tests_computing)
    endif()
    if(NOT TARGET ${shared})
        add_library(${shared} OBJECT "${PROJECT_SOURCE_DIR}/tests/precompiled.cpp")
        target_link_libraries(${shared} PRIVATE spotter_catch spotter_warnings)
        spotter_link_compiled(${shared})
        if(NOT name IN_LIST SPOTTER_COMPUTING)
            target_compile_options(${shared} PRIVATE ${SPOTTER_TEST_QUICK})
        endif()
        target_precompile_headers(${shared} PRIVATE <tests/precompiled.hpp>)
        spotter_cache_precompiled(${shared})
    endif()
    target_precompile_headers(${target} REUSE_FROM ${shared})
    target_compile_options(${target} PRIVATE -Wno-parentheses) # a precompiled header loses the pragma of Catch2 that disables it
    spotter_cache_precompiled(${target})
endfunction()

# One executable spotter_test_<name> and, through discover.cmake, one ctest for each test case. Each runs in a folder of
# its own.
function(spotter_catch name)
    set(target spotter_test_${name})
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/run/${name}")
    set(found "${CMAKE_CURRENT_BINARY_DIR}/${target}_found.cmake")
    add_executable(${target} ${ARGN})
    target_link_libraries(${target} PRIVATE spotter_catch spotter_warnings)
    spotter_link_compiled(${target})
    if(SPOTTER_TEST_QUICK AND NOT name IN_LIST SPOTTER_COMPUTING)
        target_compile_options(${target} PRIVATE ${SPOTTER_TEST_QUICK})
    endif()
    spotter_precompile(${target} ${name})
    if(MINGW)
        target_compile_options(${target} PRIVATE -Wa,-mbig-obj) # more sections than the object format has by default
    endif()
    file(MAKE_DIRECTORY "${folder}")
    add_custom_command(
        TARGET ${target} POST_BUILD BYPRODUCTS "${found}" VERBATIM
        COMMAND "${CMAKE_COMMAND}" -D "EXECUTABLE=$<TARGET_FILE:${target}>" -D "EMULATOR=${CMAKE_CROSSCOMPILING_EMULATOR}"
                -D "LIST=${SPOTTER_CATCH_LIST}"
                -D "PREFIX=${name}/" -D "FOLDER=${folder}" -D "DATA=${SPOTTER_DATA}" -D "FILE=${found}"
                -P "${PROJECT_SOURCE_DIR}/tests/discover.cmake")
    file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/${target}_tests.cmake"
         "if(EXISTS [==[${found}]==])\n  include([==[${found}]==])\nelse()\n  add_test(${target} ${target}_is_not_built)\nendif()\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${CMAKE_CURRENT_BINARY_DIR}/${target}_tests.cmake")
endfunction()
