// The candidates of a plan, as its charts and tables show them.

function planStrategies() {
  return [...new Set(report.plan.plans.map(({strategy}) => strategy))];
}

function candidateDetail({micro_batch: batch, recompute}) {
  return `micro-batch ${formatCount(batch)}${recompute ? ', recomputed' : ''}`;
}

// The same where there is little room.
function candidateMark({micro_batch: batch, recompute}) {
  return `${formatCount(batch)}${recompute ? ' r' : ''}`;
}

function candidateName(candidate) {
  return `${candidate.strategy}, ${candidateDetail(candidate)}`;
}

// Why there are no figures, in a few words; empty if there are.
function misfitOf({fits, outcome, lacking_bytes: lacking}) {
  if (fits) {
    return '';
  }
  return outcome === 'out_of_memory' ? `lacks ${formatQuantity(lacking, 'B')}` : 'failed';
}

function ranksText(ranks) {
  return `${formatCount(ranks)} rank${ranks === 1 ? '' : 's'}`;
}

function candidatesOn(ranks) {
  return report.plan.plans.filter((one) => one.ranks === ranks && isShown(one.strategy));
}

// Of each strategy on so many ranks the candidate that is fastest, or else lacks least: a plan
// has them in that order but for those that lack memory.
function bestOfStrategies(ranks) {
  const best = new Map();
  for (const one of candidatesOn(ranks)) {
    const known = best.get(one.strategy);
    if (!known || isBetter(one, known)) {
      best.set(one.strategy, one);
    }
  }
  return [...best.values()];
}

function isBetter(one, other) {
  if (one.fits && other.fits) {
    return one.tokens_per_s > other.tokens_per_s;
  }
  return one.fits !== other.fits ? one.fits : one.peak_bytes < other.peak_bytes;
}

const MEMORY_COLUMNS = {unit: 'B'};
const TIME_COLUMNS = {unit: 's'};
const SENT_COLUMNS = {unit: 'B'};

// By the names of the JSON report; figures of a group share a unit.
const PLAN_COLUMNS = [
  {name: 'strategy', title: 'strategy'},
  {name: 'recommended', title: 'recommended', text: (is) => (is ? '★ yes' : '')},
  {name: 'configured', title: 'configuration’s', text: (is) => (is ? '= yes' : '')},
  {name: 'ranks', title: 'ranks', format: formatCount},
  {name: 'micro_batch', title: 'micro-batch', format: formatCount},
  {name: 'accumulation', title: 'micro-steps', format: formatCount},
  {name: 'recompute', title: 'recomputes', text: (does) => (does ? 'yes' : 'no')},
  {name: 'outcome', title: 'fits', text: fitText},
  {name: 'peak_bytes', title: 'peak memory', group: MEMORY_COLUMNS},
  {name: 'device_memory_bytes', title: 'device', group: MEMORY_COLUMNS},
  {name: 'lacking_bytes', title: 'lacking', group: MEMORY_COLUMNS},
  {name: 'tokens_per_s', title: 'tokens/s', format: formatRate},
  {name: 'model_flops_utilization', title: 'MFU', format: formatPercent},
  {name: 'step_s', title: 'step', group: TIME_COLUMNS},
  {name: 'forward_s', title: 'forward', group: TIME_COLUMNS},
  {name: 'backward_s', title: 'backward', group: TIME_COLUMNS},
  {name: 'optimizer_s', title: 'optimizer', group: TIME_COLUMNS},
  {name: 'exposed_communication_s', title: 'exposed', group: TIME_COLUMNS},
  {name: 'busy_communication_s', title: 'in flight', group: TIME_COLUMNS},
  {name: 'sent_inside_nodes_bytes', title: 'sent in node', group: SENT_COLUMNS},
  {name: 'sent_between_nodes_bytes', title: 'between nodes', group: SENT_COLUMNS},
  {name: 'host_bytes', title: 'on the host', group: MEMORY_COLUMNS},
  {name: 'category', title: 'runs out at', text: wordsOf},
  {name: 'phase', title: 'in', text: wordsOf},
  {name: 'failure', title: 'failure', prose: true},
];

function fitText(outcome) {
  return {completed: 'yes', out_of_memory: '✕ no'}[outcome] || '✕ failed';
}

// {caption, columns, rows} of those columns that any candidate has; all columns without `names`.
function planTable(caption, candidates, names = PLAN_COLUMNS.map(({name}) => name)) {
  const isThere = (value) => value !== null && value !== undefined;
  const columns = PLAN_COLUMNS.filter(({name}) => names.includes(name) &&
                                                  candidates.some((one) => isThere(one[name])));
  const rows = candidates.map((one) => columns.map(({name}) => one[name]));
  const indexed = columns.map((column, index) => ({...column, index}));
  const shown = indexed.map((column) => {
    if (!column.group) {
      return column;
    }
    const ofGroup = indexed.filter(({group}) => group === column.group);
    return scaledColumns(column.group.unit, ofGroup, rows)[ofGroup.indexOf(column)];
  });
  return {caption, columns: shown, rows};
}
