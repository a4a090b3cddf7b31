// Memory against step time: one point per strategy, better to the left and below.

function drawTradeoff(rows, capacity) {
  const placed = rows.filter(({time, peak}) => time && peak);
  const missing = rows.filter((row) => !placed.includes(row));
  const most = largestOf(placed.map(({peak}) => peak.total));
  const bytes = unitFor('B', most);
  const seconds = unitFor('s', largestOf(placed.map(({time}) => time.wall_s)));
  const capacityShown = isNumber(capacity) && capacity <= 2 * most;
  const x = figureAxis(`peak memory of a rank, ${bytes.name}`);
  const y = figureAxis(`time of a step, ${seconds.name}`);
  for (const axis of [x, y]) {
    Object.assign(axis, {beginAtZero: true, grace: '10%'});
  }
  if (capacityShown) {
    x.suggestedMax = 1.05 * capacity / bytes.size;
  }
  const line = {value: capacity / bytes.size, text: `capacity ${formatQuantity(capacity, 'B')}`};
  return {
    height: 320,
    legend: rows.map(({strategy}) => {
      const {colour, point} = strategyStyle(strategy);
      return {label: strategy, colour, point};
    }),
    note: `Lower and further left is better.${missing.length === 0 ? '' : ` Not placed: ${
        missing.map(({strategy, outcome}) => `${strategy} (${wordsOf(outcome)})`).join('; ')}.`}`,
    summary: `Points of peak memory and step time. ${placed.map(
        ({strategy, time, peak}) => `${strategy}: ${formatQuantity(peak.total, 'B')}, ` +
                                    formatQuantity(time.wall_s, 's')).join('; ')}.`,
    table: tradeoffTable(rows),
    config: {
      type: 'scatter',
      data: {datasets: placed.map(({strategy, time, peak}) => {
        const {colour, point} = strategyStyle(strategy);
        return {
          label: strategy,
          data: [{x: peak.total / bytes.size, y: time.wall_s / seconds.size}],
          backgroundColor: colour,
          borderColor: colour,
          borderWidth: 2,
          pointStyle: point,
          radius: 7,
          hoverRadius: 9,
          clip: false,
        };
      })},
      options: {
        layout: {padding: {top: 18, right: 12}},
        scales: {x, y},
        plugins: {tooltip: {callbacks: {
          label: ({dataset, raw}) => [
            dataset.label,
            `peak memory: ${formatQuantity(raw.x * bytes.size, 'B')}`,
            `time of a step: ${formatQuantity(raw.y * seconds.size, 's')}`,
          ],
        }}},
      },
      plugins: [pointLabels(), ...(capacityShown ? [uprightLines([line])] : [])],
    },
  };
}

function tradeoffTable(rows) {
  const body = rows.map(({strategy, outcome, time, peak}) => [
    strategy, outcome, peak && peak.total, time && time.wall_s,
  ]);
  return {
    caption: 'Peak memory of a rank and time of a step',
    columns: [
      {name: 'strategy', title: 'strategy'},
      OUTCOME_COLUMN,
      ...scaledColumns('B', [{name: 'peak_memory_bytes', title: 'peak memory', index: 2}], body),
      ...scaledColumns('s', [{name: 'wall_s', title: 'time of a step', index: 3}], body),
    ],
    rows: body,
  };
}

function addTradeoffOfRun() {
  addCard({
    id: 'tradeoff',
    title: 'Memory against time',
    wide: lossRuns().length === 0,
    draw: () => drawTradeoff(runRows(null), report.run.assumptions.device.memory_bytes),
  });
}
