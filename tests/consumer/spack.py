# SPDX-License-Identifier: Apache-2.0
# Runs the Spack recipe of a release with Spack's directives written down instead of obeyed: what it says is what the release is.
#   spack.py <folder of the release>
import hashlib
import re
import sys
import types
from pathlib import Path

release = Path(sys.argv[1])
said = {name: [] for name in ("license", "version", "variant", "depends_on", "conflicts")}


def directive(name):
    return lambda *words, **options: said[name].append((words, options))


class CMakePackage:
    def define(self, name, value):
        return f"-D{name}:BOOL={'ON' if value else 'OFF'}"


base = types.ModuleType("spack_repo.builtin.build_systems.cmake")
base.CMakePackage = CMakePackage
package = types.ModuleType("spack.package")
for name in said:
    setattr(package, name, directive(name))
for module in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
    sys.modules[module] = types.ModuleType(module)
sys.modules[base.__name__] = base
sys.modules[package.__name__] = package

path = release / "spack/packages/spotter/package.py"
recipe = {}
exec(compile(path.read_text(), str(path), "exec"), recipe)
spotter = recipe["Spotter"]()

((version,), options), = said["version"]
tarball = release / f"spotter-{version}.tar.gz"
if options["sha256"] != hashlib.sha256(tarball.read_bytes()).hexdigest() or not spotter.url.endswith("/" + tarball.name):
    sys.exit(f"{path} says another tarball than {tarball}")
variants = {words[0] for words, _ in said["variant"]}
for words, options in said["depends_on"]:
    condition = options.get("when", "")
    if condition and not (condition[0] == "+" and condition[1:] in variants):
        sys.exit(f"{words[0]} is wanted when {condition}, which is no variant")
without = {option["when"][1:] for _, option in said["depends_on"] if "when" in option} ^ variants
if without:
    sys.exit(f"{without} want nothing")
cmake = (release / f"spotter-{version}/CMakeLists.txt").read_text()
for argument in spotter.cmake_args():
    if not re.search(rf"option\({re.match('-D([A-Z_]+):BOOL=OFF', argument).group(1)} ", cmake):
        sys.exit(f"{argument} is no option of CMakeLists.txt")
