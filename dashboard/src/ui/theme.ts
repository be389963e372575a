// The light or dark theme, by the setting of the system or by the choice of the user.
import { signal } from "@preact/signals";

export type Theme = "system" | "light" | "dark";
const KEY = "shootd.theme";
const themes: Theme[] = ["system", "light", "dark"];

export const theme = signal<Theme>("system");

export function setTheme(next: Theme) {
  theme.value = next;
  if (next === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
}

export function startTheme() {
  let kept: string | null = null;
  try {
    kept = localStorage.getItem(KEY);
  } catch {
    // Without storage there is no stored choice.
  }
  const known = themes.find((one) => one === kept);
  if (known) setTheme(known);
}
