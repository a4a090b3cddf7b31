// Puts the page together from its data.

const report = JSON.parse(document.getElementById('data').textContent);
const isSweep = report.kind === 'sweep';
report.strategies = isSweep ? sweepStrategies() : report.run.runs.map((run) => run.strategy);
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
  document.getElementById('kind').textContent =
      isSweep ? 'Shardscope: sweep' : 'Shardscope: run';
  document.getElementById('colophon').textContent = colophon();
}

// What the report rests on, in short; the text report says all of it.
function colophon() {
  const made = `Made by shardscope ${report.shardscope}.`;
  if (isSweep) {
    return `${made} Arithmetic ${report.sweep.arithmetic}.`;
  }
  const {network, device, arithmetic, precision, algorithm} = report.run.assumptions;
  return `${made} Scenario digest ${report.run.digest}. ` +
         `Network: ${network.description}. Device: ${device.preset}, ` +
         `${formatQuantity(device.memory_bytes, 'B')}. ${precision}, ${algorithm}, arithmetic ` +
         `${arithmetic}.`;
}

showHeader();
showStrategies();
if (isSweep) {
  showAnswerOfSweep();
  addSweepCurves();
  addSweepPointCharts();
} else {
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
}
if (report.timelines) {
  addTimeline();
}
if (!isSweep) {
  addOptionsOfRun();
}
watchTheme();  // Draws.
