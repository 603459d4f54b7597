# SPDX-License-Identifier: Apache-2.0
# Catch2, version 2 or 3, as a library with a main function.
find_package(Catch2 QUIET)
if(NOT TARGET Catch2::Catch2)
    message(FATAL_ERROR "Catch2 was not found (catch2 on Debian and Ubuntu; catch2 in brew, vcpkg and Conan). "
                        "Set SPOTTER_TESTS=OFF to do without tests.")
endif()
include(Catch)

# The packaged library was built with exceptions. Version 2 without them differs inside, so there, and where no library
# is packaged, the main function is compiled here, once. Version 3 without exceptions links its library all the same:
# a failed REQUIRE then ends the program instead of the test case.
add_library(spotter_catch INTERFACE)
if(TARGET Catch2::Catch2WithMain AND (SPOTTER_HAS_EXCEPTIONS OR Catch2_VERSION VERSION_GREATER_EQUAL 3))
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

# One executable spotter_test_<name>. A name that Catch2 does not find again (a quote in it) must not pass for a test
# that ran; a test that was left early counts as skipped only when nothing failed before.
function(spotter_catch name)
    set(target spotter_test_${name})
    add_executable(${target} ${ARGN})
    target_link_libraries(${target} PRIVATE spotter_catch spotter_warnings)
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/run/${name}")
    file(MAKE_DIRECTORY "${folder}")
    set(data "")
    if(SPOTTER_DATA)
        set(data ENVIRONMENT "SPOTTER_DATA=${SPOTTER_DATA}")
    endif()
    catch_discover_tests(
        ${target}
        TEST_PREFIX "${name}/"
        WORKING_DIRECTORY "${folder}"
        PROPERTIES TIMEOUT 300
                   FAIL_REGULAR_EXPRESSION "No test(s ran| cases matched)"
                   SKIP_REGULAR_EXPRESSION "SPOTTER_SKIP: .*All tests passed"
                   ${data})
endfunction()
