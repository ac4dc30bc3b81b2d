// Programs on disk. Nothing here needs an editor.
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

export const PROGRAM = process.platform === "win32" ? "rocky.exe" : "rocky";

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

// The first of the PATH. What is found must not depend on where the editor was started, so relative folders are none.
export function onPath(path: string): string | undefined {
  const absolute = path.split(delimiter).filter((folder) => isAbsolute(folder));
  return absolute.map((folder) => join(folder, PROGRAM)).find(isProgram);
}
