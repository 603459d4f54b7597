# SPDX-License-Identifier: Apache-2.0
# Installs the packages that a fresh Debian or Ubuntu lacks; on other systems prints what to install. demo, test and
# bench include it, with further packages in SPOTTER_SETUP_MORE. Defines spotter_step and spotter_configure. With
# SPOTTER_STEPS, the number of steps, it prints which step begins and how long it took last time.
cmake_minimum_required(VERSION 3.20)

get_filename_component(SPOTTER_ROOT "${CMAKE_CURRENT_LIST_DIR}" DIRECTORY)

function(spotter_setup)
    find_program(apt_get apt-get)
    find_program(dpkg_query dpkg-query)
    if(NOT apt_get OR NOT dpkg_query)
        message("This machine has no apt-get. If something is missing below, install it with one of\n"
                "  brew install cmake ninja zstd fmt xtensor catch2\n"
                "  vcpkg install zstd fmt xtensor catch2\n"
                "  conan install . --build=missing -o '&:report=True' -o '&:xtensor=True'\n"
                "(with vcpkg and Conan, CMAKE_TOOLCHAIN_FILE in the environment says where).\n")
        return()
    endif()

    execute_process(COMMAND dpkg --print-architecture OUTPUT_VARIABLE native OUTPUT_STRIP_TRAILING_WHITESPACE)
    set(missing "")
    foreach(package IN ITEMS g++ ninja-build libzstd-dev libfmt-dev libxtensor-dev ${SPOTTER_SETUP_MORE})
        execute_process(COMMAND "${dpkg_query}" -W -f "\${Architecture}:\${db:Status-Status} " ${package}
                        OUTPUT_VARIABLE status ERROR_QUIET)
        if(NOT status MATCHES "(^| )(all|${native}):installed ") # a package of another architecture does not count
            list(APPEND missing ${package})
        endif()
    endforeach()
    if(NOT missing)
        return()
    endif()

    list(JOIN missing " " words)
    message("-- installing ${words}")
    set(as_root "")
    execute_process(COMMAND id -u OUTPUT_VARIABLE user OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(NOT user STREQUAL "0")
        set(as_root sudo -n)
    endif()
    set(apt ${as_root} env DEBIAN_FRONTEND=noninteractive "${apt_get}" -o DPkg::Lock::Timeout=500 -qq)
    execute_process(COMMAND ${apt} update RESULT_VARIABLE ignored) # old lists may suffice
    execute_process(COMMAND ${apt} install -y --no-install-recommends ${missing} RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "Could not install what is missing. Please run\n  sudo apt-get install ${words}\nand try again.")
    endif()
endfunction()

# Formats seconds as 7 s or 3 min 20 s.
function(spotter_duration seconds out)
    math(EXPR minutes "${seconds} / 60")
    math(EXPR rest "${seconds} % 60")
    if(minutes GREATER 0)
        set(${out} "${minutes} min ${rest} s" PARENT_SCOPE)
    else()
        set(${out} "${rest} s" PARENT_SCOPE)
    endif()
endfunction()

# A step begins, or ends successfully; build/took keeps its duration for the next time.
function(spotter_step_begins what)
    if(NOT SPOTTER_STEPS)
        return()
    endif()
    get_property(step GLOBAL PROPERTY spotter_step)
    math(EXPR step "0${step} + 1")
    string(TIMESTAMP now "%s" UTC)
    set_property(GLOBAL PROPERTY spotter_step ${step})
    set_property(GLOBAL PROPERTY spotter_step_began ${now})
    get_filename_component(script "${CMAKE_SCRIPT_MODE_FILE}" NAME_WE)
    set(file "${SPOTTER_ROOT}/build/took/${script}-${step}")
    set(last "")
    if(EXISTS "${file}")
        file(READ "${file}" seconds)
        spotter_duration("${seconds}" last)
        set(last " (${last} last time)")
    endif()
    set_property(GLOBAL PROPERTY spotter_step_file "${file}")
    message("\n== step ${step} of ${SPOTTER_STEPS}: ${what}${last}")
endfunction()
function(spotter_step_ends)
    if(NOT SPOTTER_STEPS)
        return()
    endif()
    get_property(began GLOBAL PROPERTY spotter_step_began)
    get_property(file GLOBAL PROPERTY spotter_step_file)
    string(TIMESTAMP now "%s" UTC)
    math(EXPR seconds "${now} - ${began}")
    file(WRITE "${file}" "${seconds}")
endfunction()

# Runs one command, passes its output through, and stops with the message `what` if it fails.
function(spotter_step what)
    spotter_step_begins("${what}")
    execute_process(COMMAND ${ARGN} WORKING_DIRECTORY "${SPOTTER_ROOT}" RESULT_VARIABLE result)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "${what} failed (${result}); the reason is in the lines above.")
    endif()
    spotter_step_ends()
endfunction()

# Plain commands instead of presets: version 6 of presets needs CMake 3.25, and Ubuntu 22.04 has 3.22.
function(spotter_configure folder)
    set(generator "")
    find_program(ninja ninja)
    if(ninja AND NOT EXISTS "${folder}/CMakeCache.txt")
        set(generator -G Ninja)
    endif()
    spotter_step("Configuring" "${CMAKE_COMMAND}" -S "${SPOTTER_ROOT}" -B "${folder}" ${generator} ${ARGN})
endfunction()

function(spotter_build folder)
    cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
    spotter_step("Building" "${CMAKE_COMMAND}" --build "${folder}" --parallel ${cores} ${ARGN})
endfunction()

spotter_setup()
