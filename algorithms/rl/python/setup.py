"""Builds the library of the bridge while the package is built, from the Go source around it."""
import os
import pathlib
import shutil
import subprocess

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.dist import Distribution

here = pathlib.Path(__file__).resolve().parent
library = here / "miglab_gym" / "libmiglabgym.so"
repository = here.parents[2]


class BuildWithLibrary(build_py):
    def run(self):
        if (repository / "go.mod").is_file() and shutil.which("go"):
            subprocess.run(["go", "build", "-buildvcs=false", "-buildmode=c-shared", "-o", str(library), "./harness/cmd/miglabgym"],
                           cwd=repository, env={**os.environ, "CGO_ENABLED": "1"}, check=True)
        if not library.is_file():
            raise SystemExit("libmiglabgym.so is not there, and cannot be built: install Go 1.26 or newer and a C compiler, "
                             "and install from a clone of the whole repository")
        super().run()


class OfOnePlatform(Distribution):
    def has_ext_modules(self):
        return True


setup(cmdclass={"build_py": BuildWithLibrary}, distclass=OfOnePlatform)
