// The Testing view: the tests that models declare, each run by `rocky test` with its verdict taken from the report.
import { execFile } from "node:child_process";
import * as vscode from "vscode";
import type { PageIndex } from "./reports";
import type { Session } from "./session";

interface TestResult {
  model: string;
  name: string;
  passed: boolean;
  error: string | null;
  failing_rows?: number | null;
}

interface TestReport {
  unit_tests: TestResult[];
  data_tests: TestResult[];
  error?: { message: string };
}

export class TestsView {
  private readonly controller = vscode.tests.createTestController("rocky", "Rocky");
  private session: Session | undefined;

  constructor() {
    this.controller.createRunProfile("Test", vscode.TestRunProfileKind.Run, (request, stop) => this.run(request, stop), true);
  }

  serve(session: Session): void {
    this.session = session;
  }

  // Items are kept where they are still right: a verdict belongs to its item.
  show(index: PageIndex): void {
    const models = index.tables.filter((table) => table.kind === "model" && table.tests?.length);
    this.controller.items.replace(
      models.map((model) => {
        const item = this.item(this.controller.items, model.name, model.path);
        item.children.replace((model.tests ?? []).map((test) => this.item(item.children, test, model.path)));
        return item;
      }),
    );
  }

  dispose(): void {
    this.controller.dispose();
  }

  private item(among: vscode.TestItemCollection, name: string, path: string): vscode.TestItem {
    const file = this.session && vscode.Uri.joinPath(this.session.project, path);
    const known = among.get(name);
    if (known && known.uri?.toString() === file?.toString()) return known;
    return this.controller.createTestItem(name, name, file);
  }

  // `rocky test` takes models, so of a chosen test its model's are run, and each has its verdict.
  private async run(request: vscode.TestRunRequest, stop: vscode.CancellationToken): Promise<void> {
    const chosen = request.include ?? [...this.controller.items].map(([, item]) => item);
    const models = new Set(chosen.filter((item) => !request.exclude?.includes(item)).map((item) => item.parent ?? item));
    const run = this.controller.createTestRun(request);
    const tests = [...models].flatMap((model) => [...model.children].map(([, test]) => test));
    for (const test of tests) run.started(test);
    try {
      const results = await this.results([...models].map((item) => item.id), stop, (text) => run.appendOutput(text.replaceAll("\n", "\r\n")));
      for (const model of models) judge(run, model, results.filter((result) => result.model === model.id));
    } catch (failure) {
      for (const test of tests) run.errored(test, new vscode.TestMessage(failure instanceof Error ? failure.message : String(failure)));
    }
    run.end();
  }

  private results(models: string[], stop: vscode.CancellationToken, say: (text: string) => void): Promise<TestResult[]> {
    const { session } = this;
    if (!session) return Promise.reject(new Error("the project has no server"));
    return new Promise((resolve, reject) => {
      const child = execFile(
        session.program,
        ["test", ...models, "-o", "json"],
        { cwd: session.project.fsPath, maxBuffer: 64 * 1024 * 1024 },
        (failure, out, err) => {
          say(err);
          try {
            const report = JSON.parse(out) as TestReport;
            if (report.error) reject(new Error(report.error.message));
            else resolve([...report.unit_tests, ...report.data_tests]);
          } catch {
            reject(stop.isCancellationRequested ? new Error("stopped") : failure ?? new Error("`rocky test` gave no report"));
          }
        },
      );
      stop.onCancellationRequested(() => child.kill("SIGINT"));
    });
  }
}

function judge(run: vscode.TestRun, model: vscode.TestItem, results: TestResult[]): void {
  for (const [, test] of model.children) {
    const found = results.find((result) => result.name === test.id);
    if (!found) run.skipped(test);
    else if (found.passed) run.passed(test);
    else if (found.error) run.errored(test, new vscode.TestMessage(found.error));
    else run.failed(test, new vscode.TestMessage(wordsOf(found)));
  }
}

function wordsOf(result: TestResult): string {
  if (result.error) return result.error;
  return result.failing_rows ? `${result.failing_rows} rows fail` : "failed";
}
