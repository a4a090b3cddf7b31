"""Opens pages of plans in a browser and looks: plan_page_test.py PROGRAM MAKE_PAGE"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

import plan_data
from page_case import PageCase, unit_of
from sample_data import HOSTILE
from webdriver import Browser

PROGRAM, MAKE_PAGE = sys.argv[1:3]
WIDTHS = ((1400, "light"), (360, "dark"))

folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
browser = None
pages = {}  # Path of each page, by name.
plans = {}  # Its plan, as in the JSON report.


def write_page(name, page, plan):
    plans[name] = plan
    pages[name] = os.path.join(folder.name, f"{name}.html")
    with open(pages[name], "w", encoding="utf-8") as file:
        file.write(page)


def make_page(name, data):
    page = subprocess.run([MAKE_PAGE], input=json.dumps(data), check=True, capture_output=True,
                          text=True).stdout
    write_page(name, page, data["plan"])


def setUpModule():
    global browser
    downloads = os.path.join(folder.name, "downloads")
    os.mkdir(downloads)
    write_page("plan", *plan_data.planned(PROGRAM, folder.name, "--ranks", "2,8"))
    config = plan_data.write_json(folder.name, "ds.json", plan_data.DEEPSPEED)
    write_page("configured", *plan_data.planned(PROGRAM, folder.name, "--ranks", "2",
                                                "--deepspeed", config))
    make_page("many", plan_data.many(plans["plan"]))
    make_page("nothing", plan_data.nothing_fits(plans["plan"]))
    browser = PageCase.browser = Browser(downloads)
    PageCase.downloads = downloads


def tearDownModule():
    browser.__exit__()
    folder.cleanup()


def text_of(selector):
    return browser.run("return document.querySelector(arguments[0]).innerText",
                       selector).replace("\u00a0", " ")


# A value that no candidate has is empty in a CSV file.
def csv_text(value):
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


class PlanPageTest(PageCase):
    def rows(self, section="plans"):
        """Titles and rows of texts of the table that a section is."""
        return browser.run("""
            return [...document.querySelector(`#${arguments[0]} table`).rows].map(
                (row) => [...row.cells].map((cell) => cell.textContent));""", section)

    def column(self, title):
        head, *body = self.rows()
        place = next(i for i, text in enumerate(head) if text.rstrip(" ▲▼").startswith(title))
        return [row[place] for row in body]

    def sort_by(self, title):
        browser.run("""
            [...document.querySelectorAll('#plans thead button')].find(
                (one) => one.textContent.startsWith(arguments[0])).click();""", title)

    def on(self, ranks, **wanted):
        return [row for row in plans["plan"]["plans"] if row["ranks"] == ranks and
                all(row[name] == value for name, value in wanted.items())]

    # ---- Every page ----

    def test_pages_are_complete_and_quiet(self):
        for name, plan in plans.items():
            for width, scheme in WIDTHS:
                with self.subTest(page=name, width=width):
                    browser.open(pages[name], width, 900, scheme)
                    self.assertEqual(browser.log("browser"), [])
                    self.assertEqual(browser.requests(), [f"file://{pages[name]}"])
                    charts = [f"{kind}-{choice['ranks']}" for choice in plan["recommendations"]
                              for kind in ("candidates", "steps")]
                    self.assertEqual(
                        browser.run(
                            "return [...document.querySelectorAll('.card')].map(({id}) => id)"),
                        [*charts, "plans", *(["understood"] if "understood" in plan else []),
                         "assumptions"])
                    for card in charts:
                        self.expect_drawn(card)
                    self.expect_no_overflow(width)
                    self.expect_labels()

    def test_the_page_holds_the_json_report(self):
        with open(pages["plan"], encoding="utf-8") as file:
            self.assertEqual(plan_data.embedded_plan(file.read()), plans["plan"])

    def test_markup_in_names_stays_text(self):
        for name in ("nothing", "configured"):
            browser.open(pages[name])
            self.assertFalse(browser.run("return 'hacked' in window"))
            self.assertEqual(browser.run("return document.querySelectorAll('img').length"), 0)
            keys = [row[0] for row in self.rows("understood")]
            self.assertTrue(any(key.startswith("</script><img src=x") for key in keys))
        browser.open(pages["nothing"])
        self.assertEqual(browser.run("return document.getElementById('title').textContent"),
                         HOSTILE)
        self.assertEqual(self.csv("understood")[0]["meaning"], HOSTILE)
        self.assertIn(HOSTILE, browser.run(
            "return [...document.querySelectorAll('#assumptions dd')].map("
            "(one) => one.textContent)"))

    # ---- The answer ----

    def test_the_recommendation_comes_first_and_in_words(self):
        browser.open(pages["plan"])
        answer = text_of("#answer")
        for choice in plans["plan"]["recommendations"]:
            best = plans["plan"]["plans"][choice["plan"]]
            self.assertRegex(answer, rf"On {choice['ranks']} ranks\s+{best['strategy']}\s+"
                                     rf"micro-batch {best['micro_batch']}")
            self.assertIn(f"{best['tokens_per_s']:,.0f} tokens/s", answer)
            for reason in choice["reasons"]:
                self.assertIn(reason, answer)

    def test_nothing_fits(self):
        browser.open(pages["nothing"])
        self.assertRegex(text_of("#answer"), r"On 2 ranks\s+✕ Nothing fits")
        drawn = [point for points in self.datasets("candidates-2").values() for point in points]
        misfits = [row for row in plans["nothing"]["plans"] if row["outcome"] == "out_of_memory"]
        self.assertEqual(len(drawn), len(misfits))
        self.assertEqual({point["y"] for point in drawn}, {0})
        self.assertEqual(self.chart("candidates-2")["x"]["type"], "logarithmic")  # 100 times.
        self.assertIn(f"Not placed: {HOSTILE}", self.note("candidates-2"))
        self.assertNotIn("hidden", self.note("steps-2"))
        self.assertEqual(set(self.column("recommended")), {""})

    # ---- Charts ----

    def test_candidates_by_memory_and_speed(self):
        browser.open(pages["plan"])
        for ranks in (2, 8):
            card = f"candidates-{ranks}"
            chart = self.chart(card)
            memory, speed = unit_of(chart["x"]["title"]), unit_of(chart["y"]["title"])
            ringed = []
            for strategy, points in self.datasets(card).items():
                for row, point in zip(self.on(ranks, strategy=strategy), points, strict=True):
                    self.assertAlmostEqual(point["x"] * memory / row["peak_bytes"], 1, 9)
                    self.assertAlmostEqual(point["y"] * speed, row["tokens_per_s"] or 0, 3)
                    beyond = point["x"] * memory > row["device_memory_bytes"]
                    self.assertEqual(beyond, not row["fits"])
                    ringed += [row] if point["ringed"] else []
            self.assertEqual(ringed, self.on(ranks, recommended=True))
            self.assertEqual(len(ringed), 1)
            self.assertGreater(chart["x"]["max"] * memory, 30e6)
            self.assertIn("device memory 30 MB", text_of(f"#{card} .legend"))

    def test_hovering_names_the_candidate(self):
        browser.open(pages["plan"], 1400, 4000)
        browser.hover("candidates-2-chart", *browser.run("""
            const {x, y} = Chart.getChart('candidates-2-chart').getDatasetMeta(0).data[0];
            return [x, y];"""))
        lines = browser.run("""
            const {opacity, body} = Chart.getChart('candidates-2-chart').tooltip;
            return opacity === 0 ? null : body.flatMap(({lines}) => lines);""")
        row = self.on(2)[0]
        self.assertIn(f"{row['strategy']}, micro-batch {row['micro_batch']}" +
                      (", recomputed" if row["recompute"] else ""), lines)
        self.assertTrue(any(f"{row['tokens_per_s']:,.0f} tokens/s" in line for line in lines))

    def best(self, ranks, strategy):
        rows = self.on(ranks, strategy=strategy)
        fitting = [row for row in rows if row["fits"]]
        return (max(fitting, key=lambda row: row["tokens_per_s"]) if fitting
                else min(rows, key=lambda row: row["peak_bytes"]))

    def test_steps_of_the_best_of_each_strategy(self):
        parts = {"forward": "forward_s", "backward": "backward_s", "optimizer": "optimizer_s",
                 "exposed communication": "exposed_communication_s"}
        browser.open(pages["plan"])
        for of_tokens in (False, True):
            if of_tokens:
                browser.choose("steps-2-of", "tokens")
            unit = unit_of(self.chart("steps-2")["x"]["title"])
            drawn = self.datasets("steps-2")
            rows = self.csv("steps-2")
            strategies = list(dict.fromkeys(row["strategy"] for row in self.on(2)))
            self.assertEqual([row["strategy"] for row in rows], strategies)
            for i, strategy in enumerate(strategies):
                best = self.best(2, strategy)
                self.assertEqual(rows[i]["outcome"], best["outcome"])
                if not best["fits"]:
                    self.assertTrue(all(drawn[part][i] is None for part in parts))
                    continue
                share = 1e6 / (best["tokens_per_s"] * best["step_s"]) if of_tokens else 1
                for part, name in parts.items():
                    self.assertAlmostEqual(drawn[part][i] * unit / share / best[name], 1, 6)
                whole = sum(drawn[part][i] for part in parts) * unit
                self.assertAlmostEqual(whole / share / best["step_s"], 1, 6)

    def test_every_bar_has_its_name(self):
        for width, _ in WIDTHS:
            browser.open(pages["plan"], width)
            self.assertEqual(browser.run(
                "return Chart.getChart('steps-2-chart').scales.y.ticks.length"),
                len({row["strategy"] for row in self.on(2)}))

    def test_strategies_can_be_left_out(self):
        browser.open(pages["plan"])
        browser.choose("strategy-FSDP_FULL_SHARD", False)
        self.assertNotIn("FSDP_FULL_SHARD", self.datasets("candidates-8"))
        self.assertNotIn("FSDP_FULL_SHARD", [row["strategy"] for row in self.csv("steps-8")])
        for strategy in {row["strategy"] for row in plans["plan"]["plans"]}:
            browser.choose(f"strategy-{strategy}", False)
        self.assertEqual(browser.log("browser"), [])

    # ---- The table ----

    def test_the_table_has_every_row_of_the_report(self):
        for name in ("plan", "many"):
            browser.open(pages[name])
            report = plans[name]["plans"]
            head, *body = self.rows()
            self.assertEqual(len(body), len(report))
            rows = self.csv("plans")
            for texts, saved, row in zip(body, rows, report, strict=True):
                self.assertEqual(texts[0], row["strategy"])
                for key, value in saved.items():
                    if isinstance(row.get(key), float):
                        self.assertEqual(float(value), row[key])
                    else:
                        self.assertEqual(value, csv_text(row.get(key)))
                for key, title in (("peak_bytes", "peak memory"), ("step_s", "step"),
                                   ("exposed_communication_s", "exposed")):
                    place = next(i for i, text in enumerate(head) if text.startswith(title + ","))
                    if row[key] is not None:
                        self.expect_cell(head[place], texts[place], row[key])

    def test_the_recommended_row_is_marked(self):
        browser.open(pages["plan"])
        marked = browser.run("""
            return [...document.querySelectorAll('#plans tbody tr')].flatMap(
                (row, i) => (row.classList.contains('marked') ? [i] : []));""")
        self.assertEqual(marked, [one["plan"] for one in plans["plan"]["recommendations"]])
        stars = [i for i, text in enumerate(self.column("recommended")) if "★" in text]
        self.assertEqual(stars, marked)

    def test_the_row_of_the_configuration_says_so(self):
        browser.open(pages["configured"])
        said = [i for i, text in enumerate(self.column("configuration’s")) if text == "= yes"]
        rows = plans["configured"]["plans"]
        self.assertEqual(said, [i for i, row in enumerate(rows) if row["configured"]])
        self.assertEqual(len(said), 1)
        browser.open(pages["plan"])
        self.assertFalse([title for title in self.rows("plans")[0] if title == "configuration’s"])

    def test_filters(self):
        browser.open(pages["plan"])
        report = plans["plan"]["plans"]
        wanted = {}
        for name, choice, value in (("ranks", "8", 8), ("fits", "true", True),
                                    ("recompute", "false", False),
                                    ("strategy", "FSDP_FULL_SHARD", "FSDP_FULL_SHARD")):
            browser.choose(f"plans-{name}", choice)
            wanted[name] = value
            kept = [row for row in report
                    if all(row[key] == value for key, value in wanted.items())]
            self.assertGreater(len(kept), 0)
            self.assertEqual([row["peak_bytes"] for row in kept],
                             [int(row["peak_bytes"]) for row in self.csv("plans")])
            self.assertEqual(self.note("plans"),
                             f"{len(kept)} of {len(report)} candidates.")
        for name in wanted:
            browser.choose(f"plans-{name}", "")
        self.assertEqual(len(self.column("strategy")), len(report))

    def test_sorting(self):
        browser.open(pages["plan"])
        peaks = sorted(row["peak_bytes"] for row in plans["plan"]["plans"])
        for expected in (peaks, peaks[::-1]):
            self.sort_by("peak memory")
            self.assertEqual([int(row["peak_bytes"]) for row in self.csv("plans")], expected)
        self.assertRegex(browser.run("return document.activeElement.textContent"),
                         r"^peak memory, [MG]B ▼$")
        self.assertEqual(browser.run("""
            return [...document.querySelectorAll('#plans th[aria-sort]')].map(
                (one) => one.getAttribute('aria-sort')).filter((sort) => sort !== 'none');"""),
            ["descending"])
        fitting = [row for row in plans["plan"]["plans"] if row["fits"]]
        for _ in range(2):  # What does not fit has no speed: last either way.
            self.sort_by("tokens/s")
            speeds = [row["tokens_per_s"] for row in self.csv("plans")]
            self.assertNotIn("", speeds[:len(fitting)])
            self.assertEqual(set(speeds[len(fitting):]), {""})

    # ---- What it rests on ----

    def test_what_was_understood_of_the_configuration(self):
        browser.open(pages["configured"])
        keys = plans["configured"]["understood"]["keys"]
        saved = self.csv("understood")
        self.assertEqual(saved, [{name: row[name] for name in saved[0]} for row in keys])
        head, *body = self.rows("understood")
        self.assertEqual(head, ["key", "value", "origin", "effect", "meaning"])
        self.assertIn(["zero_optimization.stage", "2", "given", "simulated", "DEEPSPEED_STAGE2"],
                      body)
        browser.open(pages["plan"])
        self.assertFalse(browser.run("return !!document.getElementById('understood')"))

    def test_assumptions(self):
        browser.open(pages["nothing"])
        text = text_of("#assumptions")
        assumptions = plans["nothing"]["assumptions"]
        for part in (assumptions["model"], assumptions["network"], "bf16 parameters", "as flows",
                     "312 Tflop/s × 0.700", "30 MB", "holds the optimizer; 30 GB/s", "left out"):
            self.assertIn(part, text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
