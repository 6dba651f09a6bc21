#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what a release is made of, as CycloneDX 1.5 in JSON.

    sbom.py ROOT VERSION UNIX_TIME FILE...

FILEs are those of the release: each is listed with its SHA-256. The libraries
are those of packaging/debian/control, in the versions that are installed.
"""

import hashlib
import json
import re
import subprocess
import sys
import uuid
from datetime import datetime, timezone
from pathlib import Path

# Licences of what Debian's packages have for rowbloom, and its parts that use
# them.
LIBRARIES = {
    "libabsl-dev": "Apache-2.0",
    "libxxhash-dev": "BSD-2-Clause",
    "librocksdb-dev": "Apache-2.0 OR GPL-2.0-only",
    "libleveldb-dev": "BSD-3-Clause",
    "libsnappy-dev": "BSD-3-Clause",
    "zlib1g-dev": "Zlib",
    "liblz4-dev": "BSD-2-Clause",
    "libzstd-dev": "BSD-3-Clause OR GPL-2.0-only",
    "libisal-dev": "BSD-3-Clause",
    "libprotozero-dev": "BSD-2-Clause AND Apache-2.0",
    "libhiredis-dev": "BSD-3-Clause",
    "libhighwayhash-dev": "Apache-2.0",
    "libcli11-dev": "BSD-3-Clause",
    "nlohmann-json3-dev": "MIT",
}
PARTS = {
    "rowbloom": ["libabsl-dev", "libxxhash-dev"],
    "rowbloom-rocksdb": ["librocksdb-dev"],
    "rowbloom-leveldb": ["libleveldb-dev", "libsnappy-dev"],
    "rowbloom-hfile": ["libisal-dev", "liblz4-dev", "libprotozero-dev",
                       "libsnappy-dev", "libzstd-dev", "zlib1g-dev"],
    "rowbloom-redis": ["libhighwayhash-dev", "libhiredis-dev"],
    "rowbloom-tools": ["libcli11-dev", "nlohmann-json3-dev"],
}
BUILD_TOOLS = {"cmake", "debhelper-compat", "ninja-build", "pkg-config"}


def build_depends(control):
    field = re.search(r"^Build-Depends:\n((?: .*\n)*)", control, re.M)[1]
    return set(re.findall(r"^ ([\w.+-]+)", field, re.M))


def output(*command):
    return subprocess.run(command, capture_output=True, text=True,
                          check=True).stdout


def installed(package):
    """Its version and architecture; some are installed for several."""
    native = output("dpkg", "--print-architecture").strip()
    lines = output("dpkg-query", "-W", "-f", "${Version} ${Architecture}\n",
                   package).splitlines()
    return next(line.split() for line in lines
                if line.endswith((f" {native}", " all")))


def licence(expression):
    if " " in expression:
        return [{"expression": expression}]
    return [{"license": {"id": expression}}]


def sbom(root, version, time, files):
    needed = build_depends(
        (Path(root) / "packaging/debian/control").read_text()) - BUILD_TOOLS
    used = {name for names in PARTS.values() for name in names}
    if not needed == used == LIBRARIES.keys():
        sys.exit("sbom.py: not both here and in debian/control: " + ", ".join(
            sorted((needed | used | LIBRARIES.keys()) -
                   (needed & used & LIBRARIES.keys()))))
    refs, components = {}, []
    for part in PARTS:
        refs[part] = f"pkg:generic/{part}@{version}"
        components.append({
            "type": "application" if part == "rowbloom-tools" else "library",
            "bom-ref": refs[part], "name": part, "version": version,
            "licenses": licence("Apache-2.0"), "purl": refs[part]})
    for name, expression in LIBRARIES.items():
        number, architecture = installed(name)
        refs[name] = f"pkg:deb/debian/{name}@{number}?arch={architecture}"
        components.append({
            "type": "library", "bom-ref": refs[name], "name": name,
            "version": number, "licenses": licence(expression),
            "purl": refs[name]})
    for file in files:
        components.append({
            "type": "file", "bom-ref": f"file:{Path(file).name}",
            "name": Path(file).name, "hashes": [{
                "alg": "SHA-256",
                "content": hashlib.sha256(Path(file).read_bytes()).hexdigest(),
            }]})
    whole = f"pkg:generic/rowbloom-release@{version}"
    depends = {whole: [refs[part] for part in PARTS]}
    for part, names in PARTS.items():
        depends[refs[part]] = [refs[name] for name in names] + (
            [] if part == "rowbloom" else [refs["rowbloom"]])
    # Equal files have equal numbers.
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(components))
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{serial}", "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(
                int(time), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {"type": "library", "bom-ref": whole,
                          "name": "rowbloom", "version": version,
                          "licenses": licence("Apache-2.0")}},
        "components": components,
        "dependencies": [{"ref": ref, "dependsOn": sorted(on)}
                         for ref, on in depends.items()]}


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    print(json.dumps(sbom(*sys.argv[1:4], sys.argv[4:]), indent=1))
