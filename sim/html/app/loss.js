// What training does: loss and gradient norm of each step. Left out without arithmetic.

const LOSS_METRICS = [['loss', 'loss'], ['grad_norm', 'gradient norm']];
const MOST_POINTS_DRAWN = 1500;

// Of each stretch of many points the lowest and the highest, so that no peak is lost; and those of
// skipped steps.
function thinned(points) {
  const stretch = Math.ceil(2 * points.length / MOST_POINTS_DRAWN);
  if (stretch <= 2) {
    return points;
  }
  const kept = [];
  for (let begin = 0; begin < points.length; begin += stretch) {
    const part = points.slice(begin, begin + stretch);
    const low = part.reduce((a, b) => (b.y < a.y ? b : a));
    const high = part.reduce((a, b) => (b.y > a.y ? b : a));
    kept.push(...part.filter((point) => point === low || point === high || point.skipped));
  }
  return kept;
}

// A line of a strategy. Later lines are thinner and lie above, so that equal ones show below them.
function strategyLine(strategy, data, place) {
  const {colour, dash, point} = strategyStyle(strategy);
  return {
    label: strategy,
    data,
    borderColor: colour,
    backgroundColor: colour,
    borderDash: dash,
    borderWidth: Math.max(5 - place, 2),
    order: -place,
    pointStyle: point,
    pointBorderWidth: 2,
  };
}

// Points of skipped steps are crosses.
function withSkippedMarks(line, radius) {
  const isSkipped = ({raw}) => Boolean(raw && raw.skipped);
  return {
    ...line,
    endPoint: line.pointStyle,
    radius: (context) => (isSkipped(context) ? 6 : radius),
    pointStyle: (context) => (isSkipped(context) ? 'crossRot' : line.pointStyle),
  };
}

function drawLoss({metric, label, logarithmic, stepped = false}) {
  const runs = lossRuns().filter((run) => isShown(run.strategy));
  const longest = Math.max(0, ...runs.map((run) => run.steps.length));
  return {
    height: 320,
    legend: [
      ...runs.map(({strategy}) => strategyEntry(strategy)),
      ...(runs.some((run) => skippedOf(run) > 0)
          ? [{label: 'skipped step', colour: themeColour('text'), point: 'crossRot'}] : []),
    ],
    note: [skippedNote(runs), metric === 'loss_scale' ? '' : sameWeightsNote(runs),
           gapsNote(runs, metric)].filter((text) => text).join(' '),
    summary: `Lines of the ${label} of each step for ${listed(runs.map((run) => run.strategy))}.`,
    table: lossTable(runs, metric, label, longest),
    config: {
      type: 'line',
      data: {datasets: runs.map((run, place) => ({
        ...withSkippedMarks(strategyLine(run.strategy, thinned(run.steps.map((step) => ({
          x: step.step, y: isNumber(step[metric]) ? step[metric] : NaN, skipped: step.skipped,
        }))), place), longest > 40 ? 0 : 2),
        stepped,
      }))},
      options: {
        parsing: false,
        interaction: {mode: 'nearest', axis: 'x', intersect: false},
        layout: {padding: {right: isNarrow() ? 8 : endLabelRoom(runs.map((run) => run.strategy))}},
        scales: {
          x: {type: 'linear', title: axisTitle('step'), ticks: {precision: 0, maxRotation: 0}},
          y: figureAxis(label, logarithmic),
        },
        plugins: {tooltip: {callbacks: {
          title: ([item]) => (item ? `step ${formatCount(item.parsed.x)}` : ''),
          label: ({dataset, parsed, raw}) =>
              `${dataset.label}: ${formatLoss(parsed.y)}${raw.skipped ? ', skipped' : ''}`,
        }}},
      },
      plugins: isNarrow() ? [] : [lineEndLabels()],
    },
  };
}

function skippedOf(run) {
  return run.steps.filter((step) => step.skipped).length;
}

function skippedNote(runs) {
  return runs.some((run) => skippedOf(run) > 0)
      ? 'Crosses: skipped steps, whose gradients overflowed and which updated nothing.' : '';
}

function lossRuns() {
  return report.run.runs.filter((run) => run.steps.some((step) => 'loss' in step));
}

function sameWeightsNote(runs) {
  const groups = new Map();
  for (const run of runs) {
    const group = groups.get(run.weights_digest) || [];
    groups.set(run.weights_digest, [...group, run.strategy]);
  }
  const same = [...groups.entries()].filter(([digest, group]) => digest && group.length > 1);
  return same.map(([, group]) => `${listed(group)} end with the same weights, bit for bit.`)
      .join(' ');
}

// NaN and infinity come as null.
function gapsNote(runs, metric) {
  const gaps = runs.filter((run) => run.steps.some((step) => step[metric] === null));
  const texts = gaps.map(({strategy, steps}) => {
    const count = steps.filter((step) => step[metric] === null).length;
    return `${formatCount(count)} steps of ${strategy}`;
  });
  return gaps.length === 0 ? '' : `No finite number in ${listed(texts)}.`;
}

function lossTable(runs, metric, label, longest) {
  const rows = [];
  const skipping = runs.filter((run) => skippedOf(run) > 0);
  for (let i = 0; i < longest; ++i) {
    const {step} = runs.find((run) => run.steps[i]).steps[i];
    rows.push([step, ...runs.map((run) => (run.steps[i] ? run.steps[i][metric] : null)),
               ...skipping.map((run) => (run.steps[i] ? run.steps[i].skipped : null))]);
  }
  return {
    caption: `The ${label} of each step`,
    columns: [{name: 'step', title: 'step', format: formatCount},
              ...runs.map(({strategy}) => ({name: strategy, title: strategy, format: formatLoss})),
              ...skipping.map(({strategy}) => ({name: `${strategy}_skipped`,
                                                title: `${strategy} skipped`,
                                                text: (value) => (value ? 'yes' : 'no')}))],
    rows,
  };
}

function addLossOfRun() {
  let metric = 'loss';
  let logarithmic = false;
  const card = addCard({
    id: 'loss',
    title: 'Loss',
    controls: [
      selectControl('loss-metric', 'Figure', LOSS_METRICS, metric, (chosen) => {
        metric = chosen;
        redraw(card);
      }),
      checkControl('loss-log', 'Logarithmic', logarithmic, (checked) => {
        logarithmic = checked;
        redraw(card);
      }),
    ],
    draw: () => drawLoss({
      metric, logarithmic, label: LOSS_METRICS.find(([name]) => name === metric)[1],
    }),
  });
}

function addLossScaleOfRun() {
  addCard({
    id: 'loss-scale',
    title: 'Loss scale',
    draw: () => drawLoss({
      metric: 'loss_scale', label: 'loss scale', logarithmic: true, stepped: 'middle',
    }),
  });
}
