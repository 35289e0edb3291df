# SPDX-License-Identifier: Apache-2.0
# A package of spack: put it into packages/weft of a repository of one's own, and name a source tree:
#   spack dev-build -d SOURCE weft@0.1.0
from spack.package import *


class Weft(MesonPackage):
    """Sparse matrix transposition and SpMV on any OpenCL device."""

    license("Apache-2.0")
    version("0.1.0")
    variant("archive", default=True, description="SuiteSparse .tar.gz files")
    variant("tools", default=True, description="the programs weft and weft-bench")
    variant("pictures", default=True, when="+tools", description="pictures of the tool")

    depends_on("c", type="build")
    depends_on("meson@1.0.1:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.7:", type="build")
    depends_on("opencl-c-headers", type=("build", "link"))
    depends_on("opencl@1.2:")
    depends_on("zlib-api")
    depends_on("libarchive", when="+archive")
    depends_on("cjson", when="+tools")
    depends_on("cairo+svg+png", when="+pictures")

    def meson_args(self):
        def switch(option, on):
            return f"-D{option}={'enabled' if on else 'disabled'}"

        tools = self.spec.satisfies("+tools")
        return [switch("tests", False), switch("archive", self.spec.satisfies("+archive")), switch("tool", tools),
                switch("bench", tools), switch("cairo", self.spec.satisfies("+pictures")),
                *[switch(other, False)
                  for other in ("cusparse", "rocsparse", "viennacl", "mkl", "peers", "rocalution", "petsc_peer", "cub", "petsc",
                                "python")]]
