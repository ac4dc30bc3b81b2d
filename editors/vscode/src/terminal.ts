// Commands that run something do so in a terminal, with the program that serves the editor: what is typed can be read,
// and every gate is the command's.
import { basename } from "node:path";
import * as vscode from "vscode";

export class Terminal {
  private shown: vscode.Terminal | undefined;

  constructor(
    private readonly program: string,
    private readonly project: vscode.Uri,
  ) {}

  run(...words: string[]): void {
    if (!this.shown || this.shown.exitStatus !== undefined) {
      this.shown = vscode.window.createTerminal({ name: "Rocky", cwd: this.project });
    }
    this.shown.show(true);
    this.shown.sendText([this.program, ...words].map(quoted).join(" "));
  }

  dispose(): void {
    this.shown?.dispose();
  }
}

function quoted(word: string): string {
  if (/^[\w@%+=:,./-]+$/.test(word)) return word;
  // PowerShell and cmd do not know what a shell's quotes mean.
  const isPosix = !/^(powershell|pwsh|cmd)/i.test(basename(vscode.env.shell));
  return isPosix ? `'${word.replaceAll("'", "'\\''")}'` : `"${word.replaceAll('"', "")}"`;
}
