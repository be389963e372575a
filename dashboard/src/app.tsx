// The frame of every page: who looks, how the connection is, and what all pages share.
import { useEffect, useRef } from "preact/hooks";

import { ClusterPage } from "./cluster/page";
import { Announcer } from "./fleet/announcer";
import { FleetPage } from "./fleet/page";
import { route } from "./router";
import { session } from "./session";
import { texts } from "./texts";
import { Banners } from "./ui/banners";
import { Header } from "./ui/header";
import { LoginPage } from "./ui/login";

function Content() {
  const at = route.value;
  switch (at.page) {
    case "fleet":
      return <FleetPage />;
    case "cluster":
      return <ClusterPage key={`${at.project}/${at.name}`} project={at.project} name={at.name} />;
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

/** The place for focus after a change of page: readers begin there. */
function useFocusOnHeading(place: string) {
  const last = useRef(place);
  useEffect(() => {
    // The first page leaves the focus where the browser puts it.
    if (last.current !== place) document.querySelector<HTMLElement>("main h1")?.focus();
    last.current = place;
  }, [place]);
}

export function App() {
  const at = route.value;
  useFocusOnHeading(at.page === "cluster" ? `${at.project}/${at.name}` : at.page);
  if (session.value.kind !== "in") return <LoginPage />;
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), document.querySelector<HTMLElement>("main h1")?.focus())}>
        {texts.skip}
      </a>
      <Header />
      <Banners />
      <main id="main">
        <Content />
      </main>
      <Announcer />
    </>
  );
}
