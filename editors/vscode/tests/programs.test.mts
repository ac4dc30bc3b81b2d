import assert from "node:assert/strict";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { onPath, PROGRAM } from "../src/programs.ts";

const before = process.cwd();
let folder = "";

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "rocky-"));
  process.chdir(folder);
});

afterEach(() => {
  process.chdir(before);
  rmSync(folder, { recursive: true });
});

function write(place: string, mode: number): string {
  const path = join(folder, place, PROGRAM);
  mkdirSync(join(folder, place), { recursive: true });
  writeFileSync(path, "");
  chmodSync(path, mode);
  return path;
}

test("a program in a relative folder of the PATH is not found", () => {
  write(".", 0o755);
  write("bin", 0o755);
  assert.equal(undefined, onPath([".", "", "bin", "./bin"].join(delimiter)));
});

test("the first program of the PATH is found, and only what can be started is one", () => {
  write("text", 0o644);
  mkdirSync(join(folder, "folder", PROGRAM), { recursive: true });
  const found = write("first", 0o755);
  write("second", 0o755);
  assert.equal(found, onPath(["bin", ...["text", "folder", "first", "second"].map((each) => join(folder, each))].join(delimiter)));
});
