// Puts the page together from its data.

const report = JSON.parse(document.getElementById('data').textContent);
const PAGES = {
  run: {strategies: () => report.run.runs.map(({strategy}) => strategy),
        colophon: colophonOfRun, show: showRun},
  sweep: {strategies: sweepStrategies,
          colophon: () => `Arithmetic ${report.sweep.arithmetic}.`, show: showSweep},
  plan: {strategies: planStrategies, colophon: colophonOfPlan, show: showPlan},
};
const page = PAGES[report.kind];
report.strategies = page.strategies();
report.shown = new Set(report.strategies);

function isShown(strategy) {
  return report.shown.has(strategy);
}

function showStrategies() {
  const group = element('fieldset', {}, element('legend', {}, 'Strategies in the charts'));
  for (const strategy of report.strategies) {
    const mark = element('span');
    const box = checkControl(`strategy-${strategy}`, strategy, true, (checked) => {
      report.shown[checked ? 'add' : 'delete'](strategy);
      redrawAll();
    });
    box.append(mark);
    group.append(box);
    repaints.push(() => mark.replaceChildren(swatch(strategyEntry(strategy))));
  }
  document.getElementById('strategies').append(group);
}

function showHeader() {
  document.title = `${report.title} – Shardscope`;
  document.getElementById('title').textContent = report.title;
  document.getElementById('kind').textContent = `Shardscope: ${report.kind}`;
  document.getElementById('colophon').textContent =
      `Made by shardscope ${report.shardscope}. ${page.colophon()}`;
}

// What the report rests on, in short; the text report says all of it.
function colophonOfRun() {
  const {network, device, arithmetic, precision, algorithm} = report.run.assumptions;
  return `Scenario digest ${report.run.digest}. ` +
         `Network: ${network.description}. Device: ${device.preset}, ` +
         `${formatQuantity(device.memory_bytes, 'B')}. ${precision}, ${algorithm}, arithmetic ` +
         `${arithmetic}.`;
}

function showRun() {
  showAnswerOfRun();
  addStepTimeOfRun();
  addMemoryOfRun();
  if (report.run.runs.some(({outcome}) => outcome === 'completed')) {
    addTradeoffOfRun();
    addClusterOfRun();
  }
  if (lossRuns().length > 0) {
    addLossOfRun();
    if (report.run.assumptions.dynamic_loss_scale) {
      addLossScaleOfRun();
    }
  }
  if (report.timelines) {
    addTimeline();
  }
  addOptionsOfRun();
}

function showSweep() {
  showAnswerOfSweep();
  addSweepCurves();
  addSweepPointCharts();
}

showHeader();
showStrategies();
page.show();
watchTheme();  // Draws.
