// Light or dark: what the user chose for this browser, otherwise what the system says.

export type Theme = 'system' | 'light' | 'dark';
const key = 'slipway-theme';
const system = matchMedia('(prefers-color-scheme: dark)');

export function chosenTheme(): Theme {
  const stored = localStorage.getItem(key);
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

export function applyTheme() {
  const theme = chosenTheme();
  document.documentElement.classList.toggle('pf-v6-theme-dark', theme === 'dark' || (theme === 'system' && system.matches));
}

export function chooseTheme(theme: Theme) {
  if (theme === 'system') localStorage.removeItem(key);
  else localStorage.setItem(key, theme);
  applyTheme();
}

system.addEventListener('change', applyTheme);
