// Commands that run something do so in a terminal, with the program that serves the editor: what is typed can be read,
// and every gate is the command's.
import { basename } from "node:path";
import * as vscode from "vscode";
import type { Session } from "./session";

export class Terminal {
  private shown: vscode.Terminal | undefined;
  private session: Session | undefined;
  private why = "the project is still being compiled.";

  serve(session: Session): void {
    if (this.session?.project.toString() !== session.project.toString()) this.shown = undefined;
    this.session = session;
  }

  unserved(why: string): void {
    this.session = undefined;
    this.why = why;
  }

  run(...words: string[]): void {
    if (!this.session) {
      void vscode.window.showErrorMessage(`Rocky: ${this.why}`);
      return;
    }
    if (!this.shown || this.shown.exitStatus !== undefined) {
      this.shown = vscode.window.createTerminal({ name: "Rocky", cwd: this.session.project });
    }
    this.shown.show(true);
    this.shown.sendText([this.session.program, ...words].map(quoted).join(" "));
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
