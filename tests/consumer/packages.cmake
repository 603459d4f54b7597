# SPDX-License-Identifier: Apache-2.0
# A release, and each way to get spotter: the commands of docs/getting.md (getting.*), and further cases. Stand-ins take
# from the system what a package manager would download: these tests need no network.
set(targets "")
foreach(component IN LISTS SPOTTER_COMPONENTS)
    if(TARGET spotter::${component}) # a component that is not built here cannot be looked for
        list(APPEND targets ${component})
    endif()
endforeach()
list(JOIN targets "|" found)
list(TRANSFORM targets PREPEND spotter::)
list(JOIN targets "|" targets)
string(APPEND targets "|spotter::compiled")

# The same targets, however spotter was installed.
spotter_consumer(alike.found OPTIONS "${installed}" "-DCOMPONENTS=${found}" "-DPRESENT=${targets}")
spotter_consumer(alike.subdirectory OPTIONS "-DSUBDIRECTORY=${PROJECT_SOURCE_DIR}" "-DPRESENT=${targets}")

# A component without its package: the search fails and still leaves its target behind, as FindMPI does.
set(left_behind "${CMAKE_CURRENT_BINARY_DIR}/left_behind")
foreach(row IN ITEMS spotter:Threads:threads:Threads::Threads report:fmt:fmt:fmt::fmt-header-only xtensor:xtensor:xtensor:xtensor
                     json:nlohmann_json:nlohmann_json:nlohmann_json::nlohmann_json
                     s3:CURL:curl:CURL::libcurl s3:OpenSSL:openssl:OpenSSL::Crypto mpi:MPI:mpi:MPI::MPI_CXX)
    string(REGEX MATCH "^([^:]+):([^:]+):([^:]+):(.+)" row "${row}")
    set(component ${CMAKE_MATCH_1})
    set(name ${CMAKE_MATCH_2})
    set(package ${CMAKE_MATCH_3})
    file(WRITE "${left_behind}/${name}/${name}ConfigVersion.cmake" "set(PACKAGE_VERSION 99)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n")
    foreach(file IN ITEMS Find${name} ${name}Config)
        file(WRITE "${left_behind}/${name}/${file}.cmake" "add_library(${CMAKE_MATCH_4} INTERFACE IMPORTED)\nset(${name}_FOUND FALSE)\n")
    endforeach()
    spotter_consumer(missing.${component}.${package} OPTIONS "${installed}" -DCOMPONENTS=${component}
                     "-DCMAKE_MODULE_PATH=${left_behind}/${name}" "-D${name}_DIR=${left_behind}/${name}"
                     FAILS "spotter::${component}: ${package} was not found \\([^)]*")
endforeach()
# A missing optional component is reported.
spotter_consumer(optional OPTIONS "${installed}" -DCOMPONENTS=hook -DOPTIONAL=report -DCMAKE_DISABLE_FIND_PACKAGE_fmt=ON -DABSENT=spotter::report
                 SAYS "spotter::report is off: fmt was not found")

add_test(NAME consumer.recipes COMMAND "${CMAKE_COMMAND}" -P "${PROJECT_SOURCE_DIR}/cmake/packaging/agree.cmake")

# spotter_getting(<name> <title of the section> [FIXTURES <name>...] [ENVIRONMENT <name=value>...] [ARGS <of getting.py>...])
function(spotter_getting name title)
    cmake_parse_arguments(PARSE_ARGV 2 way "" "" "FIXTURES;ENVIRONMENT;ARGS")
    if(NOT SPOTTER_PYTHON3)
        spotter_skipped(getting.${name} "python3 was not found")
        return()
    endif()
    add_test(NAME getting.${name} COMMAND "${SPOTTER_PYTHON3}" "${CMAKE_CURRENT_SOURCE_DIR}/getting.py" "${PROJECT_SOURCE_DIR}/docs/getting.md"
             "${title}" "${CMAKE_CURRENT_BINARY_DIR}/getting/${name}" "${PROJECT_SOURCE_DIR}" ${way_ARGS})
    set_tests_properties(getting.${name} PROPERTIES FIXTURES_REQUIRED "${way_FIXTURES}" ENVIRONMENT "${way_ENVIRONMENT}" TIMEOUT 300)
endfunction()

spotter_getting(header "The headers alone")
spotter_getting(subdirectory "CMake, in your tree")
spotter_getting(installed "CMake, installed")
find_program(SPOTTER_PKG_CONFIG pkg-config)
if(SPOTTER_PKG_CONFIG)
    spotter_getting(pkg-config "pkg-config")
else()
    spotter_skipped(getting.pkg-config "pkg-config was not found")
endif()

# A release of the last commit; its tarball's URL is the place where it was made.
set(release "${CMAKE_CURRENT_BINARY_DIR}/release")
set(tarball "spotter-${PROJECT_VERSION}.tar.gz")
find_package(Git QUIET)
set(no_release "")
if(NOT GIT_FOUND OR NOT EXISTS "${PROJECT_SOURCE_DIR}/.git")
    set(no_release "this is no Git checkout")
    foreach(name IN ITEMS consumer.release consumer.release.again consumer.alike.fetched consumer.port getting.fetch getting.tarball getting.spack)
        spotter_skipped(${name} "${no_release}")
    endforeach()
else()
    set(making "${CMAKE_COMMAND}" -D HOMEPAGE=https://example.com/someone/spotter -D "URL=file://${release}/${tarball}")
    add_test(NAME consumer.release COMMAND ${making} -D "FOLDER=${release}" -D EXAMPLES=^01 -P "${PROJECT_SOURCE_DIR}/cmake/release.cmake")
    set_tests_properties(consumer.release PROPERTIES FIXTURES_SETUP spotter_released TIMEOUT 600
                         PASS_REGULAR_EXPRESSION "1 examples compile with what is installed: example_01_two_lines")
    # Made elsewhere at another time, it has the same bytes.
    add_test(NAME consumer.release.again COMMAND "${CMAKE_COMMAND}" -D "FIRST=${release}" -D "FOLDER=${release}-again"
             -D "RELEASE=${PROJECT_SOURCE_DIR}/cmake/release.cmake" -P "${CMAKE_CURRENT_SOURCE_DIR}/again.cmake")
    set_tests_properties(consumer.release.again PROPERTIES FIXTURES_REQUIRED spotter_released ENVIRONMENT "TZ=Asia/Tokyo;GZIP=-1")

    spotter_consumer(alike.fetched FIXTURE spotter_released OPTIONS "-DFETCHED=file://${release}/${tarball}" "-DPRESENT=${targets}")
    spotter_getting(fetch "CMake, fetched" FIXTURES spotter_released
                    ARGS "<url>=file://${release}/${tarball}" "<sha256>=@${release}/SHA256SUMS")
    spotter_getting(tarball "The tarball" FIXTURES spotter_released ARGS "--copy=${release}/${tarball}" "--copy=${release}/SHA512SUMS")
    if(SPOTTER_PYTHON3)
        add_test(NAME getting.spack COMMAND "${SPOTTER_PYTHON3}" "${CMAKE_CURRENT_SOURCE_DIR}/spack.py" "${release}")
        set_tests_properties(getting.spack PROPERTIES FIXTURES_REQUIRED spotter_released)
    else()
        spotter_skipped(getting.spack "python3 was not found")
    endif()

    # The port of the release, run as vcpkg does; its installed package is found.
    add_test(NAME consumer.port COMMAND "${CMAKE_COMMAND}" -D "PORT_FOLDER=${release}/vcpkg/ports/someone-spotter"
             -D "FOLDER=${CMAKE_CURRENT_BINARY_DIR}/port" -P "${CMAKE_CURRENT_SOURCE_DIR}/vcpkg/harness.cmake")
    set_tests_properties(consumer.port PROPERTIES FIXTURES_REQUIRED spotter_released FIXTURES_SETUP spotter_port)
    spotter_consumer(port.found PROGRAMS spotter FIXTURE spotter_port OPTIONS "-DCMAKE_PREFIX_PATH=${CMAKE_CURRENT_BINARY_DIR}/port/packages")
endif()

# Conan and rattler-build, from PyPI; .ci/run makes a folder for them.
set(python_bin "${PROJECT_SOURCE_DIR}/build/python-packages/bin")
find_program(SPOTTER_CONAN conan PATHS "${python_bin}" DOC "Conan 2")
if(SPOTTER_CONAN)
    get_filename_component(bin "${SPOTTER_CONAN}" DIRECTORY)
    set(environment "CONAN_HOME=${CMAKE_CURRENT_BINARY_DIR}/conan-home" "PATH=${bin}:$ENV{PATH}")
    add_test(NAME consumer.conan.prepare COMMAND "${CMAKE_COMMAND}" -D "CONAN=${SPOTTER_CONAN}"
             -D "SYSTEM=${CMAKE_CURRENT_SOURCE_DIR}/conan/system" -P "${CMAKE_CURRENT_SOURCE_DIR}/conan/prepare.cmake")
    set_tests_properties(consumer.conan.prepare PROPERTIES FIXTURES_SETUP spotter_conan ENVIRONMENT "${environment}")
    spotter_getting(conan "Conan 2" FIXTURES spotter_conan ENVIRONMENT ${environment})
    add_test(NAME consumer.conan COMMAND "${CMAKE_COMMAND}" -D "CONAN=${SPOTTER_CONAN}" -D "TREE=${PROJECT_SOURCE_DIR}" -D "PRESENT=${targets}"
             -D "FOLDER=${CMAKE_CURRENT_BINARY_DIR}/conan" -D "PROJECT=${CMAKE_CURRENT_SOURCE_DIR}/project"
             -P "${CMAKE_CURRENT_SOURCE_DIR}/conan/check.cmake")
    set_tests_properties(consumer.conan PROPERTIES FIXTURES_REQUIRED spotter_conan ENVIRONMENT "${environment}" RESOURCE_LOCK spotter_conan TIMEOUT 300)
    set_tests_properties(getting.conan PROPERTIES RESOURCE_LOCK spotter_conan)
    if(no_release)
        spotter_skipped(consumer.conan.center "${no_release}")
    else() # downloads the tarball and checks it
        add_test(NAME consumer.conan.center COMMAND "${SPOTTER_CONAN}" create "${release}/conan/recipes/spotter/all" --version=${PROJECT_VERSION})
        set_tests_properties(consumer.conan.center PROPERTIES FIXTURES_REQUIRED "spotter_conan;spotter_released" ENVIRONMENT "${environment}"
                             RESOURCE_LOCK spotter_conan TIMEOUT 300)
    endif()
else()
    spotter_skipped(getting.conan "conan was not found")
    spotter_skipped(consumer.conan "conan was not found")
    spotter_skipped(consumer.conan.center "conan was not found")
endif()

find_program(SPOTTER_PYTHON_CONDA python3 PATHS "${python_bin}" NO_DEFAULT_PATH DOC "A Python 3 with py-rattler-build")
if(SPOTTER_PYTHON_CONDA AND NOT no_release)
    set(prefix "${CMAKE_CURRENT_BINARY_DIR}/conda/prefix")
    add_test(NAME getting.conda COMMAND "${SPOTTER_PYTHON_CONDA}" "${CMAKE_CURRENT_SOURCE_DIR}/conda.py" "${release}/conda/spotter/recipe.yaml"
             "${CMAKE_CURRENT_BINARY_DIR}/conda")
    set_tests_properties(getting.conda PROPERTIES FIXTURES_REQUIRED spotter_released FIXTURES_SETUP spotter_conda SKIP_RETURN_CODE 2)
    spotter_consumer(conda.found PROGRAMS spotter FIXTURE spotter_conda OPTIONS "-DCMAKE_PREFIX_PATH=${prefix}")
else()
    spotter_skipped(getting.conda "py-rattler-build was not found, or this is no Git checkout")
endif()

# vcpkg itself, if VCPKG_ROOT is set.
if(EXISTS "$ENV{VCPKG_ROOT}/vcpkg")
    set(ports "${CMAKE_CURRENT_BINARY_DIR}/vcpkg-system")
    set(environment "VCPKG_ROOT=$ENV{VCPKG_ROOT}" "VCPKG_OVERLAY_PORTS=${ports}" VCPKG_BINARY_SOURCES=clear)
    if(DEFINED ENV{VCPKG_FORCE_SYSTEM_BINARIES})
        list(APPEND environment "VCPKG_FORCE_SYSTEM_BINARIES=$ENV{VCPKG_FORCE_SYSTEM_BINARIES}")
    endif()
    add_test(NAME consumer.vcpkg.prepare COMMAND "${CMAKE_COMMAND}" -D "FOLDER=${ports}" -P "${CMAKE_CURRENT_SOURCE_DIR}/vcpkg/prepare.cmake")
    set_tests_properties(consumer.vcpkg.prepare PROPERTIES FIXTURES_SETUP spotter_vcpkg)
    spotter_getting(vcpkg "vcpkg" FIXTURES spotter_vcpkg ENVIRONMENT ${environment})
    set_tests_properties(getting.vcpkg PROPERTIES RESOURCE_LOCK spotter_vcpkg)
    if(no_release)
        spotter_skipped(consumer.vcpkg "${no_release}")
    else()
        add_test(NAME consumer.vcpkg COMMAND "${CMAKE_COMMAND}" -D "REGISTRY=${release}/vcpkg" -D "FOLDER=${CMAKE_CURRENT_BINARY_DIR}/vcpkg"
                 -P "${CMAKE_CURRENT_SOURCE_DIR}/vcpkg/registry.cmake")
        set_tests_properties(consumer.vcpkg PROPERTIES FIXTURES_REQUIRED "spotter_released;spotter_vcpkg" ENVIRONMENT "${environment}"
                             RESOURCE_LOCK spotter_vcpkg)
    endif()
else()
    spotter_skipped(getting.vcpkg "VCPKG_ROOT in the environment names no vcpkg")
    spotter_skipped(consumer.vcpkg "VCPKG_ROOT in the environment names no vcpkg")
endif()
