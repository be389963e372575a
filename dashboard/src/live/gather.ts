// Combines many requests to read a list into one read.

const FIRST_MS = 400;
const FACTOR = 10;
const REST_MAX_MS = 10_000;

/**
 * Returns the ms without a read after one that began at `began`: when reads take long, they are less frequent. The bound is for a machine
 * that slept during a read.
 */
export const restAfter = (began: number) => Math.min((performance.now() - began) * FACTOR, REST_MAX_MS);

/** Returns a function that requests `work`. The work runs soon after the first of many calls; when it takes long, it runs less often. */
export function gathered(work: () => Promise<unknown>): () => void {
  let busy = false, more = false;
  async function run() {
    more = false;
    const began = performance.now();
    await work();
    setTimeout(() => {
      busy = false;
      if (more) ask();
    }, restAfter(began));
  }
  function ask() {
    more = true;
    if (busy) return;
    busy = true;
    setTimeout(() => void run(), FIRST_MS);
  }
  return ask;
}
