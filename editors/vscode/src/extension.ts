// The extension: finds the project and its server, starts it, and gives every view what the server reports.
// Views and commands are there from the start; without a server they say why there is none.
import * as vscode from "vscode";
import { BranchesView } from "./branches";
import { Commands } from "./commands";
import { LineageView } from "./lineage";
import type { Branches, PageIndex } from "./reports";
import { RunsView } from "./runs";
import { findProjects, findServer, NoServer, projectOf } from "./server";
import { Session } from "./session";
import { Status } from "./status";
import { TablesView } from "./tables";
import { Terminal } from "./terminal";
import { TestsView } from "./testing";
import { unlinked } from "./words";

const QUIET_MS = 300;

let rocky: Rocky | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  rocky = new Rocky(context);
  await rocky.open();
}

export async function deactivate(): Promise<void> {
  await rocky?.close();
}

class Rocky {
  private readonly output = vscode.window.createOutputChannel("Rocky", { log: true });
  private readonly status = new Status();
  private readonly terminal = new Terminal();
  private readonly tables = new TablesView();
  private readonly runs = new RunsView();
  private readonly branches = new BranchesView();
  private readonly tests = new TestsView();
  private readonly lineage: LineageView;
  private readonly commands: Commands;
  private session: Session | undefined;
  private projects: vscode.Uri[] = [];
  private changing: Promise<void> = Promise.resolve();
  private soon: NodeJS.Timeout | undefined;

  constructor(context: vscode.ExtensionContext) {
    this.lineage = new LineageView(context.extensionUri, this.terminal);
    this.commands = new Commands(this.terminal, this.lineage);
    const watch = vscode.workspace.createFileSystemWatcher("**/rocky.toml");
    const whenMissing = (): void => void (this.session || this.open());
    context.subscriptions.push(
      this.output,
      this.status,
      this.tests,
      watch,
      watch.onDidCreate(whenMissing),
      vscode.window.registerTreeDataProvider("rocky.models", this.tables),
      vscode.window.registerTreeDataProvider("rocky.runs", this.runs),
      vscode.window.registerTreeDataProvider("rocky.branches", this.branches),
      vscode.window.registerWebviewViewProvider("rocky.lineage", this.lineage, { webviewOptions: { retainContextWhenHidden: true } }),
      vscode.commands.registerCommand("rocky.restart", () => this.open()),
      vscode.commands.registerCommand("rocky.project", () => this.choose()),
      vscode.commands.registerCommand("rocky.output", () => this.output.show()),
      vscode.commands.registerCommand("rocky.refresh", () => this.refresh()),
      vscode.window.onDidChangeActiveTextEditor((editor) => this.follow(editor)),
      vscode.window.onDidChangeTextEditorSelection((event) => this.point(event.textEditor)),
      vscode.workspace.onDidChangeWorkspaceFolders(() => this.open()),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("rocky.server")) void this.open();
      }),
      ...this.commands.register(),
    );
  }

  // Start anew: with a project that is named, else that of the file that is edited, else the first.
  // One after another, because a setting may change while a server starts.
  open(project?: vscode.Uri): Promise<void> {
    this.changing = this.changing.then(() => this.start(project)).catch((failure) => this.tellMissing(wordsOf(failure)));
    return this.changing;
  }

  async close(): Promise<void> {
    clearTimeout(this.soon);
    const ending = this.session;
    this.session = undefined;
    await ending?.stop();
  }

  private async start(wanted?: vscode.Uri): Promise<void> {
    await this.close();
    this.projects = await findProjects();
    const edited = projectOf(vscode.window.activeTextEditor?.document.uri, this.projects);
    const project = wanted ?? edited ?? this.projects[0];
    if (!project) {
      this.unserved("No `rocky.toml` was found in this workspace.");
      this.status.say("$(circle-slash) Rocky", "No `rocky.toml` was found in this workspace.");
      return;
    }
    this.status.say("$(sync~spin) Rocky", "The project is being compiled.");
    const session = await Session.start(await findServer(project), project, this.output);
    this.session = session;
    this.terminal.serve(session);
    this.tests.serve(session);
    this.lineage.serve(session);
    session.onChange(() => this.refreshSoon());
    session.onState((running) => this.tellState(session, running));
    await this.refresh();
  }

  private tellState(session: Session, running: boolean): void {
    if (session !== this.session) return;
    if (running) {
      void vscode.window.showWarningMessage("Rocky's server ended and was started again.");
      this.refreshSoon();
    } else {
      this.status.say("$(error) Rocky stopped", "The server ended. Press to start it again.", "rocky.restart", true);
    }
  }

  private unserved(words: string): void {
    this.terminal.unserved(words);
    this.lineage.unserved(words);
    this.show({ project: "", tables: [], runs: [] }, []);
  }

  private async tellMissing(failure: string): Promise<void> {
    this.output.error(failure);
    this.unserved(failure);
    this.status.say("$(error) Rocky", failure, "rocky.restart", true);
    const settings = "Open Settings";
    const again = "Look Again";
    const help = "Install it into the project's environment, or name it in the setting `rocky.server.path`.";
    // Nobody waits for the answer: it may never come.
    void vscode.window.showErrorMessage(unlinked(`Rocky: ${failure} ${help}`), settings, again).then((answer) => {
      if (answer === settings) void vscode.commands.executeCommand("workbench.action.openSettings", "rocky.server.path");
      if (answer === again) void this.open();
    });
  }

  private refreshSoon(): void {
    clearTimeout(this.soon);
    this.soon = setTimeout(() => void this.refresh(), QUIET_MS);
  }

  private async refresh(): Promise<void> {
    const session = this.session;
    if (!session) return;
    try {
      const [index, branches] = await Promise.all([session.ask<PageIndex>("project"), session.ask<Branches>("branches")]);
      if (session !== this.session) return;
      this.show(index, branches.branches);
      this.status.show(index, this.projects.length > 1);
      this.lineage.changed();
      this.follow(vscode.window.activeTextEditor);
    } catch (failure) {
      if (session === this.session) this.status.say("$(error) Rocky", wordsOf(failure), "rocky.output", true);
    }
  }

  private show(index: PageIndex, branches: Branches["branches"]): void {
    const project = this.session?.project;
    this.tables.show(index, project);
    this.runs.show(index.runs);
    this.branches.show(branches);
    this.tests.show(index);
    this.commands.show(
      index,
      branches.map((branch) => branch.name),
      project,
    );
  }

  private follow(editor: vscode.TextEditor | undefined): void {
    const project = projectOf(editor?.document.uri, this.projects);
    if (project && this.session && project.toString() !== this.session.project.toString()) {
      void this.open(project);
      return;
    }
    const table = this.commands.tableOf(editor?.document);
    void vscode.commands.executeCommand("setContext", "rocky.isModel", table !== undefined);
    this.tests.lookAt(table);
    this.point(editor);
  }

  // The lineage of the model that is edited, and of its column that the cursor is on.
  private point(editor: vscode.TextEditor | undefined): void {
    const table = this.commands.tableOf(editor?.document);
    if (!editor || !table || !vscode.workspace.getConfiguration("rocky").get("lineage.followCursor", true)) return;
    const at = editor.selection.active;
    const range = editor.document.getWordRangeAtPosition(at, /\w+/);
    this.lineage.show(table, range && editor.document.getText(range));
  }

  private async choose(): Promise<void> {
    const places = this.projects.map((project) => ({ label: vscode.workspace.asRelativePath(project, true), project }));
    const chosen = await vscode.window.showQuickPick(places, { placeHolder: "The project whose server runs" });
    if (chosen) await this.open(chosen.project);
  }
}

function wordsOf(failure: unknown): string {
  if (failure instanceof NoServer) return failure.message;
  return failure instanceof Error ? failure.message : String(failure);
}
