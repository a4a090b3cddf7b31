// The figures of a run's strategies, as the charts compare them.

// Of the steps after the first, which differs from the others in what is still empty; of the first
// if it is alone. The same rule as the text report's.
function meanTime(steps) {
  const counted = steps.length > 1 ? steps.slice(1) : steps;
  if (counted.length === 0) {
    return null;
  }
  const mean = {};
  for (const name of Object.keys(counted[0].time).filter((key) => key.endsWith('_s'))) {
    mean[name] = counted.reduce((sum, step) => sum + step.time[name] / counted.length, 0);
  }
  return mean;
}

// `rank` is a number, or null for the rank that finishes each step last.
function timeOf(run, rank) {
  if (run.outcome !== 'completed') {
    return null;
  }
  return meanTime(rank === null ? run.steps : run.ranks[rank].steps);
}

// `rank` is a number, or null for the one whose peak is highest.
function peakOf(run, rank) {
  if (run.outcome !== 'completed') {
    return null;
  }
  const ranks = rank === null ? run.ranks : [run.ranks[rank]];
  return ranks.map(({memory}) => ({...memory.peak_bytes, predicted: memory.predicted_peak_bytes}))
      .reduce((fullest, peak) => (peak.total > fullest.total ? peak : fullest));
}

// Sent in the last step by the rank that sends most.
function sentOf(run) {
  return largestOf(run.ranks.map((rank) => rank.steps[rank.steps.length - 1].sent_bytes));
}

// Why there are no figures, in a few words; empty if there are.
function problemOf({outcome, out_of_memory: memory}) {
  if (outcome === 'completed') {
    return '';
  }
  if (outcome !== 'out_of_memory') {
    return 'failed';
  }
  return memory ? `out of memory: ${formatQuantity(memory.wanted_bytes, 'B')} wanted, ` +
                      `${formatQuantity(memory.free_bytes, 'B')} free`
                : 'out of memory';
}

// Of tables with a row per strategy.
const OUTCOME_COLUMN = {name: 'outcome', title: 'outcome', text: wordsOf};

// One row per strategy that is shown: {strategy, problem, time, peak}. Of a sweep, those of one
// point.
function runRows(rank) {
  return report.run.runs.filter((run) => isShown(run.strategy)).map((run) => ({
    strategy: run.strategy,
    outcome: run.outcome,
    problem: problemOf(run),
    time: timeOf(run, rank),
    peak: peakOf(run, rank),
  }));
}

function rankControl(id, whenNone, onChange) {
  const ranks = Math.max(...report.run.runs.map((run) => run.ranks.length));
  const choices = [['', whenNone]];
  for (let rank = 0; rank < ranks; ++rank) {
    choices.push([rank, `rank ${rank}`]);
  }
  return selectControl(`${id}-rank`, 'Rank', choices, '',
                       (value) => onChange(value === '' ? null : Number(value)));
}
