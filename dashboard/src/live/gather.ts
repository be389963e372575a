// Many reasons to read a list again are one reading.

const FIRST_MS = 400;
const FACTOR = 10;

/** Returns what asks for `work`: it is done soon after the first of many calls, and where it takes long, less often. */
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
