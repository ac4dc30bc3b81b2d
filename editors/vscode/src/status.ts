// What the status bar says: how the project is, in a word.
import * as vscode from "vscode";
import type { PageIndex } from "./reports";
import { counted } from "./tables";
import { plain } from "./words";

export class Status {
  private readonly item = vscode.window.createStatusBarItem("rocky.status", vscode.StatusBarAlignment.Left, 10);

  constructor() {
    this.item.name = "Rocky";
    this.item.command = "workbench.actions.view.problems";
    this.item.show();
  }

  say(words: string, tooltip: string, command = "rocky.output", bad = false): void {
    this.item.text = words;
    this.item.tooltip = tooltip;
    this.item.command = command;
    this.item.backgroundColor = bad ? new vscode.ThemeColor("statusBarItem.errorBackground") : undefined;
    this.item.accessibilityInformation = { label: `${plain(words)}. ${tooltip}` };
  }

  // Where there are several projects, which one this is.
  show(index: PageIndex, named: boolean): void {
    const errors = index.tables.reduce((sum, table) => sum + (table.errors ?? 0), 0);
    const models = index.tables.filter((table) => table.kind === "model").length;
    const name = named ? ` ${plain(index.project)}` : "";
    const on = index.branch ? ` on ${plain(index.branch)}` : "";
    const words = errors ? `$(error) Rocky${name}: ${counted(errors, "error")}` : `$(check) Rocky${name}`;
    const command = named ? "rocky.project" : "workbench.actions.view.problems";
    this.say(`${words}${on}`, `${index.project}: ${counted(models, "model")}, ${counted(errors, "error")}`, command);
  }

  dispose(): void {
    this.item.dispose();
  }
}
