# SPDX-License-Identifier: Apache-2.0
# spotter::workbench: an ordinary library that makes documents of records, behind the headers spotter/workbench/*.hpp.
# Like spotter::compiled, which it links, it is built in the project that links it, with that build's flags. The package
# config includes this file, too, and has the sources beside it.
set(SPOTTER_WORKBENCH_DIR "${CMAKE_CURRENT_LIST_DIR}/workbench")
if(NOT EXISTS "${SPOTTER_WORKBENCH_DIR}")
    get_filename_component(SPOTTER_WORKBENCH_DIR "${CMAKE_CURRENT_LIST_DIR}/../tools/workbench" ABSOLUTE)
endif()

if(TARGET spotter::compiled AND TARGET spotter::report AND TARGET spotter::json AND NOT TARGET spotter_workbench)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${SPOTTER_WORKBENCH_DIR}/*.cpp")
    add_library(spotter_workbench STATIC EXCLUDE_FROM_ALL ${sources})
    target_include_directories(spotter_workbench PRIVATE "${SPOTTER_WORKBENCH_DIR}")
    target_link_libraries(spotter_workbench PUBLIC spotter::compiled PRIVATE spotter::report spotter::json)
    if(COMMAND spotter_find_zlib) # compressed archives are readable only with zlib
        spotter_find_zlib()
    endif()
    if(TARGET spotter::dep_zlib)
        target_compile_definitions(spotter_workbench PRIVATE SPOTTER_WITH_ZLIB=1)
        target_link_libraries(spotter_workbench PRIVATE spotter::dep_zlib)
    endif()
    if(NOT DEFINED CMAKE_UNITY_BUILD)
        set_target_properties(spotter_workbench PROPERTIES UNITY_BUILD ON)
    endif()
    # One unity file a folder: its files have similar includes.
    set_target_properties(spotter_workbench PROPERTIES UNITY_BUILD_MODE GROUP)
    foreach(source IN LISTS sources)
        get_filename_component(folder "${source}" DIRECTORY)
        get_filename_component(folder "${folder}" NAME)
        set_source_files_properties("${source}" PROPERTIES UNITY_GROUP ${folder})
    endforeach()
    if(MINGW)
        target_compile_options(spotter_workbench PRIVATE -Wa,-mbig-obj) # more sections than the object format has by default
    endif()
    add_library(spotter::workbench ALIAS spotter_workbench)
endif()
