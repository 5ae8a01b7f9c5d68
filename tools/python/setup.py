"""Builds the extension against the library that tools/library has installed in the folder $SHARED_SPACE_LIBRARY."""

import os
import pathlib
import sys

from setuptools import Extension, setup

library = pathlib.Path(os.environ.get("SHARED_SPACE_LIBRARY", ""))
description = library / "lib/pkgconfig/shared-space.pc"
if not description.exists():
    sys.exit(
        "SHARED_SPACE_LIBRARY names no folder of tools/library; run tools/wheel, or tools/library --output DIR first"
    )
version = next(line.split()[1] for line in description.read_text().splitlines() if line.startswith("Version:"))

setup(
    version=version,
    ext_modules=[
        Extension(
            "sharedspace._sharedspace",
            sorted(str(path) for path in pathlib.Path("src/_sharedspace").glob("*.c")),
            depends=[str(path) for path in pathlib.Path("src/_sharedspace").glob("*.h")],
            include_dirs=[str(library / "include")],
            library_dirs=[str(library / "lib")],
            # tools/wheel puts the library into the wheel; without it the extension finds it where it was built, or where the
            # system has it.
            runtime_library_dirs=[] if os.environ.get("SHARED_SPACE_IN_SYSTEM") else [str((library / "lib").resolve())],
            libraries=["shared-space"],
            extra_compile_args=["-std=c11", "-O2", "-Wall", "-Wextra", "-fvisibility=hidden"],
            py_limited_api=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp310"}},
)
