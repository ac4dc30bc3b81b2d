// Commands: each takes the model that is named, chosen in a view, or edited.
import * as vscode from "vscode";
import type { LineageView } from "./lineage";
import type { PageIndex, PageTable } from "./reports";
import type { Terminal } from "./terminal";

type Chosen = string | { name: string } | undefined;

export class Commands {
  private tables: PageTable[] = [];

  constructor(
    private readonly project: vscode.Uri,
    private readonly terminal: Terminal,
    private readonly lineage: LineageView,
  ) {}

  show(index: PageIndex): void {
    this.tables = index.tables;
  }

  // The table whose file a document is: its query, its settings or its contract.
  tableOf(document: vscode.TextDocument | undefined): string | undefined {
    if (!document?.uri.path.startsWith(`${this.project.path}/`)) return undefined;
    const path = document.uri.path.slice(this.project.path.length + 1);
    const bare = (each: string): string => each.replace(/\.[^./]+$/, "");
    return this.tables.find((table) => table.path === path || bare(table.path) === bare(path))?.name;
  }

  register(): vscode.Disposable[] {
    const onModel = (name: string, ...words: string[]): vscode.Disposable =>
      vscode.commands.registerCommand(`rocky.${name}`, async (chosen?: Chosen) => {
        const model = await this.chosen(chosen);
        if (model) this.terminal.run(...words, model);
      });
    const plain = (name: string, ...words: string[]): vscode.Disposable =>
      vscode.commands.registerCommand(`rocky.${name}`, () => this.terminal.run(...words));
    return [
      onModel("run", "run"),
      onModel("show", "show"),
      onModel("test", "test"),
      onModel("emitSql", "emit-sql"),
      plain("runAll", "run"),
      plain("build", "build"),
      plain("plan", "plan"),
      plain("discover", "discover"),
      plain("compliance", "compliance"),
      plain("verify", "verify"),
      plain("page", "ui"),
      this.asking("diff", "Compare with which commit or branch of git?", "main", (base) => ["ci-diff", base]),
      this.asking("branch.create", "Name of the branch", "", (name) => ["branch", "create", name]),
      ...["diff", "approve", "promote"].map((act) =>
        vscode.commands.registerCommand(`rocky.branch.${act}`, async (chosen?: Chosen) => {
          const name = nameOf(chosen) ?? (await vscode.window.showInputBox({ prompt: "Name of the branch" }));
          if (name) this.terminal.run("branch", act, name);
        }),
      ),
      vscode.commands.registerCommand("rocky.lineage", async (chosen?: Chosen) => {
        const table = await this.chosen(chosen);
        await vscode.commands.executeCommand("rocky.lineage.focus");
        if (table) this.lineage.show(table);
      }),
      vscode.commands.registerCommand("rocky.open", (file: vscode.Uri) => vscode.window.showTextDocument(file)),
      vscode.commands.registerCommand("rocky.openRun", (run: string) => this.terminal.run("history", run)),
    ];
  }

  private asking(name: string, prompt: string, value: string, words: (said: string) => string[]): vscode.Disposable {
    return vscode.commands.registerCommand(`rocky.${name}`, async () => {
      const said = await vscode.window.showInputBox({ prompt, value });
      if (said) this.terminal.run(...words(said));
    });
  }

  private async chosen(chosen: Chosen): Promise<string | undefined> {
    const named = nameOf(chosen) ?? this.tableOf(vscode.window.activeTextEditor?.document);
    return named ?? vscode.window.showQuickPick(this.tables.filter((each) => each.kind === "model").map((each) => each.name));
  }
}

function nameOf(chosen: Chosen | vscode.Uri): string | undefined {
  if (typeof chosen === "string") return chosen;
  // The title of an editor hands over the address of its file.
  return chosen && "name" in chosen ? chosen.name : undefined;
}
