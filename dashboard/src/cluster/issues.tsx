import { texts } from "../texts";
import type { Issue } from "../types";
import { Foreign, wordOf } from "../ui/foreign";
import { SeverityIcon } from "../ui/phase";
import { When } from "../ui/time";
import { RemedyCommand } from "./remedy";

/** Issues in words, with the action to take. The critical ones come first, in the order of the server. */
export function Issues({ issues }: { issues: Issue[] | null }) {
  if (!issues) return <p class="quiet">{texts.issues.unread}</p>;
  if (!issues.length) return <p class="quiet">{texts.issues.none}</p>;
  return (
    <ul class="issues">
      {issues.map((issue) => (
        <li key={`${issue.code} ${issue.subject}`} class={`issue ${issue.severity}`}>
          <SeverityIcon severity={issue.severity} />
          <div>
            <p>
              <b><Foreign text={issue.title} /></b> <span class="quiet">{wordOf(texts.issues.severity, issue.severity)}</span>
              {issue.subject && <span class="subject"><Foreign mono text={issue.subject} /></span>}
            </p>
            {issue.description && <p><Foreign text={issue.description} /></p>}
            <p class="action">
              <b class="foreign">{wordOf(texts.issues.responsible, issue.responsible)}:</b> <Foreign text={issue.action} />
            </p>
            <RemedyCommand remedy={issue.remedy} />
            {(issue.since || issue.expires_at) && (
              <p class="quiet">
                {issue.since && (
                  <>
                    {texts.issues.since} <When at={issue.since} focusable />{" "}
                  </>
                )}
                {issue.expires_at && (
                  <>
                    {texts.issues.expires} <When at={issue.expires_at} focusable />
                  </>
                )}
              </p>
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}
