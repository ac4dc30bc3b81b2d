// The lineage view: the page's own graph in a panel. It asks for reports by messages, because a webview reaches no server.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import * as vscode from "vscode";
import type { Arguments } from "./reports";
import type { Session } from "./session";
import type { Terminal } from "./terminal";

interface Question {
  kind: "ask";
  id: number;
  name: string;
  arguments: Arguments;
}

interface Opening {
  kind: "open";
  path: string;
  line?: number;
  column?: string;
}

type Message =
  | Question
  | Opening
  | { kind: "ready" }
  | { kind: "run"; run: string }
  | { kind: "command"; words: string[] }
  | { kind: "save"; name: string; text: string };

// What an overlay names as the command that says more. The page shows texts of the project: it may ask for no other.
const COMMANDS = new Set(["drift", "ci-diff", "replay", "compliance"]);

export class LineageView implements vscode.WebviewViewProvider {
  private view: vscode.WebviewView | undefined;
  private wanted: { table: string; column?: string } | undefined;
  private session: Session | undefined;
  private why = "The project is still being compiled.";

  constructor(
    private readonly extension: vscode.Uri,
    private readonly terminal: Terminal,
  ) {}

  // Another server, maybe of another project: what is shown is asked for again.
  serve(session: Session): void {
    this.session = session;
    this.wanted = undefined;
    this.changed();
  }

  unserved(why: string): void {
    this.session = undefined;
    this.why = why;
    void this.view?.webview.postMessage({ kind: "stopped", words: why });
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    const page = vscode.Uri.joinPath(this.extension, "dist", "page");
    view.webview.options = { enableScripts: true, localResourceRoots: [page] };
    view.webview.html = this.document(view.webview, page);
    view.webview.onDidReceiveMessage((message: Message) => this.answer(view, message));
    view.onDidDispose(() => (this.view = undefined));
  }

  // The graph around a table, now or as soon as the view is open, and one of its columns.
  show(table: string, column?: string): void {
    if (this.wanted?.table === table && this.wanted.column === column) return;
    this.wanted = { table, column };
    this.post();
  }

  changed(): void {
    void this.view?.webview.postMessage({ kind: "changed" });
  }

  private post(): void {
    if (this.wanted) void this.view?.webview.postMessage({ kind: "show", ...this.wanted });
  }

  private async answer(view: vscode.WebviewView, message: Message): Promise<void> {
    if (message.kind === "ask") await this.ask(view, message);
    else if (message.kind === "open") await this.open(message);
    else if (message.kind === "run") this.terminal.run(["history"], message.run);
    else if (message.kind === "command" && COMMANDS.has(message.words[0] ?? "")) this.terminal.run(message.words.slice(0, 1));
    else if (message.kind === "save") await this.save(message.name, message.text);
    else if (message.kind === "ready") this.post();
  }

  private async ask(view: vscode.WebviewView, question: Question): Promise<void> {
    try {
      if (!this.session) throw new Error(this.why);
      const report = await this.session.ask(question.name, question.arguments);
      await view.webview.postMessage({ kind: "answer", id: question.id, report });
    } catch (failure) {
      const words = failure instanceof Error ? failure.message : String(failure);
      await view.webview.postMessage({ kind: "answer", id: question.id, failure: words });
    }
  }

  private async open(message: Opening): Promise<void> {
    const project = this.session?.project;
    if (!project) return;
    const file = vscode.Uri.joinPath(project, message.path);
    // A path comes from the page, which shows names of the project: none may lead elsewhere.
    if (!file.path.startsWith(`${project.path}/`)) return;
    // The view follows what it opened itself; a column that was chosen in it stays chosen.
    const line = Math.max(0, (message.line ?? 1) - 1);
    const found = message.column ? await columnIn(file, message.column) : undefined;
    await vscode.window.showTextDocument(file, { selection: found ?? new vscode.Range(line, 0, line, 0) });
  }

  private async save(name: string, text: string): Promise<void> {
    const folder = this.session?.project;
    if (!folder) return;
    const chosen = await vscode.window.showSaveDialog({
      defaultUri: vscode.Uri.joinPath(folder, name.replace(/[\\/]/g, "-")),
      filters: { "SVG pictures": ["svg"] },
    });
    if (chosen) await vscode.workspace.fs.writeFile(chosen, Buffer.from(text, "utf8"));
  }

  private document(webview: vscode.Webview, page: vscode.Uri): string {
    const at = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(page, name)).toString();
    const nonce = randomBytes(16).toString("hex");
    const scripts = [...pageScripts(page), "bridge.js"];
    const policy = `default-src 'none'; img-src ${webview.cspSource}; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'`;
    return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${at("rocky.css")}">
<link rel="stylesheet" href="${at("embedded.css")}">
${scripts.map((name, place) => `<script nonce="${nonce}" src="${at(name)}"${place ? " defer" : ""}></script>`).join("\n")}
</head>
<body class="embedded">
<a class="skip" href="#main">Skip to the content</a>
<header class="bar" id="bar"></header>
<div class="frame">
<nav class="side" id="side" aria-label="Tables"></nav>
<div class="page"><nav aria-label="Way back"><a id="back" href="#">Back to the lineage</a></nav><main id="main" tabindex="-1"></main><footer class="foot" id="foot"></footer></div>
</div>
</body>
</html>`;
  }
}

// The page's own list of its scripts; its records come by messages.
function pageScripts(page: vscode.Uri): string[] {
  const text = readFileSync(vscode.Uri.joinPath(page, "index.html").fsPath, "utf8");
  return [...text.matchAll(/<script src="([\w.-]+)"/g)].map((found) => found[1] ?? "");
}

// Where a file names a column: the server's outline of it says so.
async function columnIn(file: vscode.Uri, column: string): Promise<vscode.Range | undefined> {
  await vscode.workspace.openTextDocument(file);
  const outline = await vscode.commands.executeCommand<vscode.DocumentSymbol[] | undefined>("vscode.executeDocumentSymbolProvider", file);
  const all = (symbols: vscode.DocumentSymbol[]): vscode.DocumentSymbol[] => symbols.flatMap((each) => [each, ...all(each.children ?? [])]);
  return all(outline ?? []).find((each) => each.name.toLowerCase() === column.toLowerCase())?.selectionRange;
}
