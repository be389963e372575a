// Lints the OpenAPI document named on the command line with Redocly's strict rules and those of its optional ones that the document keeps. The license is the owner's to choose.
// One line for each finding. Exit 1 on an error.
import { createConfig, lint } from "@redocly/openapi-core";

const kept = ["info-contact", "operation-description", "operation-singular-tag", "operation-tag-defined", "parameter-description", "tags-alphabetical"];
const rules = { "info-license": "off", ...Object.fromEntries(kept.map((rule) => [rule, "error"])) };
const config = await createConfig({ extends: ["recommended-strict"], rules });
const findings = await lint({ ref: process.argv[2], config });
for (const { severity, ruleId, message, location } of findings)
  console.log(`${severity} ${ruleId} ${location[0]?.pointer ?? ""}: ${message}`);
process.exitCode = findings.some(({ severity }) => severity === "error") ? 1 : 0;
