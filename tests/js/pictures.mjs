// Takes pictures of a page, writes them as small PNG files, and compares them with such files.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { deflateSync, gzipSync } from "node:zlib";

import pixelmatch from "pixelmatch";
import { PNG } from "pngjs";

export { fixAnswers } from "./fixed_answers.mjs";

/**
 * More than `most` pixels of a square of WINDOW pixels differ when their colours are further apart than `threshold` (OKLab, 1 is black and
 * white); edges of letters do not count. The files have rounded colours at edges, but exact ones in areas, so in areas less is a difference.
 */
const WINDOW = 32;
const LIMITS = [{ threshold: 0.05, most: 8 }, { threshold: 0.01, most: 400 }];
const PALETTE = 256;
const PATIENCE_MS = 20_000;

// ---- PNG files with a palette ----

const ending = (bytes) => gzipSync(bytes).subarray(-8, -4).reverse(); // the checksum at the end of a gzip file is that of PNG

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  return Buffer.concat([length, body, ending(body)]);
}

const distance = (a, b) => Math.abs((a >> 16) - (b >> 16)) + Math.abs(((a >> 8) & 255) - ((b >> 8) & 255)) + Math.abs((a & 255) - (b & 255));

/** Colours that are further from each other than `apart`, and the most frequent ones, which are grounds and lines. */
function spread(colours, apart) {
  const kept = colours.slice(0, PALETTE / 8);
  for (const colour of colours.slice(kept.length)) {
    if (kept.length > PALETTE) break;
    if (kept.every((other) => distance(colour, other) > apart)) kept.push(colour);
  }
  return kept;
}

/** The colours of the palette, and for each colour of the picture the place of its nearest one. */
function paletteOf(pixels) {
  const counts = new Map();
  for (const colour of pixels) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  const colours = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a) || a - b);
  let apart = 0, kept = spread(colours, apart);
  while (kept.length > PALETTE) kept = spread(colours, (apart += 3));
  const nearest = (colour) => kept.reduce((best, other, i) => (distance(colour, other) < distance(colour, kept[best]) ? i : best), 0);
  return { kept, places: new Map(colours.map((colour) => [colour, nearest(colour)])) };
}

/** The PNG of a picture without transparency: one byte a pixel. */
function encoded({ width, height, data }) {
  const colours = Uint32Array.from({ length: width * height }, (_, i) => data.readUIntBE(i * 4, 3));
  const { kept, places } = paletteOf(colours);
  const rows = Buffer.alloc((width + 1) * height); // a row begins with the number of its filter: none
  colours.forEach((colour, i) => (rows[Math.floor(i / width) * (width + 1) + 1 + (i % width)] = places.get(colour)));
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8); // 8 bits, a palette
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), chunk("IHDR", header),
    chunk("PLTE", Buffer.from(kept.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]))),
    chunk("IDAT", deflateSync(rows, { level: 9 })), chunk("IEND", Buffer.alloc(0))]);
}

export const write = (path, png) => writeFileSync(path, encoded(PNG.sync.read(png)));

// ---- comparing ----

/** Null when both show the same, else what differs; the difference goes to the file `path`, if one is given. */
export function difference(png, reference, path = null) {
  const one = PNG.sync.read(png), other = PNG.sync.read(reference);
  if (one.width !== other.width || one.height !== other.height)
    return `${one.width} x ${one.height} pixels instead of ${other.width} x ${other.height}`;
  for (const { threshold, most } of LIMITS) {
    const drawn = path && new PNG({ width: one.width, height: one.height });
    const count = pixelmatch(other.data, one.data, drawn?.data, one.width, one.height, { threshold, windowSize: WINDOW });
    if (count <= most) continue;
    if (drawn) writeFileSync(path, PNG.sync.write(drawn));
    return `${count} pixels differ in a square of ${WINDOW} x ${WINDOW} (by ${threshold})`;
  }
  return null;
}

// ---- taking ----

/**
 * Runs in the page: takes the focus away, and replaces ids, which are random. The answers keep their ids, because the page asks the server
 * with them. Chromium draws the dots of a line differently each time in a part that stays in the window; there the line is a plain one.
 */
function tidy() {
  document.activeElement?.blur();
  document.querySelectorAll(".strip [data-exact]").forEach((one) => (one.style.textDecorationStyle = "solid"));
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode, shown = node.data.replace(/(?<=\b[a-z]{2,4}_)[0-9a-hjkmnp-tv-z]{26}\b/g, "01k5c8s0zj8q4t6w2x9y0a1b2c");
    if (shown !== node.data) node.data = shown;
  }
}

/** `height` pixels of the page at most, from its beginning or from the element `begin`. */
async function shot(page, height, begin) {
  await page.evaluate(tidy);
  const { width } = page.viewportSize();
  const [y, whole] = await page.evaluate((begin) => {
    const first = begin && document.querySelector(begin).getBoundingClientRect();
    return [first ? Math.floor(first.top + scrollY) : 0, document.documentElement.scrollHeight];
  }, begin);
  return page.screenshot({ fullPage: true, clip: { x: 0, y, width, height: Math.min(whole - y, height) }, animations: "disabled", caret: "hide" });
}

/** Calls `ends` until its value is true. */
async function until(ends, what) {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const value = await ends();
    if (value) return value;
    if (Date.now() > deadline) throw new Error(`timed out waiting for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/**
 * The picture of the page as PNG, up to `height` pixels of it from the element `begin`: when its requests are answered, and two pictures are
 * the same.
 */
export async function take(page, height, begin = null) {
  await page.evaluate(() => document.fonts.ready.then(() => null));
  let last = null;
  return until(async () => {
    const before = last;
    last = page.answering ? null : await shot(page, height, begin);
    return before && last && before.equals(last) && last;
  }, "a page that stands still");
}

/**
 * Compares the page with the file `reference`, for `patience` ms while they differ, because the page may still change. Returns null or what
 * differs; the last picture and the difference are then in the files `actual` and `differs`.
 */
export async function compare(page, height, { begin = null, reference, actual, differs, patience }) {
  if (!existsSync(reference)) return "there is no such file";
  const wanted = readFileSync(reference), deadline = Date.now() + patience;
  do {
    const png = page.answering ? null : await shot(page, height, begin);
    if (png && !difference(png, wanted)) return null;
    await new Promise((resolve) => setTimeout(resolve, 20));
  } while (Date.now() < deadline);
  const last = await take(page, height, begin);
  writeFileSync(actual, last);
  return difference(last, wanted, differs);
}
