// The time by the clock of the server. Ages are the difference of this time and of times that the server wrote, and the clock of a browser
// may be wrong by hours.

/** Smaller differences are those of the way: the field Date has whole seconds. */
const LEAST_MS = 2_000;

let ahead: number | null = null;
let origin = 0;

/** Changes when somebody sets the clock of the browser. */
const begin = () => Date.now() - performance.now();

let moved = () => {};

/** Sets the function that is called when `present` jumps, because an answer showed that the clock of the browser is wrong. */
export function whenMoved(hear: () => void) {
  moved = hear;
}

/**
 * Takes the field Date of an answer. An answer is some time on its way, or comes from a cache, so each one shows a time that has passed; the
 * latest is the best.
 */
export function hearDate(response: Response) {
  const at = Date.parse(response.headers.get("Date") ?? "");
  if (Number.isNaN(at)) return;
  const before = present();
  if (Math.abs(begin() - origin) > LEAST_MS) ahead = null;
  origin = begin();
  ahead = Math.max(ahead ?? -Infinity, at - Date.now());
  if (Math.abs(present() - before) >= LEAST_MS) moved();
}

/** The present time of the server, in ms; that of the browser before the first answer. */
export const present = () => Date.now() + (ahead !== null && Math.abs(ahead) >= LEAST_MS ? ahead : 0);
