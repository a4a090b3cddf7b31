"""Opens pages in a browser and looks: page_test.py PROGRAM MAKE_PAGE SCENARIOS

Its own small driver (webdriver.py) and Python's standard library are all it needs."""

import os
import subprocess
import sys
import tempfile
import unittest

import sample_data
from page_case import PageCase, unit_of
from webdriver import Browser

PROGRAM, MAKE_PAGE, SCENARIOS = sys.argv[1:4]
PHONE = 375
FRAMEWORKS = ("TORCH_DDP,DEEPSPEED_STAGE0,DEEPSPEED_STAGE1,DEEPSPEED_STAGE2,DEEPSPEED_STAGE3,"
              "FSDP_FULL_SHARD,FSDP_SHARD_GRAD_OP,FSDP_NO_SHARD,FSDP_HYBRID_SHARD,"
              "ZERO_REDUNDANCY_OPTIMIZER,DDP,NAIVE_ZERO,ZERO1,ZERO2,ZERO3")

folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
downloads = os.path.join(folder.name, "downloads")
browser = None
pages = {}  # Path of each page, by name.
samples = {}  # Data of each page; "quickstart" and "small" as in the JSON report.


def write_page(name, page):
    pages[name] = os.path.join(folder.name, f"{name}.html")
    with open(pages[name], "w", encoding="utf-8") as file:
        file.write(page)


def make_page(name, data):
    samples[name] = data
    page = subprocess.run([MAKE_PAGE], input=sample_data.json.dumps(data), check=True,
                          capture_output=True, text=True).stdout
    write_page(name, page)


def make_pages():
    steps = ("--set", "training.steps=4")
    page, samples["quickstart"] = sample_data.run_data(
        PROGRAM, f"{SCENARIOS}/quickstart.textproto", *steps)
    write_page("quickstart", page)
    with_timelines = sample_data.data_of(page)
    with_timelines["timelines"] = [sample_data.timeline("ZERO1", 3), sample_data.timeline("DDP", 2)]
    sample_data.add_overlap(with_timelines, "ZERO1", 3e-4)
    sample_data.slow_first_step(with_timelines, "DDP")
    sample_data.vary_ranks(with_timelines)
    make_page("timelines", with_timelines)
    page, samples["frameworks"] = sample_data.run_data(
        PROGRAM, f"{SCENARIOS}/frameworks.textproto", *steps, "--strategy", FRAMEWORKS,
        "--set", "training.precision=FP16", "--set", "training.activation_checkpointing=1",
        "--set", "training.dynamic_loss_scale={initial: 1048576}")
    write_page("frameworks", page)
    page, samples["small"] = sample_data.run_data(
        PROGRAM, f"{SCENARIOS}/too_small_device.textproto", "--set", "training.arithmetic=NONE")
    write_page("small", page)
    page, samples["checkpoints"] = sample_data.run_data(
        PROGRAM, f"{SCENARIOS}/quickstart.textproto", "--set", "training.arithmetic=NONE",
        "--set", 'training.checkpoint={directory: "none" every_steps: 2}',
        "--set", "cluster.storage.bandwidth=1GBps")
    write_page("checkpoints", page)
    page, samples["cluster"] = sample_data.run_data(
        PROGRAM, f"{SCENARIOS}/straggler.textproto", "--set", "training.arithmetic=NONE",
        "--set", "cluster.fabric.kind=RING")
    write_page("cluster", page)
    page, _ = sample_data.run_data(
        PROGRAM, f"{SCENARIOS}/quickstart.textproto", "--set", "cluster.device.memory=100B")
    write_page("nothing_fits", page)
    page, _ = sample_data.run_data(
        PROGRAM, f"{SCENARIOS}/quickstart.textproto", "--set", "training.steps=3", "--strategy",
        "DDP,ZERO3", "--set", "training.optimizer.learning_rate=1e38")
    write_page("diverged", page)
    make_page("sweep", sample_data.sweep_data())
    make_page("hostile", hostile(with_timelines))
    swept = sample_data.sweep_data()
    swept["title"] = swept["sweep"]["axes"][0]["field"] = sample_data.HOSTILE
    swept["sweep"]["axes"][1]["labels"][0] = sample_data.HOSTILE
    swept["sweep"]["findings"][0]["text"] = sample_data.HOSTILE
    make_page("hostile_sweep", swept)


def hostile(data):
    data = sample_data.json.loads(sample_data.json.dumps(data))
    data["title"] = data["answer"][0] = sample_data.HOSTILE
    data["run"]["assumptions"]["device"]["preset"] = sample_data.HOSTILE
    data["run"]["runs"][0].update(strategy=sample_data.HOSTILE, outcome="failed",
                                  failure=sample_data.HOSTILE)
    data["timelines"][0]["strategy"] = sample_data.HOSTILE
    data["timelines"][0]["events"][0]["name"] = sample_data.HOSTILE
    return data


def setUpModule():
    global browser
    os.mkdir(downloads)
    make_pages()
    browser = PageCase.browser = Browser(downloads)
    PageCase.downloads = downloads


def tearDownModule():
    browser.__exit__()
    folder.cleanup()


def run_of(report, strategy):
    return next(run for run in report["runs"] if run["strategy"] == strategy)


def mean_s(steps, name):
    counted = [step["time"][name] for step in steps[1:]]
    return sum(counted) / len(counted)


def fullest_memory(run):
    return max((rank["memory"] for rank in run["ranks"]),
               key=lambda memory: memory["peak_bytes"]["total"])


def fullest_peak(run):
    return fullest_memory(run)["peak_bytes"]


class PageTest(PageCase):
    # ---- Ranks and links ----

    def test_ranks_and_links_are_those_of_the_report(self):
        browser.open(pages["cluster"], 1440, 900, "light")
        for run in samples["cluster"]["runs"]:
            for card in ("ranks", "links"):
                browser.run("const select = document.querySelector(`#${arguments[0]} select`);"
                            "select.value = arguments[1];"
                            "select.dispatchEvent(new Event('change'));", card, run["strategy"])
            rows = self.csv("ranks")
            self.assertEqual([row["rank"] for row in rows],
                             [f"rank {rank['rank']}" for rank in run["ranks"]])
            for row, rank in zip(rows, run["ranks"]):
                steps = [step["time"]["exposed_communication_s"] for step in rank["steps"][1:]]
                self.assertAlmostEqual(float(row["exposed_communication_s"]),
                                       sum(steps) / len(steps), delta=1e-12)
            self.assertIn("rank 3 computes longest", self.note("ranks"))
            links = self.csv("links")
            self.assertEqual([row["link"] for row in links],
                             [link["name"] for link in run["links"]])
            self.assertEqual([float(row["utilization"]) for row in links],
                             [link["utilization"] for link in run["links"]])

    # ---- Every page ----

    def test_pages_are_complete_and_quiet(self):
        run_charts = ["step-time", "memory", "tradeoff"]
        expected = {
            "quickstart": run_charts + ["loss", "timeline"],
            "timelines": run_charts + ["ranks", "loss", "timeline"],
            "cluster": run_charts + ["ranks", "links", "timeline"],
            "small": run_charts + ["timeline"],
            "sweep": ["sweep", "step-time", "tradeoff"],
            "hostile": run_charts + ["ranks", "loss", "timeline"],
            "hostile_sweep": ["sweep", "step-time", "tradeoff"],
        }
        for name in expected:
            path = pages[name]
            for width, scheme in ((1440, "light"), (PHONE, "dark")):
                with self.subTest(page=name, width=width):
                    browser.open(path, width, 900, scheme)
                    self.assertEqual(browser.log("browser"), [])
                    self.assertEqual(browser.requests(), [f"file://{path}"])
                    cards = browser.run(
                        "return [...document.querySelectorAll('.card')].map((card) => card.id)")
                    self.assertEqual(cards, expected[name])
                    for card in cards:
                        self.expect_drawn(card)
                    self.expect_no_overflow(width)
                    self.expect_labels()

    def test_markup_in_names_stays_text(self):
        for name in ("hostile", "hostile_sweep"):
            browser.open(pages[name])
            self.assertEqual(browser.run("return document.querySelectorAll('img').length"), 0)
            self.assertFalse(browser.run("return 'hacked' in window"))
            self.assertEqual(browser.run("return document.getElementById('title').textContent"),
                             sample_data.HOSTILE)
            for element in browser.run("""
                return [...document.querySelectorAll('main *')].map((one) => one.tagName)"""):
                self.assertNotIn(element, ("IMG", "SCRIPT"))
        self.assertIn(sample_data.HOSTILE, browser.run("""
            return [...document.querySelectorAll('option')].map((one) => one.textContent)"""))
        browser.open(pages["hostile"])
        self.assertEqual(self.table("step-time")[1][:2], [sample_data.HOSTILE, "failed"])
        self.assertEqual(self.csv("step-time")[0]["strategy"], sample_data.HOSTILE)

    def test_no_script_runs_but_the_pages_own(self):
        browser.open(pages["quickstart"])
        browser.run("""
            const script = document.createElement('script');
            script.textContent = 'window.hacked = 1;';
            document.body.append(script);""")
        self.assertFalse(browser.run("return 'hacked' in window"))
        self.assertIn("Content Security Policy", browser.log("browser")[0]["message"])

    def test_themes(self):
        background = "return getComputedStyle(document.body).backgroundColor"
        grid = "return Chart.getChart('memory-chart').options.borderColor"
        browser.open(pages["quickstart"], scheme="dark")
        dark, dark_grid = browser.run(background), browser.run(grid)
        browser.run("""
            const select = document.querySelector('#theme select');
            select.value = 'light';
            select.dispatchEvent(new Event('change'));""")
        light, light_grid = browser.run(background), browser.run(grid)
        self.assertNotEqual(light, dark)
        self.assertNotEqual(light_grid, dark_grid)
        browser.open(pages["quickstart"], scheme="dark")  # The choice is remembered.
        self.assertEqual(browser.run(background), light)
        browser.run("""
            const select = document.querySelector('#theme select');
            select.value = 'auto';
            select.dispatchEvent(new Event('change'));""")
        self.assertEqual(browser.run(background), dark)
        browser.run(f"""
            const grid = () => {{ {grid} }};
            addEventListener('beforeprint', () => {{ window.printedGrid = grid(); }});""")
        self.assertEqual(browser.printed()[:4], b"%PDF")
        self.assertEqual(browser.run("return window.printedGrid"), light_grid)
        self.assertEqual(browser.run(grid), dark_grid)

    # ---- The answer ----

    def test_the_answer_comes_first(self):
        browser.open(pages["small"], PHONE, 812)
        text = browser.run("return document.getElementById('answer').innerText")
        report = samples["small"]
        completed = [run for run in report["runs"] if run["outcome"] == "completed"]
        fastest = min(completed, key=lambda run: mean_s(run["steps"], "wall_s"))
        smallest = min(completed, key=lambda run: fullest_peak(run)["total"])
        self.assertRegex(text, rf"Fastest\s+{fastest['strategy']}\s+[\d.]+ ms a step")
        self.assertRegex(text, r"What limits it\s+link bandwidth\s+alone \d+ % of a step")
        self.assertRegex(text, rf"Least memory\s+{smallest['strategy']}\s+[\d.]+ MB per rank")
        self.assertRegex(text, r"Do not fit\s+✕ DDP\s+out of memory: 1.58 MB wanted, 1.04 MB free")
        self.assertIn("DDP ran out of memory: rank 0 before the first step", text)
        top = browser.run(
            "return document.querySelector('.fact').getBoundingClientRect().top")
        self.assertLess(top, 400)

    def test_what_did_not_complete_is_shown_as_such(self):
        browser.open(pages["small"])
        for card in ("step-time", "memory"):
            self.assertEqual(self.chart(card)["labels"][0], "DDP")
            self.assertEqual(self.table(card)[1][:3], ["DDP", "out of memory", "–"])
            self.assertIn("DDP: out of memory", browser.run(
                "return document.getElementById(`${arguments[0]}-chart`).ariaLabel", card))
            self.assertGreater(self.danger_pixels_in_row(card, 0), 50)
            self.assertEqual(self.danger_pixels_in_row(card, 1), 0)
        self.assertIn("Not placed: DDP (out of memory)", browser.run(
            "return document.querySelector('#tradeoff .note').textContent"))
        self.assertEqual(self.csv("step-time")[0],
                         {**self.csv("step-time")[0], "outcome": "out_of_memory", "wall_s": ""})

    def danger_pixels_in_row(self, card, row):
        return browser.run("""
            const canvas = document.getElementById(`${arguments[0]}-chart`);
            const {chartArea: {left, right}, scales: {y}} = Chart.getChart(canvas);
            const {data} = canvas.getContext('2d').getImageData(
                left, y.getPixelForValue(arguments[1]) - 8, right - left, 16);
            const probe = document.createElement('canvas').getContext('2d');
            probe.fillStyle = getComputedStyle(document.documentElement)
                .getPropertyValue('--danger');
            probe.fillRect(0, 0, 1, 1);
            const danger = probe.getImageData(0, 0, 1, 1).data;
            let count = 0;
            for (let i = 0; i < data.length; i += 4) {
              count += [0, 1, 2].every((k) => Math.abs(data[i + k] - danger[k]) < 24);
            }
            return count;""", card, row)

    def test_a_page_on_which_nothing_completed(self):
        browser.open(pages["nothing_fits"])
        self.assertEqual(browser.log("browser"), [])
        self.assertEqual(browser.run(
            "return [...document.querySelectorAll('.card')].map((card) => card.id)"),
            ["step-time", "memory"])  # For the labels of their rows.
        text = browser.run("return document.getElementById('answer').innerText")
        self.assertIn("✕ DDP, NAIVE_ZERO, ZERO1, ZERO2 and ZERO3", text)
        self.assertIn("No strategy completed.", text)

    # ---- Charts of a run ----

    def test_step_time_of_the_report(self):
        browser.open(pages["quickstart"])
        report = samples["quickstart"]
        chart = self.chart("step-time")
        unit = unit_of(chart["x"]["title"])
        table = self.table("step-time")
        rows = self.csv("step-time")
        names = {"forward": "forward_s", "backward": "backward_s", "optimizer": "optimizer_s",
                 "exposed communication": "exposed_communication_s"}
        self.assertEqual([dataset["label"] for dataset in chart["datasets"]], list(names))
        self.assertEqual(chart["labels"], [run["strategy"] for run in report["runs"]])
        for i, run in enumerate(report["runs"]):
            for dataset in chart["datasets"]:
                expected = mean_s(run["steps"], names[dataset["label"]])
                self.assertAlmostEqual(dataset["data"][i] * unit / expected, 1, 9)
                column = next(k for k, title in enumerate(table[0])
                              if title.startswith(dataset["label"]))
                self.expect_cell(table[0][column], table[1 + i][column], expected)
                self.assertAlmostEqual(float(rows[i][names[dataset["label"]]]) / expected, 1, 12)
            self.assertAlmostEqual(
                float(rows[i]["wall_s"]) / mean_s(run["steps"], "wall_s"), 1, 12)
            self.expect_cell(table[0][2], table[1 + i][2], mean_s(run["steps"], "wall_s"))

    def test_checkpoints_are_a_part_of_a_step(self):
        browser.open(pages["checkpoints"])
        chart = self.chart("step-time")
        unit = unit_of(chart["x"]["title"])
        saving = next(one for one in chart["datasets"] if one["label"] == "checkpoint")
        for i, run in enumerate(samples["checkpoints"]["runs"]):
            expected = mean_s(run["steps"], "checkpoint_s")
            self.assertGreater(expected, 0)
            self.assertAlmostEqual(saving["data"][i] * unit / expected, 1, 9)
            self.assertAlmostEqual(sum(one["data"][i] for one in chart["datasets"]) * unit /
                                   mean_s(run["steps"], "wall_s"), 1, 9)

    def test_step_time_of_a_rank(self):
        browser.open(pages["timelines"])
        browser.choose("step-time-rank", 5)
        run = run_of(samples["timelines"]["run"], "ZERO3")
        expected = run["ranks"][5]["steps"][0]["time"]["exposed_communication_s"]
        row = next(row for row in self.csv("step-time") if row["strategy"] == "ZERO3")
        self.assertEqual(float(row["exposed_communication_s"]), expected)

    def test_the_first_step_does_not_count(self):
        browser.open(pages["timelines"])
        expected = mean_s(run_of(samples["quickstart"], "DDP")["steps"], "wall_s")
        self.assertAlmostEqual(float(self.csv("step-time")[0]["wall_s"]) / expected, 1, 12)

    def test_hidden_communication_is_marked(self):
        hidden = "communication hidden behind compute"
        browser.open(pages["quickstart"])
        self.assertNotIn(hidden, self.datasets("step-time"))
        browser.open(pages["timelines"])
        chart = self.chart("step-time")
        begin, end = self.datasets("step-time")[hidden][2]  # ZERO1.
        self.assertAlmostEqual((end - begin) * unit_of(chart["x"]["title"]), 3e-4, 9)
        begin, end = self.datasets("step-time")[hidden][0]
        self.assertEqual(begin, end)
        self.assertAlmostEqual(float(self.csv("step-time")[2]["overlapped_s"]), 3e-4, 12)
        self.assertIn(hidden, browser.run(
            "return document.querySelector('#step-time .legend').textContent"))

    def test_memory_of_the_fullest_and_of_a_rank(self):
        browser.open(pages["timelines"])
        report = samples["timelines"]["run"]
        for rank in (None, 7):
            if rank is not None:
                browser.choose("memory-rank", rank)
            chart = self.chart("memory")
            unit = unit_of(chart["x"]["title"])
            table = self.table("memory")
            rows = self.csv("memory")
            for i, run in enumerate(report["runs"]):
                memory = (fullest_memory(run) if rank is None
                          else run["ranks"][rank]["memory"])
                peak = memory["peak_bytes"]
                for dataset in chart["datasets"]:
                    category = dataset["label"].replace(" ", "_")
                    self.assertAlmostEqual(dataset["data"][i] * unit, peak[category], 3)
                    self.assertEqual(int(rows[i][f"{category}_bytes"]), peak[category])
                self.assertEqual(int(rows[i]["total_bytes"]), peak["total"])
                self.expect_cell(table[0][11], table[1 + i][11], peak["total"])
                self.expect_cell(table[0][12], table[1 + i][12], memory["predicted_peak_bytes"])
                self.assertEqual(table[1 + i][13], "67.1 MB")
        self.assertIn("Other than predicted: ", self.note("memory"))  # Ranks were made to differ.
        browser.open(pages["quickstart"])
        self.assertIn("Peaks equal their predictions to the byte.", self.note("memory"))

    def test_capacity_line(self):
        browser.open(pages["quickstart"])
        capacity = samples["quickstart"]["assumptions"]["device"]["memory_bytes"]
        unit = unit_of(self.chart("memory")["x"]["title"])
        self.assertLess(self.chart("memory")["x"]["max"] * unit, capacity)
        browser.choose("memory-capacity", True)
        self.assertGreater(self.chart("memory")["x"]["max"] * unit, capacity)
        self.assertIn("capacity 67.1 MB", browser.run(
            "return document.querySelector('#memory .legend').textContent"))
        browser.open(pages["small"])  # It is near: shown at once.
        self.assertGreater(self.chart("memory")["x"]["max"] * 1e6, 4 * 2**20)

    def test_tradeoff(self):
        browser.open(pages["quickstart"])
        chart = self.chart("tradeoff")
        rows = {row["strategy"]: row for row in self.csv("tradeoff")}
        for run in samples["quickstart"]["runs"]:
            point = self.datasets("tradeoff")[run["strategy"]][0]
            peak = fullest_peak(run)["total"]
            self.assertAlmostEqual(point["x"] * unit_of(chart["x"]["title"]), peak, 3)
            wall_s = mean_s(run["steps"], "wall_s")
            self.assertAlmostEqual(point["y"] * unit_of(chart["y"]["title"]) / wall_s, 1, 9)
            self.assertEqual(int(rows[run["strategy"]]["peak_memory_bytes"]), peak)

    def test_loss_and_norm(self):
        browser.open(pages["quickstart"])
        for metric in ("loss", "grad_norm"):
            browser.choose("loss-metric", metric)
            rows = self.csv("loss")
            for run in samples["quickstart"]["runs"]:
                expected = [step[metric] for step in run["steps"]]
                points = self.datasets("loss")[run["strategy"]]
                self.assertEqual([point["y"] for point in points], expected)
                self.assertEqual([float(row[run["strategy"]]) for row in rows], expected)
                column = self.table("loss")[0].index(run["strategy"])
                self.assertAlmostEqual(float(self.table("loss")[1][column]) / expected[0], 1, 5)
        self.assertEqual(self.chart("loss")["y"]["type"], "linear")
        browser.choose("loss-log", True)
        self.assertEqual(self.chart("loss")["y"]["type"], "logarithmic")

    def test_skipped_steps_and_loss_scale(self):
        browser.open(pages["frameworks"])
        self.assertEqual(browser.log("browser"), [])
        scales = self.csv("loss-scale")
        skips = 0
        for run in samples["frameworks"]["runs"]:
            strategy = run["strategy"]
            skipped = [step["skipped"] for step in run["steps"]]
            skips += sum(skipped)
            for card in ("loss", "loss-scale"):
                points = self.datasets(card)[strategy]
                self.assertEqual([point["skipped"] for point in points], skipped)
            self.assertEqual([float(row[strategy]) for row in scales],
                             [step["loss_scale"] for step in run["steps"]])
            if any(skipped):
                self.assertEqual([row[f"{strategy}_skipped"] == "true" for row in scales], skipped)
        self.assertGreater(skips, 0)
        self.assertIn("Crosses: skipped steps", self.note("loss"))
        browser.open(pages["quickstart"])
        self.assertFalse(browser.run("return !!document.getElementById('loss-scale')"))

    def test_options_with_the_defaults_of_those_that_were_changed(self):
        browser.open(pages["frameworks"])
        options = "return [...document.querySelectorAll('#options tr')].map(" \
                  "(row) => [...row.cells].map((cell) => cell.textContent));"
        table = {row[0]: row[1:] for row in browser.run(options)}
        self.assertEqual(table["option"], FRAMEWORKS.split(",")[:10])
        self.assertEqual(table["bucket_size"][0], "128KiB (default 25MiB)")
        self.assertEqual(table["reshard_after_forward"][5:7], ["true", "false"])
        self.assertEqual(table["overlap"][1], "–")
        browser.choose("strategy-TORCH_DDP", False)
        self.assertEqual(browser.run(options)[0][1], "DEEPSPEED_STAGE0")
        browser.open(pages["quickstart"])
        self.assertFalse(browser.run("return !!document.getElementById('options')"))

    def test_strategies_look_different(self):
        browser.open(pages["frameworks"])
        looks = browser.run("return [...document.querySelectorAll('#strategies .swatch')].map("
                            "(swatch) => swatch.toDataURL());")
        self.assertEqual(len(set(looks)), 15)

    def test_timeline_tells_prefetches_and_recomputation_apart(self):
        browser.open(pages["frameworks"])
        browser.choose("timeline-step", FRAMEWORKS.split(",").index("FSDP_FULL_SHARD"))
        rows = self.csv("timeline")
        names = {row["name"] for row in rows}
        for name in ("prefetch layers.1", "all_gather layers.0", "recompute layers.1",
                     "backward layers.1 parameters", "reduce_scatter layers.2"):
            self.assertIn(name, names)
        self.assertEqual({row["micro_step"] for row in rows if row["name"] == "forward layers.0"},
                         {"1", "2"})
        for kind in ("prefetch", "recompute"):
            self.assertEqual({bar["event"]["name"].split()[0]
                              for bar in self.datasets("timeline")[kind]}, {kind})
        browser.choose("timeline-step", 0)
        self.assertIn("all_reduce layers.1", {row["name"] for row in self.csv("timeline")})

    def test_losses_that_diverge(self):
        browser.open(pages["diverged"])
        self.assertEqual(browser.log("browser"), [])
        self.assertEqual([point["y"] for point in self.datasets("loss")["ZERO3"]][1:], [None] * 2)
        self.assertEqual(self.table("loss")[2], ["2", "–", "–"])
        self.assertIn("No finite number in 2 steps of DDP and 2 steps of ZERO3.", browser.run(
            "return document.querySelector('#loss .note').textContent"))

    def test_strategies_can_be_left_out_everywhere(self):
        browser.open(pages["quickstart"])
        browser.choose("strategy-DDP", False)
        self.assertEqual(self.chart("step-time")["labels"],
                         ["NAIVE_ZERO", "ZERO1", "ZERO2", "ZERO3"])
        self.assertNotIn("DDP", self.chart("memory")["labels"])
        for card in ("tradeoff", "loss"):
            self.assertNotIn("DDP", self.datasets(card))
            self.assertIn("ZERO1", self.datasets(card))
        self.assertNotIn("DDP", [row["strategy"] for row in self.csv("memory")])
        browser.choose("strategy-DDP", True)
        self.assertIn("DDP", self.chart("memory")["labels"])
        for run in samples["quickstart"]["runs"]:  # None at all is no error.
            browser.choose(f"strategy-{run['strategy']}", False)
        self.assertEqual(browser.log("browser"), [])

    # ---- Timeline ----

    def events_drawn(self):
        return [bar for bars in self.datasets("timeline").values() for bar in bars]

    def test_timeline(self):
        browser.open(pages["timelines"])
        events = samples["timelines"]["timelines"][0]["events"]
        unit = unit_of(self.chart("timeline")["x"]["title"])
        drawn = self.events_drawn()
        self.assertEqual(len(drawn), len(events))
        for bar in drawn:
            event = bar["event"]
            self.assertIn(event, events)
            self.assertAlmostEqual(bar["x"][0] * unit, event["begin_s"] - 5e-3, 12)
            self.assertAlmostEqual(bar["x"][1] * unit, event["end_s"] - 5e-3, 12)
        self.assertEqual(len(self.datasets("timeline")["communication"]), 9)
        row = self.csv("timeline")[3]
        self.assertEqual(row["name"], events[3]["name"])
        self.assertAlmostEqual(float(row["duration_s"]), 2e-4, 12)
        browser.choose("timeline-rank", 1)
        self.assertEqual({bar["event"]["rank"] for bar in self.events_drawn()}, {1})
        self.assertEqual(self.chart("timeline")["labels"],
                         ["rank 1 compute", "rank 1 communication"])
        whole = self.chart("timeline")["x"]
        browser.choose("timeline-zoom", 4)
        zoomed = self.chart("timeline")["x"]
        self.assertAlmostEqual(zoomed["min"], 0)
        self.assertAlmostEqual(zoomed["max"], whole["max"] / 4)
        browser.choose("timeline-position", 1)
        zoomed = self.chart("timeline")["x"]
        self.assertAlmostEqual(zoomed["max"] - zoomed["min"], (whole["max"] - whole["min"]) / 4)
        self.assertAlmostEqual(zoomed["max"], whole["max"])
        browser.choose("timeline-rank", "")
        browser.choose("timeline-step", 1)
        self.assertEqual({bar["event"]["rank"] for bar in self.events_drawn()}, {0, 1})

    def test_hovering_shows_the_figures(self):
        browser.open(pages["timelines"], 1440, 4000)
        hover = browser.hover
        hover("timeline-chart", *browser.run("""
            const chart = Chart.getChart('timeline-chart');
            const bar = chart.getDatasetMeta(3).data[0];
            return [(bar.x + bar.base) / 2, bar.y];"""))
        tooltip = """
            const {opacity, title, body} = Chart.getChart(arguments[0]).tooltip;
            return opacity === 0 ? null : [...title, ...body.flatMap(({lines}) => lines)];"""
        self.assertEqual(browser.run(tooltip, "timeline-chart"), [
            "reduce_scatter layers.2", "rank 0, communication stream, communication",
            "begins at 500 µs", "takes 150 µs", "525 kB"])
        hover("step-time-chart", *browser.run("""
            const bar = Chart.getChart('step-time-chart').getDatasetMeta(1).data[0];
            return [(bar.x + bar.base) / 2, bar.y];"""))
        lines = browser.run(tooltip, "step-time-chart")
        self.assertEqual(lines[0], "DDP")
        self.assertRegex(lines[1], r"^forward: [\d.]+ µs \(\d+ %\)$")

    # ---- Sweep ----

    def swept(self, **wanted):
        return [point for point in samples["sweep"]["sweep"]["points"]
                if all(point[name] == value for name, value in wanted.items())]

    def test_sweep_draws_the_chosen_slice(self):
        browser.open(pages["sweep"])
        for place in (0, 1):
            browser.choose("sweep-axis-1", place)
            chart = self.chart("sweep")
            rows = self.csv("sweep")
            self.assertEqual([row["cluster.link.bandwidth"] for row in rows],
                             ["1Gbps", "10Gbps", "100Gbps", "1Tbps"])
            for strategy in sample_data.SWEPT:
                points = [point for point in self.swept(strategy=strategy)
                          if point["axis"][1] == place]
                for point, drawn, row in zip(points, self.datasets("sweep")[strategy], rows,
                                             strict=True):
                    if point["outcome"] == "completed":
                        self.assertEqual(drawn["x"], sample_data.BANDWIDTHS[point["axis"][0]])
                        self.assertAlmostEqual(drawn["y"] * unit_of(chart["y"]["title"]),
                                               point["wall_s"], 12)
                        self.assertEqual(float(row[strategy]), point["wall_s"])
                    else:
                        self.assertIsNone(drawn["y"])
                        self.assertEqual(row[strategy], "out of memory")
        self.assertEqual(chart["x"]["type"], "logarithmic")

    def test_sweep_figure_and_axis(self):
        browser.open(pages["sweep"])
        self.assertEqual(browser.run("""
            return [...document.getElementsByName('sweep-metric')[0].options].map(
                (option) => option.value)"""),
            ["wall_s", "exposed_communication_s", "peak_memory_bytes"])  # No losses: left out.
        browser.choose("sweep-metric", "peak_memory_bytes")
        browser.choose("sweep-axis", 1)
        browser.choose("sweep-axis-0", 2)
        chart = self.chart("sweep")
        self.assertEqual(chart["x"]["type"], "category")
        points = [point for point in self.swept(strategy="ZERO1") if point["axis"][0] == 2]
        drawn = self.datasets("sweep")["ZERO1"]
        for point, mark in zip(points, drawn, strict=True):
            self.assertAlmostEqual(mark["y"] * unit_of(chart["y"]["title"]),
                                   point["peak_memory_bytes"], 3)
        browser.choose("sweep-log", True)
        self.assertEqual(self.chart("sweep")["y"]["type"], "logarithmic")
        browser.choose("sweep-log", False)
        self.assertEqual(self.chart("sweep")["y"]["type"], "linear")

    def marked_findings(self):
        return browser.run("""
            return [...document.querySelectorAll('#sweep .note li')].map(
                (item) => item.textContent)""")

    def test_sweep_marks_findings_where_they_hold(self):
        browser.open(pages["sweep"])
        self.assertEqual(self.marked_findings(), [])
        browser.choose("sweep-axis-1", 1)
        self.assertEqual(self.marked_findings(), ["ZERO3 overtakes ZERO1 at 40 Gb/s."])
        # The line is there: many pixels of the text's colour in its column, few beside it.
        dark = """
            const canvas = document.getElementById('sweep-chart');
            const {chartArea: {top, bottom}, scales: {x}} = Chart.getChart(canvas);
            const column = Math.round(x.getPixelForValue(5e9)) + arguments[0];
            const {data} = canvas.getContext('2d').getImageData(column - 1, top, 3, bottom - top);
            let count = 0;
            for (let i = 0; i < data.length; i += 4) count += data[i + 3] > 100 && data[i] < 100;
            return count;"""
        self.assertGreater(browser.run(dark, 0), 100)
        self.assertLess(browser.run(dark, 10), 50)
        browser.choose("strategy-ZERO3", False)
        self.assertEqual(self.marked_findings(), [])
        answer = browser.run("return document.getElementById('answer').innerText")
        self.assertIn("ZERO1 gains little beyond 100 Gb/s.", answer.replace("\u00a0", " "))

    def test_sweep_names_what_did_not_complete(self):
        browser.open(pages["sweep"])
        note = "return document.querySelector('#sweep .note').textContent"
        self.assertIn("DDP: out of memory at 1Gbps, 10Gbps, 100Gbps and 1Tbps",
                      browser.run(note))
        browser.choose("sweep-axis-1", 2)
        self.assertIn("ZERO3: failed at 1Tbps", browser.run(note))
        answer = browser.run("return document.getElementById('answer').innerText")
        self.assertRegex(answer, r"Out of memory\s+✕ DDP\s+at 12 of 12 settings")
        self.assertRegex(answer, r"Failed\s+✕ ZERO3\s+at 1 of 12 settings")

    def test_sweep_charts_of_one_point(self):
        browser.open(pages["sweep"])
        for card in ("step-time", "tradeoff"):
            browser.choose(f"{card}-axis-0", 1)
            browser.choose(f"{card}-axis-1", 1)
            rows = {row["strategy"]: row for row in self.csv(card)}
            for strategy in ("ZERO1", "ZERO3"):
                point, = [one for one in self.swept(strategy=strategy) if one["axis"] == [1, 1]]
                self.assertEqual(float(rows[strategy]["wall_s"]), point["wall_s"])
            self.assertEqual(rows["DDP"]["outcome"], "out_of_memory")
        self.assertEqual(list(self.datasets("tradeoff")), ["ZERO1", "ZERO3"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
