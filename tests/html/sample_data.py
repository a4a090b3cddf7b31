"""Data of pages, made up or taken from runs of the program, for page_test.py."""

import json
import re
import subprocess

HOSTILE = "</script><img src=x onerror=\"window.hacked=1\"> & \u2028 '\"` <!-- ]]> ${1} é"


def data_of(page):
    """The data in a page."""
    return json.loads(re.search(r'<script id="data" type="application/json">(.*?)</script>', page,
                                re.DOTALL).group(1))


def run_data(program, scenario, *arguments):
    """The page that the program writes for a scenario, and its JSON report."""
    page = subprocess.run([program, "run", scenario, "--html", "-", *arguments], check=True,
                          capture_output=True, text=True).stdout
    report = subprocess.run([program, "run", scenario, "--json", "-", *arguments], check=True,
                            capture_output=True, text=True).stdout
    return page, json.loads(report)


def timeline(strategy, ranks):
    """Of three layers, with reductions beside the backward of the next one."""
    events = []

    def add(rank, stream, name, phase, begin, duration, size, flops):
        events.append({"rank": rank, "stream": stream, "name": name, "phase": phase,
                       "begin_s": 5e-3 + begin, "end_s": 5e-3 + begin + duration, "bytes": size,
                       "flops": flops})

    for rank in range(ranks):
        for layer in range(3):
            add(rank, "compute", f"forward layers.{layer}", "forward", layer * 1e-4, 1e-4, 0, 2e6)
        for i, layer in enumerate((2, 1, 0)):
            begin = 3e-4 + 2e-4 * i
            add(rank, "compute", f"backward layers.{layer}", "backward", begin, 2e-4, 0, 4e6)
            # The phase may also be the one that started it.
            phase = "communication" if layer == 2 else "backward"
            add(rank, "communication", f"reduce_scatter layers.{layer}", phase, begin + 2e-4,
                1.5e-4, 525312, 0)
        add(rank, "compute", "adam", "optimizer", 1.05e-3, 5e-5, 98592, 5e5)
    return {"strategy": strategy, "step": 2, "events": events}


def add_overlap(data, strategy, seconds):
    """Hides so much communication of that strategy behind its compute."""
    for run in data["run"]["runs"]:
        if run["strategy"] == strategy:
            for step in run["steps"] + [step for rank in run["ranks"] for step in rank["steps"]]:
                step["time"]["busy_communication_s"] += seconds


def slow_first_step(data, strategy):
    """Makes the first step of that strategy ten times as long."""
    for run in data["run"]["runs"]:
        if run["strategy"] == strategy:
            time = run["steps"][0]["time"]
            time.update({name: 10 * value for name, value in time.items() if name.endswith("_s")})


def vary_ranks(data):
    """Makes each rank differ from the others in time and memory; the sixth is the fullest."""
    for run in data["run"]["runs"]:
        for rank in run["ranks"]:
            for step in rank["steps"]:
                for name in step["time"]:
                    step["time"][name] *= 1 + rank["rank"] / 100
            more = 1000 * (3 * (rank["rank"] + 2) % 8)
            rank["memory"]["peak_bytes"]["inputs"] += more
            rank["memory"]["peak_bytes"]["total"] += more


BANDWIDTHS = [1.25e8, 1.25e9, 1.25e10, 1.25e11]
WORLD_SIZES = [2, 8, 64]

# Strategy: bytes sent, seconds of optimizer, messages, bytes of states on one rank and per rank.
SWEPT = {
    "DDP": (1.6e6, 5.6e-4, 14, 0, 6.3e6),
    "ZERO1": (1.6e6, 0.7e-4, 28, 4.7e6, 1.6e6),
    "ZERO3": (2.4e6, 0.7e-4, 63, 6.3e6, 0.1e6),
}


def sweep_point(index, axis, strategy):
    """By a closed form; the device has 6 MB."""
    bandwidth, world_size = BANDWIDTHS[axis[0]], WORLD_SIZES[axis[1]]
    sent, optimizer, messages, sharded, whole = SWEPT[strategy]
    point = {"index": index, "axis": axis, "strategy": strategy, "capacity_bytes": 6000000}
    peak = round(whole + sharded / world_size)
    if peak > point["capacity_bytes"]:
        return {**point, "outcome": "out_of_memory"}
    exposed = sent / bandwidth + messages * world_size * 1e-6
    point.update(outcome="completed", forward_s=2.7e-4, backward_s=5.1e-4, optimizer_s=optimizer,
                 checkpoint_s=0, exposed_communication_s=exposed,
                 busy_communication_s=exposed + 1e-4,
                 wall_s=2.7e-4 + 5.1e-4 + optimizer + exposed, peak_memory_bytes=peak,
                 sent_bytes=sent, loss=None)
    return point


def sweep_data():
    """Bandwidth and world size, three strategies; DDP does not fit, one point failed."""
    points = []
    for i in range(len(BANDWIDTHS)):
        for j in range(len(WORLD_SIZES)):
            for strategy in SWEPT:
                points.append(sweep_point(len(points), [i, j], strategy))
    failed = points[-1]
    for name in ("wall_s", "peak_memory_bytes"):
        del failed[name]
    failed.update(outcome="failed", failure="killed by signal 9")
    columns = [("wall_s", "step time", "s"), ("exposed_communication_s", "exposed", "s"),
               ("peak_memory_bytes", "peak memory", "B"), ("loss", "loss", "")]
    return {"kind": "sweep", "title": "bandwidth and ranks", "shardscope": "1.2.3", "sweep": {
        "arithmetic": "NONE",
        "axes": [
            {"field": "cluster.link.bandwidth", "unit": "B/s", "scale": "log",
             "values": BANDWIDTHS, "labels": ["1Gbps", "10Gbps", "100Gbps", "1Tbps"]},
            {"field": "cluster.world_size", "unit": "", "scale": "category",
             "values": WORLD_SIZES, "labels": [str(size) for size in WORLD_SIZES]},
        ],
        "columns": [{"name": name, "label": label, "unit": unit} for name, label, unit in columns],
        "points": points,
        "findings": [
            {"kind": "overtakes", "text": "ZERO3 overtakes ZERO1 at 40 Gb/s.", "axis": 0,
             "at": 5e9, "between": BANDWIDTHS[1:3], "strategies": ["ZERO3", "ZERO1"],
             "fixed": {"cluster.world_size": "8"}},
            {"kind": "saturates", "text": "ZERO1 gains little beyond 100 Gb/s.", "axis": 0,
             "at": 1.25e10, "between": BANDWIDTHS[2:], "strategies": ["ZERO1"],
             "fixed": {"cluster.world_size": "64"}},
        ]}}
