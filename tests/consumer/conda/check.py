# SPDX-License-Identifier: Apache-2.0
# Builds the conda package of a release with rattler-build, where there is no network: what the recipe asks for comes from a channel of empty
# packages, so that the system's is found.
#   check.py <recipe.yaml> <new folder>
import shutil
import sys
from pathlib import Path

from rattler_build import Package, Stage0Recipe, ToolConfiguration

empty = """
package: {{name: {name}, version: "{version}"}}
build: {{noarch: generic}}
about: {{license: Apache-2.0, summary: a stand-in}}
"""

recipe, folder = Path(sys.argv[1]), Path(sys.argv[2])
shutil.rmtree(folder, ignore_errors=True)
channel = folder / "channel"
channel.mkdir(parents=True)
for name, version in {"gxx_linux-64": "14", "cmake": "4.0", "ninja": "1.12", "zstd": "1.5.7", "fmt": "12.1"}.items():
    stand_in = folder / name / "recipe.yaml"
    stand_in.parent.mkdir()
    stand_in.write_text(empty.format(name=name, version=version))
    Stage0Recipe.from_file(stand_in).run_build(output_dir=channel, channels=[])

built = Stage0Recipe.from_file(recipe).run_build(
    tool_config=ToolConfiguration(test_strategy="native"), output_dir=folder / "built", channels=[channel.resolve().as_uri()]
)
package = Package.from_file(built[0].packages[0])
print(package.name, package.version, package.platform, package.depends, package.license, len(package.files), "files")
files = {str(file) for file in package.files}
for wanted in ("include/spotter/spotter.hpp", "share/cmake/spotter/spotter-config.cmake", "info/licenses/LICENSE"):
    if not any(file == wanted for file in files):
        sys.exit(f"{wanted} is not in the package")
shutil.unpack_archive  # noqa
