// Numbers and units as people read them, by the rules of the text report: decimal units, three
// digits.

const TIME_UNITS = [[1e-9, 'ns'], [1e-6, 'µs'], [1e-3, 'ms'], [1, 's']];
const BYTE_UNITS = [[1, 'B'], [1e3, 'kB'], [1e6, 'MB'], [1e9, 'GB'], [1e12, 'TB'], [1e15, 'PB']];
const COUNT_UNITS = [[1, ''], [1e3, 'k'], [1e6, 'M'], [1e9, 'G'], [1e12, 'T'], [1e15, 'P']];

const UNITS = {
  's': TIME_UNITS,
  'B': BYTE_UNITS,
  'B/s': BYTE_UNITS.map(([size, name]) => [size, `${name}/s`]),
  'tokens/s': COUNT_UNITS.map(([size, name]) => [size, `${name} tokens/s`.trim()]),
  'flop': COUNT_UNITS.map(([size, name]) => [size, `${name}flop`]),
};

// The unit in which the largest of the figures lies in [1, 1000), as far as there is one. Figures
// of an unknown unit keep it.
function unitFor(unit, largest) {
  const units = UNITS[unit] || [[1, unit]];
  let chosen = units[0];
  for (const candidate of units) {
    if (Math.abs(largest) >= 0.9995 * candidate[0]) {
      chosen = candidate;
    }
  }
  if (unit === 's' && largest === 0) {
    chosen = units[units.length - 1];
  }
  return {size: chosen[0], name: chosen[1]};
}

function largestOf(numbers) {
  return numbers.reduce((most, value) => (value > most ? value : most), 0);
}

// Rounded to so many significant digits and at most `decimals` decimals, without exponent.
function significant(value, digits = 3, decimals = 3) {
  if (value === 0) {
    return '0';
  }
  const exponent = Number(value.toExponential(digits - 1).split('e')[1]);
  return value.toFixed(Math.min(Math.max(digits - 1 - exponent, 0), decimals));
}

function trimmed(text) {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

function isNumber(value) {
  return typeof value === 'number' && Number.isFinite(value);
}

// "2.65 ms", "1.87 MB", and a dash for what is no number.
function formatQuantity(value, unit) {
  if (!isNumber(value)) {
    return '–';
  }
  const {size, name} = unitFor(unit, value);
  const digits = name === '' && Math.abs(value) < 1e-3 ? 12 : 3;
  return `${trimmed(significant(value / size, 3, digits))} ${name}`.trim();
}

// Six digits, as losses are compared to more than three.
function formatLoss(value) {
  return isNumber(value) ? Number(value.toPrecision(6)).toString() : '–';
}

function formatCount(value) {
  return isNumber(value) ? value.toLocaleString('en-US') : '–';
}

// "274,597": four digits at least, as candidates are close to each other.
function formatRate(value) {
  return value < 1000 ? trimmed(significant(value, 4)) : formatCount(Math.round(value));
}

function formatPercent(share) {
  if (!isNumber(share)) {
    return '–';
  }
  return share > 0 && share < 0.005 ? '< 1 %' : `${(100 * share).toFixed(0)} %`;
}

// Text in which no line ends between a number and its unit.
function withTightUnits(text) {
  return text.replace(/(\d) (?=(%|[kMGTP]?B|[nmµu]?s|[kMGTP]?b\/s)(?![\w/]))/g, '$1\u00a0');
}

// "A", "A and B", "A, B and C".
function listed(words) {
  return words.length < 2 ? words.join('')
                          : `${words.slice(0, -1).join(', ')} and ${words[words.length - 1]}`;
}

// "gathered_parameters" as prose.
function wordsOf(name) {
  return name.replaceAll('_', ' ');
}
