// Holds Kubernetes manifests (JSON on stdin, a list) to the schemas of their kinds. Prints each fault; ends with 1 when there is one.
import { readFileSync } from "node:fs";
import { PodMonitor } from "@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1";
import { StatefulSet } from "kubernetes-models/apps/v1";
import { NetworkPolicy } from "kubernetes-models/networking.k8s.io/v1";
import { ConfigMap, Namespace, Service } from "kubernetes-models/v1";

const kinds = { ConfigMap, Namespace, NetworkPolicy, PodMonitor, Service, StatefulSet };
let faults = 0;
for (const manifest of JSON.parse(readFileSync(0, "utf8"))) {
  try {
    const Kind = kinds[manifest.kind];
    if (!Kind) throw new Error("no schema for this kind");
    const typed = new Kind(manifest);
    if (typed.apiVersion !== manifest.apiVersion) throw new Error(`apiVersion is ${typed.apiVersion}`);
    typed.validate();
  } catch (error) {
    console.log(`${manifest.kind} ${manifest.metadata?.name}: ${error.message}`);
    faults++;
  }
}
process.exit(faults ? 1 : 0);
