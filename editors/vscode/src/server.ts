// The server of a project is the `rocky` of that project's own environment: the one that will run it.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import * as vscode from "vscode";
import { LanguageClient, RevealOutputChannelOn } from "vscode-languageclient/node";
import { isProgram, onPath, PROGRAM } from "./programs";

const SCRIPTS = process.platform === "win32" ? "Scripts" : "bin";

const MOST = 50;

export class NoServer extends Error {}

// The folders of the workspace's projects: those that hold `rocky.toml`.
export async function findProjects(): Promise<vscode.Uri[]> {
  const found = new Map<string, vscode.Uri>();
  for (const folder of vscode.workspace.workspaceFolders ?? []) {
    for (const pattern of ["rocky.toml", "*/rocky.toml", "*/*/rocky.toml"]) {
      const files = await vscode.workspace.findFiles(new vscode.RelativePattern(folder, pattern), "**/{node_modules,.venv,venv}/**", MOST);
      for (const file of files.sort((a, b) => (a.path < b.path ? -1 : 1))) {
        const project = vscode.Uri.joinPath(file, "..");
        found.set(project.toString(), project);
      }
    }
  }
  return [...found.values()];
}

// The project that a file belongs to: the innermost, where one holds another.
export function projectOf(file: vscode.Uri | undefined, projects: vscode.Uri[]): vscode.Uri | undefined {
  const holding = projects.filter((project) => file?.scheme === project.scheme && file.path.startsWith(`${project.path}/`));
  return holding.sort((a, b) => b.path.length - a.path.length)[0];
}

export async function findServer(project: vscode.Uri): Promise<string> {
  const named = vscode.workspace.getConfiguration("rocky", project).get<string>("server.path", "");
  if (named) {
    const program = resolve(project.fsPath, named);
    if (isProgram(program)) return program;
    throw new NoServer(`\`rocky.server.path\` is ${named}, which is no program.`);
  }
  for (const folder of [...environments(project), ...(await chosenPython(project))]) {
    const program = join(folder, SCRIPTS, PROGRAM);
    if (isProgram(program)) return program;
  }
  const found = onPath(process.env.PATH ?? "");
  if (found) return found;
  throw new NoServer("No `rocky` was found in the project's `.venv`, in the chosen Python's environment or on the PATH.");
}

// Environments beside the project, and beside the folder that is open.
function environments(project: vscode.Uri): string[] {
  const opened = vscode.workspace.getWorkspaceFolder(project)?.uri.fsPath;
  const places = opened && opened !== project.fsPath ? [project.fsPath, opened] : [project.fsPath];
  return places.flatMap((place) => [join(place, ".venv"), join(place, "venv")]).filter((place) => existsSync(place));
}

interface PythonApi {
  environments?: { getActiveEnvironmentPath(resource: vscode.Uri): { path: string } };
}

async function chosenPython(project: vscode.Uri): Promise<string[]> {
  const python = vscode.extensions.getExtension<PythonApi>("ms-python.python");
  if (!python) return [];
  const api = python.isActive ? python.exports : await python.activate();
  const path = api.environments?.getActiveEnvironmentPath(project).path;
  // The path of an environment is that of its folder, or of its interpreter.
  return path ? [path, join(path, "..", "..")] : [];
}

export function makeClient(program: string, project: vscode.Uri, output: vscode.LogOutputChannel): LanguageClient {
  const server = { command: program, args: ["lsp"], options: { cwd: project.fsPath } };
  const below = new vscode.RelativePattern(project, "**/*.{sql,rocky,toml,py,csv}");
  // A folder may be called what a pattern would take for more than its name.
  const root = project.fsPath.replaceAll("\\", "/").replace(/[*?{}[\]]/g, "[$&]");
  return new LanguageClient("rocky", "Rocky", server, {
    documentSelector: ["sql", "rocky", "toml", "python", "plaintext"].map((language) => ({
      language,
      scheme: "file",
      pattern: `${root}/**/*`,
    })),
    workspaceFolder: { uri: project, name: "rocky", index: 0 },
    // Only then does the server run code of the project, to know its Python models.
    initializationOptions: { trusted: vscode.workspace.isTrusted },
    outputChannel: output,
    revealOutputChannelOn: RevealOutputChannelOn.Never,
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher(below) },
  });
}
