// The table behind a chart: columns {name, title} with {format} for numbers, {text} for words or
// {prose} for sentences, rows of raw values. The page shows them formatted, the CSV file as they
// are.

const MOST_ROWS_SHOWN = 200;

// With `order`, {column, descending, choose}, titles are buttons that choose a column to sort by.
// Rows of which `isMarked` is true are set off.
function dataTable(caption, columns, rows, {
  order, isMarked = () => false, most = MOST_ROWS_SHOWN,
} = {}) {
  const head = element('tr');
  columns.forEach((column, i) => head.append(headCell(column, i, order)));
  const body = element('tbody');
  for (const row of rows.slice(0, most)) {
    const line = element('tr', {class: isMarked(row) ? 'marked' : false});
    columns.forEach((column, i) => {
      line.append(i === 0 ? element('th', {scope: 'row'}, cellText(column, row[i]))
                          : element('td', {class: cellClass(column)},
                                    cellText(column, row[i])));
    });
    body.append(line);
  }
  const table = element('table', {}, element('caption', {}, caption),
                        element('thead', {}, head), body);
  const wrapper = element('div', {class: 'scroller', tabindex: '0', role: 'region',
                                  'aria-label': caption}, table);
  if (rows.length > most) {
    wrapper.append(element('p', {}, `The first ${formatCount(most)} of ` +
                                    `${formatCount(rows.length)} rows; the CSV file has all.`));
  }
  return wrapper;
}

function cellClass({format, prose}) {
  return format ? 'number' : prose ? 'prose' : false;
}

function headCell(column, index, order) {
  const attributes = {scope: 'col', class: cellClass(column)};
  if (!order) {
    return element('th', attributes, column.title);
  }
  const isChosen = order.column === index;
  const arrow = !isChosen ? '' : order.descending ? ' ▼' : ' ▲';
  const button = element('button', {type: 'button'}, column.title, arrow);
  button.addEventListener('click', () => order.choose(index));
  const sort = !isChosen ? 'none' : order.descending ? 'descending' : 'ascending';
  return element('th', {...attributes, 'aria-sort': sort}, button);
}

// The rows by that column, figures by size and words by the alphabet; those without one come last.
function sortedRows(rows, column, descending) {
  const isMissing = (value) => value === null || value === undefined;
  return [...rows].sort((one, other) => {
    const [a, b] = [one[column], other[column]];
    if (isMissing(a) || isMissing(b)) {
      return isMissing(a) - isMissing(b);
    }
    const difference = a < b ? -1 : a > b ? 1 : 0;
    return descending ? -difference : difference;
  });
}

function cellText(column, value) {
  if (value === null || value === undefined) {
    return '–';
  }
  const format = column.format || column.text || String;
  return format(value);
}

// Columns of one unit: a format for all of their figures, and the unit for their titles.
function scaledColumns(unit, columns, rows) {
  const largest = largestOf(columns.flatMap(
      (column) => rows.map((row) => row[column.index]).filter(isNumber)));
  const chosen = unitFor(unit, largest);
  return columns.map(({name, title}) => ({
    name,
    title: chosen.name ? `${title}, ${chosen.name}` : title,
    format: (value) => (isNumber(value) ? significant(value / chosen.size) : String(value)),
  }));
}

// RFC 4180.
function csvText(columns, rows) {
  const field = (value) => {
    const text = value === null || value === undefined ? '' : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [columns.map((column) => column.name), ...rows];
  return lines.map((line) => line.map(field).join(',') + '\r\n').join('');
}

function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], {type: 'text/csv;charset=utf-8'}));
  const link = element('a', {href: url, download: name});
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
