// The time of a step, stacked: what computes, and what only waits.

// Rows as runRows makes them; `detail` of a row says more than its strategy, `beside` is that
// beside its bar. `quantity` is what the bars show.
function drawStepTime(rows, caption, quantity = 'time of a step') {
  const times = rows.map(({time}) => time);
  const walls = times.map((time) => (time ? time.wall_s : 0));
  const unit = unitFor('s', largestOf(walls));
  const scaled = (name) => times.map((time) => (time ? time[name] / unit.size : null));
  const phases = phasesOf(times);
  const datasets = phases.map(({name, label, colour, pattern}) => ({
    label,
    data: scaled(name),
    backgroundColor: patternFill(colour, pattern),
    borderColor: themeColour('surface'),
    borderWidth: {right: 1},
    stack: 'wall',
  }));
  const legend = phases.map(({label, colour, pattern}) => ({
    label, fill: patternFill(colour, pattern),
  }));
  if (times.some((time) => time && overlappedOf(time) > 0)) {
    const hatch = {label: 'communication hidden behind compute',
                   fill: patternFill('text', 'hatched')};
    legend.push(hatch);
    datasets.unshift({
      label: hatch.label,
      data: times.map((time) => time && overlappedBar(time, unit.size)),
      backgroundColor: hatch.fill,
      borderColor: themeColour('text'),
      borderWidth: 1,
      borderSkipped: false,
      grouped: false,
      stack: 'overlapped',
      barPercentage: 0.5,
    });
  }
  const labels = rows.map(({problem}, i) => (problem ? {problem} : {
    value: walls[i] / unit.size,
    text: `${significant(walls[i] / unit.size)} ${unit.name}`,
  }));
  return {
    height: barChartHeight(rows.length),
    legend,
    note: overlappedNote(times),
    summary: `Stacked bars of the ${quantity}. ${rows.map(
        (row, i) => `${fullName(row)}: ${row.problem || labels[i].text}`).join('; ')}.`,
    table: stepTimeTable(rows, caption),
    config: {
      type: 'bar',
      data: {labels: rows.map(barName), datasets},
      options: {
        ...barChartOptions(`${quantity}, ${unit.name}`),
        plugins: {tooltip: {
          mode: 'nearest',
          callbacks: {
            title: ([item]) => fullName(rows[item.dataIndex]),
            label: (item) => phaseHover(item.dataset.label, times[item.dataIndex]),
            footer: ([item]) => `${quantity}: ${formatQuantity(walls[item.dataIndex], 's')}`,
          },
        }},
      },
      plugins: [barLabels(labels)],
    },
  };
}

// Never below 0, though a difference of two equal times may be.
function overlappedOf(time) {
  const overlapped = time.busy_communication_s - time.exposed_communication_s;
  return overlapped > 1e-9 * time.wall_s ? overlapped : 0;
}

// It lies somewhere in the time of compute; drawn at the end of that.
function overlappedBar(time, unit) {
  const compute = time.wall_s - time.exposed_communication_s - time.checkpoint_s;
  return [(compute - Math.min(overlappedOf(time), compute)) / unit, compute / unit];
}

function overlappedNote(times) {
  const meaning = 'Exposed communication: compute waits for it.';
  if (!times.some((time) => time)) {
    return meaning;
  }
  return times.some((time) => time && overlappedOf(time) > 0)
      ? `${meaning} Hatched: communication in flight while compute goes on; it adds nothing to ` +
            'the bar, and lies anywhere in its compute part.'
      : `${meaning} No communication is hidden behind compute here.`;
}

function phaseHover(label, time) {
  const phase = PHASES.find((one) => one.label === label);
  const seconds = phase ? time[phase.name] : overlappedOf(time);
  return `${label}: ${formatQuantity(seconds, 's')} (${formatPercent(seconds / time.wall_s)})`;
}

function stepTimeTable(rows, caption) {
  const columns = [
    {name: 'wall_s', title: 'step'},
    ...phasesOf(rows.map(({time}) => time)).map(({name, label}) => ({name, title: label})),
    {name: 'busy_communication_s', title: 'communication in flight'},
    {name: 'overlapped_s', title: 'hidden'},
  ];
  const body = rows.map(({strategy, outcome, time}) => [
    strategy,
    outcome,
    ...columns.map(({name}) => time && (name === 'overlapped_s' ? overlappedOf(time) : time[name])),
  ]);
  return {
    caption,
    columns: [
      {name: 'strategy', title: 'strategy'},
      OUTCOME_COLUMN,
      ...scaledColumns('s', columns.map((column, i) => ({...column, index: 2 + i})), body),
    ],
    rows: body,
  };
}

function fullName({strategy, detail}) {
  return detail ? `${strategy}, ${detail}` : strategy;
}

function barName({strategy, beside}) {
  const lines = [strategyLines(strategy)].flat();
  if (beside && isNarrow()) {
    lines.push(`${lines.pop()}, ${beside}`);
  } else if (beside) {
    lines.push(beside);
  }
  return lines.length === 1 ? lines[0] : lines;
}

function barChartHeight(bars) {
  return 70 + 46 * Math.max(bars, 1);
}

// Horizontal stacked bars, with room beside the plot for the label of the longest.
function barChartOptions(title) {
  return {
    indexAxis: 'y',
    layout: {padding: {right: 64}},
    scales: {
      x: {...figureAxis(title), stacked: true},
      y: {
        stacked: true,
        grid: {display: false},
        ticks: {color: themeColour('text'), autoSkip: false},
      },
    },
  };
}

function addStepTimeOfRun() {
  let rank = null;
  const steps = Math.max(...report.run.runs.map((run) => run.steps.length));
  const which = steps > 1 ? 'the mean of the steps after the first' : 'one step';
  const card = addCard({
    id: 'step-time',
    title: 'Time of a step',
    controls: [rankControl('step-time', 'the last to finish', (chosen) => {
      rank = chosen;
      redraw(card);
    })],
    draw: () => drawStepTime(runRows(rank), `Time of a step (${which})`),
  });
}
