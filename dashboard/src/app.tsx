// The frame of every page: the user, the state of the connection, and the parts that all pages share.
import { useLayoutEffect, useRef } from "preact/hooks";

import { AccountsPage } from "./accounts/page";
import { AuditPage } from "./audit/page";
import { ClusterPage } from "./cluster/page";
import { EventsPage } from "./events/page";
import { Announcer } from "./fleet/announcer";
import { FleetPage } from "./fleet/page";
import { OperationsPage } from "./operations/page";
import { route, type Route } from "./router";
import { mayAs, roleOf, session } from "./session";
import { texts } from "./texts";
import { Header } from "./ui/header";
import { LoginPage } from "./ui/login";
import { NotAllowed } from "./ui/not_allowed";
import { Outdated } from "./ui/outdated";
import { Strip } from "./ui/strip";
import { WebhooksPage } from "./webhooks/list";
import { WebhookPage } from "./webhooks/page";

function Content() {
  const at = route.value;
  const role = roleOf(at.page);
  if (!mayAs(role)) return <NotAllowed heading={at.page === "audit" ? texts.audit.heading : texts.webhooks.heading} role={role} />;
  switch (at.page) {
    case "fleet":
      return <FleetPage />;
    case "cluster":
      return <ClusterPage key={`${at.project}/${at.name}`} project={at.project} name={at.name} />;
    case "operations":
      return <OperationsPage />;
    case "events":
      return <EventsPage />;
    case "webhooks":
      return <WebhooksPage />;
    case "webhook":
      return <WebhookPage key={at.id} id={at.id} />;
    case "accounts":
      return <AccountsPage />;
    case "audit":
      return <AuditPage />;
    case "unknown":
      return (
        <section class="panel empty">
          <h1 tabIndex={-1}>{texts.unknownPage.title}</h1>
          <p>
            <a href="#/">{texts.unknownPage.back}</a>
          </p>
        </section>
      );
  }
}

/** Shown until the server has confirmed a token that nobody entered here, so that no login form appears for a moment. */
function Restoring({ away }: { away: boolean }) {
  return (
    <main class="login">
      <p class="panel empty" role="status">
        {away ? texts.login.waiting : texts.login.checking}
      </p>
    </main>
  );
}

/**
 * Moves the focus to the heading after a change of page: screen readers start reading there. It happens before the page is painted, because
 * a later moment would take the focus from a user who is quick.
 */
function useFocusOnHeading(place: string) {
  const last = useRef(place);
  useLayoutEffect(() => {
    // On the first page the focus stays where the browser puts it.
    if (last.current !== place) document.querySelector<HTMLElement>("main h1")?.focus();
    last.current = place;
  }, [place]);
}

function placeOf(at: Route): string {
  if (at.page === "cluster") return `${at.project}/${at.name}`;
  return at.page === "webhook" ? at.id : at.page;
}

export function App() {
  useFocusOnHeading(placeOf(route.value));
  const now = session.value;
  if (now.kind === "checking" && (now.restored || now.away)) return <Restoring away={now.away ?? false} />;
  if (now.kind !== "in") return <LoginPage />;
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), document.querySelector<HTMLElement>("main h1")?.focus())}>
        {texts.skip}
      </a>
      <Header />
      <Strip />
      <Outdated />
      <main id="main">
        <Content />
      </main>
      <Announcer />
    </>
  );
}
