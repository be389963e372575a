// Names for the schemas of openapi.yaml; dashboard/types is generated from it (openapi-typescript).
import type { components } from "../types/openapi";

type Schemas = components["schemas"];
export type Account = Schemas["Account"];
export type AuditEntry = Schemas["AuditEntry"];
export type Cluster = Schemas["Cluster"];
export type ClusterCounts = Schemas["ClusterCounts"];
export type ClusterSummary = Schemas["ClusterSummary"];
export type Condition = Schemas["Condition"];
export type Delivery = Schemas["Delivery"];
export type Event = Schemas["Event"];
export type Health = Schemas["Health"];
export type Issue = Schemas["Issue"];
export type Operation = Schemas["Operation"];
export type OperationStep = Schemas["OperationStep"];
export type Phase = Schemas["Phase"];
export type Problem = Schemas["Problem"];
export type Project = Schemas["Project"];
export type Remedy = Schemas["Remedy"];
export type Role = Schemas["Role"];
export type Upgrades = Schemas["Upgrades"];
export type Webhook = Schemas["Webhook"];
export type Whoami = Schemas["Whoami"];
export type NodePool = Schemas["ObservedNodePool"];
export type NodePoolSpec = Schemas["NodePoolSpec"];
export type Schedule = Schemas["ObservedHibernationSchedule"];
