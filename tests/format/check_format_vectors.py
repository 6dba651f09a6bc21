# SPDX-License-Identifier: Apache-2.0
"""The library writes vectors/ as they are, and the decoder answers as they say.

    check_format_vectors.py [EMULATOR] WRITE_CASES
"""

import collections
import pathlib
import subprocess
import sys
import tempfile

import cases

VECTORS = pathlib.Path(__file__).parent / "vectors"
MAX_BYTES = 200 << 10


def without_writer(case):
    """All fields, but for the text that names the library's version."""
    fields = dict(case.fields)
    if fields["format"] == "filter_block":
        block = case.open(case.data)
        end = block.offsets[-1]
        fields["bytes"] = [case.data[:end], block.lower_bounds,
                           {field: value for field, value
                            in block.properties.values.items() if field != 8}]
        del fields["variants"]
    return fields


def main():
    failures = []
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([*sys.argv[1:], directory, "vectors"], check=True)
        written = {case.name: case for case in cases.read(directory)}
    vectors = {case.name: case for case in cases.read(VECTORS)}
    for name in sorted(written.keys() ^ vectors.keys()):
        failures.append(f"{name}: only written or only in {VECTORS}")
    for name in sorted(written.keys() & vectors.keys()):
        if without_writer(written[name]) != without_writer(vectors[name]):
            failures.append(f"{name}: the library writes or answers otherwise")
    counts = collections.Counter()
    for case in vectors.values():
        failures += case.differences(counts)
    size = sum(path.stat().st_size for path in VECTORS.iterdir())
    if size > MAX_BYTES:
        failures.append(f"{VECTORS}: {size} bytes, more than {MAX_BYTES}")
    print(f"{len(vectors)} vectors of {size} bytes,", dict(counts))
    print("\n".join(failures))
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
