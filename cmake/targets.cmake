# SPDX-License-Identifier: Apache-2.0
# The interface targets spotter::<component>. Each target always exists, so that each can be installed: all headers are
# installed, and the package config searches for third parties on the consumer's machine. Its public name exists only if
# its packages were found.
include(GNUInstallDirs)

file(STRINGS include/spotter/version.hpp lines REGEX "SPOTTER_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
string(REGEX REPLACE "[^;]*_(MAJOR|MINOR|PATCH) +([0-9]+)" "\\2" lines "${lines}")
string(REPLACE ";" "." lines "${lines}")
if(NOT lines STREQUAL PROJECT_VERSION)
    message(FATAL_ERROR "spotter/version.hpp says ${lines}, CMakeLists.txt says ${PROJECT_VERSION}")
endif()

# A consumer's warning flags do not apply to these headers.
set(system SYSTEM)
if(SPOTTER_TOP_LEVEL)
    set(system "")
endif()

foreach(component IN LISTS SPOTTER_COMPONENTS)
    set(target spotter_${component})
    add_library(${target} INTERFACE)
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${component})
    target_compile_features(${target} INTERFACE cxx_std_20)
    target_include_directories(${target} ${system} INTERFACE
        "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
    foreach(parent IN LISTS SPOTTER_PARENT_${component})
        target_link_libraries(${target} INTERFACE spotter_${parent})
    endforeach()
    foreach(package IN LISTS SPOTTER_NEEDS_${component})
        target_link_libraries(${target} INTERFACE spotter::dep_${package})
    endforeach()
    spotter_find_needs(${component} missing)
    if(missing)
        message(STATUS "spotter::${component} is off: ${missing}")
    else()
        add_library(spotter::${component} ALIAS ${target})
    endif()
endforeach()

include(cmake/compiled.cmake)
include(cmake/workbench.cmake)
