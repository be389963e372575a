// The maintenance window and the hibernation schedules as text and on a week, in the zone of the user and in UTC.
import { texts } from "../texts";
import type { Cluster, Schedule } from "../types";
import { Foreign } from "../ui/foreign";
import { dateFormat, zoneName } from "../ui/time";
import { dailySpans, minutesUtc, movedBy, offsetOf, readCron, sleepSpans, type Cron } from "./times";
import { Week } from "./week";

const two = (n: number) => String(n).padStart(2, "0");
const utc = (minutes: number) => `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
const localTime = dateFormat({ hour: "2-digit", minute: "2-digit" });

/** The same time of today, in the zone of the user. */
function local(minutes: number): string {
  const at = new Date();
  at.setUTCHours(Math.floor(minutes / 60), minutes % 60, 0, 0);
  return localTime().format(at);
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

const timeOf = ({ hour, minute }: Cron) => `${two(hour)}:${two(minute)}`;

const daysOf = ({ days }: Cron) => (days === null || days.length === 7 ? texts.schedule.everyDay : days.map((day) => texts.schedule.day[day]).join(", "));

/** The moments in another zone, with their days when these are others. */
function sameTime(of: Cron, cron: Cron, zone: string): string {
  const text = texts.schedule.local(timeOf(of), zone);
  return daysOf(of) === daysOf(cron) ? text : texts.schedule.at(daysOf(of), text);
}

function Moment({ text, location }: { text: string | null | undefined; location: string }) {
  if (!text) return <span class="quiet">{texts.never}</span>;
  const cron = readCron(text);
  if (!cron) return <Foreign mono text={`${text} ${location}`} />;
  const at = new Date(), ahead = offsetOf(location, at);
  const inUtc = ahead === null ? null : movedBy(cron, -ahead), own = inUtc && movedBy(inUtc, -at.getTimezoneOffset());
  return (
    <span>
      {texts.schedule.at(daysOf(cron), timeOf(cron))} <Foreign text={location} />{" "}
      {own && <span class="quiet">{sameTime(own, cron, zoneName(at))}</span>}
      {inUtc && location !== "UTC" && <span class="quiet"> {sameTime(inUtc, cron, texts.schedule.utcName)}</span>}
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
  const maintenance = cluster.observed?.maintenance, schedules = cluster.observed?.hibernation_schedules ?? [];
  const windows = dailySpans(minutesUtc(maintenance?.begin), minutesUtc(maintenance?.end));
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
      <Sleep schedules={schedules} />
      <Week maintenance={windows} sleep={sleepSpans(schedules, new Date())} />
    </section>
  );
}
