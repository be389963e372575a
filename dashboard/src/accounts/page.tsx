// The state of shootd at Cleura: each account with its login, and each project with the age of its data.
import { useEffect, useMemo, useState } from "preact/hooks";

import { api, ask } from "../api";
import { every, listen } from "../live/life";
import { projects } from "../live/upstream";
import { texts } from "../texts";
import type { Account, Event, Project } from "../types";
import { Foreign, visible, wordOf } from "../ui/foreign";
import { PageHead } from "../ui/page_head";
import { makePages, Pager, PagesState } from "../ui/paging";
import { SeverityIcon } from "../ui/phase";
import { Cell, Row, Table } from "../ui/table";
import { When } from "../ui/time";

const PAGE = 50;
const EVERY_MS = 10_000;
const SHOWN = 50;

function makeAccounts() {
  const pages = makePages<Account>((cursor) => ask(api.GET("/v1/accounts", { params: { query: { limit: PAGE, cursor } } })));
  function start() {
    void pages.read();
    const concerns = (event: Event) => event.type.startsWith("account.");
    const ends = [
      listen({ events: (some) => some.some(concerns) && void pages.read(), reset: () => void pages.read() }),
      every(EVERY_MS, () => void pages.read()),
      pages.goOn(),
    ];
    return () => ends.forEach((end) => end());
  }
  return { ...pages, start };
}

const isCalm = (state: string) => state === "ok" || state === "unknown";

function LoginTag({ state }: { state: string }) {
  return <span class={`tag login-${isCalm(state) ? state : "bad"}`}>{wordOf(texts.accounts.login, state)}</span>;
}

function Facts({ account }: { account: Account }) {
  const { two_factor, lane, token_source } = account;
  const methods = two_factor.methods.join(", ") || texts.accounts.noMethod;
  return (
    <dl class="facts">
      <div>
        <dt>{texts.accounts.lastContact}</dt>
        <dd>
          <When at={account.last_contact_at} none={texts.never} focusable />
        </dd>
      </div>
      <div>
        <dt>{texts.accounts.token}</dt>
        <dd>
          <Foreign text={token_source ? wordOf(texts.accounts.source, token_source) : texts.none} /> <When at={account.token_at} none="" focusable />
        </dd>
      </div>
      {account.next_login_at && (
        <div>
          <dt>{texts.accounts.nextLogin}</dt>
          <dd>
            <When at={account.next_login_at} focusable />
          </dd>
        </div>
      )}
      <div>
        <dt>{texts.accounts.twoFactor}</dt>
        <dd>
          <Foreign text={two_factor.verification_pending ? texts.accounts.codeSent(methods) : methods} />
        </dd>
      </div>
      <div>
        <dt>{texts.accounts.lane}</dt>
        <dd class="mono">{texts.accounts.calls(lane.in_flight, lane.queue_depth)}</dd>
      </div>
      <div>
        <dt>{texts.accounts.api}</dt>
        <dd>
          <Foreign mono text={`${account.cloud} · ${account.api} · ${account.url}`} />
        </dd>
      </div>
    </dl>
  );
}

const isTroubled = (project: Project) => project.upstream.breaker !== "closed" || !isCalm(project.upstream.login) || Boolean(project.location_change);

function Projects({ account, all }: { account: Account; all: Project[] }) {
  const [whole, setWhole] = useState(false);
  const shown = whole ? all : all.slice(0, SHOWN), label = texts.accounts.column;
  return (
    <>
      <Table stacked label={texts.accounts.projectsOf(visible(account.name))} columns={label}>
        {shown.map((project) => (
          <Row key={project.name} kind={isTroubled(project) ? "differs" : ""}>
            <Cell label={label.name} head>
              <Foreign text={project.name} />
            </Cell>
            <Cell label={label.region}>
              <Foreign text={project.region} />
            </Cell>
            <Cell label={label.breaker}>{wordOf(texts.accounts.breaker, project.upstream.breaker)}</Cell>
            <Cell label={label.list}>
              <When at={project.upstream.last_list_at} none={texts.never} focusable />
            </Cell>
            <Cell label={label.contact}>
              <When at={project.upstream.last_contact_at} none={texts.never} focusable />
            </Cell>
            <Cell label={label.error}>
              <Foreign text={project.upstream.last_error ?? texts.none} />
            </Cell>
          </Row>
        ))}
      </Table>
      {all.length > shown.length && (
        <button type="button" onClick={() => setWhole(true)}>
          {texts.accounts.showAll(all.length)}
        </button>
      )}
    </>
  );
}

function Card({ account, mine }: { account: Account; mine: Project[] }) {
  const heading = `account-${account.name}`;
  // Projects in trouble come first; the order is otherwise unchanged.
  const ordered = [...mine.filter(isTroubled), ...mine.filter((one) => !isTroubled(one))];
  return (
    <section class="panel" aria-labelledby={heading}>
      <h2 id={heading} class="card-title">
        {visible(account.name)} <LoginTag state={account.login_state} />
      </h2>
      {account.login_message && (
        <p class={isCalm(account.login_state) ? "notice" : "notice warn"}>
          <SeverityIcon severity={isCalm(account.login_state) ? "info" : "warning"} />
          <Foreign text={account.login_message} />
        </p>
      )}
      <Facts account={account} />
      {mine.length > 0 && <Projects account={account} all={ordered} />}
    </section>
  );
}

export function AccountsPage() {
  const data = useMemo(makeAccounts, []);
  useEffect(() => data.start(), [data]);
  const byAccount = new Map<string, Project[]>();
  for (const project of projects.value) {
    const mine = byAccount.get(project.account);
    if (mine) mine.push(project);
    else byAccount.set(project.account, [project]);
  }
  const items = data.items.value;
  return (
    <>
      <PageHead heading={texts.accounts.heading} />
      <PagesState pages={data} />
      {data.state.value === "there" && !items.length && <p class="panel empty">{texts.accounts.none}</p>}
      {items.map((account) => (
        <Card key={account.name} account={account} mine={byAccount.get(account.name) ?? []} />
      ))}
      <Pager pages={data} />
    </>
  );
}
