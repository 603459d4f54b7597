# SPDX-License-Identifier: Apache-2.0
# `cmake --install` installs the headers, a package config for find_package(spotter), a file for pkg-config, the licence
# and the pages.
include(CMakePackageConfigHelpers)

set(SPOTTER_CONFIG_DIR "${CMAKE_INSTALL_DATAROOTDIR}/cmake/spotter")

install(DIRECTORY include/spotter TYPE INCLUDE FILES_MATCHING PATTERN "*.hpp" PATTERN "*.ipp" PATTERN "*.h")
# One file of targets per component: a consumer sees only the components that it requested.
foreach(component IN LISTS SPOTTER_COMPONENTS)
    install(TARGETS spotter_${component} EXPORT spotter_${component})
    install(EXPORT spotter_${component} NAMESPACE spotter:: FILE ${component}-targets.cmake
            DESTINATION "${SPOTTER_CONFIG_DIR}")
endforeach()

configure_package_config_file(cmake/spotter-config.cmake.in spotter-config.cmake
                              INSTALL_DESTINATION "${SPOTTER_CONFIG_DIR}")
write_basic_package_version_file(spotter-config-version.cmake COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(DIRECTORY cmake/compiled DESTINATION "${SPOTTER_CONFIG_DIR}")
install(DIRECTORY tools/workbench DESTINATION "${SPOTTER_CONFIG_DIR}")
install(FILES cmake/components.cmake cmake/compiled.cmake cmake/workbench.cmake
              "${CMAKE_CURRENT_BINARY_DIR}/spotter-config.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/spotter-config-version.cmake"
        DESTINATION "${SPOTTER_CONFIG_DIR}")

# The folder may be moved: paths are relative to the file. An absolute CMAKE_INSTALL_INCLUDEDIR stays absolute.
set(SPOTTER_PC_DIR "${CMAKE_INSTALL_DATAROOTDIR}/pkgconfig")
string(REGEX REPLACE "[^/]+" ".." SPOTTER_PC_PREFIX "${SPOTTER_PC_DIR}")
set(SPOTTER_PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
if(IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
    set(SPOTTER_PC_INCLUDEDIR "${CMAKE_INSTALL_INCLUDEDIR}")
endif()
configure_file(cmake/spotter.pc.in spotter.pc @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/spotter.pc" DESTINATION "${SPOTTER_PC_DIR}")

install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATAROOTDIR}/licenses/spotter")
install(FILES README.md CHANGELOG.md TYPE DOC)
install(DIRECTORY docs TYPE DOC)
