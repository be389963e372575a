// Bundles the page: build.mjs DIRECTORY. It writes index.html and the files that it loads, whose names change with their content, each
// also as gzip (.gz) and brotli (.br). The same sources give the same bytes.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const directory = resolve(process.argv[2]);
mkdirSync(directory, { recursive: true });

function write(name, text) {
  const bytes = Buffer.from(text);
  const path = join(directory, name);
  writeFileSync(path, bytes);
  writeFileSync(path + ".gz", gzipSync(bytes, { level: 9 }));
  writeFileSync(path + ".br", brotliCompressSync(bytes, {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
  }));
}

/** Writes a file under a name with a digest of its content, and returns that name. */
function writeHashed(base, ending, text) {
  const name = `${base}-${createHash("sha256").update(text).digest("hex").slice(0, 12)}.${ending}`;
  write(name, text);
  return name;
}

const { outputFiles, metafile } = await build({
  absWorkingDir: here,
  entryPoints: { app: "src/main.tsx", style: "src/style.css" },
  outdir: "out",
  write: false,
  bundle: true,
  minify: true,
  metafile: true,
  format: "esm",
  target: ["es2022", "chrome123", "firefox121", "safari17.5"],
  jsx: "automatic",
  jsxImportSource: "preact",
  charset: "utf8",
  legalComments: "none",
  define: { "process.env.NODE_ENV": '"production"' },
  logLevel: "warning",
});

/** The licences of the packages that are in the bundle. */
function licences() {
  const packages = new Set(Object.keys(metafile.inputs).flatMap((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []));
  return [...packages].sort().map((name) => {
    const { version } = JSON.parse(readFileSync(join(here, "node_modules", name, "package.json"), "utf8"));
    return `${name} ${version}\n\n${readFileSync(join(here, "node_modules", name, "LICENSE"), "utf8").trim()}\n`;
  }).join("\n----\n\n");
}

const text = (ending) => outputFiles.find((file) => file.path.endsWith(ending)).text;
const names = {
  STYLE: writeHashed("style", "css", text(".css")),
  APP: writeHashed("app", "js", `/*! Licences: ${writeHashed("licences", "txt", licences())} */\n${text(".js")}`),
};
write("index.html", readFileSync(join(here, "index.html"), "utf8").replace(/%(STYLE|APP)%/g, (_, name) => names[name]));
