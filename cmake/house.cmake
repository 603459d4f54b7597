# SPDX-License-Identifier: Apache-2.0
# Shared by tests, examples, tools and benchmarks. A consumer never reads this file.
include(CheckCXXSourceCompiles)

if(SPOTTER_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    find_program(SPOTTER_CCACHE ccache)
    mark_as_advanced(SPOTTER_CCACHE)
    if(SPOTTER_CCACHE)
        set(CMAKE_CXX_COMPILER_LAUNCHER "${SPOTTER_CCACHE}")
    endif()
endif()

# For a target with a precompiled header, with g++: ccache's manual requires the option, and settings that ignore a
# header's times.
function(spotter_cache_precompiled target)
    if(SPOTTER_CCACHE AND CMAKE_CXX_COMPILER_LAUNCHER STREQUAL SPOTTER_CCACHE)
        target_compile_options(${target} PRIVATE -fpch-preprocess)
        set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND};-E;env;\
CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime;${SPOTTER_CCACHE}")
    endif()
endfunction()

add_library(spotter_warnings INTERFACE)
if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
    target_compile_options(spotter_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion
                           $<$<BOOL:${SPOTTER_WERROR}>:-Werror>)
    # In a unity build the names of one file would shadow those of another.
    target_compile_options(spotter_warnings INTERFACE $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13) # at -O3 it warns about `"text" + std::string` (bug 105651)
    target_compile_options(spotter_warnings INTERFACE -Wno-restrict)
endif()

# By default, for a quarter of the compile time: unity builds, and all bodies that are not templates compiled once.
if(SPOTTER_TOP_LEVEL AND NOT DEFINED CMAKE_UNITY_BUILD)
    set(CMAKE_UNITY_BUILD ON)
endif()
option(SPOTTER_COMPILED "Link tests, examples and tools with spotter::compiled, instead of compiling what is no template in each" ${SPOTTER_TOP_LEVEL})
if(TARGET spotter_compiled)
    target_link_libraries(spotter_compiled PRIVATE spotter_warnings)
    foreach(part IN ITEMS report json export supervisor act preflight system) # rarely used; the configuration that tests needs no optimised ones
        set_source_files_properties("${SPOTTER_COMPILED_DIR}/${part}.cpp" PROPERTIES COMPILE_OPTIONS "${SPOTTER_TEST_QUICK}")
    endforeach()
    set_target_properties(spotter_compiled PROPERTIES CXX_COMPILER_LAUNCHER "${CMAKE_CXX_COMPILER_LAUNCHER}") # the target was created before this was set
endif()
if(TARGET spotter_workbench)
    target_link_libraries(spotter_workbench PRIVATE spotter_warnings)
    target_compile_options(spotter_workbench PRIVATE ${SPOTTER_TEST_QUICK})
    set_target_properties(spotter_workbench PROPERTIES CXX_COMPILER_LAUNCHER "${CMAKE_CXX_COMPILER_LAUNCHER}") # the target was created before this was set
endif()
function(spotter_link_compiled target)
    if(SPOTTER_COMPILED AND TARGET spotter::compiled)
        target_link_libraries(${target} PRIVATE spotter::compiled)
    endif()
endfunction()

check_cxx_source_compiles("#ifndef __cpp_exceptions\n#error\n#endif\nint main() {}" SPOTTER_HAS_EXCEPTIONS)

check_cxx_source_compiles("#if !defined(__cpp_exceptions) || !defined(__cpp_rtti)\n#error\n#endif\nint main() {}"
                          SPOTTER_HAS_EXCEPTIONS_AND_RTTI)

# xtensor's extra flags: clang 19 enables P0522 by default, and xtensor before 0.25 does not compile with it.
add_library(spotter_xtensor_flags INTERFACE)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 19)
    target_compile_options(spotter_xtensor_flags INTERFACE -fno-relaxed-template-template-args
                           -Wno-deprecated-no-relaxed-template-template-args)
endif()

option(SPOTTER_TEST_FOREIGN "Also test what needs foreign libraries or programs: adapters, their examples, code for other platforms, pages in a browser, clang-format, doxygen" ON)

# Third-party libraries that a header ext/<name>.hpp adapts: package, target. A name without a line needs none.
set(SPOTTER_EXT_eigen Eigen3 Eigen3::Eigen)
set(SPOTTER_EXT_torch Torch torch)
set(SPOTTER_EXT_xgboost xgboost xgboost::xgboost)
set(SPOTTER_EXT_armadillo Armadillo armadillo)
set(SPOTTER_EXT_opencv OpenCV opencv_core)

# `why` becomes the reason why nothing that uses ext/<name>.hpp is built: a package that is not installed, for example;
# or empty.
function(spotter_find_ext name why)
    set(${why} "" PARENT_SCOPE)
    if(name IN_LIST SPOTTER_COMPONENTS)
        spotter_find_needs(${name} missing)
        set(${why} "${missing}" PARENT_SCOPE)
    elseif(DEFINED SPOTTER_EXT_${name} AND NOT SPOTTER_TEST_FOREIGN)
        set(${why} "SPOTTER_TEST_FOREIGN is off" PARENT_SCOPE)
    elseif(name STREQUAL "xgboost" AND NOT TARGET spotter::json) # nlohmann_json reads what XGBoost writes
        set(${why} "nlohmann_json was not found" PARENT_SCOPE)
    elseif(name STREQUAL "torch" AND NOT SPOTTER_HAS_EXCEPTIONS_AND_RTTI)
        set(${why} "Torch needs exceptions and RTTI" PARENT_SCOPE)
    elseif(DEFINED SPOTTER_EXT_${name})
        list(GET SPOTTER_EXT_${name} 0 package)
        list(GET SPOTTER_EXT_${name} 1 library)
        set(CMAKE_MESSAGE_LOG_LEVEL NOTICE) # Torch prints all that it finds, even with QUIET
        if(name STREQUAL "xgboost") # Debian's config fails unless the program is installed, too
            find_library(SPOTTER_XGBOOST_LIBRARY NAMES libxgboost.so libxgboost.dylib) # the static one needs further libraries
            if(SPOTTER_XGBOOST_LIBRARY)
                spotter_wrap_files(xgboost xgboost/c_api.h xgboost)
            endif()
        endif()
        if(NOT name STREQUAL "xgboost" OR NOT TARGET spotter::dep_xgboost)
            find_package(${package} QUIET)
        endif()
        spotter_wrap(${name} ${package} ${library})
        string(TOUPPER ${package} upper)
        if(NOT TARGET spotter::dep_${name} AND ${package}_FOUND AND ${upper}_LIBRARIES) # FindArmadillo only sets variables
            add_library(spotter::dep_${name} INTERFACE IMPORTED)
            target_include_directories(spotter::dep_${name} INTERFACE ${${upper}_INCLUDE_DIRS})
            target_link_libraries(spotter::dep_${name} INTERFACE ${${upper}_LIBRARIES})
        endif()
        if(name STREQUAL "opencv")
            spotter_wrap_files(opencv opencv2/core.hpp opencv_core opencv4) # Debian's libopencv-core-dev has no config
        endif()
        if(NOT TARGET spotter::dep_${name})
            set(${why} "${package} was not found" PARENT_SCOPE)
        elseif(name STREQUAL "armadillo" AND NOT SPOTTER_HAS_EXCEPTIONS)
            set(${why} "${package} needs exceptions" PARENT_SCOPE)
        elseif(name STREQUAL "torch" AND NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND Torch_VERSION VERSION_LESS 2)
            set(${why} "Torch 2 was not found (1.13 in C++20 wants g++)" PARENT_SCOPE)
        endif()
    endif()
endfunction()

function(spotter_link_ext target name)
    if(name STREQUAL "xtensor")
        target_link_libraries(${target} PRIVATE spotter::xtensor spotter_xtensor_flags)
    elseif(name IN_LIST SPOTTER_COMPONENTS)
        target_link_libraries(${target} PRIVATE spotter::${name})
    elseif(DEFINED SPOTTER_EXT_${name})
        target_link_libraries(${target} PRIVATE spotter::dep_${name})
        if(name STREQUAL "xgboost")
            target_link_libraries(${target} PRIVATE spotter::json)
        endif()
    endif()
endfunction()

# A program that links exactly what its source, and the headers beside a main.cpp, include. If something is missing, a
# skipped test replaces the program. `built` becomes whether the program exists.
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
    set(adapters "")
    foreach(line IN LISTS includes)
        if(line MATCHES "<spotter/ext/xtensor|<xtensor/")
            list(APPEND components xtensor)
        elseif(line MATCHES "<spotter/ext/json")
            list(APPEND components json)
        elseif(line MATCHES "<spotter/workbench/")
            list(APPEND components workbench)
        elseif(line MATCHES "<spotter/ext/([a-z0-9_]+)\\.hpp>")
            list(APPEND adapters ${CMAKE_MATCH_1})
            list(APPEND components trial)
        elseif(line MATCHES "<spotter/(report|fmt/)|<fmt/")
            list(APPEND components report)
        elseif(line MATCHES "<spotter/(spotter|record|export)")
            list(APPEND components spotter)
        elseif(line MATCHES "<spotter/(trial|replay|format|supervis)")
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
    foreach(adapter IN LISTS adapters)
        spotter_find_ext(${adapter} why)
        if(why)
            spotter_skipped(${target} "${why}")
            return()
        endif()
    endforeach()
    add_executable(${target} "${source}")
    target_link_libraries(${target} PRIVATE spotter_warnings)
    if(NOT target MATCHES "no_exceptions$") # compiled with flags of its own, which differ from the library's
        spotter_link_compiled(${target})
    endif()
    foreach(adapter IN LISTS adapters)
        spotter_link_ext(${target} ${adapter})
    endforeach()
    foreach(component IN LISTS components)
        target_link_libraries(${target} PRIVATE spotter::${component})
    endforeach()
    if("xtensor" IN_LIST components)
        target_link_libraries(${target} PRIVATE spotter_xtensor_flags)
    endif()
    set(${built} TRUE PARENT_SCOPE)
endfunction()

# A test that only reports why it cannot run here.
function(spotter_skipped name why)
    add_test(NAME ${name} COMMAND "${CMAKE_COMMAND}" -E echo "SPOTTER_SKIP: ${why}")
    set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "SPOTTER_SKIP: ")
endfunction()

# A test that runs a program in its own, emptied folder and expects the exit code EXIT. SAME, SEEDS and SAYS as in
# cmake/run.cmake; CONFIGURATIONS as in add_test.
function(spotter_run_test name target)
    cmake_parse_arguments(PARSE_ARGV 2 run "" "EXIT;SAME;SEEDS;SAYS" "ARGS;DATA;CONFIGURATIONS")
    if(NOT DEFINED run_EXIT)
        set(run_EXIT 0)
    endif()
    set(configurations "")
    if(run_CONFIGURATIONS)
        set(configurations CONFIGURATIONS ${run_CONFIGURATIONS})
    endif()
    add_test(NAME ${name} ${configurations}
             COMMAND "${CMAKE_COMMAND}" -D "PROGRAM=$<TARGET_FILE:${target}>" -D "EMULATOR=${CMAKE_CROSSCOMPILING_EMULATOR}" -D "ARGS=${run_ARGS}"
                     -D "FOLDER=${CMAKE_CURRENT_BINARY_DIR}/run/${name}" -D "EXIT=${run_EXIT}" -D "DATA=${run_DATA}"
                     -D "SAME=${run_SAME}" -D "SEEDS=${run_SEEDS}" -D "SAYS=${run_SAYS}"
                     -D "SPOTTER_DATA=${SPOTTER_DATA}" -P "${PROJECT_SOURCE_DIR}/cmake/run.cmake")
    set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "SPOTTER_SKIP: " TIMEOUT 300)
endfunction()
