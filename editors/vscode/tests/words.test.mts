import assert from "node:assert/strict";
import { test } from "node:test";
import { argumentsOf, plain, replacedIn, unlinked } from "../src/words.ts";

test("a link that runs a command is no link in a notification", () => {
  for (const words of ["[x](command:rocky.runAll)", "[x] (command:rocky.runAll)", "[x]\n(command:rocky.runAll)"]) {
    assert.doesNotMatch(unlinked(words), /\]\s*\(/);
    assert.match(unlinked(words), /x\].*command:rocky\.runAll/s);
  }
});

test("words without a link stay as they are", () => {
  assert.equal("`a` (b) [c] d", unlinked("`a` (b) [c] d"));
});

test("what looks like an icon is left out", () => {
  assert.equal("Rocky: 1", plain("$(sync~spin) Rocky: 1"));
});

test("a name that looks like an option is an argument", () => {
  assert.deepEqual(["show", "--", "--help"], argumentsOf(["show"], ["--help"]));
  assert.deepEqual(["show", "orders"], argumentsOf(["show"], ["orders"]));
});

test("a word is found in which the editor would put something else", () => {
  assert.equal("a${env:HOME}", replacedIn(["rocky", "a${env:HOME}", "${command:b}"]));
  assert.equal(undefined, replacedIn(["rocky", "$HOME", "$(touch x)", "{x}"]));
});
