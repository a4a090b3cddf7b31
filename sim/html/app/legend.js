// What the marks of a chart mean: a list beside it, each entry drawn as the chart draws it.

const SWATCH_WIDTH = 28;
const SWATCH_HEIGHT = 14;

function swatch(entry) {
  const scale = window.devicePixelRatio || 1;
  const canvas = element('canvas', {class: 'swatch', 'aria-hidden': 'true',
                                    width: SWATCH_WIDTH * scale, height: SWATCH_HEIGHT * scale});
  const context = canvas.getContext('2d');
  context.scale(scale, scale);
  const middle = SWATCH_HEIGHT / 2;
  if (entry.fill) {
    context.fillStyle = entry.fill;
    context.fillRect(0, 0, SWATCH_WIDTH, SWATCH_HEIGHT);
  } else {
    context.strokeStyle = context.fillStyle = entry.colour;
    context.lineWidth = 2;
    if (entry.dash) {
      context.setLineDash(entry.dash);
      strokeSegments(context, [[0, middle, SWATCH_WIDTH, middle]]);
      context.setLineDash([]);
    }
    if (entry.upright) {
      strokeSegments(context, [[SWATCH_WIDTH / 2, 0, SWATCH_WIDTH / 2, SWATCH_HEIGHT]]);
    }
    if (entry.ring) {
      context.beginPath();
      context.arc(SWATCH_WIDTH / 2, middle, 6, 0, 2 * Math.PI);
      context.stroke();
    }
    if (entry.point) {
      Chart.helpers.drawPoint(context, {pointStyle: entry.point, radius: 5, borderWidth: 2},
                              SWATCH_WIDTH / 2, middle);
    }
  }
  return canvas;
}

// Entries {label} with {fill}, or {colour} and any of {dash, upright, ring, point}.
function legendList(entries) {
  const list = element('ul', {class: 'legend'});
  for (const entry of entries) {
    list.append(element('li', {}, swatch(entry), entry.label));
  }
  return list;
}

function strategyEntry(strategy) {
  return {label: strategy, ...strategyStyle(strategy)};
}
