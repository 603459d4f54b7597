# SPDX-License-Identifier: Apache-2.0
# An overlay port that packages the checkout that contains it:
#   vcpkg install spotter[report,xtensor] --overlay-ports=<checkout>/cmake/packaging/vcpkg
# cmake/release.cmake turns it into a registry's port: there vcpkg_download_distfile replaces the next line.
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

set(VCPKG_BUILD_TYPE release) # header-only
vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
                      OPTIONS -DSPOTTER_TESTS=OFF -DSPOTTER_EXAMPLES=OFF -DSPOTTER_TOOLS=OFF -DSPOTTER_BENCH=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME spotter CONFIG_PATH share/cmake/spotter)
# Only a file that requires one of lib/pkgconfig has to be there, too.
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/lib" "${CURRENT_PACKAGES_DIR}/share/doc" "${CURRENT_PACKAGES_DIR}/share/licenses")
file(MAKE_DIRECTORY "${CURRENT_PACKAGES_DIR}/lib")
file(RENAME "${CURRENT_PACKAGES_DIR}/share/pkgconfig" "${CURRENT_PACKAGES_DIR}/lib/pkgconfig")
vcpkg_fixup_pkgconfig()

file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
