// The view of runs, newest first, each with how its models ended.
import * as vscode from "vscode";
import type { PageRun } from "./reports";
import { counted } from "./tables";

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
    const began = new Date(run.started_at);
    const item = new vscode.TreeItem(began.toLocaleString(undefined, { dateStyle: "short", timeStyle: "medium" }));
    const outcomes = Object.entries(run.outcomes).map(([outcome, number]) => `${number} ${outcome}`).join(", ");
    const { icon, colour, words } = stateOf(run);
    item.id = run.run_id;
    item.description = [words, outcomes].filter(Boolean).join(" · ");
    item.iconPath = new vscode.ThemeIcon(icon, new vscode.ThemeColor(colour));
    item.tooltip = [run.run_id, words, outcomes, `by ${run.trigger}`, run.pipeline].filter(Boolean).join("\n");
    item.accessibilityInformation = { label: `run of ${item.label}, ${words}, ${outcomes}` };
    item.contextValue = "run";
    item.command = { command: "rocky.openRun", title: "Open the Run", arguments: [run] };
    return item;
  }
}

interface State {
  icon: string;
  colour: string;
  words: string;
}

// Statuses are those of the ledger.
function stateOf(run: PageRun): State {
  if (run.died) return { icon: "error", colour: "testing.iconFailed", words: "died" };
  const failed = { icon: "error", colour: "testing.iconFailed" };
  const states: Record<string, State> = {
    Running: { icon: "sync", colour: "charts.blue", words: "running" },
    PartialFailure: { ...failed, words: "failed in part" },
    Failure: { ...failed, words: "failed" },
    Interrupted: { ...failed, words: "interrupted" },
  };
  const found = states[run.status];
  if (found) return found;
  if (run.checks_failed) return { icon: "warning", colour: "list.warningForeground", words: `${counted(run.checks_failed, "check")} failed` };
  return { icon: "pass", colour: "testing.iconPassed", words: "succeeded" };
}
