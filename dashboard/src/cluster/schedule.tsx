// The maintenance window and the hibernation schedules as text, in the zone of the user and in UTC.
import { texts } from "../texts";
import type { Cluster, Schedule } from "../types";
import { Foreign } from "../ui/foreign";
import { zoneName } from "../ui/time";

/** Converts a time of day with its offset ("200000+0100") to minutes of a day in UTC; NaN for any other text. */
export function minutesUtc(text: string | null | undefined): number {
  const match = /^(\d\d)(\d\d)\d\d([+-])(\d\d)(\d\d)$/.exec(text ?? "");
  if (!match) return NaN;
  const [, h = "", m = "", sign, oh = "", om = ""] = match;
  const offset = (Number(oh) * 60 + Number(om)) * (sign === "-" ? -1 : 1);
  return (Number(h) * 60 + Number(m) - offset + 2 * 1440) % 1440;
}

const two = (n: number) => String(n).padStart(2, "0");
const utc = (minutes: number) => `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
const localTime = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

/** The same time of today, in the zone of the user. */
function local(minutes: number): string {
  const at = new Date();
  at.setUTCHours(Math.floor(minutes / 60), minutes % 60, 0, 0);
  return localTime.format(at);
}

function Window({ begin, end }: { begin: string | null | undefined; end: string | null | undefined }) {
  const from = minutesUtc(begin), to = minutesUtc(end);
  if (Number.isNaN(from) || Number.isNaN(to)) return <Foreign mono text={texts.schedule.raw(begin ?? texts.none, end ?? texts.none)} />;
  return (
    <span>
      {texts.schedule.daily(local(from), local(to), zoneName(new Date()))} <span class="quiet">{texts.schedule.utc(utc(from), utc(to))}</span>
    </span>
  );
}

type Cron = { minute: number; hour: number; days: number[] | null };

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

function Moment({ text, location }: { text: string | null | undefined; location: string }) {
  if (!text) return <span class="quiet">{texts.never}</span>;
  const cron = readCron(text);
  if (!cron) return <Foreign mono text={`${text} ${location}`} />;
  const days = cron.days === null || cron.days.length === 7 ? texts.schedule.everyDay : cron.days.map((day) => texts.schedule.day[day]).join(", ");
  const minutes = cron.hour * 60 + cron.minute;
  return (
    <span>
      {texts.schedule.at(days, utc(minutes))} <Foreign text={location} />{" "}
      {location === "UTC" && <span class="quiet">{texts.schedule.local(local(minutes), zoneName(new Date()))}</span>}
    </span>
  );
}

function Sleep({ schedules }: { schedules: Schedule[] }) {
  if (!schedules.length) return <p class="quiet">{texts.schedule.noSleep}</p>;
  return (
    <ul class="plain">
      {schedules.map((schedule, i) => (
        <li key={i}>
          <b>{texts.schedule.sleeps}</b> <Moment text={schedule.start} location={schedule.location ?? "UTC"} />
          <br />
          <b>{texts.schedule.wakes}</b> <Moment text={schedule.end} location={schedule.location ?? "UTC"} />
        </li>
      ))}
    </ul>
  );
}

export function SchedulePanel({ cluster }: { cluster: Cluster }) {
  const maintenance = cluster.observed?.maintenance;
  return (
    <section class="panel" aria-labelledby="schedule-heading">
      <h2 id="schedule-heading">{texts.schedule.heading}</h2>
      <h3>{texts.schedule.maintenance}</h3>
      {maintenance ? (
        <>
          <p>
            <Window begin={maintenance.begin} end={maintenance.end} />
          </p>
          <p>
            {texts.schedule.kubernetes}: {maintenance.auto_update_kubernetes ? texts.schedule.automatic : texts.schedule.byHand}
            <br />
            {texts.schedule.images}: {maintenance.auto_update_machine_image ? texts.schedule.automatic : texts.schedule.byHand}
          </p>
        </>
      ) : (
        <p class="quiet">{texts.schedule.unknown}</p>
      )}
      <h3>{texts.schedule.hibernation}</h3>
      <Sleep schedules={cluster.observed?.hibernation_schedules ?? []} />
    </section>
  );
}
