# SPDX-License-Identifier: Apache-2.0
# A test's stand-in for packages of ConanCenter's, where there is no network: what the system has, under their names and targets.
# conan create . --name=zstd --version=1.5.4
import shlex
import subprocess

from conan import ConanFile

links = {"zstd": ["zstd"], "libcurl": ["curl"]}


class System(ConanFile):
    def package_info(self):
        self.cpp_info.includedirs = []
        self.cpp_info.libdirs = []
        self.cpp_info.system_libs = links.get(self.name, [])
        if self.name == "fmt":
            self.cpp_info.defines = ["FMT_HEADER_ONLY=1"]
        elif self.name == "openssl":
            self.cpp_info.components["crypto"].system_libs = ["crypto"]
            self.cpp_info.components["crypto"].includedirs = []
        elif self.name == "openmpi":
            flags = shlex.split(subprocess.run(["mpicxx", "--showme"], capture_output=True, text=True, check=True).stdout)
            self.cpp_info.includedirs = [flag[2:] for flag in flags if flag.startswith("-I")]
            self.cpp_info.system_libs = [flag[2:] for flag in flags if flag.startswith("-l")]
