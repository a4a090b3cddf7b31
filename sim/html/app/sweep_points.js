// The points of a sweep. They are embedded as columns, one array per figure, as there may be a
// million of them; only those that a chart shows are ever looked at one by one.

function sweepFigure(name, point) {
  const column = report.sweep.points.columns[name];
  return column === undefined ? null : column[point];
}

function sweepText(name, point) {
  const column = report.sweep.points.texts[name];
  return column === undefined || column.codes[point] < 0 ? '' :
                                                           column.values[column.codes[point]];
}

function sweepStrategies() {
  return report.sweep.points.texts.strategy.values;
}

// The points where every axis but `free` (null: none) has the chosen value, by place on that axis.
function sweepSlice(chosen, free) {
  const {count, axis} = report.sweep.points;
  const slice = [];
  for (let point = 0; point < count; ++point) {
    if (axis.every((places, i) => i === free || places[point] === chosen[i])) {
      slice.push(point);
    }
  }
  return free === null ? slice : slice.sort((a, b) => axis[free][a] - axis[free][b]);
}

function axisLabel(axis, place) {
  return axis.labels ? axis.labels[place] : String(axis.values[place]);
}

function problemOfPoint(point) {
  const outcome = sweepText('outcome', point);
  return outcome === 'completed' ? '' : outcome === 'out_of_memory' ? 'out of memory' : outcome;
}

// Rows as runRows makes them, of one point of the sweep.
function sweepRows(chosen) {
  return sweepSlice(chosen, null).filter((point) => isShown(sweepText('strategy', point)))
      .map((point) => {
        const problem = problemOfPoint(point);
        const times = [...PHASES.map(({name}) => name), 'wall_s', 'busy_communication_s'];
        return {
          strategy: sweepText('strategy', point),
          outcome: sweepText('outcome', point),
          problem,
          time: problem ? null : Object.fromEntries(times.map((name) => [
            name, sweepFigure(name, point),
          ])),
          peak: problem ? null : {total: sweepFigure('peak_memory_bytes', point)},
          capacity: sweepFigure('capacity_bytes', point),
        };
      });
}

// A choice for each axis but `free`; `chosen` is changed by it.
function axisControls(id, chosen, free, onChange) {
  return report.sweep.axes.flatMap((axis, i) => (i === free ? [] : [
    selectControl(`${id}-axis-${i}`, axis.field, axis.values.map((_, place) => [
      place, axisLabel(axis, place),
    ]), chosen[i], (place) => {
      chosen[i] = Number(place);
      onChange();
    }),
  ]));
}
