// One bundle of the extension, and beside it the page's own assets: the lineage view is the page.
import { build } from "esbuild";
import { cpSync, mkdirSync, rmSync } from "node:fs";

const page = "dist/page";
rmSync("dist", { recursive: true, force: true });
mkdirSync(page, { recursive: true });
cpSync("../../src/rocky/operations/page/assets", page, { recursive: true });
for (const name of ["bridge.js", "embedded.css"]) cpSync(`media/${name}`, `${page}/${name}`);
await build({
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode"],
  minify: true,
});
