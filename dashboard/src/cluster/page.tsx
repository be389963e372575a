import { useEffect } from "preact/hooks";

import { lastFleet } from "../router";
import { texts } from "../texts";
import { Foreign, visible, wordOf } from "../ui/foreign";
import { healthWord, PhaseIcon } from "../ui/phase";
import { ProblemNotice } from "../ui/problem";
import { When } from "../ui/time";
import { Issues } from "./issues";
import { KubeconfigPanel } from "./kubeconfig";
import { OperationPanel } from "./operation";
import { PoolsPanel } from "./pools";
import { useCluster, type ClusterData } from "./read";
import { SchedulePanel } from "./schedule";
import { SpecPanel } from "./spec";
import { Timeline } from "./timeline";
import { VersionsPanel } from "./versions";

function Labels({ labels }: { labels: Record<string, string> }) {
  const entries = Object.entries(labels);
  if (!entries.length) return null;
  return (
    <ul class="labels" aria-label={texts.cluster.labels}>
      {entries.map(([key, value]) => (
        <li key={key} class="tag">
          {visible(value ? `${key}=${value}` : key)}
        </li>
      ))}
    </ul>
  );
}

function Heading({ data, project, name }: { data: ClusterData; project: string; name: string }) {
  const cluster = data.cluster.value;
  return (
    <div class="heading cluster-heading">
      <p class="crumbs">
        <a href={lastFleet.value}>{texts.cluster.back}</a> <span aria-hidden="true">/</span> <bdi>{visible(project)}</bdi>
      </p>
      <h1 tabIndex={-1}>{visible(name)}</h1>
      {cluster && data.state.value === "there" && (
        <p class="quiet">
          {texts.cluster.observed} <When at={data.observedAt.value} none={texts.never} focusable />
          {cluster.status.stale && <span class="tag stale">{texts.mark.stale}</span>}
          {!cluster.managed && <span class="tag unmanaged">{texts.mark.unmanaged}</span>}
          {cluster.deletion_protection && <span class="tag">{texts.cluster.protected}</span>}
        </p>
      )}
      {cluster && <Labels labels={cluster.labels ?? {}} />}
      {cluster?.description && <p><Foreign text={cluster.description} /></p>}
    </div>
  );
}

function StatePanel({ data }: { data: ClusterData }) {
  const cluster = data.cluster.value;
  if (!cluster) return null;
  const { phase, health, trouble_since: since } = cluster.status, said = cluster.status.last_operation?.description;
  return (
    <section class={`panel state-panel phase-${phase}`} aria-labelledby="state-heading">
      <h2 id="state-heading" class="state-line">
        <PhaseIcon phase={phase} />
        {wordOf(texts.phase, phase)}
      </h2>
      <p><Foreign text={cluster.status.summary} /></p>
      <p>
        <span class="state">{healthWord(health)}</span>
      </p>
      {since && <p>{texts.cluster.troubleSince} <When at={since} focusable /></p>}
      {said && <p><Foreign text={texts.cluster.said(said)} /></p>}
      {cluster.status.api_server_url && (
        <p class="quiet">
          {texts.cluster.api} <Foreign mono text={cluster.status.api_server_url} />
        </p>
      )}
      <Issues issues={data.issues.value} />
    </section>
  );
}

export function ClusterPage({ project, name }: { project: string; name: string }) {
  const data = useCluster(project, name);
  const state = data.state.value;
  const phase = state === "there" ? data.cluster.value?.status.phase : null;
  useEffect(() => {
    document.title = texts.cluster.title(visible(name), phase ? wordOf(texts.phase, phase) : null);
  }, [name, phase]);
  return (
    <>
      <Heading data={data} project={project} name={name} />
      {state === "loading" && <p class="panel empty">{texts.cluster.loading}</p>}
      {state === "failed" && <ProblemNotice problem={data.problem.value} again={() => void data.read()} />}
      {state === "gone" && <p class="panel empty">{texts.cluster.gone}</p>}
      {state === "there" && data.problem.value && <ProblemNotice problem={data.problem.value} />}
      {state === "there" && data.cluster.value && (
        <>
          <div class="columns">
            <StatePanel data={data} />
            <div class="stack">
              <OperationPanel operation={data.operation.value} usual={data.usual.value} />
              <KubeconfigPanel project={project} name={name} />
            </div>
            <SchedulePanel cluster={data.cluster.value} />
          </div>
          <VersionsPanel project={project} name={name} />
          <PoolsPanel cluster={data.cluster.value} />
          <SpecPanel cluster={data.cluster.value} />
        </>
      )}
      {(state === "there" || state === "gone") && <Timeline project={project} name={name} events={data.events.value} operations={data.operations.value} />}
    </>
  );
}
