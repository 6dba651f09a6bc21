# SPDX-License-Identifier: Apache-2.0
"""The flags that all sources of the core are compiled with."""

# The path of this repository, also when it is a dependency of another. It is
# an option rather than `includes`, because no dependent should see src/
# and hosts/.
_ROOT = Label("//:BUILD.bazel").workspace_root

ROWBLOOM_COPTS = [
    "-std=c++17",
    "-fno-exceptions",
    "-iquote",
    _ROOT + "/src" if _ROOT else "src",
    "-iquote",
    _ROOT + "/hosts" if _ROOT else "hosts",
]

COPTS_WITH_EXCEPTIONS = [
    opt
    for opt in ROWBLOOM_COPTS
    if opt != "-fno-exceptions"
]
