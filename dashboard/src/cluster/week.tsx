// A picture of the week: seven days of 24 hours in the zone of the user, with the hours of UTC below. The same is there as text
// (schedule.tsx).
import { texts } from "../texts";
import { zoneName } from "../ui/time";
import { byDay, DAY, type Span } from "./times";

const LEFT = 52, TOP = 18, ROW = 18, MINUTES_PER_UNIT = 5;
const RIGHT = LEFT + DAY / MINUTES_PER_UNIT, BOTTOM = TOP + 7 * ROW;
const hours = [0, 6, 12, 18, 24];

const xOf = (minutes: number) => LEFT + minutes / MINUTES_PER_UNIT;
const two = (n: number) => String(n).padStart(2, "0");

/** "05", or "18:30" in zones with half hours. */
function hourText(minutes: number): string {
  const rest = minutes % 60;
  return rest ? `${two(Math.floor(minutes / 60))}:${two(rest)}` : two(minutes / 60);
}

/** A bar in each day: the upper one is the maintenance, the lower one the hibernation. */
function Bars({ spans, offset, kind, lane }: { spans: Span[]; offset: number; kind: string; lane: number }) {
  return (
    <>
      {byDay(spans, offset).map(({ day, from, to }, i) => (
        <rect key={i} class={kind} x={xOf(from)} y={TOP + day * ROW + lane} width={(to - from) / MINUTES_PER_UNIT} height={5} rx={1} />
      ))}
    </>
  );
}

function Axis({ y, zone, textOf }: { y: number; zone: string; textOf: (minutes: number) => string }) {
  return (
    <>
      <text x={0} y={y}>{zone}</text>
      {hours.map((hour) => (
        <text key={hour} class="week-hour" x={xOf(hour * 60)} y={y}>
          {textOf(hour * 60)}
        </text>
      ))}
    </>
  );
}

function Grid() {
  return (
    <>
      {hours.map((hour) => (
        <path key={hour} class="week-line" d={`M${xOf(hour * 60)} ${TOP}V${BOTTOM}`} />
      ))}
      {[0, 1, 2, 3, 4, 5, 6, 7].map((day) => (
        <path key={day} class="week-line" d={`M${LEFT} ${TOP + day * ROW}H${RIGHT}`} />
      ))}
      {[1, 2, 3, 4, 5, 6, 0].map((day, i) => (
        <text key={day} x={0} y={TOP + i * ROW + 13}>
          {texts.schedule.day[day]}
        </text>
      ))}
    </>
  );
}

export function Week({ maintenance, sleep }: { maintenance: Span[]; sleep: Span[] }) {
  if (!maintenance.length && !sleep.length) return null;
  const at = new Date(), offset = -at.getTimezoneOffset(), zone = zoneName(at);
  return (
    <figure class="week">
      <svg viewBox={`0 0 ${RIGHT + 16} ${BOTTOM + 18}`} role="img" aria-label={texts.schedule.week(zone)}>
        <Grid />
        <Axis y={11} zone={zone} textOf={hourText} />
        <Axis y={BOTTOM + 14} zone={texts.schedule.utcName} textOf={(minutes) => hourText((minutes - offset + 2 * DAY) % DAY)} />
        <Bars spans={maintenance} offset={offset} kind="week-maintenance" lane={3} />
        <Bars spans={sleep} offset={offset} kind="week-sleep" lane={10} />
      </svg>
      <figcaption class="quiet">{texts.schedule.weekLegend}</figcaption>
    </figure>
  );
}
