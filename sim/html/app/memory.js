// Memory of a rank at its peak, stacked by category, and what the device has.

function drawMemory(rows, capacity, showCapacity) {
  const unit = unitFor('B', largestOf(rows.map(({peak}) => (peak ? stackOf(peak) : 0))));
  const peaks = rows.map(({peak}) => (peak ? peak.total / unit.size : null));
  const labels = rows.map(({problem, peak}) => (problem ? {problem} : {
    value: Math.max(stackOf(peak), peak.total) / unit.size,
    text: `${significant(peak.total / unit.size)} ${unit.name}`,
  }));
  const present = CATEGORIES.filter(({name}) => rows.some(({peak}) => peak && peak[name] > 0));
  const capacityText = `capacity ${formatQuantity(capacity, 'B')}`;
  const line = {value: capacity / unit.size, text: capacityText};
  const options = barChartOptions(`memory of a rank, ${unit.name}`);
  if (showCapacity) {
    options.scales.x.suggestedMax = 1.05 * capacity / unit.size;
    options.layout.padding.top = 18;
  }
  return {
    height: barChartHeight(rows.length) + 18,
    legend: [
      ...present.map(({name, colour, pattern}) => ({
        label: wordsOf(name), fill: patternFill(colour, pattern),
      })),
      {label: 'peak of all at once', colour: themeColour('text'), upright: true},
      {label: 'predicted peak', colour: themeColour('text'), point: 'rectRot'},
      ...(showCapacity ? [{label: capacityText, colour: themeColour('text'), dash: [6, 4]}] : []),
    ],
    note: 'Each category at its own peak. Those need not coincide, so a bar may be longer than ' +
          `the peak of all at once. ${predictionNote(rows)} Each device has ` +
          `${formatQuantity(capacity, 'B')}.`,
    summary: `Stacked bars of memory at its peak; ${capacityText}. ${rows.map(
        ({strategy, problem}, i) => `${strategy}: ${problem || labels[i].text}`).join('; ')}.`,
    table: memoryTable(rows, capacity),
    config: {
      type: 'bar',
      data: {
        labels: rows.map(({strategy}) => strategyLines(strategy)),
        datasets: present.map(({name, colour, pattern}) => ({
          label: wordsOf(name),
          data: rows.map(({peak}) => (peak ? peak[name] / unit.size : null)),
          backgroundColor: patternFill(colour, pattern),
          borderColor: themeColour('surface'),
          borderWidth: {right: 1},
          stack: 'memory',
        })),
      },
      options: {
        ...options,
        plugins: {tooltip: {callbacks: {
          title: ([item]) => rows[item.dataIndex].strategy,
          label: (item) => `${item.dataset.label}: ${formatQuantity(item.raw * unit.size, 'B')}`,
          footer: ([item]) => peakHover(rows[item.dataIndex].peak),
        }}},
      },
      plugins: [
        barTicks(peaks),
        barDiamonds(rows.map(({peak}) => (peak ? peak.predicted / unit.size : null))),
        barLabels(labels),
        ...(showCapacity ? [uprightLines([line])] : []),
      ],
    },
  };
}

function peakHover({total, predicted}) {
  return [`peak of all: ${formatQuantity(total, 'B')}`,
          `predicted: ${formatQuantity(predicted, 'B')}`];
}

function predictionNote(rows) {
  const wrong = rows.filter(({peak}) => peak && peak.total !== peak.predicted);
  return wrong.length === 0 ? 'Peaks equal their predictions to the byte.'
                            : `Other than predicted: ${listed(wrong.map((row) => row.strategy))}.`;
}

function stackOf(peak) {
  return CATEGORIES.reduce((sum, {name}) => sum + peak[name], 0);
}

function memoryTable(rows, capacity) {
  const columns = [
    ...CATEGORIES.map(({name}) => ({name, title: wordsOf(name)})),
    {name: 'total', title: 'peak of all at once'},
    {name: 'predicted', title: 'predicted peak'},
  ];
  const body = rows.map(({strategy, outcome, peak}) => [
    strategy, outcome, ...columns.map(({name}) => peak && peak[name]), capacity,
  ]);
  return {
    caption: 'Memory of a rank at its peak',
    columns: [
      {name: 'strategy', title: 'strategy'},
      OUTCOME_COLUMN,
      ...scaledColumns('B', columns.map(({name, title}, i) => ({
        name: `${name}_bytes`, title, index: 2 + i,
      })), body),
      {name: 'capacity_bytes', title: 'capacity', format: (value) => formatQuantity(value, 'B')},
    ],
    rows: body,
  };
}

function addMemoryOfRun() {
  const capacity = report.run.assumptions.device.memory_bytes;
  const largest = largestOf(runRows(null).map(({peak}) => (peak ? stackOf(peak) : 0)));
  let rank = null;
  let showCapacity = capacity <= 4 * largest || largest === 0;
  const card = addCard({
    id: 'memory',
    title: 'Memory at its peak',
    controls: [
      rankControl('memory', 'the fullest', (chosen) => {
        rank = chosen;
        redraw(card);
      }),
      checkControl('memory-capacity', 'Show the capacity', showCapacity, (checked) => {
        showCapacity = checked;
        redraw(card);
      }),
    ],
    draw: () => drawMemory(runRows(rank), capacity, showCapacity),
  });
}
