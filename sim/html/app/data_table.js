// The table behind a chart: columns {name, title} with {format} for numbers or {text} for words,
// rows of raw values. The page shows them formatted, the CSV file as they are.

const MOST_ROWS_SHOWN = 200;

function dataTable(caption, columns, rows) {
  const head = element('tr');
  for (const column of columns) {
    head.append(element('th', {scope: 'col', class: column.format ? 'number' : false},
                        column.title));
  }
  const body = element('tbody');
  for (const row of rows.slice(0, MOST_ROWS_SHOWN)) {
    const line = element('tr');
    columns.forEach((column, i) => {
      line.append(i === 0 ? element('th', {scope: 'row'}, cellText(column, row[i]))
                          : element('td', {class: column.format ? 'number' : false},
                                    cellText(column, row[i])));
    });
    body.append(line);
  }
  const table = element('table', {}, element('caption', {}, caption),
                        element('thead', {}, head), body);
  const wrapper = element('div', {class: 'scroller', tabindex: '0', role: 'region',
                                  'aria-label': caption}, table);
  if (rows.length > MOST_ROWS_SHOWN) {
    wrapper.append(element('p', {}, `The first ${MOST_ROWS_SHOWN} of ` +
                                    `${formatCount(rows.length)} rows; the CSV file has all.`));
  }
  return wrapper;
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
