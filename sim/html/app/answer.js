// The answer, before any chart: what is fastest, what limits it, what needs least memory, what does
// not fit.

const LIMITS = {compute: 'compute', memory: 'memory bandwidth', bandwidth: 'link bandwidth',
                latency: 'link latency', overhead: 'kernel launches',
                storage: 'storage'};

function fact(name, value, detail, isProblem = false) {
  return element('div', {class: isProblem ? 'fact problem' : 'fact'}, element('dt', {}, name),
                 element('dd', {}, element('strong', {}, value), detail));
}

// A larger figure is as good within this share of the least one, as in sim/report/ties.h.
const TIE = 1e-3;

function leastOf(rows, figure) {
  const least = smallest(rows.map(figure));
  return {least, names: listed(rows.filter((row) => figure(row) <= least * (1 + TIE)).map(
      (row) => row.strategy))};
}

function showAnswerOfRun() {
  const rows = runRows(null);
  const completed = rows.filter(({time}) => time);
  const facts = element('dl', {class: 'facts'});
  if (completed.length > 0) {
    const fastest = leastOf(completed, ({time}) => time.wall_s);
    const smallestPeak = leastOf(completed, ({peak}) => peak.total);
    const winner = completed.find(({time}) => time.wall_s === fastest.least);
    const limit = report.run.runs.find((run) => run.strategy === winner.strategy).limiting_factor;
    facts.append(fact('Fastest', fastest.names, `${formatQuantity(fastest.least, 's')} a step`));
    if (limit) {
      facts.append(fact('What limits it', LIMITS[limit.name] || limit.name,
                        `alone ${formatPercent(limit.shares[limit.name])} of a step`));
    }
    facts.append(fact('Least memory', smallestPeak.names,
                      `${formatQuantity(smallestPeak.least, 'B')} per rank at peak`));
  }
  const failed = rows.filter(({problem}) => problem);
  facts.append(failed.length === 0
      ? fact('Do not fit', 'none', 'every strategy completed')
      : fact(failed.every((row) => row.outcome === 'out_of_memory') ? 'Do not fit' :
                                                                      'Did not complete',
             `✕ ${listed(failed.map((row) => row.strategy))}`,
             [...new Set(failed.map(({problem}) => problem))].join('; '), true));
  const sentences = (report.answer || []).map(
      (sentence) => element('p', {}, withTightUnits(sentence)));
  document.getElementById('answer').append(
      facts, element('div', {class: 'columns'}, element('div', {}, ...sentences), overviewTable()));
}

function overviewTable() {
  const rows = report.run.runs.map((run) => {
    const time = timeOf(run, null);
    const peak = peakOf(run, null);
    return [
      run.strategy, run.outcome, time && time.wall_s,
      time && time.exposed_communication_s / time.wall_s,
      run.limiting_factor ? LIMITS[run.limiting_factor.name] : null, peak && peak.total,
      time && sentOf(run),
    ];
  });
  return dataTable('All strategies', [
    {title: 'strategy'},
    OUTCOME_COLUMN,
    ...scaledColumns('s', [{title: 'step', index: 2}], rows),
    {title: 'waiting', format: formatPercent},
    {title: 'limited by'},
    ...scaledColumns('B', [{title: 'peak memory', index: 5}], rows),
    ...scaledColumns('B', [{title: 'sent in a step', index: 6}], rows),
  ], rows);
}

const MOST_FINDINGS_SHOWN = 8;

function showAnswerOfSweep() {
  const {findings = []} = report.sweep;
  const answer = document.getElementById('answer');
  answer.append(sweepFacts());
  const sentences = findings.map(({text}) => element('li', {}, withTightUnits(text)));
  answer.append(element('ul', {class: 'findings'}, ...sentences.slice(0, MOST_FINDINGS_SHOWN)));
  if (sentences.length > MOST_FINDINGS_SHOWN) {
    const more = sentences.slice(MOST_FINDINGS_SHOWN);
    answer.append(element('details', {}, element('summary', {}, `${more.length} more findings`),
                          element('ul', {class: 'findings'}, ...more)));
  }
}

// Those of a setting's points that no other is faster than.
function fastestOf(points) {
  const wallOf = (point) => sweepFigure('wall_s', point);
  const completed = points.filter((point) => isNumber(wallOf(point)));
  const least = smallest(completed.map(wallOf));
  return completed.filter((point) => wallOf(point) <= least * (1 + TIE));
}

// Who is fastest at how many of the settings, and who does not fit.
function sweepFacts() {
  const {axes, points: {count, axis}} = report.sweep;
  const settings = new Map();
  const failures = new Map();
  for (let point = 0; point < count; ++point) {
    const setting = axis.reduce((key, places, i) => key * axes[i].values.length + places[point], 0);
    settings.set(setting, [...(settings.get(setting) || []), point]);
    const problem = problemOfPoint(point);
    if (problem) {
      const strategy = sweepText('strategy', point);
      const key = JSON.stringify([strategy, problem]);
      const times = failures.has(key) ? failures.get(key).times : 0;
      failures.set(key, {strategy, problem, times: times + 1});
    }
  }
  const wins = new Map();
  for (const points of settings.values()) {
    for (const point of fastestOf(points)) {
      const strategy = sweepText('strategy', point);
      wins.set(strategy, (wins.get(strategy) || 0) + 1);
    }
  }
  const ranking = [...wins].sort((a, b) => b[1] - a[1]);
  const at = (times) => `at ${formatCount(times)} of ${formatCount(settings.size)} settings`;
  const facts = element('dl', {class: 'facts'});
  for (const [strategy, times] of ranking.slice(0, 3)) {
    facts.append(fact('Fastest', strategy, at(times)));
  }
  for (const {strategy, problem, times} of [...failures.values()].slice(0, 5)) {
    facts.append(fact(problem === 'failed' ? 'Failed' : 'Out of memory', `✕ ${strategy}`, at(times),
                      true));
  }
  return facts;
}
