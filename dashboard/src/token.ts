// The token of this tab: in memory and in sessionStorage (a reload keeps it, a new tab does not), never in a cookie or a URL.
const KEY = "shootd.token";

let current: string | null = null;

export const token = () => current;

export function keepToken(value: string | null) {
  current = value;
  try {
    if (value) sessionStorage.setItem(KEY, value);
    else sessionStorage.removeItem(KEY);
  } catch {
    // A browser may forbid storage: then the token is only in memory.
  }
}

/** The token from before a reload, or null. */
export function keptToken(): string | null {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null;
  }
}
