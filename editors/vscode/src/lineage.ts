// The lineage view: the page's own graph in a panel. It asks for reports by messages, because a webview reaches no server.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import * as vscode from "vscode";
import type { Arguments, Reports } from "./reports";

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
}

type Message = Question | Opening | { kind: "ready" };

export class LineageView implements vscode.WebviewViewProvider {
  private view: vscode.WebviewView | undefined;
  private wanted: string | undefined;

  constructor(
    private readonly extension: vscode.Uri,
    private readonly project: vscode.Uri,
    private readonly reports: Reports,
  ) {}

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    const page = vscode.Uri.joinPath(this.extension, "dist", "page");
    view.webview.options = { enableScripts: true, localResourceRoots: [page] };
    view.webview.html = this.document(view.webview, page);
    view.webview.onDidReceiveMessage((message: Message) => this.answer(view, message));
    view.onDidDispose(() => (this.view = undefined));
  }

  // The graph around a table, now or as soon as the view is open.
  show(table: string): void {
    this.wanted = table;
    void this.view?.webview.postMessage({ kind: "show", table });
  }

  changed(): void {
    void this.view?.webview.postMessage({ kind: "changed" });
  }

  private async answer(view: vscode.WebviewView, message: Message): Promise<void> {
    if (message.kind === "ask") await this.ask(view, message);
    else if (message.kind === "open") await this.open(message);
    else if (this.wanted) this.show(this.wanted);
  }

  private async ask(view: vscode.WebviewView, question: Question): Promise<void> {
    try {
      const report = await this.reports.ask(question.name, question.arguments);
      await view.webview.postMessage({ kind: "answer", id: question.id, report });
    } catch (failure) {
      const words = failure instanceof Error ? failure.message : String(failure);
      await view.webview.postMessage({ kind: "answer", id: question.id, failure: words });
    }
  }

  private async open(message: Opening): Promise<void> {
    const file = vscode.Uri.joinPath(this.project, message.path);
    // A path comes from the page, which shows names of the project: none may lead elsewhere.
    if (!file.path.startsWith(`${this.project.path}/`)) return;
    const line = Math.max(0, (message.line ?? 1) - 1);
    await vscode.window.showTextDocument(file, { selection: new vscode.Range(line, 0, line, 0) });
  }

  private document(webview: vscode.Webview, page: vscode.Uri): string {
    const at = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(page, name)).toString();
    const nonce = randomBytes(16).toString("hex");
    const scripts = [...pageScripts(page), "bridge.js"];
    const policy = `default-src 'none'; img-src ${webview.cspSource}; style-src ${webview.cspSource}; script-src 'nonce-${nonce}'`;
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
<div class="page"><main id="main" tabindex="-1"></main><footer class="foot" id="foot"></footer></div>
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
