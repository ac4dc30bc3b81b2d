// The extension: finds the project and its server, starts it, and gives every view what the server reports.
import * as vscode from "vscode";
import { BranchesView } from "./branches";
import { Commands } from "./commands";
import { LineageView } from "./lineage";
import { type Branches, CHANGED, Reports } from "./reports";
import { RunsView } from "./runs";
import { findProject, findServer, makeClient, NoServer } from "./server";
import { Status } from "./status";
import { TablesView } from "./tables";
import { Terminal } from "./terminal";
import { TestsView } from "./testing";

const QUIET_MS = 300;

let stop: (() => Promise<void>) | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const output = vscode.window.createOutputChannel("Rocky", { log: true });
  const status = new Status();
  const restart = async (): Promise<void> => {
    await stop?.();
    stop = undefined;
    const project = await findProject();
    if (project) stop = await open(context.extensionUri, project, output, status);
    else status.say("$(circle-slash) Rocky", "No `rocky.toml` was found in this workspace.");
  };
  context.subscriptions.push(
    output,
    status,
    vscode.commands.registerCommand("rocky.restart", restart),
    vscode.commands.registerCommand("rocky.output", () => output.show()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("rocky.server")) void restart();
    }),
  );
  await restart();
}

export async function deactivate(): Promise<void> {
  await stop?.();
}

async function open(
  extension: vscode.Uri,
  project: vscode.Uri,
  output: vscode.LogOutputChannel,
  status: Status,
): Promise<(() => Promise<void>) | undefined> {
  let program: string;
  try {
    program = await findServer(project);
  } catch (failure) {
    if (!(failure instanceof NoServer)) throw failure;
    await tellMissing(failure, status);
    return undefined;
  }
  status.say("$(sync~spin) Rocky", "The project is being compiled.");
  const client = makeClient(program, project, output);
  await client.start();
  const views = new Views(extension, project, program, new Reports(client), status);
  client.onNotification(CHANGED, () => views.refreshSoon());
  await views.refresh();
  return async () => {
    views.dispose();
    await client.stop();
  };
}

async function tellMissing(failure: NoServer, status: Status): Promise<void> {
  status.say("$(error) Rocky", failure.message, "rocky.restart");
  const settings = "Open Settings";
  const again = "Look Again";
  const help = "Install it into the project's environment with `pip install rocky-spark`, or name it in the settings.";
  const answer = await vscode.window.showErrorMessage(`${failure.message} ${help}`, settings, again);
  if (answer === settings) await vscode.commands.executeCommand("workbench.action.openSettings", "rocky.server.path");
  if (answer === again) await vscode.commands.executeCommand("rocky.restart");
}

// Everything that shows reports, brought up to date together.
class Views {
  private readonly parts: vscode.Disposable[] = [];
  private readonly tables: TablesView;
  private readonly runs = new RunsView();
  private readonly branches = new BranchesView();
  private readonly tests: TestsView;
  private readonly lineage: LineageView;
  private readonly commands: Commands;
  private soon: NodeJS.Timeout | undefined;

  constructor(
    extension: vscode.Uri,
    project: vscode.Uri,
    program: string,
    private readonly reports: Reports,
    private readonly status: Status,
  ) {
    const terminal = new Terminal(program, project);
    this.tables = new TablesView(project);
    this.tests = new TestsView(program, project);
    this.lineage = new LineageView(extension, project, reports);
    this.commands = new Commands(project, terminal, this.lineage);
    this.parts.push(
      terminal,
      this.tests,
      vscode.window.registerTreeDataProvider("rocky.models", this.tables),
      vscode.window.registerTreeDataProvider("rocky.runs", this.runs),
      vscode.window.registerTreeDataProvider("rocky.branches", this.branches),
      vscode.window.registerWebviewViewProvider("rocky.lineage", this.lineage, { webviewOptions: { retainContextWhenHidden: true } }),
      vscode.commands.registerCommand("rocky.refresh", () => this.refresh()),
      vscode.window.onDidChangeActiveTextEditor((editor) => this.follow(editor)),
      ...this.commands.register(),
    );
  }

  refreshSoon(): void {
    clearTimeout(this.soon);
    this.soon = setTimeout(() => void this.refresh(), QUIET_MS);
  }

  async refresh(): Promise<void> {
    try {
      const [index, branches] = await Promise.all([this.reports.project(), this.reports.ask<Branches>("branches")]);
      this.tables.show(index);
      this.runs.show(index.runs);
      this.branches.show(branches.branches);
      this.tests.show(index);
      this.commands.show(index);
      this.status.show(index);
      this.lineage.changed();
      this.follow(vscode.window.activeTextEditor);
    } catch (failure) {
      const words = failure instanceof Error ? failure.message : String(failure);
      this.status.say("$(error) Rocky", words);
    }
  }

  dispose(): void {
    clearTimeout(this.soon);
    for (const part of this.parts) part.dispose();
  }

  private follow(editor: vscode.TextEditor | undefined): void {
    const table = this.commands.tableOf(editor?.document);
    void vscode.commands.executeCommand("setContext", "rocky.isModel", table !== undefined);
    if (table && vscode.workspace.getConfiguration("rocky").get("lineage.followCursor", true)) this.lineage.show(table);
  }
}
