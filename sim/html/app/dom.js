// Making elements. Text always becomes a text node, whatever it contains.

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) {
      made.setAttribute(name, '');
    } else if (value !== false && value !== undefined) {
      made.setAttribute(name, value);
    }
  }
  made.append(...children);
  return made;
}

// A labelled <select>. `choices` are [value, label]; onChange gets the value.
function selectControl(name, label, choices, chosen, onChange) {
  const select = element('select', {name});
  for (const [value, text] of choices) {
    select.append(element('option', {value, selected: String(value) === String(chosen)}, text));
  }
  select.addEventListener('change', () => onChange(select.value));
  return element('label', {}, label, ' ', select);
}

function checkControl(name, label, checked, onChange) {
  const box = element('input', {type: 'checkbox', name, checked});
  box.addEventListener('change', () => onChange(box.checked));
  return element('label', {class: 'check'}, box, ' ', label);
}

function rangeControl(name, label, {min, max, step, value}, onChange) {
  const slider = element('input', {type: 'range', name, min, max, step, value});
  slider.addEventListener('input', () => onChange(Number(slider.value)));
  return element('label', {}, label, ' ', slider);
}
