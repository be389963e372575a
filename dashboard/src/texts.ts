// Every English text of the page.
import type { Event, Health, Operation, Phase, Role } from "./types";

const many = (n: number, one: string, more: string) => `${n.toLocaleString("en")} ${n === 1 ? one : more}`;

const phase: Record<Phase, string> = {
  pending: "Pending", creating: "Creating", ready: "Ready", degraded: "Degraded", updating: "Updating", hibernating: "Hibernating",
  hibernated: "Hibernated", waking: "Waking", retrying: "Retrying", failed: "Failed", deleting: "Deleting", unknown: "Unknown",
};

const phaseMeaning: Record<Phase, string> = {
  pending: "A change was accepted. It has not begun at Cleura yet.",
  creating: "Cleura creates the cluster. There is nothing to do.",
  ready: "The cluster works. There is nothing to do.",
  degraded: "The cluster runs, and a part of it is not healthy. The list below says which, and what to do.",
  updating: "Cleura changes the cluster. It can be used meanwhile, unless nodes are replaced.",
  hibernating: "Cleura removes the nodes. The cluster sleeps soon.",
  hibernated: "The cluster sleeps: it has no nodes, and nothing runs. It can be woken.",
  waking: "Cleura brings the nodes back.",
  retrying: "Something failed at Cleura, which tries again by itself. Act when it does not end.",
  failed: "Cleura gave up. The list below says why, and what to do.",
  deleting: "Cleura deletes the cluster.",
  unknown: "Cleura reports a state that shootd does not know. Look at the message and the timeline.",
};

const health: Record<Health, string> = { healthy: "Healthy", progressing: "Progressing", unhealthy: "Unhealthy", unknown: "Unknown" };

const role: Record<Role, string> = {
  viewer: "viewer: reads", kubeconfig: "kubeconfig: reads and connects", operator: "operator: changes clusters", admin: "admin: may do everything",
};

const operationType: Record<Operation["type"], string> = {
  create: "Create", update: "Update", delete: "Delete", hibernate: "Hibernate", wake: "Wake", reconcile: "Reconcile", retry: "Retry",
  maintain: "Maintain", "enable-ha": "Enable high availability", "rotate-ca-prepare": "Rotate CA, prepare", "rotate-ca-complete": "Rotate CA, complete",
};

const operationStatus: Record<Operation["status"], string> = {
  pending: "waits", running: "runs", succeeded: "succeeded", failed: "failed", cancelled: "cancelled",
};

const event: Partial<Record<Event["type"], string>> = {
  "cluster.created": "Created", "cluster.ready": "Ready", "cluster.updated": "Updated", "cluster.degraded": "Degraded", "cluster.recovered": "Recovered",
  "cluster.failed": "Failed", "cluster.hibernated": "Hibernated", "cluster.woken": "Woken", "cluster.deleted": "Deleted",
  "cluster.discovered": "Found at Cleura", "cluster.drifted": "Differs from its spec", "cluster.retrying": "Cleura tries again",
  "cluster.unreachable": "Cleura cannot be read", "operation.started": "Operation started", "operation.succeeded": "Operation succeeded",
  "operation.failed": "Operation failed", "version.expiring": "A version expires",
};

export const texts = {
  none: "–",
  never: "never",
  yes: "yes",
  no: "no",
  empty: "(empty)",
  gone: "Gone",
  skip: "Skip to the content",
  number: (n: number) => n.toLocaleString("en"),
  percent: (n: number) => `${n} %`,
  gib: (n: number) => `${n} GiB`,
  phase,
  phaseMeaning,
  health,
  role,
  operationType,
  operationStatus,
  event,

  time: {
    seconds: (n: number) => `${n} s`,
    minutes: (n: number) => `${n} min`,
    hours: (n: number) => `${n} h`,
    days: (n: number) => `${n} d`,
    ago: (span: string) => `${span} ago`,
    ahead: (span: string) => `in ${span}`,
    exactSwitch: "Exact times",
  },
  theme: { label: "Theme", system: "System", light: "Light", dark: "Dark" },
  nav: { label: "Pages", fleet: "Clusters", logOut: "Log out" },
  link: {
    off: () => "Paused",
    connecting: () => "Connecting",
    live: () => "Live",
    away: (span: string) => `Server away for ${span}`,
  },
  age: (span: string) => `Cleura read ${span} ago`,
  away: (clock: string) => `The server has not answered for ${clock}. What you see is from before that. This page goes on by itself when the server is back.`,
  announce: {
    away: "The server does not answer",
    back: "The server answers again",
    failed: (n: number) => `${many(n, "cluster", "clusters")} failed`,
    changed: (n: number) => many(n, "change", "changes"),
  },
  upstream: {
    label: "Trouble",
    project: (name: string) => `Project ${name}:`,
    setAside: (n: number) => `its place at Cleura has changed. ${many(n, "cluster is", "clusters are")} set aside until an admin decides.`,
    login: (state: string) => `login at Cleura: ${state}.`,
    breaker: (state: string) => `Cleura cannot be read (circuit breaker ${state}).`,
    lastContact: "Last answer",
    more: (n: number) => `${many(n, "more project has", "more projects have")} trouble with Cleura.`,
    frozen: (name: string) => `Changes of project ${name} are frozen:`,
  },
  problem: { label: "Problem", away: "The server does not answer.", again: "Try again" },
  unknownPage: { title: "There is no such page", back: "To the clusters" },

  login: {
    title: "Log in · shootd",
    heading: "shootd",
    intro: "Clusters at a glance, live. Log in with a token of this server.",
    label: "Token",
    hint: "It stays in this tab: never in a cookie or an address. The first token of a server is in the file admin-token of its state directory.",
    submit: "Log in",
    checking: "One moment",
    missing: "Enter a token. It begins with shd_.",
    away: "The server does not answer. Try again.",
    wrong: (reason: string) => `The server does not accept this token. ${reason}`.trim(),
    refused: (reason: string) => `The server does not accept the token any more. ${reason}`.trim(),
  },

  fleet: {
    title: (n: number) => `${many(n, "cluster", "clusters")} · shootd`,
    heading: "Clusters",
    count: (shown: number, all: number) => (shown === all ? many(all, "cluster", "clusters") : `${shown.toLocaleString("en")} of ${many(all, "cluster", "clusters")}`),
    loading: "The clusters are being read.",
    none: "There is no cluster yet in the projects that this token sees.",
    noneMatch: "No cluster fits the filters.",
    clear: "Clear filters",
  },
  totals: { label: "Totals", phase: "Phase", health: "Health", version: "Version", mark: "Attention" },
  mark: { expired: "Version expired", expiring: "Expires in 30 days", drifted: "Drifted", stale: "Stale", unmanaged: "Not managed" },
  filter: {
    label: "Filters",
    search: "Search",
    example: "Name, project or label",
    project: "Project",
    allProjects: "All projects",
    sort: "Sort by",
    troubleFirst: "Trouble first",
    orderChanged: "Show the new order",
  },
  sort: { name: "Name", trouble: "Trouble", phase: "Phase", health: "Health", version: "Version", expires: "Expiry", observed: "Oldest reading" },
  column: {
    name: "Cluster", phase: "Phase", health: "Health", version: "Version", expires: "Expires", marks: "Attention", observed: "Read", message: "Message",
  },

  cluster: {
    title: (name: string, phase: string | null) => `${name}${phase ? ` · ${phase}` : ""} · shootd`,
    back: "Clusters",
    loading: "The cluster is being read.",
    gone: "There is no such cluster, or this token may not see it. Its history is kept for a while.",
    observed: "Read at Cleura",
    protected: "Protected from deletion",
    said: (message: string) => `Gardener: ${message}`,
  },
  issues: {
    none: "No known issue.",
    severity: { critical: "critical", warning: "warning", info: "for information" },
    action: "To do:",
    since: "Since",
    expires: "Ends",
  },
  operation: {
    running: "Operation under way",
    last: "Last operation",
    none: "No operation is known.",
    progress: "Progress of the operation",
    usual: (span: string) => `usually ${span}`,
    by: (name: string) => `by ${name}`,
    rolls: "Replaces nodes",
    messages: (n: number) => `${n} messages`,
  },
  step: {
    bootstrap: "Prepare the project", create_shoot: "Create the cluster", delete_shoot: "Delete the cluster", wait_ready: "Wait until it is ready",
    wait_gone: "Wait until it is gone", patch_cluster: "Change the cluster", update_pool: "Change a pool", create_pool: "Add a pool",
    delete_pool: "Remove a pool", hibernate: "Hibernate", wake: "Wake", enable_ha: "Enable high availability", reconcile: "Reconcile",
    retry: "Retry", maintain: "Maintain", rotate_ca: "Rotate the CA",
  },
  stepStatus: { pending: "not begun", sending: "is sent", waiting: "under way", done: "done", failed: "failed", skipped: "skipped" },
  spec: {
    heading: "Spec and what is there",
    unmanaged: "This cluster was made elsewhere: shootd has no spec for it, and does not change it.",
    drift: (n: number) => `${many(n, "member differs", "members differ")} from the spec.`,
    noDrift: "Everything is as asked for.",
    member: "Member",
    wanted: "Spec",
    found: "At Cleura",
    differs: "Differs",
    notSet: "not set",
  },
  pools: {
    heading: "Node pools",
    none: "No pool is known yet.",
    pending: "Not there yet",
    column: { name: "Pool", machine: "Machine", size: "Nodes", surge: "Surge", volume: "Volume", image: "Image", zones: "Zones", labels: "Labels and taints" },
    size: (minimum: string, maximum: string) => `${minimum} to ${maximum}`,
  },
  versions: {
    heading: "Versions on offer",
    ask: "Look up at Cleura",
    asking: "Cleura is asked",
    current: "Runs",
    ends: "ends",
    newest: "Nothing newer is on offer.",
    recommended: "Recommended",
    notAsked: "Cleura was not asked",
    image: "Image of pool",
    asked: "Looked up",
    kind: { patch: "Patch", minor: "Minor" },
    column: { version: "Version", kind: "Kind", state: "State", ends: "Ends", rolls: "Replaces nodes", check: "Check by Cleura" },
  },
  schedule: {
    heading: "Times",
    maintenance: "Maintenance",
    hibernation: "Hibernation",
    unknown: "Not known yet.",
    daily: (from: string, to: string, zone: string) => `Daily ${from} to ${to} ${zone}`,
    utc: (from: string, to: string) => `${from} to ${to} UTC`,
    raw: (from: string, to: string) => `${from} to ${to}`,
    kubernetes: "Kubernetes patches",
    images: "Machine images",
    automatic: "automatic",
    byHand: "by hand",
    noSleep: "The cluster has no hibernation schedule.",
    sleeps: "Sleeps",
    wakes: "Wakes",
    everyDay: "Every day",
    day: ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"],
    at: (days: string, time: string) => `${days} at ${time}`,
    local: (time: string, zone: string) => `${time} ${zone}`,
  },
  kubeconfig: {
    heading: "Kubeconfig",
    intro: "Asked for by each click, and kept nowhere in this page. The file and the copy hold a secret; they are good for an hour.",
    download: "Download",
    copy: "Copy",
    exec: "Download without secrets",
    asking: "Cleura is asked.",
    saved: "Saved by the browser.",
    copied: "Copied.",
    shown: "The clipboard is closed to this page: copy the text. It goes in a minute.",
    hide: "Hide",
    notAllowed: "A kubeconfig needs a token of the role kubeconfig or higher. This token only reads.",
  },
  timeline: {
    heading: "Events and operations",
    none: "Nothing has happened yet.",
    lasted: (span: string) => `in ${span}`,
  },
};
