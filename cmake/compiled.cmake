# SPDX-License-Identifier: Apache-2.0
# spotter::compiled: all bodies that are not templates, compiled once. A target that links it sees only declarations
# (SPOTTER_SEPARATE) and compiles in a fraction of the time. It is built in the project that links it, with that build's
# flags. The package config includes this file, too.
set(SPOTTER_COMPILED_DIR "${CMAKE_CURRENT_LIST_DIR}/compiled")

if(TARGET spotter::spotter AND NOT TARGET spotter_compiled)
    add_library(spotter_compiled STATIC EXCLUDE_FROM_ALL "${SPOTTER_COMPILED_DIR}/spotter.cpp"
                                                         "${SPOTTER_COMPILED_DIR}/export.cpp"
                                                         "${SPOTTER_COMPILED_DIR}/supervisor.cpp"
                                                         "${SPOTTER_COMPILED_DIR}/system.cpp"
                                                         "${SPOTTER_COMPILED_DIR}/act.cpp"
                                                         "${SPOTTER_COMPILED_DIR}/preflight.cpp")
    set_target_properties(spotter_compiled PROPERTIES UNITY_BUILD OFF) # few and large files
    target_compile_definitions(spotter_compiled PUBLIC SPOTTER_SEPARATE)
    target_link_libraries(spotter_compiled PUBLIC spotter::spotter PRIVATE ${CMAKE_DL_LIBS})
    if(MINGW)
        target_compile_options(spotter_compiled PRIVATE -Wa,-mbig-obj) # more sections than the object format has by default
    endif()
    foreach(component IN ITEMS report json)
        if(TARGET spotter::${component})
            target_sources(spotter_compiled PRIVATE "${SPOTTER_COMPILED_DIR}/${component}.cpp")
            target_link_libraries(spotter_compiled PUBLIC spotter::${component})
        endif()
    endforeach()
    add_library(spotter::compiled ALIAS spotter_compiled)
endif()
