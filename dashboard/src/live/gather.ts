// Combines many requests to read a list into one read.

const FIRST_MS = 400;
const FACTOR = 10;

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
    }, (performance.now() - began) * FACTOR);
  }
  function ask() {
    more = true;
    if (busy) return;
    busy = true;
    setTimeout(() => void run(), FIRST_MS);
  }
  return ask;
}
