# SPDX-License-Identifier: Apache-2.0
import re
from pathlib import Path

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.files import copy
from conan.tools.layout import basic_layout


class Spotter(ConanFile):
    name = "spotter"
    description = "Header-only C++20 library that watches machine-learning training loops"
    license = "Apache-2.0"
    topics = ("machine-learning", "training", "debugging", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"report": [True, False], "xtensor": [True, False], "json": [True, False]}
    default_options = {"report": True, "xtensor": False, "json": False}
    exports_sources = "include/*", "LICENSE"
    no_copy_source = True
    generators = "CMakeDeps", "CMakeToolchain"  # for who installs the dependencies to work on spotter itself

    def set_version(self):
        header = Path(self.recipe_folder, "include/spotter/version.hpp").read_text()
        numbers = re.findall(r"SPOTTER_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header)
        self.version = ".".join(numbers)

    def layout(self):
        basic_layout(self)

    def requirements(self):
        self.requires("zstd/[>=1.5 <2]", transitive_headers=True, transitive_libs=True)
        if self.options.report:
            self.requires("fmt/[>=9 <13]", transitive_headers=True, transitive_libs=True)
        if self.options.xtensor:
            self.requires("xtensor/[>=0.24 <1]", transitive_headers=True, transitive_libs=True)
        if self.options.json:
            self.requires("nlohmann_json/[>=3.10 <4]", transitive_headers=True, transitive_libs=True)

    def validate(self):
        check_min_cppstd(self, 20)

    def package_id(self):
        self.info.clear()

    def package(self):
        copy(self, "LICENSE", self.source_folder, f"{self.package_folder}/licenses")
        copy(self, "*.hpp", f"{self.source_folder}/include", f"{self.package_folder}/include")
        copy(self, "*.ipp", f"{self.source_folder}/include", f"{self.package_folder}/include")
        copy(self, "*.h", f"{self.source_folder}/include", f"{self.package_folder}/include")

    def package_info(self):
        # The same targets as the CMake package's: spotter::hook, spotter::spotter, ...
        parts = {
            "hook": [],
            "spotter": ["hook", "zstd::zstd"],
            "trial": ["hook", "zstd::zstd"],
        }
        if self.options.report:
            parts["report"] = ["trial", "fmt::fmt"]
        if self.options.xtensor:
            parts["xtensor"] = ["trial", "xtensor::xtensor"]
        if self.options.json:
            parts["json"] = ["hook", "nlohmann_json::nlohmann_json"]
            parts["diff"] = ["trial", "nlohmann_json::nlohmann_json"]
        for name, requires in parts.items():
            part = self.cpp_info.components[name]
            part.set_property("cmake_target_name", f"spotter::{name}")
            part.requires = requires
            part.bindirs = []
            part.libdirs = []
        # CMakeDeps would name the target of the whole package spotter::spotter, too.
        self.cpp_info.set_property("cmake_file_name", "spotter")
        self.cpp_info.set_property("cmake_target_name", "spotter::everything")
        if self.settings.os in ("Linux", "FreeBSD"):
            self.cpp_info.components["spotter"].system_libs = ["pthread"]
