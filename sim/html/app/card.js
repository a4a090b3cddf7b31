// A section of the page, and one that is a chart with its controls, legend, note, table and CSV
// file.
//
// `draw()` returns {config, height, legend, note, summary, table: {caption, columns, rows}}: what
// Chart.js is to show, the entries of the legend, a text or element below it, one sentence for
// those who cannot see the chart, and its figures.

// What is drawn anew in another theme and for other strategies.
const repaints = [];

function addSection({id, title, wide = false}, ...children) {
  document.getElementById('cards').append(element(
      'section', {id, class: wide ? 'card wide' : 'card', 'aria-labelledby': `${id}-title`},
      element('h2', {id: `${id}-title`}, title), ...children));
}

// A button that saves what `shown()` returns, {columns, rows}, as a CSV file.
function csvButton(id, shown) {
  const button = element('button', {type: 'button', class: 'csv'}, 'Download CSV');
  button.addEventListener('click', () => download(`${id}.csv`,
                                                  csvText(shown().columns, shown().rows)));
  return button;
}

function addCard({id, title, controls = [], wide = false, draw}) {
  const canvas = element('canvas', {role: 'img', id: `${id}-chart`});
  const card = {
    id,
    draw,
    canvas,
    frame: element('div', {class: 'frame'}, canvas),
    legend: element('div'),
    note: element('div', {class: 'note'}),
    table: element('div'),
    shown: null,
    chart: null,
  };
  addSection({id, title, wide}, element('div', {class: 'controls'}, ...controls), card.legend,
             card.frame, card.note,
             element('div', {class: 'data'},
                     element('details', {}, element('summary', {}, 'Table'), card.table),
                     csvButton(id, () => card.shown)));
  repaints.push(() => redraw(card));
  return card;
}

function redraw(card) {
  const {config, height, legend, note = '', summary, table} = card.draw();
  if (card.chart) {
    card.chart.destroy();
  }
  card.frame.style.height = `${height}px`;
  card.canvas.setAttribute('aria-label', `${summary} The table below has the figures.`);
  card.legend.replaceChildren(legendList(legend));
  card.note.replaceChildren(note);
  card.table.replaceChildren(dataTable(table.caption, table.columns, table.rows));
  card.shown = table;
  card.chart = new Chart(card.canvas, config);
}

function redrawAll() {
  setChartDefaults();
  repaints.forEach((repaint) => repaint());
}

function setChartDefaults() {
  const {defaults} = Chart;
  defaults.animation = false;
  defaults.maintainAspectRatio = false;
  defaults.font.family = 'system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
  defaults.font.size = 12;
  defaults.color = themeColour('text-soft');
  defaults.borderColor = themeColour('grid');
  defaults.plugins.legend.display = false;
  Object.assign(defaults.plugins.tooltip, {
    backgroundColor: themeColour('text'),
    titleColor: themeColour('surface'),
    bodyColor: themeColour('surface'),
    footerColor: themeColour('surface'),
    padding: 10,
    boxPadding: 4,
  });
}

// Room for labels beside the plot, less of it on a phone.
function isNarrow() {
  return document.documentElement.clientWidth < 560;
}

function axisTitle(text) {
  return {display: true, text, color: themeColour('text-soft')};
}

// An axis of figures that are already in their unit.
function figureAxis(title, logarithmic = false) {
  return {
    type: logarithmic ? 'logarithmic' : 'linear',
    title: axisTitle(title),
    ticks: {
      maxRotation: 0,
      autoSkipPadding: 12,
      callback: (value) => (logarithmic && ![1, 2, 5].includes(leadingDigit(value)) ? '' :
                            trimmed(significant(value, 3, 9))),
    },
  };
}

function leadingDigit(value) {
  return Number(value.toExponential(0).split('e')[0]);
}
