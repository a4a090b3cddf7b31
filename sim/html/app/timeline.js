// One step in time: a bar per kernel and collective, a row per rank and stream.

const KINDS = [
  {kind: 'forward', colour: 'forward', pattern: 'solid'},
  {kind: 'recompute', colour: 'forward', pattern: 'falling'},
  {kind: 'backward', colour: 'backward', pattern: 'rising'},
  {kind: 'optimizer', colour: 'optimizer', pattern: 'dots'},
  {kind: 'checkpoint', colour: 'checkpoint', pattern: 'level'},
  {kind: 'communication', colour: 'communication', pattern: 'crossed'},
  {kind: 'prefetch', colour: 'communication', pattern: 'level'},
];
const MOST_BARS_AT_FIRST = 3000;
const MOST_RANKS_DRAWN = 64;

// Recomputation and prefetches go by their names.
function kindOf(event) {
  const special = ['recompute', 'prefetch'].find((kind) => event.name.startsWith(`${kind} `));
  if (special) {
    return special;
  }
  return event.stream === 'communication' ? 'communication' : event.phase;
}

function rowOf({rank, stream}) {
  const narrow = isNarrow() && stream === 'communication' ? 'comm.' : stream;
  return `rank ${rank} ${narrow}`;
}

function drawTimeline({timeline, rank, zoom, position}) {
  const begin = smallest(timeline.events.map((event) => event.begin_s));
  const span = largestOf(timeline.events.map((event) => event.end_s - begin));
  const ranks = rank === null ? ranksOf(timeline).slice(0, MOST_RANKS_DRAWN) : [rank];
  const events = timeline.events.filter((event) => ranks.includes(event.rank));
  const unit = unitFor('s', span);
  const rows = [...new Set([...events].sort(byRankAndStream).map(rowOf))];
  const kinds = KINDS.filter(({kind}) => events.some((event) => kindOf(event) === kind));
  const from = position * (span - span / zoom) / unit.size;
  return {
    height: 70 + Math.max(24 * rows.length, 60),
    legend: kinds.map(({kind, colour, pattern}) => ({
      label: kind, fill: patternFill(colour, pattern),
    })),
    note: `Step ${timeline.step} of ${timeline.strategy} takes ${formatQuantity(span, 's')}.`,
    summary: `Bars of what each rank does in step ${timeline.step} of ${timeline.strategy}: ` +
             `${formatCount(events.length)} events on ${rows.length} streams.`,
    table: timelineTable(timeline, events, begin),
    config: {
      type: 'bar',
      data: {labels: rows, datasets: kinds.map(({kind, colour, pattern}) => ({
        label: kind,
        data: events.filter((event) => kindOf(event) === kind).map((event) => ({
          x: [(event.begin_s - begin) / unit.size, (event.end_s - begin) / unit.size],
          y: rowOf(event),
          event,
        })),
        backgroundColor: patternFill(colour, pattern),
        borderColor: themeColour('surface'),
        borderWidth: {left: 0.5, right: 0.5},
        borderSkipped: false,
        grouped: false,
        minBarLength: 1.5,
        barPercentage: 0.9,
        categoryPercentage: 0.95,
      }))},
      options: {
        indexAxis: 'y',
        layout: {padding: {right: 12}},
        interaction: {mode: 'point', intersect: true},
        scales: {
          x: {...figureAxis(`time since the step began, ${unit.name}`),
              min: from, max: from + span / zoom / unit.size},
          y: {grid: {display: false}, ticks: {autoSkip: false, color: themeColour('text')}},
        },
        plugins: {tooltip: {callbacks: {
          title: ([item]) => (item ? item.raw.event.name : ''),
          label: (item) => eventHover(item.raw.event, begin),
        }}},
      },
    },
  };
}

function smallest(numbers) {
  return numbers.reduce((least, value) => (value < least ? value : least), Infinity);
}

function byRankAndStream(a, b) {
  return a.rank - b.rank || (a.stream === b.stream ? 0 : a.stream === 'compute' ? -1 : 1);
}

function eventHover(event, begin) {
  return [
    `rank ${event.rank}, ${event.stream} stream, ${event.phase}`,
    ...(event.micro_step ? [`micro-step ${event.micro_step}`] : []),
    `begins at ${formatQuantity(event.begin_s - begin, 's')}`,
    `takes ${formatQuantity(event.end_s - event.begin_s, 's')}`,
    ...(event.bytes > 0 ? [formatQuantity(event.bytes, 'B')] : []),
    ...(event.flops > 0 ? [formatQuantity(event.flops, 'flop')] : []),
  ];
}

function timelineTable(timeline, events, begin) {
  const rows = events.map((event) => [
    event.name, event.rank, event.stream, event.phase, event.begin_s - begin,
    event.end_s - event.begin_s, event.bytes, event.flops, event.micro_step,
  ]);
  const hasMicroSteps = events.some((event) => event.micro_step);
  return {
    caption: `Step ${timeline.step} of ${timeline.strategy}`,
    columns: [
      {name: 'name', title: 'name'},
      {name: 'rank', title: 'rank', format: formatCount},
      {name: 'stream', title: 'stream'},
      {name: 'phase', title: 'phase'},
      {name: 'begin_s', title: 'begins at', format: (value) => formatQuantity(value, 's')},
      {name: 'duration_s', title: 'takes', format: (value) => formatQuantity(value, 's')},
      {name: 'bytes', title: 'bytes', format: (value) => formatQuantity(value, 'B')},
      {name: 'flops', title: 'flops', format: (value) => formatQuantity(value, 'flop')},
      ...(hasMicroSteps ? [{name: 'micro_step', title: 'micro-step', format: formatCount}] : []),
    ],
    rows: hasMicroSteps ? rows : rows.map((row) => row.slice(0, -1)),
  };
}

function ranksOf(timeline) {
  return [...new Set(timeline.events.map((event) => event.rank))].sort((a, b) => a - b);
}

function allRanksText(ranks) {
  return ranks.length <= MOST_RANKS_DRAWN ? 'all' : `the first ${MOST_RANKS_DRAWN}`;
}

// All ranks at once, unless those are more bars than anyone could tell apart.
function firstRankShown(timeline) {
  return timeline.events.length > MOST_BARS_AT_FIRST ? ranksOf(timeline)[0] : null;
}

function addTimeline() {
  const timelines = report.timelines.filter(({events}) => events.length > 0);
  if (timelines.length === 0) {
    return;
  }
  const view = {timeline: timelines[0], rank: firstRankShown(timelines[0]), zoom: 1, position: 0};
  const change = (name) => (value) => {
    view[name] = value;
    redraw(card);
  };
  const ranks = [...new Set(timelines.flatMap(ranksOf))].sort((a, b) => a - b);
  const card = addCard({
    id: 'timeline',
    title: 'Timeline of one step',
    wide: true,
    controls: [
      selectControl('timeline-step', 'Step', timelines.map(({strategy, step}, i) => [
        i, `${strategy}, step ${step}`,
      ]), 0, (i) => change('timeline')(timelines[i])),
      selectControl('timeline-rank', 'Rank', [['', allRanksText(ranks)], ...ranks.map((rank) => [
        rank, `rank ${rank}`,
      ])], view.rank ?? '', (rank) => change('rank')(rank === '' ? null : Number(rank))),
      selectControl('timeline-zoom', 'Zoom', [1, 2, 4, 8, 16, 32].map((zoom) => [
        zoom, `${zoom} ×`,
      ]), 1, (zoom) => change('zoom')(Number(zoom))),
      rangeControl('timeline-position', 'Position', {min: 0, max: 1, step: 0.01, value: 0},
                   change('position')),
    ],
    draw: () => drawTimeline(view),
  });
}
