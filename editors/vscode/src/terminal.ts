// Commands that run something do so in a terminal, with the program that serves the editor: what runs can be read, and
// every gate is the command's. No shell is between: names of a project are arguments, whatever they are.
import * as vscode from "vscode";
import type { Session } from "./session";
import { argumentsOf, replacedIn, unlinked } from "./words";

export class Terminal {
  private session: Session | undefined;
  private why = "the project is still being compiled.";

  serve(session: Session): void {
    this.session = session;
  }

  unserved(why: string): void {
    this.session = undefined;
    this.why = why;
  }

  // `words` are of the command; `names` are the project's, or were typed, and are never options of it.
  run(words: string[], ...names: string[]): void {
    if (!this.session) {
      void vscode.window.showErrorMessage(unlinked(`Rocky: ${this.why}`));
      return;
    }
    const { program, project } = this.session;
    const all = argumentsOf(words, names);
    const replaced = replacedIn([program, project.fsPath, ...all]);
    if (replaced !== undefined) {
      void vscode.window.showErrorMessage(unlinked(`Rocky: the editor would put something else in the place of \`${replaced}\`. Run it in a terminal of your own.`));
      return;
    }
    const scope = vscode.workspace.getWorkspaceFolder(project) ?? vscode.TaskScope.Workspace;
    const execution = new vscode.ProcessExecution(program, all, { cwd: project.fsPath });
    const task = new vscode.Task({ type: "rocky", words: all }, scope, `rocky ${all.join(" ")}`, "rocky", execution, []);
    task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, panel: vscode.TaskPanelKind.Shared, focus: false, showReuseMessage: false };
    vscode.tasks.executeTask(task).then(undefined, (failure: Error) => vscode.window.showErrorMessage(unlinked(`Rocky: ${failure.message}`)));
  }
}
