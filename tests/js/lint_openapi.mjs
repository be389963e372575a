// Lints the OpenAPI document named on the command line with Redocly's strict rules but for the license, which is the owner's to choose; one line for each finding. Exit 1 on an error.
import { createConfig, lint } from "@redocly/openapi-core";

const config = await createConfig({ extends: ["recommended-strict"], rules: { "info-license": "off" } });
const findings = await lint({ ref: process.argv[2], config });
for (const { severity, ruleId, message, location } of findings)
  console.log(`${severity} ${ruleId} ${location[0]?.pointer ?? ""}: ${message}`);
process.exitCode = findings.some(({ severity }) => severity === "error") ? 1 : 0;
