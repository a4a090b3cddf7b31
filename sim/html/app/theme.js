// Light or dark: as the system has it, or as the reader chose on this page. Print is always light.

const THEME_KEY = 'shardscope-theme';

function prefersDark() {
  return matchMedia('(prefers-color-scheme: dark)');
}

function applyTheme(theme) {
  const ofSystem = prefersDark().matches ? 'dark' : 'light';
  document.documentElement.dataset.theme = theme === 'auto' ? ofSystem : theme;
  redrawAll();
}

// A page that lies in a file may be denied storage; then the choice lasts as long as the page.
function stored(action) {
  try {
    return action(window.localStorage);
  } catch {
    return null;
  }
}

function watchTheme() {
  const select = document.querySelector('#theme select');
  select.value = stored((storage) => storage.getItem(THEME_KEY)) || 'auto';
  select.addEventListener('change', () => {
    stored((storage) => storage.setItem(THEME_KEY, select.value));
    applyTheme(select.value);
  });
  prefersDark().addEventListener('change', () => applyTheme(select.value));
  matchMedia('(max-width: 559px)').addEventListener('change', redrawAll);
  window.addEventListener('beforeprint', () => applyTheme('light'));
  window.addEventListener('afterprint', () => applyTheme(select.value));
  applyTheme(select.value);
}
