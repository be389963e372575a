// Problems that concern more than one cluster: the server does not answer, projects whose account has a problem at Cleura, freezes.
import { now } from "../live/life";
import { link } from "../live/link";
import { frozen, troubled } from "../live/upstream";
import { texts } from "../texts";
import type { Project } from "../types";
import { Foreign } from "./foreign";
import { SeverityIcon } from "./phase";
import { clock, When } from "./time";

function reasonOf(project: Project): string {
  const { login, login_message, last_error, breaker } = project.upstream;
  if (project.location_change) return texts.upstream.setAside(project.location_change.clusters);
  if (login !== "ok" && login !== "unknown") return login_message ?? texts.upstream.login(login);
  return last_error ?? texts.upstream.breaker(breaker);
}

const shown = 3;

export function Banners() {
  const { state, since, why } = link.value;
  const away = state === "away";
  const blocked = state === "blocked";
  if (!away && !blocked && !troubled.value.length && !frozen.value.length) return null;
  return (
    <aside class="banners" aria-label={texts.upstream.label}>
      {away && (
        <p class="notice bad">
          <SeverityIcon severity="critical" />
          <span data-exact={since}>{texts.away(clock(now.value - since))}</span>
        </p>
      )}
      {blocked && (
        <p class="notice warn">
          <SeverityIcon severity="warning" />
          <Foreign text={texts.blocked(why ?? texts.none)} />
        </p>
      )}
      {troubled.value.slice(0, shown).map((project) => (
        <p class="notice warn" key={project.name}>
          <SeverityIcon severity="warning" />
          <span>
            <b>{texts.upstream.project(project.name)}</b> <Foreign text={reasonOf(project)} />{" "}
            {project.upstream.last_contact_at && (
              <>
                {texts.upstream.lastContact} <When at={project.upstream.last_contact_at} focusable />
              </>
            )}
          </span>
        </p>
      ))}
      {troubled.value.length > shown && <p class="notice warn">{texts.upstream.more(troubled.value.length - shown)}</p>}
      {frozen.value.slice(0, shown).map((project) => (
        <p class="notice" key={`frozen ${project.name}`}>
          <SeverityIcon severity="info" />
          <span>
            <b>{texts.upstream.frozen(project.name)}</b> <Foreign text={project.freeze?.reason} />
          </span>
        </p>
      ))}
    </aside>
  );
}
