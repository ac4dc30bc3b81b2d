// Words of a project in the editor's own: a name may look like an icon, or like a link that runs a command.

export function plain(words: string): string {
  return words.replace(/\$\(([\w~-]+)\)\s*/g, "");
}

// For notifications, which take `[text](command:...)` for a link.
export function unlinked(words: string): string {
  return words.replace(/\]\s*\(/g, "] \u200b(");
}
