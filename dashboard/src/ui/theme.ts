// Light and dark: as the system has it, or as the viewer chose.
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
    // It holds for this page then.
  }
}

export function startTheme() {
  let kept: string | null = null;
  try {
    kept = localStorage.getItem(KEY);
  } catch {
    // As above.
  }
  const known = themes.find((one) => one === kept);
  if (known) setTheme(known);
}
