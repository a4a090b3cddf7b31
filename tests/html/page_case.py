"""What the tests of pages read off them and expect of every one."""

import csv
import os
import unittest

from webdriver import wait_until

# What Chart.js was given: the label and values of each dataset, and the labels of the axis.
CHART = """
  const chart = Chart.getChart(`${arguments[0]}-chart`);
  return {
    labels: chart.data.labels,
    datasets: chart.data.datasets.map(({label, data}) => ({label, data})),
    x: {title: chart.scales.x.options.title.text, min: chart.scales.x.min, max: chart.scales.x.max,
        type: chart.scales.x.type},
    y: {title: chart.scales.y.options.title && chart.scales.y.options.title.text,
        type: chart.scales.y.type},
  };"""

UNITS = {"ns": 1e-9, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9,
         "TB": 1e12, "tokens/s": 1.0, "k tokens/s": 1e3, "M tokens/s": 1e6}


def unit_of(title):
    """Of "time of a step, ms"."""
    return UNITS[title.rsplit(", ", 1)[1]]


class PageCase(unittest.TestCase):
    """Of pages in the browser, whose downloads come into that folder: a test's module sets both."""

    browser = None
    downloads = None

    def chart(self, card):
        return self.browser.run(CHART, card)

    def datasets(self, card):
        return {dataset["label"]: dataset["data"] for dataset in self.chart(card)["datasets"]}

    def table(self, card):
        """Titles and rows of texts."""
        return self.browser.run("""
            const texts = (row) => [...row.cells].map((cell) => cell.textContent);
            const table = document.querySelector(`#${arguments[0]} .data table`);
            return [...table.rows].map(texts);""", card)

    def expect_cell(self, title, text, value):
        """Three digits of the value, in the unit of the title or its own."""
        if " " in text:
            text, unit = text.rsplit(" ", 1)
            size = UNITS[unit]
        else:
            size = unit_of(title) if ", " in title else 1
        shown = float(text) * size
        decimals = len(text.partition(".")[2])
        half = 0.5 * 10 ** -decimals * size if "." in text else 0.005 * abs(value) + 0.5 * size
        self.assertLessEqual(abs(shown - value), half * (1 + 1e-9), f"{title}: {text} for {value}")

    def note(self, card):
        return self.browser.run(
            "return document.querySelector(`#${arguments[0]} .note`).textContent", card)

    def csv(self, card):
        path = os.path.join(self.downloads, f"{card}.csv")
        if os.path.exists(path):
            os.remove(path)
        self.browser.run("document.querySelector(`#${arguments[0]} .csv`).click()", card)
        # The browser makes an empty file of the name and puts what it downloaded in its place.
        self.assertTrue(wait_until(lambda: os.path.exists(path) and os.path.getsize(path) > 0),
                        "no file came")
        with open(path, encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def expect_drawn(self, card):
        colours = self.browser.run("""
            const canvas = document.getElementById(`${arguments[0]}-chart`);
            const chart = Chart.getChart(canvas);
            const {left, top, right, bottom} = chart.chartArea;
            const {data} = canvas.getContext('2d').getImageData(
                left, top, right - left, bottom - top);
            return new Set(new Uint32Array(data.buffer)).size;""", card)
        self.assertGreater(colours, 10, f"{card} is empty")
        self.assertTrue(any(self.datasets(card).values()), f"{card} has no data")

    def expect_no_overflow(self, width):
        self.browser.run("document.querySelectorAll('details').forEach("
                         "(one) => { one.open = true; })")
        beyond = self.browser.run("""
            return [...document.querySelectorAll('body *')].filter((one) =>
                !one.closest('.scroller table') &&
                one.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5)
              .map((one) => one.outerHTML.slice(0, 80));""")
        self.assertEqual(beyond, [])
        self.assertEqual(self.browser.run("return document.documentElement.scrollWidth"), width)

    def expect_labels(self):
        unlabelled = self.browser.run("""
            return [...document.querySelectorAll('select, input, button, canvas[role]')].filter(
                (one) => one.tabIndex < (one.tagName === 'CANVAS' ? -1 : 0) ||
                         !(one.labels && one.labels.length || one.getAttribute('aria-label') ||
                           one.tagName === 'BUTTON' && one.textContent))
              .map((one) => one.outerHTML.slice(0, 80));""")
        self.assertEqual(unlabelled, [])
