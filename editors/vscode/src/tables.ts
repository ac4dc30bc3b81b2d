// The view of models: by folder, with sources and seeds beside them, and what the last run made of each.
import * as vscode from "vscode";
import type { PageIndex, PageTable } from "./reports";

type Node = { folder: string; tables: PageTable[] } | PageTable;

export class TablesView implements vscode.TreeDataProvider<Node> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private folders: { folder: string; tables: PageTable[] }[] = [];

  private project: vscode.Uri | undefined;

  show(index: PageIndex, project: vscode.Uri | undefined): void {
    this.project = project;
    const groups = new Map<string, PageTable[]>();
    for (const table of index.tables) {
      const folder = table.kind === "model" ? table.path.split("/").slice(0, -1).join("/") : `${table.kind}s`;
      groups.set(folder, [...(groups.get(folder) ?? []), table]);
    }
    this.folders = [...groups].map(([folder, tables]) => ({ folder, tables }));
    this.changed.fire();
  }

  getChildren(node?: Node): Node[] {
    if (!node) return this.folders;
    return "folder" in node ? node.tables : [];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    if ("folder" in node) {
      const item = new vscode.TreeItem(node.folder, vscode.TreeItemCollapsibleState.Expanded);
      item.id = `folder:${node.folder}`;
      item.description = String(node.tables.length);
      return item;
    }
    return this.tableItem(node);
  }

  private tableItem(table: PageTable): vscode.TreeItem {
    const item = new vscode.TreeItem(table.name);
    const state = stateOf(table);
    item.id = `${table.kind}:${table.name}`;
    item.description = [table.strategy, state.words].filter(Boolean).join(" · ");
    item.iconPath = new vscode.ThemeIcon(state.icon, state.colour ? new vscode.ThemeColor(state.colour) : undefined);
    item.tooltip = [table.description, table.target, counted(table.columns.length, "column")].filter(Boolean).join("\n");
    item.contextValue = table.kind === "model" ? "model" : "table";
    item.accessibilityInformation = { label: `${table.kind} ${table.name}${state.words ? `, ${state.words}` : ""}` };
    if (this.project) {
      item.command = { command: "rocky.open", title: "Open", arguments: [vscode.Uri.joinPath(this.project, table.path)] };
    }
    return item;
  }
}

interface State {
  icon: string;
  words?: string;
  colour?: string;
}

function stateOf(table: PageTable): State {
  if (table.errors) return { icon: "error", words: counted(table.errors, "error"), colour: "list.errorForeground" };
  if (table.outcome === "failed") return { icon: "error", words: "failed", colour: "list.errorForeground" };
  if (table.warnings) return { icon: "warning", words: counted(table.warnings, "warning"), colour: "list.warningForeground" };
  if (table.tests_failed) return { icon: "warning", words: `${counted(table.tests_failed, "test")} failed`, colour: "list.warningForeground" };
  if (table.kind !== "model") return { icon: table.kind === "seed" ? "file" : "database" };
  if (!table.outcome) return { icon: "circle-outline", words: "never built" };
  return { icon: "pass", words: table.outcome, colour: "testing.iconPassed" };
}

export function counted(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
