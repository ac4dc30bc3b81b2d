// The view of runs, newest first, each with how its models ended.
import * as vscode from "vscode";
import type { PageRun } from "./reports";

export class RunsView implements vscode.TreeDataProvider<PageRun> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private runs: PageRun[] = [];

  show(runs: PageRun[]): void {
    this.runs = runs;
    this.changed.fire();
  }

  getChildren(run?: PageRun): PageRun[] {
    return run ? [] : this.runs;
  }

  getTreeItem(run: PageRun): vscode.TreeItem {
    const item = new vscode.TreeItem(run.run_id);
    const outcomes = Object.entries(run.outcomes).map(([outcome, number]) => `${number} ${outcome}`).join(", ");
    const [icon, colour] = iconOf(run);
    item.id = run.run_id;
    item.description = outcomes || run.status;
    item.iconPath = new vscode.ThemeIcon(icon, new vscode.ThemeColor(colour));
    item.tooltip = `${run.status}, ${new Date(run.started_at).toLocaleString()}, by ${run.trigger}`;
    item.accessibilityInformation = { label: `${run.run_id}, ${run.status}, ${outcomes}` };
    item.command = { command: "rocky.openRun", title: "Open the Run", arguments: [run.run_id] };
    return item;
  }
}

function iconOf(run: PageRun): [string, string] {
  if (run.died || run.status === "failed") return ["error", "testing.iconFailed"];
  if (run.status === "running") return ["sync", "charts.blue"];
  if (run.checks_failed) return ["warning", "list.warningForeground"];
  return ["pass", "testing.iconPassed"];
}
