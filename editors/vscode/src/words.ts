// Words of a project in the editor's own: a name may look like an icon, or like a link that runs a command.

export function plain(words: string): string {
  return words.replace(/\$\(([\w~-]+)\)\s*/g, "");
}

// For notifications, which take `[text](command:...)` for a link.
export function unlinked(words: string): string {
  return words.replace(/\]\s*\(/g, "] \u200b(");
}

// The arguments of a command: names that look like options are none.
export function argumentsOf(words: string[], names: string[]): string[] {
  return [...words, ...(names.some((each) => each.startsWith("-")) ? ["--", ...names] : names)];
}

// The first word in which the editor would put something else: a task's `${...}` names a setting, or a command that is run.
export function replacedIn(words: string[]): string | undefined {
  return words.find((each) => each.includes("${"));
}
