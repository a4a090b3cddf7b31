// Colours, and what tells things apart without colour: dashes and point shapes of strategies,
// patterns of phases and categories. Colours are custom properties of style.css, so that a theme is
// one set of them.

const STRATEGY_COLOURS = 6;
const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [14, 4], [4, 2, 1, 2]];
const POINTS = ['circle', 'rect', 'triangle', 'rectRot', 'star', 'crossRot'];

const PHASES = [
  {name: 'forward_s', label: 'forward', colour: 'forward', pattern: 'solid'},
  {name: 'backward_s', label: 'backward', colour: 'backward', pattern: 'rising'},
  {name: 'optimizer_s', label: 'optimizer', colour: 'optimizer', pattern: 'dots'},
  {name: 'checkpoint_s', label: 'checkpoint', colour: 'checkpoint', pattern: 'level',
   onlyIfAny: true},
  {name: 'exposed_communication_s', label: 'exposed communication', colour: 'communication',
   pattern: 'crossed'},
];

const CATEGORIES = [
  {name: 'parameters', colour: 'parameters', pattern: 'solid'},
  {name: 'gradients', colour: 'gradients', pattern: 'rising'},
  {name: 'master_weights', colour: 'master', pattern: 'dots'},
  {name: 'first_moment', colour: 'moment-1', pattern: 'level'},
  {name: 'second_moment', colour: 'moment-2', pattern: 'upright'},
  {name: 'activations', colour: 'activations', pattern: 'solid'},
  {name: 'gathered_parameters', colour: 'gathered', pattern: 'rising'},
  {name: 'communication_buckets', colour: 'buckets', pattern: 'falling'},
  {name: 'inputs', colour: 'inputs', pattern: 'dots'},
];

// Without those that are shown only if they take time, and take none here.
function phasesOf(times) {
  return PHASES.filter(({name, onlyIfAny}) =>
      !onlyIfAny || times.some((time) => time && time[name] > 0));
}

function themeColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// How the strategy looks in every chart of the page: by its place in the report. Of those with the
// same colour, each has another dash and another point.
function strategyStyle(strategy) {
  const index = Math.max(report.strategies.indexOf(strategy), 0);
  const round = Math.floor(index / STRATEGY_COLOURS);
  return {
    colour: themeColour(`strategy-${1 + index % STRATEGY_COLOURS}`),
    dash: DASHES[(index + round) % DASHES.length],
    point: POINTS[(index + 2 * round) % POINTS.length],
  };
}

// The name beside a bar; an array of lines, as Chart.js takes it, if it is long.
function strategyLines(strategy) {
  const widest = isNarrow() ? 12 : 18;
  const lines = [];
  for (const word of strategy.match(/[^_]*_|[^_]+/g) || ['']) {
    const last = lines.length - 1;
    if (last >= 0 && lines[last].length + word.length <= widest) {
      lines[last] += word;
    } else {
      lines.push(word);
    }
  }
  return lines.length === 1 ? strategy : lines;
}

// One tile of a pattern as line segments [x0, y0, x1, y1] on a square of side 8.
const PATTERNS = {
  rising: [[-2, 6, 2, 10], [-2, 10, 10, -2], [6, -2, 10, 2]],
  falling: [[-2, 2, 2, -2], [-2, -2, 10, 10], [6, 10, 10, 6]],
  level: [[0, 4, 8, 4]],
  upright: [[4, 0, 4, 8]],
  crossed: [[-2, 10, 10, -2], [-2, -2, 10, 10]],
  dots: [[1.5, 2, 2.5, 2], [5.5, 6, 6.5, 6]],
};

function strokeSegments(context, segments) {
  context.beginPath();
  for (const [x0, y0, x1, y1] of segments) {
    context.moveTo(x0, y0);
    context.lineTo(x1, y1);
  }
  context.stroke();
}

// A fill of the colour with the pattern in the page's own colour; 'hatched' is the pattern alone,
// for what lies over something else.
function patternFill(colourName, pattern) {
  const colour = themeColour(colourName);
  if (pattern === 'solid') {
    return colour;
  }
  const scale = window.devicePixelRatio || 1;
  const tile = document.createElement('canvas');
  tile.width = tile.height = Math.round(8 * scale);
  const context = tile.getContext('2d');
  context.scale(tile.width / 8, tile.height / 8);
  context.lineCap = 'square';
  if (pattern === 'hatched') {
    context.strokeStyle = colour;
    context.lineWidth = 2;
    strokeSegments(context, PATTERNS.falling);
  } else {
    context.fillStyle = colour;
    context.fillRect(0, 0, 8, 8);
    context.strokeStyle = themeColour('surface');
    context.globalAlpha = 0.6;
    context.lineWidth = pattern === 'dots' ? 2 : 1.2;
    strokeSegments(context, PATTERNS[pattern]);
  }
  const fill = context.createPattern(tile, 'repeat');
  fill.setTransform(new DOMMatrix().scale(1 / scale));  // Chart.js scales the canvas again.
  return fill;
}
