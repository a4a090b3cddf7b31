"""SimGrid's MPI layer and the program, on the same platform file: a ring all_reduce of both.

    allreduce_test.py PROGRAM SOURCE_DIR

SMPI adds a constant of its own to each collective, so differences between two sizes are compared.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM, SOURCE = sys.argv[1:3]
SIZES = [65536, 67108864]
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="star" prefix="host-" radical="0-15" suffix="" speed="1Gf" bw="100GBps" lat="1us"/>
</platform>
"""
SCENARIO = """model { layers: [2, 2] }
training { global_batch: 240 }
cluster {
  device { preset: "classroom" }
  file: "star.xml"
}
"""
SETTINGS = ["smpi/allreduce:lr", "network/model:CM02", "network/crosstraffic:0",
            "network/TCP-gamma:0", "surf/precision:1e-12", "smpi/simulate-computation:no"]


class Allreduce(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.write("star.xml", PLATFORM)
        self.write("star.textproto", SCENARIO)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def run_program(self, *command):
        done = subprocess.run(command, cwd=self.folder.name, capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def by_smpi(self, ranks):
        self.write("hosts", "".join(f"host-{i}\n" for i in range(ranks)))
        output = self.run_program(
            "smpirun", "-np", str(ranks), "-platform", "star.xml", "-hostfile", "hosts",
            *(f"--cfg={setting}" for setting in SETTINGS), "--log=root.thresh:error",
            "./allreduce", *map(str, SIZES))
        return [float(line.split()[1]) for line in output.splitlines()]

    def by_program(self, ranks):
        output = self.run_program(
            PROGRAM, "collective", "star.textproto", "--set", f"cluster.world_size={ranks}",
            "--bytes", f"{SIZES[0]}..{SIZES[1]}:{SIZES[1] // SIZES[0]}", "--json", "-")
        return [row["time_s"] for row in json.loads(output)["rows"]]

    def test_differences_between_sizes_agree(self):
        self.run_program("smpicc", "-O1", os.path.join(SOURCE, "tests/smpi/allreduce.c"), "-o",
                         "allreduce")
        for ranks in (4, 8, 16):
            with self.subTest(ranks=ranks):
                smpi = self.by_smpi(ranks)
                ours = self.by_program(ranks)
                print(f"{ranks} ranks: differences {smpi[1] - smpi[0]:.9g} s and "
                      f"{ours[1] - ours[0]:.9g} s; SMPI's constant "
                      f"{(smpi[0] - ours[0]) * 1e6:.2f} us")
                self.assertAlmostEqual((ours[1] - ours[0]) / (smpi[1] - smpi[0]), 1, delta=0.01)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
