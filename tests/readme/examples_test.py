"""The commands that README.md shows, run, and what they print compared with what it shows.

    examples_test.py PROGRAM SOURCE_DIR

In a block of code a line "$ shardscope ..." is a command and what follows is its output, of which
"[...]" leaves something out.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SOURCE = sys.argv[1:3]
# Its scenario is made for the purpose and not in the repository.
WITHOUT_INPUT = ["shardscope check bad.textproto"]


def examples():
    """(command, output) of each."""
    with open(os.path.join(SOURCE, "README.md"), encoding="utf-8") as file:
        blocks = re.findall(r"^```\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
    for block in blocks:
        commands = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
        for text in commands:
            command, output = re.match(r"((?:[^\n]*\\\n)*[^\n]*)\n(.*)", text, re.DOTALL).groups()
            command = command.replace("\\\n", " ").replace(
                "bash scenarios/quickstart.sh", "shardscope run scenarios/quickstart.textproto")
            if command.startswith("shardscope "):
                yield command, output


def parts(output):
    """What is between omissions, each a list of lines."""
    return [part.splitlines() for part in re.split(r"^\[\.\.\.\]\n", output, flags=re.MULTILINE)]


class Examples(unittest.TestCase):
    maxDiff = None

    def test_outputs_are_those_of_the_program(self):
        count = 0
        for command, output in examples():
            if command in WITHOUT_INPUT:
                continue
            count += 1
            with self.subTest(command=command), tempfile.TemporaryDirectory() as folder:
                os.symlink(os.path.join(SOURCE, "scenarios"), os.path.join(folder, "scenarios"))
                done = subprocess.run([PROGRAM, *shlex.split(command)[1:]], cwd=folder, text=True,
                                      stdin=subprocess.DEVNULL, capture_output=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.expect_shown(parts(output), done.stdout.splitlines())
        self.assertGreater(count, 5)

    def expect_shown(self, shown, printed):
        if len(shown) == 1:
            self.assertEqual(shown[0], printed)
            return
        begin = 0
        for i, part in enumerate(shown):
            places = range(begin, len(printed) - len(part) + 1)
            if i == 0:
                places = [0]
            place = next((at for at in places if printed[at:at + len(part)] == part), None)
            if place is None:
                near = next((at for at in places if part and printed[at] == part[0]), begin)
                self.assertEqual(part, printed[near:near + len(part)], "is not printed")
            begin = place + len(part)


unittest.main(argv=sys.argv[:1])
