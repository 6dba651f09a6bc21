#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Each rule of check_stability.py is broken once and found."""

import contextlib
import io
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import check_stability
from check_stability import ABI, API, HELP, OPTIONS, VERSION
from declarations import FOLDERS, declarations

ROOT = Path(__file__).resolve().parents[2]
HEADER = "include/rowbloom/door.h"
DOOR = """
#define ROWBLOOM_DOOR(x) (x)
#define ROWBLOOM_DOOR_H_
namespace rowbloom {
// It opens.
struct DoorOptions {
  int width = 3, height = 4;
  enum class Wood : unsigned char { kOak = 1, kElm };
  bool operator()(int a) const { return a > width; }
};
class Door {
 public:
  explicit Door(const DoorOptions& options) : options_(options) {}
  virtual ~Door() = default;
  template <typename Key, int kTurns = 2>
  static bool Turn(Key key, bool left = true) noexcept;
  [[deprecated("Turn()")]] void Knock();

 private:
  virtual void Creak() const = 0;
  void Rust();
  DoorOptions options_;
};
namespace internal {
void Hinge();
}
namespace cellar {
class Shelf;
}
using Gate = Door;
inline constexpr int kDoors = 7;
}  // namespace rowbloom
"""
LINES = """\
macro ROWBLOOM_DOOR
macro ROWBLOOM_VERSION_MAJOR
macro ROWBLOOM_VERSION_MINOR
class DoorOptions
field int DoorOptions::width
field int DoorOptions::height
enum DoorOptions::Wood : unsigned char
DoorOptions::Wood::kOak = 1
DoorOptions::Wood::kElm = 2
bool DoorOptions::operator()(int) const
class Door
explicit Door::Door(const DoorOptions &)
virtual Door::~Door() = default
template <typename Key, int kTurns = 2> static bool \
Door::Turn(Key, bool = true) noexcept
void Door::Knock()
deprecated void Door::Knock()
virtual void Door::Creak() const = 0
namespace cellar
using Gate = Door
variable const int kDoors
"""
TREE = {
    VERSION: "#define ROWBLOOM_VERSION_MAJOR 1\n"
             "#define ROWBLOOM_VERSION_MINOR 2\n",
    HEADER: DOOR,
    API: LINES,
    OPTIONS: "wood oak\nwood elm\n",
    ABI: "ROWBLOOM_ABI 1\nROWBLOOM_API int rowbloom_knock(void)\n",
    HELP: "$ rowbloom --help\n  -h,--help  Helps\n"
          "$ rowbloom knock --help\n  --loud     See --soft\n"
          "$ rowbloom knock door\n",
    "CHANGELOG.md": "| 1.2.0 | 1 | not released yet |\n",
}


class TinyTree(unittest.TestCase):
    """A tree of one header, in a repository with the tag v1.2.0."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for path, text in TREE.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_text(text)
        self.git("init", "-q")

    def git(self, *arguments):
        subprocess.run(["git", "-C", self.root, "-c", "user.name=a", "-c",
                        "user.email=a@b", *arguments], check=True)

    def tag(self):
        self.git("add", "-A")
        self.git("commit", "-qm", "a release")
        self.git("tag", "v1.2.0")

    def edit(self, path, old, new):
        text = (self.root / path).read_text()
        self.assertIn(old, text)
        (self.root / path).write_text(text.replace(old, new))

    def check(self, remake=False):
        """The exit code and the output."""
        environment = {"ROWBLOOM_UPDATE_GOLDEN": "1"} if remake else {}
        out = io.StringIO()
        with mock.patch.dict(os.environ, environment), (
                contextlib.redirect_stdout(out)):
            code = check_stability.main(str(self.root))
        return code, out.getvalue()

    def assert_told(self, *problems, remake=True):
        code, out = self.check(remake)
        self.assertEqual(sorted(problems), sorted(out.splitlines()))
        self.assertEqual(code, 1)

    def assert_fine(self):
        self.assertEqual(self.check(remake=True),
                         (0, f"stability: {self.count()} declarations\n"))

    def count(self):
        return len((self.root / API).read_text().splitlines())

    def test_declarations_are_listed(self):
        self.assertEqual(declarations(self.root), LINES.splitlines())
        self.assertEqual(self.check()[0], 0)

    def test_a_list_that_is_old_is_told(self):
        self.edit(HEADER, "explicit Door", "Door")
        remade = (f"{API} is not what the headers declare. Is "
                  "docs/stability.md kept? Then: ROWBLOOM_UPDATE_GOLDEN=1 "
                  "tests/stability/check_stability.py .")
        self.assert_told(
            "removed or changed: explicit Door::Door(const DoorOptions &)",
            "new: Door::Door(const DoorOptions &)", remade, remake=False)
        self.assert_fine()
        self.edit(HEADER, "width = 3, height = 4", "height, width")
        self.assert_told("the declarations have another order", remade,
                         remake=False)

    def test_headers_that_do_not_compile_are_told(self):
        self.edit(HEADER, "int width", "Width width")
        with self.assertRaisesRegex(ValueError, "unknown type name 'Width'"):
            declarations(self.root)

    def test_additions_need_nothing_but_the_list(self):
        self.tag()
        self.edit(HEADER, "kElm }", "kElm, kAsh }")
        self.edit(HEADER, "height = 4;", "height = 5; bool glass = false;")
        self.edit(HEADER, "using Gate", "class Key { virtual void A() = 0; };"
                                        "void Lock(Key&); using Gate")
        self.edit(OPTIONS, "wood oak", "wood ash\nwood oak")
        self.assert_fine()

    def test_nothing_released_goes_away(self):
        self.tag()
        self.edit(HEADER, "kOak = 1", "kOak = 2")
        self.edit(HEADER, "[[deprecated(\"Turn()\")]] void Knock();", "")
        self.edit(OPTIONS, "wood elm\n", "")
        self.edit(ABI, "void", "int")
        self.edit(HELP, "--loud", "--LOUD")
        self.assert_told(*(
            f"since v1.2.0: removed or changed: {line}" for line in (
                "DoorOptions::Wood::kOak = 1", "DoorOptions::Wood::kElm = 2",
                "void Door::Knock()", "wood elm",
                "ROWBLOOM_API int rowbloom_knock(void)",
                "rowbloom knock --loud")))

    def test_what_breaks_by_addition_is_told(self):
        self.tag()
        self.edit(HEADER, "width = 3, height", "height = 3, width")
        self.edit(HEADER, "void Rust();", "virtual void Shut() = 0;\n"
                                          "public: Door(Door&&) = delete;")
        breaks = "since v1.2.0: breaks programs, as its class is not new: "
        self.assert_told(
            "since v1.2.0: moved ahead of other fields: "
            "field int DoorOptions::height",
            breaks + "virtual void Door::Shut() = 0",
            breaks + "Door::Door(Door &&) = delete")

    def test_a_major_version_removes_what_was_deprecated(self):
        self.tag()
        self.edit(VERSION, "MAJOR 1", "MAJOR 2")
        self.edit(HEADER, "[[deprecated(\"Turn()\")]] void Knock();", "")
        self.edit(OPTIONS, "wood elm\n", "")
        self.assert_fine()
        self.edit(HEADER, "using Gate = Door;", "")
        self.edit(ABI, "void", "int")
        self.assert_told(
            "since v1.2.0: removed or changed, and was not deprecated: "
            "using Gate = Door",
            "since v1.2.0: removed or changed: "
            "ROWBLOOM_API int rowbloom_knock(void)")
        self.edit(ABI, "ROWBLOOM_ABI 1", "ROWBLOOM_ABI 2")
        self.edit(HEADER, "inline", "using Gate = Door; inline")
        self.assert_fine()

    def test_before_1_a_minor_version_may_break(self):
        self.edit(VERSION, "MAJOR 1", "MAJOR 0")
        self.tag()
        self.edit(HEADER, "using Gate = Door;", "")
        self.assert_told(
            "since v1.2.0: removed or changed: using Gate = Door")
        self.edit(VERSION, "MINOR 2", "MINOR 3")
        self.assert_fine()

    def test_a_release_without_its_tag_is_told(self):
        self.edit("CHANGELOG.md", "not released yet", "2027-01-31")
        self.assert_told("CHANGELOG.md has a release, but git has no tag v*: "
                         "fetch the tags")


class Headers(unittest.TestCase):
    def test_no_namespace_hides_names_of_programs_that_use_rowbloom(self):
        self.assertEqual(
            [line for line in (ROOT / API).read_text().splitlines()
             if line.startswith("namespace ")], [])

    def test_a_function_that_left_a_public_header_is_told(self):
        with tempfile.TemporaryDirectory() as folder:
            for pattern in FOLDERS:
                for room in ROOT.glob(pattern):
                    shutil.copytree(room, folder / room.relative_to(ROOT))
            header = Path(folder) / "include/rowbloom/filter_spec.h"
            text = header.read_text()
            function = "  absl::Status Validate() const;\n"
            self.assertIn(function, text)
            header.write_text(text.replace(function, ""))
            golden = (ROOT / API).read_text().splitlines()
            self.assertEqual(
                list(check_stability.unlike(golden, declarations(folder))),
                ["removed or changed: "
                 "absl::Status FilterSpec::Validate() const"])


if __name__ == "__main__":
    unittest.main()
