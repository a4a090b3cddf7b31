// Two charts of each number of ranks: what every candidate holds and gives, and where the step of
// each strategy's best candidate goes.

// Peaks farther than this from the device's memory get a logarithmic axis.
const FARTHEST_ON_LINEAR_AXIS = 6;

function candidateHover(candidate) {
  const lines = [
    candidateName(candidate),
    `peak memory: ${formatQuantity(candidate.peak_bytes, 'B')}`,
  ];
  if (!candidate.fits) {
    return [...lines, misfitOf(candidate)];
  }
  return [
    ...lines,
    `${formatRate(candidate.tokens_per_s)} tokens/s, ` +
        `MFU ${formatPercent(candidate.model_flops_utilization)}`,
    `step: ${formatQuantity(candidate.step_s, 's')}, of it exposed ` +
        formatQuantity(candidate.exposed_communication_s, 's'),
  ];
}

// The points of one strategy. Those that do not fit have no speed and lie at the foot.
function candidatePoints(candidates, strategy, bytes, rate) {
  const {colour, point} = strategyStyle(strategy);
  const points = candidates.filter((one) => one.strategy === strategy);
  return {
    label: strategy,
    data: points.map((candidate) => ({
      x: candidate.peak_bytes / bytes.size,
      y: candidate.fits ? candidate.tokens_per_s / rate.size : 0,
      name: candidateMark(candidate),
      ringed: candidate.recommended,
      candidate,
    })),
    backgroundColor: points.map(({recompute}) => (recompute ? themeColour('surface') : colour)),
    borderColor: colour,
    borderWidth: 2,
    pointStyle: point,
    radius: 6,
    hoverRadius: 8,
    clip: false,
  };
}

function isPlaced({outcome}) {
  return outcome === 'completed' || outcome === 'out_of_memory';
}

function candidatesNote(candidates) {
  const misfits = candidates.filter(({outcome}) => outcome === 'out_of_memory').length;
  const failed = candidates.filter((one) => !isPlaced(one)).map(candidateName);
  return 'Higher and further left is better. The number beside a point is its micro-batch; r, ' +
         'and hollow: activations are recomputed.' +
         (misfits > 0 ? ` At the foot: the ${formatCount(misfits)} that do not fit.` : '') +
         (failed.length > 0 ? ` Not placed: ${failed.join('; ')} (failed).` : '');
}

function candidateAxes(peaks, capacity, bytes, rate, anyFits) {
  const isFar = peaks.some((peak) => peak > FARTHEST_ON_LINEAR_AXIS * capacity) ||
                FARTHEST_ON_LINEAR_AXIS * largestOf(peaks) < capacity;
  const x = figureAxis(`peak memory of a rank, ${bytes.name}`, isFar);
  const y = figureAxis(`speed, ${rate.name}`);
  Object.assign(x, {suggestedMax: 1.1 * capacity / bytes.size, beginAtZero: true});
  Object.assign(y, {beginAtZero: true, grace: '10%'});
  if (!anyFits) {
    Object.assign(y, {suggestedMax: 1, title: axisTitle('nothing fits')});
    y.ticks.display = false;
  }
  return {x, y};
}

function drawCandidates(ranks) {
  const candidates = candidatesOn(ranks);
  const placed = candidates.filter(isPlaced);
  const capacity = report.plan.plans.find((one) => one.ranks === ranks).device_memory_bytes;
  const peaks = placed.map(({peak_bytes: peak}) => peak);
  const bytes = unitFor('B', largestOf([...peaks, capacity]));
  const rate = unitFor('tokens/s', largestOf(placed.map(({tokens_per_s: speed}) => speed)));
  const strategies = [...new Set(placed.map(({strategy}) => strategy))];
  const lineText = `device memory ${formatQuantity(capacity, 'B')}`;
  const fitting = placed.filter(({fits}) => fits);
  return {
    height: 360,
    legend: [
      ...strategies.map((strategy) => {
        const {colour, point} = strategyStyle(strategy);
        return {label: strategy, colour, point};
      }),
      {label: 'recommended', colour: themeColour('text'), ring: true},
      {label: lineText, colour: themeColour('text'), dash: [6, 4]},
    ],
    note: candidatesNote(candidates),
    summary: `Points of peak memory and tokens per second; ${lineText}. ${formatCount(
        fitting.length)} of ${formatCount(candidates.length)} candidates fit.`,
    table: planTable(`Candidates on ${ranksText(ranks)}`, candidates, [
      'strategy', 'recommended', 'micro_batch', 'recompute', 'outcome', 'peak_bytes',
      'device_memory_bytes', 'lacking_bytes', 'tokens_per_s', 'failure',
    ]),
    config: {
      type: 'scatter',
      data: {datasets: strategies.map((strategy) => candidatePoints(placed, strategy, bytes,
                                                                    rate))},
      options: {
        layout: {padding: {top: 18, right: 12}},
        interaction: {mode: 'point'},
        scales: candidateAxes(peaks, capacity, bytes, rate, fitting.length > 0),
        plugins: {tooltip: {callbacks: {label: ({raw}) => candidateHover(raw.candidate)}}},
      },
      plugins: [uprightLines([{value: capacity / bytes.size, text: lineText}]), pointRings(),
                pointLabels()],
    },
  };
}

// What the bars show, and what of a step they are: steps of other micro-batches train on more.
const SPLITS = {
  step: {label: 'a step', quantity: 'time of a step', share: () => 1},
  tokens: {
    label: 'a million tokens',
    quantity: 'time of a million tokens',
    share: (candidate) => 1e6 / (candidate.tokens_per_s * candidate.step_s),
  },
};

function timeOfCandidate(candidate, share) {
  const scaled = (seconds) => seconds * share;
  return {
    wall_s: scaled(candidate.step_s),
    forward_s: scaled(candidate.forward_s),
    backward_s: scaled(candidate.backward_s),
    optimizer_s: scaled(candidate.optimizer_s),
    checkpoint_s: 0,
    exposed_communication_s: scaled(candidate.exposed_communication_s),
    busy_communication_s: scaled(candidate.busy_communication_s),
  };
}

function unlikeSteps(candidates) {
  const tokens = candidates.filter(({fits}) => fits).map(
      (one) => Math.round(one.tokens_per_s * one.step_s));
  return new Set(tokens).size < 2 ? '' : ' Their steps train on different numbers of tokens: ' +
                                         'the time of a million compares them.';
}

function drawPlanSteps(ranks, {quantity, share}) {
  const best = bestOfStrategies(ranks);
  const rows = best.map((candidate) => ({
    strategy: candidate.strategy,
    detail: candidateDetail(candidate),
    beside: isNarrow() ? candidateMark(candidate) : candidateDetail(candidate),
    outcome: candidate.outcome,
    problem: misfitOf(candidate),
    time: candidate.fits ? timeOfCandidate(candidate, share(candidate)) : null,
  }));
  const drawn = drawStepTime(rows, `The ${quantity} on ${ranksText(ranks)}`, quantity);
  const {columns, rows: figures} = drawn.table;
  columns.splice(1, 0, {name: 'candidate', title: 'candidate'});
  figures.forEach((row, i) => row.splice(1, 0, rows[i].detail));
  drawn.note = `The best candidate of each strategy.${unlikeSteps(best)} ${drawn.note}`;
  return drawn;
}

function addChartsOfRanks(ranks) {
  addCard({
    id: `candidates-${ranks}`,
    title: `Memory against speed on ${ranksText(ranks)}`,
    draw: () => drawCandidates(ranks),
  });
  let split = SPLITS.step;
  const card = addCard({
    id: `steps-${ranks}`,
    title: `Where the time goes on ${ranksText(ranks)}`,
    controls: [selectControl(`steps-${ranks}-of`, 'Time of', Object.entries(SPLITS).map(
        ([name, {label}]) => [name, label]), 'step', (name) => {
      split = SPLITS[name];
      redraw(card);
    })],
    draw: () => drawPlanSteps(ranks, split),
  });
}
