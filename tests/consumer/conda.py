# SPDX-License-Identifier: Apache-2.0
# Builds the conda package of a release with rattler-build, where there is no network: what the recipe asks for comes from a channel of empty
# packages, so that the system's is found.
#   conda.py <recipe.yaml> <new folder>: what the package holds is in <new folder>/prefix
import json
import shutil
import sys
import tarfile
from pathlib import Path

try:
    from rattler_build import Stage0Recipe, ToolConfiguration
except ImportError:
    sys.exit(2)

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
    tool_config=ToolConfiguration(test_strategy="native"),
    output_dir=folder / "built",
    channels=[channel.resolve().as_uri()],
    package_format="tar.bz2",
)
with tarfile.open(built[0].packages[0]) as package:
    package.extractall(folder / "prefix")
about = json.loads((folder / "prefix/info/index.json").read_text())
if about["name"] != "spotter" or about["subdir"] != "noarch" or not any(need.startswith("zstd") for need in about["depends"]):
    sys.exit(f"the package says of itself: {about}")
if "Apache License" not in (folder / "prefix/info/licenses/LICENSE").read_text():
    sys.exit("the licence is not in the package")
