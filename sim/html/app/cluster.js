// Ranks apart, and the links they share: who waits for whom, and where it is narrow.

const MOST_RANKS_SHOWN = 32;
const MOST_LINKS_SHOWN = 16;

function completedRuns() {
  return report.run.runs.filter(({outcome}) => outcome === 'completed');
}

function strategyControl(id, onChange) {
  const names = completedRuns().map(({strategy}) => [strategy, strategy]);
  return selectControl(`${id}-strategy`, 'Strategy', names, names[0][0], onChange);
}

// Whether ranks wait unlike each other by more than a hundredth of a step.
function ranksDiffer(run) {
  const times = run.ranks.map(({rank}) => timeOf(run, rank));
  const exposed = times.map((time) => time.exposed_communication_s);
  return Math.max(...exposed) - Math.min(...exposed) > 0.01 * largestOf(
      times.map(({wall_s: wall}) => wall));
}

function drawRanks(run) {
  const rows = run.ranks.slice(0, MOST_RANKS_SHOWN).map(({rank}) => ({
    strategy: `rank ${rank}`,
    outcome: run.outcome,
    problem: '',
    time: timeOf(run, rank),
  }));
  const drawn = drawStepTime(rows, `Time of a step of ${run.strategy} by rank`);
  const compute = ({time}) => time.wall_s - time.exposed_communication_s;
  const slowest = rows.reduce((longest, row) => (compute(row) > compute(longest) ? row : longest));
  drawn.note = `${slowest.strategy} computes longest. What others wait beyond it is waiting for ` +
               'it, or for links that it does not use. ' +
               (run.ranks.length > rows.length ? `The first ${rows.length} ranks.` : '');
  drawn.table.columns[0] = {name: 'rank', title: 'rank'};
  return drawn;
}

function drawLinks(run) {
  const links = run.links.slice(0, MOST_LINKS_SHOWN);
  const labels = links.map(({utilization}) => ({
    value: 100 * utilization, text: formatPercent(utilization),
  }));
  const body = run.links.map((link) => [
    link.name, link.bandwidth_bytes_per_s, link.training_bytes, link.background_bytes,
    link.utilization,
  ]);
  return {
    height: barChartHeight(links.length),
    legend: [{label: 'share of the run that its bytes take at full bandwidth',
              fill: themeColour('text-soft')}],
    note: 'The busiest links, background traffic counted.' +
          (run.links.length > links.length ? ` The table has ${run.links.length}.` : ''),
    summary: `Bars of how busy links are. ${links.map(
        ({name, utilization}) => `${name}: ${formatPercent(utilization)}`).join('; ')}.`,
    table: {
      caption: `Busiest links of ${run.strategy}`,
      columns: [
        {name: 'link', title: 'link'},
        {name: 'bandwidth_bytes_per_s', title: 'bandwidth',
         format: (value) => formatQuantity(value, 'B/s')},
        ...scaledColumns('B', [{name: 'training_bytes', title: 'training', index: 2},
                               {name: 'background_bytes', title: 'background', index: 3}], body),
        {name: 'utilization', title: 'busy', format: formatPercent},
      ],
      rows: body,
    },
    config: {
      type: 'bar',
      data: {
        labels: links.map(({name}) => name),
        datasets: [{
          label: 'busy, %',
          data: links.map(({utilization}) => 100 * utilization),
          backgroundColor: themeColour('text-soft'),
        }],
      },
      options: {
        ...barChartOptions('busy, % of the run'),
        plugins: {tooltip: {callbacks: {
          label: (item) => formatPercent(item.raw / 100),
        }}},
      },
      plugins: [barLabels(labels)],
    },
  };
}

function addRunCard(id, title, draw) {
  let chosen = completedRuns()[0];
  const card = addCard({
    id,
    title,
    controls: [strategyControl(id, (strategy) => {
      chosen = completedRuns().find((run) => run.strategy === strategy);
      redraw(card);
    })],
    draw: () => draw(chosen),
  });
}

function addClusterOfRun() {
  if (completedRuns().some(ranksDiffer)) {
    addRunCard('ranks', 'Time of a step by rank', drawRanks);
  }
  const {network} = report.run.assumptions;
  const isPlainStar = network.fabric === 'STAR' && network.devices_per_node === 1;
  if (!isPlainStar && completedRuns().every(({links}) => links)) {
    addRunCard('links', 'Busiest links', drawLinks);
  }
}
