# SPDX-License-Identifier: Apache-2.0
# The recipe of a checkout (`conan create .`) and, beside a conandata.yml that says where a release lies, of ConanCenter: cmake/release.cmake
# puts it there.
import re
from pathlib import Path

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.files import copy, get
from conan.tools.layout import basic_layout
from conan.tools.scm import Version

required_conan_version = ">=2.1"

# What a component of cmake/components.cmake links. Those that are no option are always there.
parts = {
    "hook": [],
    "spotter": ["hook", "zstd::zstd"],
    "trial": ["hook", "zstd::zstd"],
    "report": ["trial", "fmt::fmt"],
    "xtensor": ["trial", "xtensor::xtensor"],
    "json": ["hook", "nlohmann_json::nlohmann_json"],
    "s3": ["spotter", "trial", "libcurl::libcurl", "openssl::crypto"],
    "mpi": ["hook", "openmpi::openmpi"],
}

versions = {
    "zstd": "[>=1.5 <2]",
    "fmt": "[>=9 <13]",
    "xtensor": "[>=0.24 <1]",
    "nlohmann_json": "[>=3.10 <4]",
    "libcurl": "[>=7.85 <9]",
    "openssl": "[>=1.1 <4]",
    "openmpi": "[>=4 <6]",
}

oldest = {"gcc": "12", "clang": "16", "apple-clang": "15"}


class Spotter(ConanFile):
    name = "spotter"
    description = "Header-only C++20 library that watches machine-learning training loops"
    license = "Apache-2.0"
    topics = ("machine-learning", "training", "debugging", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {name: [True, False] for name in ("report", "xtensor", "json", "s3", "mpi")}
    default_options = {"report": True, "xtensor": False, "json": False, "s3": False, "mpi": False}
    no_copy_source = True
    generators = "CMakeDeps", "CMakeToolchain"  # for who installs the dependencies to work on spotter itself
    test_package_folder = "cmake/packaging/conan/test_package"

    @property
    def _parts(self):
        return {name: needs for name, needs in parts.items() if self.options.get_safe(name, True)}

    def set_version(self):
        header = Path(self.recipe_folder, "include/spotter/version.hpp")
        if header.exists():
            self.version = ".".join(re.findall(r"SPOTTER_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header.read_text()))

    def export_sources(self):
        if not self.conan_data:
            for pattern in ("include/*", "cmake/compiled*", "cmake/workbench.cmake", "tools/workbench/*", "LICENSE"):
                copy(self, pattern, self.recipe_folder, self.export_sources_folder)

    def layout(self):
        basic_layout(self)

    def requirements(self):
        packages = dict.fromkeys(need.split("::")[0] for needs in self._parts.values() for need in needs if "::" in need)
        chosen = {**versions, **(self.conan_data or {}).get("requirements", {})}
        for package in packages:
            self.requires(f"{package}/{chosen[package]}", transitive_headers=True, transitive_libs=True)

    def validate(self):
        # The package compiles nothing, and its CMake targets ask for C++20 themselves, so compiler.cppstd may be anything: what counts is
        # what the compiler can do.
        compiler, version = str(self.settings.compiler), str(self.settings.compiler.version)
        if compiler in oldest and Version(version) < oldest[compiler]:
            raise ConanInvalidConfiguration(f"spotter is C++20 and needs {compiler} {oldest[compiler]} or later; this is {version}")

    def package_id(self):
        self.info.clear()

    def source(self):
        if self.conan_data:
            get(self, **self.conan_data["sources"][self.version], strip_root=True)

    def package(self):
        copy(self, "LICENSE", self.source_folder, f"{self.package_folder}/licenses")
        for pattern in ("*.hpp", "*.ipp", "*.h"):
            copy(self, pattern, f"{self.source_folder}/include", f"{self.package_folder}/include")
        copy(self, "compiled*", f"{self.source_folder}/cmake", f"{self.package_folder}/cmake")
        copy(self, "workbench.cmake", f"{self.source_folder}/cmake", f"{self.package_folder}/cmake")
        copy(self, "*", f"{self.source_folder}/tools/workbench", f"{self.package_folder}/cmake/workbench")
        # What a target of CMake's cannot be told otherwise: its C++ standard. Behind it spotter::compiled and spotter::workbench can be made.
        names = " ".join(f"spotter::{name}" for name in parts)
        Path(self.package_folder, "cmake", "targets.cmake").write_text(
            f"foreach(target IN ITEMS {names})\n"
            "    if(TARGET ${target})\n"
            "        set_property(TARGET ${target} APPEND PROPERTY INTERFACE_COMPILE_FEATURES cxx_std_20)\n"
            "    endif()\n"
            "endforeach()\n"
            'include("${CMAKE_CURRENT_LIST_DIR}/compiled.cmake")\n'
            'include("${CMAKE_CURRENT_LIST_DIR}/workbench.cmake")\n'
        )

    def package_info(self):
        # The same targets as the CMake package's: spotter::hook, spotter::spotter, ...
        for name, requires in self._parts.items():
            part = self.cpp_info.components[name]
            part.set_property("cmake_target_name", f"spotter::{name}")
            part.requires = requires
            part.bindirs = []
            part.libdirs = []
        self.cpp_info.set_property("cmake_file_name", "spotter")
        self.cpp_info.set_property("cmake_build_modules", ["cmake/targets.cmake"])
        # CMakeDeps and PkgConfigDeps would name the whole package as the component `spotter` is named, too.
        self.cpp_info.set_property("cmake_target_name", "spotter::everything")
        self.cpp_info.set_property("pkg_config_name", "spotter-everything")
        self.cpp_info.components["spotter"].set_property("pkg_config_name", "spotter")
        if self.settings.os in ("Linux", "FreeBSD"):
            self.cpp_info.components["spotter"].system_libs = ["pthread"]
