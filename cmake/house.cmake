# SPDX-License-Identifier: Apache-2.0
# What tests, examples, tools and benchmarks share. A consumer never reads this file.
include(CheckCXXSourceCompiles)

if(SPOTTER_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    find_program(SPOTTER_CCACHE ccache)
    mark_as_advanced(SPOTTER_CCACHE)
    if(SPOTTER_CCACHE)
        set(CMAKE_CXX_COMPILER_LAUNCHER "${SPOTTER_CCACHE}")
    endif()
endif()

add_library(spotter_warnings INTERFACE)
if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    target_compile_options(spotter_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                           $<$<BOOL:${SPOTTER_WERROR}>:-Werror>)
endif()

check_cxx_source_compiles("#ifndef __cpp_exceptions\n#error\n#endif\nint main() {}" SPOTTER_HAS_EXCEPTIONS)

# What xtensor needs beyond its own target: clang 19 takes P0522 by default, xtensor before 0.25 does not compile with it.
add_library(spotter_xtensor_flags INTERFACE)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 19)
    target_compile_options(spotter_xtensor_flags INTERFACE -fno-relaxed-template-template-args
                           -Wno-deprecated-no-relaxed-template-template-args)
endif()

# Foreign libraries that a header ext/<name>.hpp may adapt: package, target. A name without a row needs none.
set(SPOTTER_EXT_eigen Eigen3 Eigen3::Eigen)
set(SPOTTER_EXT_torch Torch torch)
set(SPOTTER_EXT_xgboost xgboost xgboost::xgboost)
set(SPOTTER_EXT_mpi MPI MPI::MPI_CXX)
set(SPOTTER_EXT_armadillo Armadillo armadillo)
set(SPOTTER_EXT_opencv OpenCV opencv_core)

# `missing` becomes the name of the package that ext/<name>.hpp needs and that is not here, or empty.
function(spotter_find_ext name missing)
    set(${missing} "" PARENT_SCOPE)
    if(name STREQUAL "xtensor" AND NOT TARGET spotter::xtensor)
        set(${missing} xtensor PARENT_SCOPE)
    elseif(DEFINED SPOTTER_EXT_${name})
        list(GET SPOTTER_EXT_${name} 0 package)
        find_package(${package} QUIET)
        if(NOT ${package}_FOUND)
            set(${missing} ${package} PARENT_SCOPE)
        endif()
    endif()
endfunction()

function(spotter_link_ext target name)
    if(name STREQUAL "xtensor")
        target_link_libraries(${target} PRIVATE spotter::xtensor spotter_xtensor_flags)
    elseif(DEFINED SPOTTER_EXT_${name})
        list(GET SPOTTER_EXT_${name} 0 package)
        list(GET SPOTTER_EXT_${name} 1 library)
        find_package(${package} QUIET)
        if(TARGET ${library})
            target_link_libraries(${target} PRIVATE ${library})
        else() # FindArmadillo only sets variables
            string(TOUPPER ${package} upper)
            target_include_directories(${target} SYSTEM PRIVATE ${${upper}_INCLUDE_DIRS})
            target_link_libraries(${target} PRIVATE ${${upper}_LIBRARIES})
        endif()
    endif()
endfunction()

# A program that links exactly what its source and the headers beside a main.cpp say they include. Where one of these is
# not here the program becomes a test that is reported as skipped. `built` tells which.
function(spotter_program target source built)
    set(texts "${source}")
    if(source MATCHES "main\\.cpp$")
        get_filename_component(folder "${source}" DIRECTORY)
        file(GLOB headers CONFIGURE_DEPENDS "${folder}/*.hpp")
        list(APPEND texts ${headers})
    endif()
    set(includes "")
    foreach(text IN LISTS texts)
        file(STRINGS "${text}" found REGEX "^ *# *include *<(spotter|fmt|xtensor)/")
        list(APPEND includes ${found})
    endforeach()
    set(components hook)
    foreach(line IN LISTS includes)
        if(line MATCHES "<spotter/ext/xtensor|<xtensor/")
            list(APPEND components xtensor)
        elseif(line MATCHES "<spotter/(report|fmt/)|<fmt/")
            list(APPEND components report)
        elseif(line MATCHES "<spotter/(spotter|record|export)")
            list(APPEND components spotter)
        elseif(line MATCHES "<spotter/(trial|replay|format)")
            list(APPEND components trial)
        endif()
    endforeach()
    list(REMOVE_DUPLICATES components)
    set(${built} FALSE PARENT_SCOPE)
    foreach(component IN LISTS components)
        if(NOT TARGET spotter::${component})
            spotter_skipped(${target} "spotter::${component} is off")
            return()
        endif()
    endforeach()
    add_executable(${target} "${source}")
    target_link_libraries(${target} PRIVATE spotter_warnings)
    foreach(component IN LISTS components)
        target_link_libraries(${target} PRIVATE spotter::${component})
    endforeach()
    if("xtensor" IN_LIST components)
        target_link_libraries(${target} PRIVATE spotter_xtensor_flags)
    endif()
    set(${built} TRUE PARENT_SCOPE)
endfunction()

# A test that only says why it cannot be run here.
function(spotter_skipped name why)
    add_test(NAME ${name} COMMAND "${CMAKE_COMMAND}" -E echo "SPOTTER_SKIP: ${why}")
    set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "SPOTTER_SKIP: ")
endfunction()

# A test that runs a program in a folder of its own, emptied first, and wants EXIT from it; SAME as in cmake/run.cmake.
function(spotter_run_test name target)
    cmake_parse_arguments(PARSE_ARGV 2 run "" "EXIT;DATA;SAME" "ARGS")
    if(NOT DEFINED run_EXIT)
        set(run_EXIT 0)
    endif()
    add_test(NAME ${name}
             COMMAND "${CMAKE_COMMAND}" -D "PROGRAM=$<TARGET_FILE:${target}>" -D "ARGS=${run_ARGS}"
                     -D "FOLDER=${CMAKE_CURRENT_BINARY_DIR}/run/${name}" -D "EXIT=${run_EXIT}" -D "DATA=${run_DATA}"
                     -D "SAME=${run_SAME}"
                     -D "SPOTTER_DATA=${SPOTTER_DATA}" -P "${PROJECT_SOURCE_DIR}/cmake/run.cmake")
    set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "SPOTTER_SKIP: " TIMEOUT 300)
endfunction()
