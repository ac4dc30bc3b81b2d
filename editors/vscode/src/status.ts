// What the status bar says: how the project is, in a word.
import * as vscode from "vscode";
import type { PageIndex } from "./reports";
import { counted } from "./tables";

export class Status {
  private readonly item = vscode.window.createStatusBarItem("rocky.status", vscode.StatusBarAlignment.Left, 10);

  constructor() {
    this.item.name = "Rocky";
    this.item.command = "workbench.actions.view.problems";
    this.item.show();
  }

  say(words: string, tooltip: string, command = "rocky.output"): void {
    this.item.text = words;
    this.item.tooltip = tooltip;
    this.item.command = command;
  }

  show(index: PageIndex): void {
    const errors = index.tables.reduce((sum, table) => sum + (table.errors ?? 0), 0);
    const models = index.tables.filter((table) => table.kind === "model").length;
    const on = index.branch ? ` on ${index.branch}` : "";
    const words = errors ? `$(error) Rocky: ${counted(errors, "error")}` : "$(check) Rocky";
    this.say(`${words}${on}`, `${index.project}: ${counted(models, "model")}`, "workbench.actions.view.problems");
  }

  dispose(): void {
    this.item.dispose();
  }
}
