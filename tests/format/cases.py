# SPDX-License-Identifier: Apache-2.0
"""Cases as write_cases leaves them: README.md describes their fields.

    for case in read(directory):
        differences += case.differences(counts)
"""

import json
import pathlib

from decoder import Blob, Block, MemFilter, Refused


class Case:
    def __init__(self, path):
        self.name = path.stem
        self.fields = json.loads(path.read_text())
        self.data = bytes.fromhex(self.fields["bytes"])
        self.about = self.fields["about"]

    def open(self, data):
        file_format = self.fields["format"]
        if file_format == "filter_block":
            secret = self.fields.get("secret")
            return Block(data, secret and bytes.fromhex(secret))
        return Blob(data) if file_format == "filter_blob" else MemFilter(data)

    def kind_of_filter(self):
        """A word for counts: the bloom type and family, or what is saved."""
        return " ".join(self.about.split(":")[0].split()[:2])

    def differences(self, counts):
        """Counts questions in counts[kind of filter, answer]."""
        found = []
        try:
            reader = self.open(self.data)
        except Refused as reason:
            return [f"{self.name}: refused, {reason}"]
        for kind, answers in self.fields["questions"].items():
            for answer, questions in answers.items():
                for question in questions:
                    found += difference(self.name, reader, kind, question,
                                        answer)
                counts[self.kind_of_filter(), answer] += len(questions)
                counts["all " + kind, answer] += len(questions)
        for variant in self.fields["variants"]:
            found += self.differences_of(variant, counts)
        return found

    def differences_of(self, variant, counts):
        data = bytearray(self.data[:variant["size"]])
        for at, byte in variant["set"]:
            data[at] = byte
        where = f"{self.name}, {variant['size']} bytes, {variant['set']}"
        try:
            reader = self.open(bytes(data))
        except Refused as reason:
            counts["all variants", "refused"] += 1
            return [f"{where}: refused, {reason}"] if variant["opens"] else []
        if not variant["opens"]:
            return [f"{where}: must be refused"]
        counts["all variants", "opened"] += 1
        if verifies(reader) != variant["verifies"]:
            return [f"{where}: verifies is not {variant['verifies']}"]
        return sum((difference(where, reader, *answer)
                    for answer in variant["answers"]), [])


def difference(where, reader, kind, question, answer):
    if ask(reader, kind, question) == answer:
        return []
    wrong = "a wrong no" if answer == "maybe" else "maybe instead of no"
    return [f"{where}: {kind} {question}: {wrong}"]


def ask(reader, kind, question):
    """The answer to a question as it stands in a case."""
    if kind == "cell":
        may = reader.may_contain_cell(*map(bytes.fromhex, question))
    elif kind == "digest":
        may = reader.may_contain_digest((int(question[:16], 16),
                                         int(question[16:], 16)))
    elif kind == "row":
        may = reader.may_contain_row(bytes.fromhex(question))
    else:
        may = reader.may_contain_prefix(bytes.fromhex(question))
    return "maybe" if may else "no"


def verifies(reader):
    if isinstance(reader, MemFilter):
        return True  # Its checksum is checked when it is opened.
    try:
        reader.verify()
        return True
    except Refused:
        return False


def read(directory):
    return [Case(path) for path in
            sorted(pathlib.Path(directory).glob("*.json"))]
