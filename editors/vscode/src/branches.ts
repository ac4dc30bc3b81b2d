// The view of branches of the data. Approving and promoting are commands in the terminal, where their gates speak.
import * as vscode from "vscode";
import type { Branches } from "./reports";

type Branch = Branches["branches"][number];

export class BranchesView implements vscode.TreeDataProvider<Branch> {
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChangeTreeData = this.changed.event;
  private branches: Branch[] = [];

  show(branches: Branch[]): void {
    this.branches = branches;
    this.changed.fire();
  }

  getChildren(branch?: Branch): Branch[] {
    return branch ? [] : this.branches;
  }

  getTreeItem(branch: Branch): vscode.TreeItem {
    const item = new vscode.TreeItem(branch.name);
    item.id = branch.name;
    item.description = branch.created_by;
    item.iconPath = new vscode.ThemeIcon("git-branch");
    const made = new Date(branch.created_at).toLocaleString();
    item.tooltip = branch.created_by ? `made ${made} by ${branch.created_by}` : `made ${made}`;
    item.accessibilityInformation = { label: `branch ${branch.name}, ${item.tooltip}` };
    item.contextValue = "branch";
    return item;
  }
}
