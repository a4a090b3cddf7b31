// Curves over one axis of a sweep, with the places where the answer changes.

const MOST_PLACES_NAMED = 8;

// Findings that lie on this curve: their axis is drawn, the others have the values they hold for.
function findingsOn(axis, chosen) {
  const {axes, findings = []} = report.sweep;
  return findings.filter((finding) =>
      finding.axis === axis && isNumber(finding.at) && (finding.strategies || []).every(isShown) &&
      Object.entries(finding.fixed || {}).every(([field, value]) => {
        const i = axes.findIndex((one) => one.field === field);
        return i < 0 || i === axis || axisLabel(axes[i], chosen[i]) === String(value) ||
               String(axes[i].values[chosen[i]]) === String(value);
      }));
}

function sweepAxis(axis) {
  const type = {log: 'logarithmic', linear: 'linear'}[axis.scale] || 'category';
  const scale = {type, title: axisTitle(axis.unit ? `${axis.field}, ${axis.unit}` : axis.field),
                 ticks: {maxRotation: 0, autoSkipPadding: 8}};
  if (type === 'category') {
    scale.labels = axis.values.map((_, place) => axisLabel(axis, place));
    scale.offset = true;
    return scale;
  }
  scale.title.text = axis.field;  // The labels of the values have the unit.
  scale.min = Math.min(...axis.values);
  scale.max = Math.max(...axis.values);
  const labels = new Map(axis.values.map((value, place) => [value, axisLabel(axis, place)]));
  scale.afterBuildTicks = (built) => {
    built.ticks = [...axis.values].sort((a, b) => a - b).map((value) => ({value}));
  };
  scale.ticks.callback = (value) => labels.get(value) ?? '';
  return scale;
}

function drawSweep({axis: axisIndex, metric, logarithmic, chosen}) {
  const axis = report.sweep.axes[axisIndex];
  const places = report.sweep.points.axis[axisIndex];
  const isCategory = !['log', 'linear'].includes(axis.scale);
  const position = (point) => (isCategory ? places[point] : axis.values[places[point]]);
  const column = report.sweep.columns.find(({name}) => name === metric);
  const slice = sweepSlice(chosen, axisIndex).filter(
      (point) => isShown(sweepText('strategy', point)));
  const strategies = sweepStrategies().filter(isShown);
  const figures = slice.map((point) => sweepFigure(metric, point)).filter(isNumber);
  const unit = unitFor(column.unit, largestOf(figures));
  const has = (point) => isNumber(sweepFigure(metric, point));
  const missing = slice.filter((point) => problemOfPoint(point) && !has(point));
  const findings = findingsOn(axisIndex, chosen);
  const title = unit.name ? `${column.label}, ${unit.name}` : column.label;
  return {
    height: isNarrow() ? 360 : 420,
    legend: strategies.map(strategyEntry),
    note: sweepNote(findings, missing, axis, places),
    summary: `Lines of ${column.label} over ${axis.field} for ${listed(strategies)}.`,
    table: sweepTable(column, axis, places, strategies, slice),
    config: {
      type: 'line',
      data: {datasets: strategies.map((strategy, place) => ({
        ...strategyLine(strategy, slice.filter((point) => sweepText('strategy', point) === strategy)
            .map((point) => ({x: position(point),
                              y: has(point) ? sweepFigure(metric, point) / unit.size : NaN})),
                        place),
        radius: axis.values.length > 100 ? 0 : axis.values.length > 30 ? 3 : 5,
        hoverRadius: 7,
        clip: false,
      }))},
      options: {
        parsing: false,
        interaction: {mode: 'nearest', axis: 'x', intersect: false},
        layout: {padding: {top: 20, right: isNarrow() ? 16 : 110}},
        scales: {x: sweepAxis(axis), y: {
          ...figureAxis(title, logarithmic),
          beginAtZero: !logarithmic,
        }},
        plugins: {tooltip: {callbacks: {
          title: ([item]) => (item ? `${axis.field} = ${positionText(axis, item.parsed.x)}` : ''),
          label: (item) => `${item.dataset.label}: ` +
                           formatQuantity(item.parsed.y * unit.size, column.unit),
        }}},
      },
      plugins: [
        uprightLines(findings.map(({at}, i) => ({value: at, text: `${i + 1}`}))),
        missingMarks(missing.map((point) => ({
          x: position(point),
          strategy: sweepText('strategy', point),
          row: strategies.indexOf(sweepText('strategy', point)),
        }))),
        ...(isNarrow() ? [] : [lineEndLabels()]),
      ],
    },
  };
}

function positionText(axis, x) {
  const place = axis.values.indexOf(x);
  return axisLabel(axis, place < 0 ? x : place);
}

function sweepNote(findings, missing, axis, places) {
  const note = element('div');
  if (findings.length > 0) {
    note.append(element('p', {}, 'Dashed lines:'), element('ol', {}, ...findings.map(
        ({text}) => element('li', {}, text))));
  }
  if (missing.length > 0) {
    const byStrategy = new Map();
    for (const point of missing) {
      const key = `${sweepText('strategy', point)}: ${problemOfPoint(point)} at `;
      byStrategy.set(key, [...(byStrategy.get(key) || []), axisLabel(axis, places[point])]);
    }
    note.append(element('p', {class: 'problem'}, `✕ ${[...byStrategy].map(
        ([what, where]) => what + whereText(where, axis)).join('; ')}.`));
  }
  return note;
}

function whereText(labels, axis) {
  return labels.length <= MOST_PLACES_NAMED
      ? listed(labels)
      : `${formatCount(labels.length)} of ${formatCount(axis.values.length)} values`;
}

function sweepTable(column, axis, places, strategies, slice) {
  const byPlace = new Map();
  for (const point of slice) {
    const row = byPlace.get(places[point]) || [axisLabel(axis, places[point]),
                                               ...strategies.map(() => null)];
    const figure = sweepFigure(column.name, point);
    row[1 + strategies.indexOf(sweepText('strategy', point))] =
        isNumber(figure) ? figure : problemOfPoint(point) || null;
    byPlace.set(places[point], row);
  }
  const rows = [...byPlace.values()];
  return {
    caption: `${column.label} over ${axis.field}`,
    columns: [
      {name: axis.field, title: axis.field},
      ...scaledColumns(column.unit, strategies.map((strategy, i) => ({
        name: strategy, title: strategy, index: 1 + i,
      })), rows),
    ],
    rows,
  };
}

function metricSpread(metric) {
  const column = report.sweep.points.columns[metric] || [];
  const least = column.reduce((a, b) => (isNumber(b) && b < a ? b : a), Infinity);
  return least > 0 ? largestOf(column) / least : 1;
}

function addSweepCurves() {
  const {axes, columns, points} = report.sweep;
  const metrics = columns.filter(({name}) => (points.columns[name] || []).some(isNumber));
  const drawable = axes.map((axis, i) => [i, axis.field]).filter(
      ([i]) => axes[i].values.length > 1);
  if (metrics.length === 0 || drawable.length === 0) {
    return;
  }
  const view = {axis: drawable[0][0], metric: metrics[0].name, chosen: axes.map(() => 0),
                logarithmic: metricSpread(metrics[0].name) > 10};
  const others = element('span', {class: 'controls'});
  const showOthers = () => others.replaceChildren(
      ...axisControls('sweep', view.chosen, view.axis, () => redraw(card)));
  const card = addCard({
    id: 'sweep',
    title: 'Over the sweep',
    wide: true,
    controls: [
      selectControl('sweep-metric', 'Figure', metrics.map(({name, label}) => [name, label]),
                    view.metric, (metric) => {
                      view.metric = metric;
                      redraw(card);
                    }),
      selectControl('sweep-axis', 'Over', drawable, view.axis, (axis) => {
        view.axis = Number(axis);
        showOthers();
        redraw(card);
      }),
      checkControl('sweep-log', 'Logarithmic figures', view.logarithmic, (checked) => {
        view.logarithmic = checked;
        redraw(card);
      }),
      others,
    ],
    draw: () => drawSweep(view),
  });
  showOthers();
}

// The charts of one point of the sweep, each with the choice of that point.
function addSweepPointCharts() {
  const addAtPoint = (id, title, draw) => {
    const chosen = report.sweep.axes.map(() => 0);
    const card = addCard({
      id,
      title,
      controls: axisControls(id, chosen, null, () => redraw(card)),
      draw: () => draw(sweepRows(chosen)),
    });
  };
  addAtPoint('step-time', 'Time of a step at one point',
             (rows) => drawStepTime(rows, 'Time of a step'));
  addAtPoint('tradeoff', 'Memory against time at one point',
             (rows) => drawTradeoff(rows, largestOf(rows.map(({capacity}) => capacity))));
}
