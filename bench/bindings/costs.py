#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an Add and a lookup cost from each language, beside C++.

A program of each language, here, writes a filter block of 12-byte rows (add,
finishing included, and add_many, a thousand rows a call), and asks for rows of
which half are there, in filters that are in memory: of one file (lookup), of 8
files by one call (each_of_8), and 32 rows in 8 files by one call (batch).
Nanoseconds of the calling thread's processor time for each row that is added
and for each answer; what the language needs to make keys of its bytes is
included. The programs run in turns; each prints the median of its passes, and
here is the median of the rounds, with quartiles.
"""

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
from pathlib import Path

PASSES = {"Java": 6}  # Times as many, half of them before all is compiled.
HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
BINDINGS = ROOT / "bindings"


class Failure(Exception):
    pass


def run(command, **options):
    result = subprocess.run([str(part) for part in command],
                            capture_output=True, text=True, check=False,
                            **options)
    if result.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))}:\n{result.stdout}"
                      f"{result.stderr}")
    return result.stdout.strip()


def build(work, prefix, java_home, python):
    """Builds the programs: {language: command}, and their environment."""
    library = next(prefix.rglob("librowbloom_c.so")).parent
    variables = {"LD_LIBRARY_PATH": str(library),
                 "PKG_CONFIG_PATH": str(library / "pkgconfig")}
    env = {**os.environ, **variables}
    flags = {name: run(["pkg-config", "--cflags", "--libs", name],
                       env=env).split() for name in ("rowbloom", "rowbloom-c")}
    run(["g++", "-std=c++17", "-O2", "-o", work / "cpp", HERE / "costs.cc",
         *flags["rowbloom"]], env=env)
    run(["cc", "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-O2", "-o", work / "c",
         HERE / "costs.c", *flags["rowbloom-c"]], env=env)
    run(["cargo", "build", "--offline", "--release"], cwd=HERE / "rust",
        env={**env, "CARGO_TARGET_DIR": str(work / "rust")})
    run(["go", "build", "-buildvcs=false", "-o", work / "go", "."],
        cwd=HERE / "go",
        env={**env, "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=mod",
             "GOPROXY": "off"})
    programs = {
        "C++": [work / "cpp"],
        "C": [work / "c"],
        "Rust": [work / "rust/release/costs"],
        "Go": [work / "go"],
    }
    if java_home:
        run([java_home / "bin/javac", "-d", work / "java",
             *(BINDINGS / "java/src/main/java/rowbloom").glob("*.java"),
             HERE / "Costs.java"])
        programs["Java"] = [java_home / "bin/java",
                            "--enable-native-access=ALL-UNNAMED", "-cp",
                            work / "java", "Costs"]
    script = [python, "-B", HERE / "python_costs.py"]
    programs["Python"] = script
    if subprocess.run([python, "-c", "import numpy"], check=False,
                      capture_output=True).returncode == 0:
        programs["Python, numpy"] = script
    variables["PYTHONPATH"] = str(BINDINGS / "python")
    return programs, {**os.environ, **variables}


def versions(java_home, python):
    found = {
        "C++": re.sub(r".* ", "g++ ", run(["g++", "--version"]).split("\n")[0]),
        "Rust": run(["rustc", "--version"]).split(" (")[0],
        "Go": run(["go", "version"]).split()[2],
        "Python": run([python, "--version"]),
    }
    if java_home:
        found["Java"] = "Java " + re.search(
            r'JAVA_VERSION="(.*)"', (java_home / "release").read_text())[1]
    return found


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        cpu = re.search(r"model name\s*: (.*)", file.read())
    system = platform.uname()
    return {
        "cpu": cpu[1] if cpu else "unknown",
        "cores": os.cpu_count(),
        "os": f"{system.system} {system.release} {system.machine}",
        "compiler": "gcc " + run(["gcc", "-dumpfullversion"]),
        "build_type": "Release",
        "commit": run(["git", "-C", ROOT, "describe", "--always", "--dirty"]),
        "command": " ".join(["costs.py", *sys.argv[1:]]),
    }


def measure(programs, env, args):
    """{(language, measure): nanoseconds of each round}."""
    times = {}
    for number in range(args.rounds):
        print(f"round {number + 1} of {args.rounds}", file=sys.stderr)
        maybes = {}
        for language, command in programs.items():
            extra = ["numpy"] if language.endswith("numpy") else []
            passes = args.passes * PASSES.get(language, 1)
            result = json.loads(run([*command, args.rows, passes, *extra],
                                    env=env))
            if not extra:  # It asks in batches alone.
                maybes[language] = result["maybes"] / passes
            del result["maybes"]
            for name, value in result.items():
                times.setdefault((language, name), []).append(value)
        if len(set(maybes.values())) != 1:
            raise Failure(f"the languages have other answers: {maybes}")
    return times


def summary(times, args, found):
    runs = []
    for (language, name), values in times.items():
        quartiles = (statistics.quantiles(values, n=4) if len(values) > 1
                     else values * 3)
        runs.append({"language": language, "measure": name,
                     "ns": statistics.median(values),
                     "lower_quartile": quartiles[0],
                     "upper_quartile": quartiles[2]})
    return {"format_version": 1, "machine": machine(), "rows": args.rows,
            "passes": args.passes, "rounds": args.rounds, "versions": found,
            "costs": runs}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("prefix", type=Path, help="where a shared rowbloom of "
                        "the build type Release is installed")
    parser.add_argument("work", type=Path, help="a directory for the programs")
    parser.add_argument("--rows", type=int, default=102400,
                        help="default: %(default)s")
    parser.add_argument("--passes", type=int, default=15,
                        help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=7,
                        help="default: %(default)s")
    parser.add_argument("--java-home", type=Path,
                        help="a JDK of 22 or later; without it no Java")
    parser.add_argument("--python", default=sys.executable,
                        help="default: %(default)s")
    parser.add_argument("--json", type=Path,
                        help="also write the results to this file")
    args = parser.parse_args()
    for name in ("rows", "passes", "rounds"):
        if getattr(args, name) < 1:
            parser.error(f"--{name} must be at least 1")
    try:
        args.work.mkdir(parents=True, exist_ok=True)
        programs, env = build(args.work.resolve(), args.prefix.resolve(),
                              args.java_home, args.python)
        results = summary(measure(programs, env, args), args,
                          versions(args.java_home, args.python))
    except Failure as failure:
        print(f"costs.py: {failure}", file=sys.stderr)
        return 1
    if args.json:
        args.json.write_text(json.dumps(results) + "\n", encoding="utf-8")
    for cost in results["costs"]:
        print("{language:14} {measure:10} {ns:8.1f} ns ({lower_quartile:.1f} "
              "to {upper_quartile:.1f})".format(**cost))
    return 0


if __name__ == "__main__":
    sys.exit(main())
