// A session: one project, the program that serves it, and the talk with it. It knows when its server is too old.
import { execFile } from "node:child_process";
import * as vscode from "vscode";
import { type LanguageClient, State } from "vscode-languageclient/node";
import { type Arguments, CHANGED } from "./reports";
import { makeClient, NoServer } from "./server";

// The first version whose server answers `rocky/report`.
const NEEDED = "0.2.0";
const PATIENCE_MS = 20_000;

export class Session {
  private constructor(
    readonly project: vscode.Uri,
    readonly program: string,
    private readonly client: LanguageClient,
  ) {}

  // Raises NoServer, with the words for whoever sits in front of it.
  static async start(program: string, project: vscode.Uri, output: vscode.LogOutputChannel): Promise<Session> {
    const version = await versionOf(program);
    if (older(version, NEEDED)) throw new NoServer(`${program} is Rocky ${version}, and this extension needs ${NEEDED} or newer.`);
    output.info(`${program} is Rocky ${version}`);
    const client = makeClient(program, project, output);
    await client.start();
    return new Session(project, program, client);
  }

  ask<Report>(name: string, given: Arguments = {}): Promise<Report> {
    return this.client.sendRequest<Report>("rocky/report", { name, arguments: given });
  }

  // Something in the project changed: its files, git's HEAD or the ledger.
  onChange(act: () => void): void {
    this.client.onNotification(CHANGED, act);
  }

  // The client starts a server that died again, a few times; each end and each new start is told.
  onState(act: (running: boolean) => void): void {
    this.client.onDidChangeState((event) => {
      if (event.newState !== State.Starting) act(event.newState === State.Running);
    });
  }

  async stop(): Promise<void> {
    if (this.client.isRunning()) await this.client.stop();
    await this.client.dispose();
  }
}

function versionOf(program: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, ["--version"], { timeout: PATIENCE_MS }, (failure, out) => {
      const found = /^rocky (\d+\.\d+\S*)/m.exec(out)?.[1];
      if (found) resolve(found);
      else reject(new NoServer(`${program} is no Rocky that can be started: ${failure?.message.split("\n")[0] ?? "it does not say its version"}.`));
    });
  });
}

export function older(version: string, than: string): boolean {
  const [a, b] = [version, than].map((each) => each.split(".").map((part) => Number.parseInt(part, 10) || 0));
  for (let place = 0; place < 3; place += 1) {
    const difference = (a?.[place] ?? 0) - (b?.[place] ?? 0);
    if (difference) return difference < 0;
  }
  return false;
}
