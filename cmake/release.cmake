# SPDX-License-Identifier: Apache-2.0
# Makes a release of a commit: the tarball, byte-identical on each machine, its checksums, and the recipes of package
# managers with these filled in. Then it compiles every example with what was installed from the tarball, outside the
# source tree. docs/getting.md explains how to publish it.
#   cmake -D HOMEPAGE=https://github.com/<owner>/spotter -P cmake/release.cmake
#     COMMIT=<commit, HEAD>   FOLDER=<new, or a release to be made again; build/release>   URL=<where the tarball will lie, of GitHub's releases>
#     EXAMPLES=<a regular expression of their names; all, or OFF>
cmake_minimum_required(VERSION 3.20)

get_filename_component(ROOT "${CMAKE_CURRENT_LIST_DIR}" DIRECTORY)
if(NOT DEFINED COMMIT)
    set(COMMIT HEAD)
endif()
if(NOT DEFINED FOLDER)
    set(FOLDER "${ROOT}/build/release")
endif()
get_filename_component(FOLDER "${FOLDER}" ABSOLUTE)
if(NOT DEFINED EXAMPLES)
    set(EXAMPLES ".*")
endif()
if(NOT HOMEPAGE MATCHES "^https://.*/([^/]+)/[^/]+$")
    message(FATAL_ERROR "Say where the project is at home: -D HOMEPAGE=https://github.com/<owner>/spotter")
endif()
set(OWNER "${CMAKE_MATCH_1}")
string(TOLOWER "${OWNER}-spotter" PORT) # vcpkg requires an unambiguous name

function(run what)
    execute_process(COMMAND ${ARGN} WORKING_DIRECTORY "${ROOT}" RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT result EQUAL 0)
        message(FATAL_ERROR "${what} failed (${result}):\n${output}")
    endif()
    string(STRIP "${output}" output)
    set(output "${output}" PARENT_SCOPE)
endfunction()

# The tarball. Its times are the commit's, its modes do not depend on the user, and gzip stores neither name nor time.
run("Looking for the commit" git rev-parse --verify "${COMMIT}^{commit}")
set(commit "${output}")
run("Reading the version" git show "${commit}:include/spotter/version.hpp")
string(REGEX REPLACE ".*_MAJOR ([0-9]+).*_MINOR ([0-9]+).*_PATCH ([0-9]+).*" "\\1.\\2.\\3" VERSION "${output}")
set(name "spotter-${VERSION}")
set(tarball "${FOLDER}/${name}.tar.gz")
if(NOT DEFINED URL)
    set(URL "${HOMEPAGE}/releases/download/v${VERSION}/${name}.tar.gz")
endif()
if(EXISTS "${FOLDER}" AND NOT EXISTS "${FOLDER}/SHA256SUMS")
    message(FATAL_ERROR "${FOLDER} is there and no release")
endif()
file(REMOVE_RECURSE "${FOLDER}")
file(MAKE_DIRECTORY "${FOLDER}")
run("Packing" git -c tar.umask=0022 archive --format=tar "--prefix=${name}/" -o "${FOLDER}/${name}.tar" "${commit}")
run("Compressing" "${CMAKE_COMMAND}" -E env --unset=GZIP gzip -9 -n "${FOLDER}/${name}.tar")
foreach(kind IN ITEMS SHA256 SHA512)
    file(${kind} "${tarball}" ${kind})
    file(WRITE "${FOLDER}/${kind}SUMS" "${${kind}}  ${name}.tar.gz\n")
endforeach()
message("${tarball}\n  sha256 ${SHA256}\n  sha512 ${SHA512}")

# From here on only the content of the tarball is used.
run("Unpacking" "${CMAKE_COMMAND}" -E chdir "${FOLDER}" "${CMAKE_COMMAND}" -E tar xzf "${tarball}")
set(tree "${FOLDER}/${name}")
set(packaging "${tree}/cmake/packaging")
run("Comparing what the recipes say" "${CMAKE_COMMAND}" -P "${tree}/cmake/packaging/agree.cmake")

# Conan: the folder recipes/spotter of ConanCenter.
set(center "${FOLDER}/conan/recipes/spotter")
file(READ "${tree}/conanfile.py" recipe)
string(REGEX REPLACE "    test_package_folder = [^\n]*\n" "" recipe "${recipe}")
string(REPLACE "    license = " "    homepage = \"${HOMEPAGE}\"\n    url = \"https://github.com/conan-io/conan-center-index\"\n    license = "
               recipe "${recipe}")
file(WRITE "${center}/all/conanfile.py" "${recipe}")
file(COPY "${packaging}/conan/test_package" DESTINATION "${center}/all")
configure_file("${packaging}/conan/config.yml.in" "${center}/config.yml" @ONLY)
configure_file("${packaging}/conan/conandata.yml.in" "${center}/all/conandata.yml" @ONLY)

# vcpkg: a registry with one port. It is a Git repository because vcpkg identifies versions by tree hashes.
set(registry "${FOLDER}/vcpkg")
file(COPY "${packaging}/vcpkg/" DESTINATION "${registry}/ports/${PORT}")
file(READ "${registry}/ports/${PORT}/portfile.cmake" portfile)
string(REGEX REPLACE "\n# An overlay port.*\nget_filename_component[^\n]*\n" "\nvcpkg_download_distfile(ARCHIVE\n    URLS \"${URL}\"\n\
    FILENAME \"${name}.tar.gz\"\n    SHA512 ${SHA512}\n)\nvcpkg_extract_source_archive(SOURCE_PATH ARCHIVE \"\${ARCHIVE}\")\n"
                     portfile "${portfile}")
if(NOT portfile MATCHES "${SHA512}")
    message(FATAL_ERROR "cmake/packaging/vcpkg/portfile.cmake has no line that names its sources")
endif()
file(WRITE "${registry}/ports/${PORT}/portfile.cmake" "${portfile}")
file(READ "${registry}/ports/${PORT}/vcpkg.json" manifest)
string(REPLACE "\"name\": \"spotter\"" "\"name\": \"${PORT}\"" manifest "${manifest}")
string(REPLACE "  \"license\"" "  \"homepage\": \"${HOMEPAGE}\",\n  \"license\"" manifest "${manifest}")
file(WRITE "${registry}/ports/${PORT}/vcpkg.json" "${manifest}")
run("Making a registry" git init -q -b main "${registry}")
run("Taking the port in" git -C "${registry}" add ports)
run("Hashing the port" git -C "${registry}" write-tree "--prefix=ports/${PORT}/")
string(SUBSTRING "${PORT}" 0 1 letter)
file(WRITE "${registry}/versions/${letter}-/${PORT}.json"
     "{\n  \"versions\": [\n    {\n      \"git-tree\": \"${output}\",\n      \"version-semver\": \"${VERSION}\",\n      \"port-version\": 0\n    }\n  ]\n}\n")
file(WRITE "${registry}/versions/baseline.json"
     "{\n  \"default\": {\n    \"${PORT}\": {\n      \"baseline\": \"${VERSION}\",\n      \"port-version\": 0\n    }\n  }\n}\n")
run("Taking the versions in" git -C "${registry}" add versions)
run("Committing" git -C "${registry}" -c user.name=spotter -c user.email=spotter@localhost commit -q -m "${PORT} ${VERSION}")

configure_file("${packaging}/spack/package.py.in" "${FOLDER}/spack/packages/spotter/package.py" @ONLY)
configure_file("${packaging}/conda/recipe.yaml.in" "${FOLDER}/conda/spotter/recipe.yaml" @ONLY)

# The examples, copied elsewhere, are compiled with what was installed.
if(NOT EXAMPLES)
    return()
endif()
set(check "${FOLDER}/check")
set(off -DSPOTTER_TESTS=OFF -DSPOTTER_EXAMPLES=OFF -DSPOTTER_TOOLS=OFF)
run("Configuring" "${CMAKE_COMMAND}" -S "${tree}" -B "${check}/install" ${off})
run("Installing" "${CMAKE_COMMAND}" --install "${check}/install" --prefix "${check}/prefix")
file(COPY "${tree}/examples" "${tree}/cmake/house.cmake" "${packaging}/examples/CMakeLists.txt" DESTINATION "${check}/examples")
run("Configuring the examples" "${CMAKE_COMMAND}" -S "${check}/examples" -B "${check}/build" "-DCMAKE_PREFIX_PATH=${check}/prefix"
    "-DEXAMPLES=${EXAMPLES}")
file(STRINGS "${check}/build/built.txt" built)
file(STRINGS "${check}/build/absent.txt" absent)
cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
run("Compiling the examples" "${CMAKE_COMMAND}" --build "${check}/build" --parallel ${cores} --target chosen)
list(LENGTH built count)
list(JOIN built " " built)
message("${count} examples compile with what is installed: ${built}")
if(absent)
    list(JOIN absent ", " absent)
    message("Not compiled, because what they need is not here: ${absent}")
endif()
