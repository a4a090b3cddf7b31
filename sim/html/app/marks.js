// What is drawn over a chart beside its data. All of it is text and lines that a legend, a note or
// the table says again.

function labelFont(weight = 'normal') {
  return `${weight} 12px ${Chart.defaults.font.family}`;
}

// Whether two boxes {left, right, top, bottom} overlap.
function overlap(a, b) {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

// The text in as many words as fit.
function fitted(context, text, width) {
  if (context.measureText(text).width <= width) {
    return text;
  }
  const words = text.split(' ');
  while (words.length > 1 && context.measureText(`${words.join(' ')} …`).width > width) {
    words.pop();
  }
  return `${words.join(' ')} …`;
}

// Labels at the ends of horizontal bars: {value, text}, one per bar; {problem} instead where there
// is no bar.
function barLabels(labels) {
  return {
    id: 'barLabels',
    afterDatasetsDraw({ctx, chartArea, scales}) {
      ctx.save();
      ctx.textBaseline = 'middle';
      labels.forEach(({value, text, problem}, i) => {
        const y = scales.y.getPixelForValue(i);
        ctx.font = labelFont(problem ? 'bold' : 'normal');
        ctx.fillStyle = themeColour(problem ? 'danger' : 'text');
        const x = (problem ? chartArea.left : scales.x.getPixelForValue(value)) + 6;
        ctx.fillText(problem ? fitted(ctx, `✕ ${problem}`, chartArea.right - x) : text, x, y);
      });
      ctx.restore();
    },
  };
}

// A short upright mark on each horizontal bar, at the values; null leaves one out.
function barTicks(values) {
  return {
    id: 'barTicks',
    afterDatasetsDraw({ctx, scales}) {
      const half = 0.42 * Math.abs(scales.y.getPixelForValue(1) - scales.y.getPixelForValue(0)) ||
                   0.35 * scales.y.height;
      ctx.save();
      ctx.strokeStyle = themeColour('text');
      ctx.lineWidth = 3;
      strokeSegments(ctx, values.flatMap((value, i) => {
        const x = scales.x.getPixelForValue(value);
        const y = scales.y.getPixelForValue(i);
        return value === null ? [] : [[x, y - half, x, y + half]];
      }));
      ctx.restore();
    },
  };
}

// A diamond above each horizontal bar, at the values; null leaves one out.
function barDiamonds(values) {
  return {
    id: 'barDiamonds',
    afterDatasetsDraw({ctx, scales}) {
      const half = 0.42 * Math.abs(scales.y.getPixelForValue(1) - scales.y.getPixelForValue(0)) ||
                   0.35 * scales.y.height;
      ctx.save();
      ctx.fillStyle = themeColour('text');
      values.forEach((value, i) => {
        if (value !== null) {
          Chart.helpers.drawPoint(ctx, {pointStyle: 'rectRot', radius: 5, borderWidth: 0},
                                  scales.x.getPixelForValue(value),
                                  scales.y.getPixelForValue(i) - half);
        }
      });
      ctx.restore();
    },
  };
}

// Upright dashed lines {value, text} through the whole chart, with their texts at its top.
function uprightLines(lines) {
  return {
    id: 'uprightLines',
    afterDatasetsDraw({ctx, chartArea, scales}) {
      ctx.save();
      ctx.strokeStyle = ctx.fillStyle = themeColour('text');
      ctx.lineWidth = 1.5;
      ctx.font = labelFont('bold');
      ctx.textBaseline = 'bottom';
      for (const {value, text} of lines) {
        const x = scales.x.getPixelForValue(value);
        ctx.setLineDash([6, 4]);
        strokeSegments(ctx, [[x, chartArea.top, x, chartArea.bottom]]);
        const half = ctx.measureText(text).width / 2;
        ctx.textAlign = 'center';
        const centre = Math.min(Math.max(x, chartArea.left + half), ctx.canvas.clientWidth - half);
        ctx.fillText(text, centre, chartArea.top - 4);
      }
      ctx.restore();
    },
  };
}

const END_LABEL_HEIGHT = 15;

// Room for the longest of the names to the right of a chart.
function endLabelRoom(names) {
  const context = document.createElement('canvas').getContext('2d');
  context.font = labelFont();
  return 26 + largestOf(names.map((name) => context.measureText(name).width));
}

// The name of each line beside its right end, one below another; one label if all end together.
function lineEndLabels() {
  return {
    id: 'lineEndLabels',
    afterDatasetsDraw(chart) {
      const {ctx, chartArea} = chart;
      const left = chartArea.right + 12;
      ctx.save();
      ctx.font = labelFont();
      ctx.textBaseline = 'middle';
      for (const {y, text, dataset} of endLabels(chart)) {
        if (dataset) {
          ctx.fillStyle = ctx.strokeStyle = dataset.borderColor;
          const pointStyle = dataset.endPoint || dataset.pointStyle;
          Chart.helpers.drawPoint(ctx, {pointStyle, radius: 4, borderWidth: 2}, left, y);
        }
        ctx.fillStyle = themeColour('text');
        ctx.fillText(text, dataset ? left + 9 : left, y);
      }
      ctx.restore();
    },
  };
}

function endLabels(chart) {
  const ends = chart.data.datasets.map((dataset, i) => {
    const last = chart.getDatasetMeta(i).data.filter((point) => !point.skip).pop();
    return {y: last ? last.y : null, text: dataset.label, dataset};
  }).filter(({y}) => y !== null).sort((a, b) => a.y - b.y);
  if (ends.length > 1 && ends[ends.length - 1].y - ends[0].y < 3) {
    return [{y: ends[0].y, text: `all ${ends.length}`}];
  }
  let next = -Infinity;
  for (const end of ends) {
    end.y = Math.max(end.y, next);
    next = end.y + END_LABEL_HEIGHT;
  }
  const excess = Math.max(next - END_LABEL_HEIGHT - chart.chartArea.bottom, 0);
  return ends.map((end) => ({...end, y: end.y - excess}));
}

// The name of each point, or its data set's, beside it, where it covers no other.
function pointLabels() {
  return {
    id: 'pointLabels',
    afterDatasetsDraw(chart) {
      const {ctx, chartArea} = chart;
      ctx.save();
      ctx.font = labelFont();
      ctx.fillStyle = themeColour('text');
      ctx.textBaseline = 'middle';
      const points = chart.data.datasets.flatMap((dataset, i) => chart.getDatasetMeta(i).data.map(
          ({x, y}, k) => ({
            x, y, name: dataset.data[k].name || dataset.label,
            size: dataset.data[k].ringed ? 2 * RING_RADIUS : 16,
          })));
      const taken = points.map(({x, y, size}) => boxAround(x, y, size, size));
      for (const {x, y, name, size} of points) {
        const width = ctx.measureText(name).width;
        const box = placesBeside(x, y, width, size / 2 - 8).find(
            (place) => place.left >= 0 && place.right <= ctx.canvas.clientWidth &&
                       place.top >= chartArea.top && place.bottom <= chartArea.bottom &&
                       !taken.some((other) => overlap(place, other)));
        if (box) {
          taken.push(box);
          ctx.fillText(name, box.left, (box.top + box.bottom) / 2);
        }
      }
      ctx.restore();
    },
  };
}

const RING_RADIUS = 12;

// A ring around each point whose data say {ringed}.
function pointRings() {
  return {
    id: 'pointRings',
    afterDatasetsDraw(chart) {
      const {ctx} = chart;
      ctx.save();
      ctx.strokeStyle = themeColour('text');
      ctx.lineWidth = 2;
      chart.data.datasets.forEach((dataset, i) => {
        chart.getDatasetMeta(i).data.forEach(({x, y}, k) => {
          if (dataset.data[k].ringed) {
            ctx.beginPath();
            ctx.arc(x, y, RING_RADIUS, 0, 2 * Math.PI);
            ctx.stroke();
          }
        });
      });
      ctx.restore();
    },
  };
}

function boxAround(x, y, width, height) {
  return {left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2};
}

// `more` is how much farther away than beside a small point.
function placesBeside(x, y, width, more) {
  const away = width / 2 + 12 + more;
  return [[away, 0], [-away, 0], [0, -16 - more], [0, 16 + more], [away, -14], [away, 14],
          [-away, -14], [-away, 14], [0, -30], [0, 30]]
      .map(([right, down]) => boxAround(x + right, y + down, width, 14));
}

// A cross at the foot of the chart where a strategy has no figure: {x, strategy, row}.
function missingMarks(marks) {
  return {
    id: 'missingMarks',
    afterDatasetsDraw({ctx, chartArea, scales}) {
      ctx.save();
      ctx.font = labelFont('bold');
      ctx.textAlign = 'center';
      ctx.textBaseline = 'bottom';
      for (const {x, strategy, row} of marks) {
        ctx.fillStyle = strategyStyle(strategy).colour;
        ctx.fillText('✕', scales.x.getPixelForValue(x), chartArea.bottom - 2 - 12 * row);
      }
      ctx.restore();
    },
  };
}
