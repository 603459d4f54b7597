# SPDX-License-Identifier: Apache-2.0
# The components of spotter and the third-party packages that each needs. The package config installs and includes this
# file, too: so the build tree and an installed spotter find the same things.

set(SPOTTER_COMPONENTS hook spotter trial report xtensor json s3 mpi)

# What a component links: first other components, which precede it in the list above, then packages (cmake target names
# below).
set(SPOTTER_PARENT_hook "")
set(SPOTTER_PARENT_spotter hook)
set(SPOTTER_PARENT_trial hook)
set(SPOTTER_PARENT_report trial)
set(SPOTTER_PARENT_xtensor trial)
set(SPOTTER_PARENT_json hook)
set(SPOTTER_PARENT_s3 spotter trial)
set(SPOTTER_PARENT_mpi hook)

set(SPOTTER_NEEDS_hook "")
set(SPOTTER_NEEDS_spotter zstd threads)
set(SPOTTER_NEEDS_trial zstd)
set(SPOTTER_NEEDS_report zstd fmt)
set(SPOTTER_NEEDS_xtensor zstd xtensor)
set(SPOTTER_NEEDS_json nlohmann_json)
set(SPOTTER_NEEDS_s3 zstd threads curl openssl)
set(SPOTTER_NEEDS_mpi mpi)

set(SPOTTER_WHERE_zstd "libzstd-dev on Debian and Ubuntu; zstd in brew, vcpkg and Conan")
set(SPOTTER_WHERE_fmt "libfmt-dev on Debian and Ubuntu; fmt in brew, vcpkg and Conan")
set(SPOTTER_WHERE_xtensor "libxtensor-dev on Debian and Ubuntu; xtensor in brew, vcpkg and Conan")
set(SPOTTER_WHERE_nlohmann_json "nlohmann-json3-dev on Debian and Ubuntu; nlohmann-json in brew and vcpkg, nlohmann_json in Conan")
set(SPOTTER_WHERE_curl "7.85 or later: libcurl4-openssl-dev on Debian and Ubuntu; curl in brew and vcpkg, libcurl in Conan")
set(SPOTTER_WHERE_openssl "libssl-dev on Debian and Ubuntu; openssl in brew, vcpkg and Conan")
set(SPOTTER_WHERE_mpi "libopenmpi-dev and openmpi-bin on Debian and Ubuntu; open-mpi in brew, mpi in vcpkg, openmpi in Conan")
set(SPOTTER_WHERE_zlib "zlib1g-dev on Debian and Ubuntu; zlib in brew, vcpkg and Conan")
set(SPOTTER_WHERE_threads "the system's thread library")

# `result` becomes whether a target can be linked: its package was found, or it is built in this tree. An unsuccessful
# search may still leave an imported target behind (FindMPI does).
function(spotter_usable package target result)
    set(usable FALSE)
    if(TARGET ${target})
        get_target_property(imported ${target} IMPORTED)
        if(${package}_FOUND OR NOT imported)
            set(usable TRUE)
        endif()
    endif()
    set(${result} ${usable} PARENT_SCOPE)
endfunction()

# Defines the wrapper spotter::dep_<name> around the first of these targets of a package that can be linked. A package's
# target names differ between versions and packagers; everything else uses the wrapper.
function(spotter_wrap name package)
    foreach(candidate IN LISTS ARGN)
        spotter_usable(${package} ${candidate} usable)
        if(usable AND NOT TARGET spotter::dep_${name})
            add_library(spotter::dep_${name} INTERFACE IMPORTED)
            target_link_libraries(spotter::dep_${name} INTERFACE ${candidate})
        endif()
    endforeach()
endfunction()

# The same for a header and a library of a package without a CMake config. ARGN: subfolders of the include folders in
# which the header may be.
function(spotter_wrap_files name header library)
    string(TOUPPER "SPOTTER_${name}" found)
    if(NOT TARGET spotter::dep_${name})
        find_path(${found}_INCLUDE_DIR ${header} PATH_SUFFIXES ${ARGN})
        find_library(${found}_LIBRARY ${library})
        mark_as_advanced(${found}_INCLUDE_DIR ${found}_LIBRARY)
        if(${found}_INCLUDE_DIR AND ${found}_LIBRARY)
            add_library(spotter::dep_${name} INTERFACE IMPORTED)
            target_include_directories(spotter::dep_${name} INTERFACE "${${found}_INCLUDE_DIR}")
            target_link_libraries(spotter::dep_${name} INTERFACE "${${found}_LIBRARY}")
        endif()
    endif()
endfunction()

function(spotter_find_zstd)
    find_package(zstd CONFIG QUIET)
    spotter_wrap(zstd zstd zstd::libzstd zstd::libzstd_shared zstd::libzstd_static)
    spotter_wrap_files(zstd zstd.h zstd) # Ubuntu 22.04 ships no config
endfunction()

function(spotter_find_fmt)
    find_package(fmt CONFIG QUIET)
    spotter_wrap(fmt fmt fmt::fmt-header-only fmt::fmt)
endfunction()

function(spotter_find_xtensor)
    set(CMAKE_REQUIRED_QUIET ON) # xtensor's own search for compiler flags belongs to a target that is not used
    find_package(xtensor CONFIG QUIET)
    spotter_wrap(xtensor xtensor xtensor xtensor::xtensor)
endfunction()

function(spotter_find_nlohmann_json)
    find_package(nlohmann_json 3.10 CONFIG QUIET)
    spotter_wrap(nlohmann_json nlohmann_json nlohmann_json::nlohmann_json)
endfunction()

function(spotter_find_curl)
    find_package(CURL 7.85 QUIET) # signs requests since that version
    spotter_wrap(curl CURL CURL::libcurl)
endfunction()

function(spotter_find_openssl)
    find_package(OpenSSL QUIET COMPONENTS Crypto)
    spotter_wrap(openssl OpenSSL OpenSSL::Crypto)
endfunction()

function(spotter_find_mpi)
    find_package(MPI QUIET COMPONENTS CXX)
    spotter_wrap(mpi MPI MPI::MPI_CXX)
endfunction()

function(spotter_find_zlib) # no component needs it: the workbench reads compressed archives if it is there
    find_package(ZLIB QUIET)
    spotter_wrap(zlib ZLIB ZLIB::ZLIB)
endfunction()

function(spotter_find_threads)
    set(THREADS_PREFER_PTHREAD_FLAG ON)
    find_package(Threads QUIET)
    spotter_wrap(threads Threads Threads::Threads)
endfunction()

# Searches for what a component needs. `missing` becomes a sentence about the first package not found, or empty.
function(spotter_find_needs component missing)
    set(${missing} "" PARENT_SCOPE)
    foreach(package IN LISTS SPOTTER_NEEDS_${component})
        if(NOT TARGET spotter::dep_${package})
            cmake_language(CALL spotter_find_${package})
        endif()
        if(NOT TARGET spotter::dep_${package})
            set(${missing} "${package} was not found (${SPOTTER_WHERE_${package}})" PARENT_SCOPE)
            return()
        endif()
    endforeach()
endfunction()
