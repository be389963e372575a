// Times that repeat every day or every week: the maintenance window and hibernation schedules, in minutes of a day and of a week in UTC.

export const DAY = 1440;
const WEEK = 7 * DAY;

/** A part of the week: minutes since Monday 00:00. `to` is greater than `from`, and may lie in the next week. */
export type Span = { from: number; to: number };

/** Converts a time of day with its offset ("200000+0100") to minutes of a day in UTC; NaN for any other text. */
export function minutesUtc(text: string | null | undefined): number {
  const match = /^(\d\d)(\d\d)\d\d([+-])(\d\d)(\d\d)$/.exec(text ?? "");
  if (!match) return NaN;
  const [, h = "", m = "", sign, oh = "", om = ""] = match;
  const offset = (Number(oh) * 60 + Number(om)) * (sign === "-" ? -1 : 1);
  return (Number(h) * 60 + Number(m) - offset + 2 * DAY) % DAY;
}

/** `days`: 0 is Sunday; null for every day. */
export type Cron = { minute: number; hour: number; days: number[] | null };

/** Reads "00 18 * * 1-5": once a day on some days of the week. NULL for any other form, which is shown unchanged. */
export function readCron(text: string | null | undefined): Cron | null {
  const match = /^0?(\d{1,2}) 0?(\d{1,2}) \* \* (\*|[0-7](?:[-,][0-7])*)$/.exec((text ?? "").trim());
  if (!match || Number(match[1]) > 59 || Number(match[2]) > 23) return null;
  const days = match[3] === "*" ? null : (match[3] ?? "").split(",").flatMap((part) => {
    const [first = 0, last = first] = part.split("-").map(Number);
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) % 7);
  });
  return { minute: Number(match[1]), hour: Number(match[2]), days };
}

/** The same moments by a clock that is `minutes` ahead: they may be on other days of the week. */
export function movedBy({ minute, hour, days }: Cron, minutes: number): Cron {
  const at = hour * 60 + minute + minutes, shift = Math.floor(at / DAY), left = at - shift * DAY;
  return { minute: left % 60, hour: Math.floor(left / 60), days: days && days.map((day) => (((day + shift) % 7) + 7) % 7) };
}

/** The minutes that a zone is ahead of UTC at that time; null for a zone that the browser does not know. */
export function offsetOf(zone: string, at: Date): number | null {
  const minute = Math.floor(at.getTime() / 60_000) * 60_000;
  try {
    const format = new Intl.DateTimeFormat("en-GB", {
      timeZone: zone, hourCycle: "h23", year: "numeric", month: "numeric", day: "numeric", hour: "numeric", minute: "numeric",
    });
    const parts = new Map(format.formatToParts(minute).map(({ type, value }) => [type, Number(value)]));
    const part = (type: Intl.DateTimeFormatPartTypes) => parts.get(type) ?? NaN;
    return (Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute")) - minute) / 60_000;
  } catch {
    return null;
  }
}

/** The spans of a window of each day. A window without a length is the whole day. */
export function dailySpans(from: number, to: number): Span[] {
  if (Number.isNaN(from) || Number.isNaN(to)) return [];
  const length = (to - from + DAY) % DAY || DAY;
  return Array.from({ length: 7 }, (_, day) => ({ from: day * DAY + from, to: day * DAY + from + length }));
}

const inWeek = (minutes: number) => ((minutes % WEEK) + WEEK) % WEEK;

function timesOf({ minute, hour, days }: Cron, offset: number): number[] {
  return (days ?? [0, 1, 2, 3, 4, 5, 6]).map((day) => inWeek(((day + 6) % 7) * DAY + hour * 60 + minute - offset));
}

type Schedule = { start?: string | null; end?: string | null; location?: string | null };

/** The spans from each start to the next wake of any schedule. Empty when a time cannot be read, because the rest would be wrong. */
export function sleepSpans(schedules: Schedule[], at: Date): Span[] {
  const starts: number[] = [], wakes: number[] = [];
  for (const { start, end, location } of schedules) {
    const offset = offsetOf(location || "UTC", at);
    for (const [text, times] of [[start, starts], [end, wakes]] as const) {
      if (!text) continue;
      const cron = readCron(text);
      if (!cron || offset === null) return [];
      times.push(...timesOf(cron, offset));
    }
  }
  return wakes.length ? starts.map((from) => ({ from, to: from + Math.min(...wakes.map((wake) => inWeek(wake - from) || WEEK)) })) : [];
}

/** A part of one day: 0 is Monday; minutes of that day. */
export type Piece = { day: number; from: number; to: number };

/** The parts of the spans by day, in a zone that is `offset` minutes ahead of UTC. */
export function byDay(spans: Span[], offset: number): Piece[] {
  const pieces: Piece[] = [];
  for (const span of spans) {
    const end = span.to + offset;
    for (let at = span.from + offset; at < end; ) {
      const day = Math.floor(at / DAY), until = Math.min(end, (day + 1) * DAY);
      pieces.push({ day: inWeek(day * DAY) / DAY, from: at - day * DAY, to: until - day * DAY });
      at = until;
    }
  }
  return pieces;
}
