// All candidates of a plan: sorted by any column, filtered by what they are.

const MOST_CANDIDATES_SHOWN = 2000;

const PLAN_FILTERS = [
  {name: 'ranks', label: 'Ranks', text: formatCount},
  {name: 'strategy', label: 'Strategy', text: String},
  {name: 'recompute', label: 'Recomputation', text: (does) => (does ? 'with' : 'without')},
  {name: 'fits', label: 'Fit', text: (does) => (does ? 'fits' : 'does not fit')},
];

function filterControl({name, label, text}, chosen, onChange) {
  const values = [...new Set(report.plan.plans.map((one) => one[name]))];
  const choices = values.map((value) => [String(value), text(value)]);
  return selectControl(`plans-${name}`, label, [['', 'all'], ...choices], '', (value) => {
    chosen.set(name, value);
    onChange();
  });
}

function addTableOfPlan() {
  const chosen = new Map(PLAN_FILTERS.map(({name}) => [name, '']));
  const order = {column: null, descending: false, choose: chooseColumn};
  const place = element('div');
  const status = element('p', {class: 'note', role: 'status'});
  const {plans} = report.plan;
  // Units and columns stay those of all candidates, whatever is filtered.
  const all = planTable('Candidates', plans);
  const recommended = all.columns.findIndex(({name}) => name === 'recommended');
  let shown = null;

  function show() {
    const kept = all.rows.filter((_, i) => [...chosen].every(
        ([name, value]) => value === '' || String(plans[i][name]) === value));
    shown = {...all, rows: order.column === null
        ? kept : sortedRows(kept, order.column, order.descending)};
    const scrolled = place.firstChild ? place.firstChild.scrollLeft : 0;
    place.replaceChildren(dataTable(all.caption, all.columns, shown.rows, {
      order, isMarked: (row) => row[recommended], most: MOST_CANDIDATES_SHOWN,
    }));
    place.firstChild.scrollLeft = scrolled;
    status.textContent = `${formatCount(kept.length)} of ${formatCount(plans.length)} candidates.`;
  }

  function chooseColumn(column) {
    order.descending = order.column === column && !order.descending;
    order.column = column;
    show();
    place.querySelectorAll('thead button')[column].focus();
  }

  addSection({id: 'plans', title: 'All candidates', wide: true},
             element('div', {class: 'controls'},
                     ...PLAN_FILTERS.map((filter) => filterControl(filter, chosen, show))),
             status, place,
             element('div', {class: 'note'}, 'MFU: model flops of the step over the devices’ ' +
                 'peak. Exposed: waits for communication; in flight: all of it. Sent: per rank ' +
                 'and step, the mean. Micro-steps: of an optimizer step.'),
             element('div', {class: 'data'}, csvButton('plans', () => shown)));
  show();
}
