// What each framework's strategy does, by the options of its preset and those that were changed.

function optionText(strategy, name, value) {
  const preset = ((report.default_options || {})[strategy] || {})[name];
  return preset === undefined ? String(value) : `${value} (default ${preset})`;
}

// A row per option that any of the runs has.
function optionsTable(runs) {
  const names = [...new Set(runs.flatMap((run) => Object.keys(run.options)))];
  const rows = names.map((name) => [name, ...runs.map(({strategy, options}) => (
    name in options ? optionText(strategy, name, options[name]) : null))]);
  return dataTable('As in a scenario, with the defaults of those that were changed',
                   [{title: 'option'}, ...runs.map(({strategy}) => ({title: strategy}))], rows);
}

function addOptionsOfRun() {
  const runs = report.run.runs.filter(({options}) => options && Object.keys(options).length > 0);
  if (runs.length === 0) {
    return;
  }
  const place = element('div');
  addSection({id: 'options', title: 'Options of the strategies', wide: true}, place);
  repaints.push(() => place.replaceChildren(
      optionsTable(runs.filter(({strategy}) => isShown(strategy)))));
}
