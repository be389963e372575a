import { useComputed } from "@preact/signals";

import { texts } from "../texts";
import { useCountSpoken } from "../ui/count_spoken";
import { PageHead } from "../ui/page_head";
import { ProblemNotice } from "../ui/problem";
import { Filters } from "./filters";
import { order } from "./order";
import { clearFilters, isFiltered, query } from "./query";
import { load, readAll, revision, rows } from "./store";
import { ClusterTable } from "./table";
import { Totals } from "./totals";

export function FleetPage() {
  const size = useComputed(() => (revision.value, rows.size)).value;
  const isThere = load.value.state === "loaded" && isFiltered(query.value);
  useCountSpoken(query.value, isThere, () => texts.fleet.count(order.shown.peek().length, rows.size));
  return (
    <>
      <PageHead heading={texts.fleet.heading} title={texts.fleet.title(size)}>
        {load.value.state === "loaded" && <p class="quiet">{texts.fleet.count(order.shown.value.length, size)}</p>}
      </PageHead>
      <Body size={size} />
    </>
  );
}

/** The five states look different: loading, failed, empty, no match, and a list. */
function Body({ size }: { size: number }) {
  const now = load.value;
  if (now.state === "loading" && !size) return <p class="panel empty">{texts.fleet.loading}</p>;
  if (now.state === "failed" && !size) return <ProblemNotice problem={now.problem} again={() => void readAll()} />;
  if (!size) return <p class="panel empty">{texts.fleet.none}</p>;
  return (
    <>
      <Totals />
      <Filters />
      {order.shown.value.length || !isFiltered(query.value) ? (
        <ClusterTable />
      ) : (
        <div class="panel empty">
          <p>{texts.fleet.noneMatch}</p>
          <button type="button" onClick={clearFilters}>
            {texts.fleet.clear}
          </button>
        </div>
      )}
    </>
  );
}
