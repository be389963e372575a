// A time in relative words; the exact time (zone of the user and UTC) appears under the pointer and the focus, or replaces the words if the
// user chooses that.
import { signal } from "@preact/signals";

import { now } from "../live/life";
import { texts } from "../texts";
import { brief } from "./foreign";

export const exactTimes = signal(false);

const MINUTE = 60_000, HOUR = 60 * MINUTE, DAY = 24 * HOUR;

/** "12 s", "4 min", "3 h", "12 d". */
export function span(ms: number): string {
  const { seconds, minutes, hours, days } = texts.time;
  if (ms < MINUTE) return seconds(Math.max(0, Math.floor(ms / 1000)));
  if (ms < HOUR) return minutes(Math.floor(ms / MINUTE));
  if (ms < 2 * DAY) return hours(Math.floor(ms / HOUR));
  return days(Math.floor(ms / DAY));
}

/** The duration in the form "4:05" or "1:02:07". */
export function clock(ms: number): string {
  const total = Math.max(0, Math.floor(ms / 1000));
  const two = (n: number) => String(n).padStart(2, "0");
  const hours = Math.floor(total / 3600), minutes = Math.floor(total / 60) % 60;
  return hours ? `${hours}:${two(minutes)}:${two(total % 60)}` : `${minutes}:${two(total % 60)}`;
}

/** A format that is made at its first use: that takes some milliseconds, and the first view needs none. */
export function dateFormat(options: Intl.DateTimeFormatOptions): () => Intl.DateTimeFormat {
  let made: Intl.DateTimeFormat | undefined;
  return () => (made ??= new Intl.DateTimeFormat("en-GB", options));
}

const local = dateFormat({ dateStyle: "medium", timeStyle: "medium" });
const zone = dateFormat({ timeZoneName: "short", hour: "numeric" });

export const zoneName = (at: Date) => zone().formatToParts(at).find((part) => part.type === "timeZoneName")?.value ?? "";

const utc = (at: Date) => at.toISOString().replace("T", " ").replace(/\.\d+Z$/, " UTC");

/** The time in both zones. */
const exactParts = (at: Date): [string, string] => [`${local().format(at)} ${zoneName(at)}`, utc(at)];

/** The time in both zones, as one text. */
export const exact = (at: Date) => exactParts(at).join(" · ");

export function relative(at: number, present: number): string {
  return at <= present ? texts.time.ago(span(present - at)) : texts.time.ahead(span(at - present));
}

/** A line may end between the two zones only. */
function Exact({ at }: { at: Date }) {
  const [own, universal] = exactParts(at);
  return (
    <>
      <span class="exact">{own}</span> <span class="exact">{universal}</span>
    </>
  );
}

type Props = { at: string | number | null | undefined; none?: string; focusable?: boolean };

/** The tooltip reads `data-exact` (exact_times.ts). */
export function When({ at, none = texts.none, focusable = false }: Props) {
  const date = at == null ? null : new Date(at);
  if (!date || Number.isNaN(date.getTime())) return at == null ? <span class="quiet">{none}</span> : <span class="quiet foreign">{brief(String(at))}</span>;
  return (
    <time dateTime={date.toISOString()} data-exact={date.getTime()} {...(focusable ? { tabIndex: 0 } : {})}>
      {exactTimes.value ? <Exact at={date} /> : relative(date.getTime(), now.value)}
    </time>
  );
}
