// What a plan rests on: the framework's configuration as it was understood, and assumptions.

const ORIGINS = {given: 'given', default: 'default', auto: 'resolved from auto',
                 derived: 'follows from others'};
const EFFECTS = {modelled: 'simulated', none: 'none on time and memory',
                 not_modelled: 'not modelled', unknown: 'ignored by the framework'};

const FIDELITIES = {FLOW: 'as flows', MESSAGE: 'message by message'};

function addUnderstoodOfPlan() {
  const {file, keys} = report.plan.understood;
  const names = ['key', 'value', 'origin', 'effect', 'meaning'];
  const table = {
    columns: [
      {name: 'key', title: 'key'},
      {name: 'value', title: 'value', prose: true},
      {name: 'origin', title: 'origin', text: (origin) => ORIGINS[origin] || origin},
      {name: 'effect', title: 'effect', text: (effect) => EFFECTS[effect] || effect},
      {name: 'meaning', title: 'meaning', prose: true},
    ],
    rows: (keys || []).map((item) => names.map((name) => item[name])),
  };
  addSection({id: 'understood', title: 'What was understood of the configuration', wide: true},
             dataTable(file, table.columns, table.rows, {most: MOST_CANDIDATES_SHOWN}),
             element('div', {class: 'data'}, csvButton('understood', () => table)));
}

function deviceText({preset, peak_flops_per_s: flops, compute_efficiency: ofFlops,
                     memory_bandwidth_bytes_per_s: bandwidth, memory_efficiency: ofBandwidth}) {
  return `${preset ? `${preset}: ` : ''}${formatQuantity(flops, 'flop')}/s × ` +
         `${significant(ofFlops)}, ${formatQuantity(bandwidth, 'B/s')} × ` +
         significant(ofBandwidth);
}

function addAssumptionsOfPlan() {
  const {assumptions, plans} = report.plan;
  const {model, model_notes: notes = [], network, fidelity, precision, device, host,
         ranks, file, left_out: leftOut = []} = assumptions;
  const hasSeveral = plans.some((plan) => plan.ranks !== ranks);
  const repeated = plans.filter((plan) => plan.fits &&
                                plan.simulated_micro_steps < plan.accumulation).length;
  const entries = [
    ['model', `${model}, ${formatCount(plans[0].parameters)} parameters`],
    ...notes.map((note) => ['model, note', note]),
    ['network', `${hasSeveral ? `of ${formatCount(ranks)} ranks: ` : ''}${network}`],
    ...(file ? [['file', `${file.path}: ${(file.understood || []).join('; ')}`],
                ['aside', (file.left_aside || []).join('; ') || 'nothing']] : []),
    ['device', `${deviceText(device)}, ${formatQuantity(plans[0].device_memory_bytes, 'B')}`],
    ['numbers', `${precision} parameters`],
    ['collectives', FIDELITIES[fidelity] || fidelity],
    ...(host ? [['host', `holds the optimizer; ${formatQuantity(host.link_bytes_per_s, 'B/s')} ` +
        `to a device and back, ${formatCount(host.adam_parameters_per_s)} parameters updated ` +
        'per second and node']] : []),
    ...(repeated ? [['steps', `of ${formatCount(repeated)} of the candidates that fit, the first ` +
        'micro-steps were simulated, and grow the step by the same: those beyond are counted']] : []),
    ...leftOut.map((reason) => ['left out', reason]),
  ];
  addSection({id: 'assumptions', title: 'Assumptions', wide: true},
             element('dl', {class: 'entries'}, ...entries.flatMap(([name, text]) => [
               element('dt', {}, name), element('dd', {}, withTightUnits(text)),
             ])));
}
