// Commands: each takes the model that is named, chosen in a view, or edited.
import * as vscode from "vscode";
import type { LineageView } from "./lineage";
import type { PageIndex, PageTable } from "./reports";
import type { Terminal } from "./terminal";

type Chosen = string | { name: string } | undefined;

export class Commands {
  private tables: PageTable[] = [];
  private project: vscode.Uri | undefined;
  private branches: string[] = [];

  constructor(
    private readonly terminal: Terminal,
    private readonly lineage: LineageView,
  ) {}

  show(index: PageIndex, branches: string[], project: vscode.Uri | undefined): void {
    this.tables = index.tables;
    this.branches = branches;
    this.project = project;
  }

  // The table whose file a document is: its query, its settings or its contract.
  tableOf(document: vscode.TextDocument | undefined): string | undefined {
    if (!document || !this.project || !document.uri.path.startsWith(`${this.project.path}/`)) return undefined;
    const path = document.uri.path.slice(this.project.path.length + 1);
    const bare = (each: string): string => each.replace(/\.[^./]+$/, "");
    const contract = /^contracts\/(?:.*\/)?([^/]+?)(?:\.contract)?\.toml$/.exec(path)?.[1];
    const models = this.tables.filter((table) => table.kind === "model");
    const found = models.find((table) => bare(table.path) === bare(path)) ?? this.tables.find((table) => table.path === path);
    return (found ?? models.find((table) => table.name === contract))?.name;
  }

  register(): vscode.Disposable[] {
    const onModel = (name: string, ...words: string[]): vscode.Disposable =>
      vscode.commands.registerCommand(`rocky.${name}`, async (chosen?: Chosen) => {
        const model = await this.chosen(chosen);
        if (model) this.terminal.run(words, model);
      });
    const plain = (name: string, ...words: string[]): vscode.Disposable =>
      vscode.commands.registerCommand(`rocky.${name}`, () => this.terminal.run(words));
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
      this.asking("diff", "Compare with which commit or branch of git?", "main", ["ci-diff"]),
      this.asking("branch.create", "Name of the branch", "", ["branch", "create"]),
      ...["diff", "approve", "promote"].map((act) =>
        vscode.commands.registerCommand(`rocky.branch.${act}`, async (chosen?: Chosen) => {
          const name = nameOf(chosen) ?? (await this.chosenBranch());
          if (name) this.terminal.run(["branch", act], name);
        }),
      ),
      vscode.commands.registerCommand("rocky.lineage", async (chosen?: Chosen) => {
        const table = await this.chosen(chosen);
        await vscode.commands.executeCommand("rocky.lineage.focus");
        if (table) this.lineage.show(table);
      }),
      vscode.commands.registerCommand("rocky.open", (file: vscode.Uri) => vscode.window.showTextDocument(file)),
      ...["history", "replay"].map((act) =>
        vscode.commands.registerCommand(act === "history" ? "rocky.openRun" : `rocky.${act}`, (run?: string | { run_id: string }) => {
          const named = typeof run === "string" ? run : run?.run_id;
          this.terminal.run([act], named ?? "latest");
        }),
      ),
      vscode.commands.registerCommand("rocky.copyRun", (run: { run_id: string }) => vscode.env.clipboard.writeText(run.run_id)),
      vscode.commands.registerCommand("rocky.walkthrough", () =>
        vscode.commands.executeCommand("workbench.action.openWalkthrough", "rocky-spark.rocky#first", false),
      ),
    ];
  }

  private asking(name: string, prompt: string, value: string, words: string[]): vscode.Disposable {
    return vscode.commands.registerCommand(`rocky.${name}`, async () => {
      const said = await vscode.window.showInputBox({ prompt, value });
      if (said) this.terminal.run(words, said);
    });
  }

  private async chosenBranch(): Promise<string | undefined> {
    if (this.branches.length) return vscode.window.showQuickPick(this.branches, { placeHolder: "Which branch of the tables?" });
    void vscode.window.showInformationMessage("Rocky: there is no branch of the tables yet.");
    return undefined;
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
