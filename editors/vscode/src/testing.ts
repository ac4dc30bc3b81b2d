// The Testing view: the tests that models declare, each run by `rocky test` with its verdict taken from the report.
import { execFile } from "node:child_process";
import * as vscode from "vscode";
import type { PageIndex } from "./reports";

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

  constructor(
    private readonly program: string,
    private readonly project: vscode.Uri,
  ) {
    this.controller.createRunProfile("Test", vscode.TestRunProfileKind.Run, (request, stop) => this.run(request, stop), true);
  }

  show(index: PageIndex): void {
    const models = index.tables.filter((table) => table.kind === "model" && table.tests?.length);
    this.controller.items.replace(
      models.map((model) => {
        const item = this.controller.createTestItem(model.name, model.name, vscode.Uri.joinPath(this.project, model.path));
        item.description = `${model.tests?.length} tests`;
        return item;
      }),
    );
  }

  dispose(): void {
    this.controller.dispose();
  }

  private async run(request: vscode.TestRunRequest, stop: vscode.CancellationToken): Promise<void> {
    const chosen = request.include ?? [...this.controller.items].map(([, item]) => item);
    const items = chosen.filter((item) => !request.exclude?.includes(item));
    const run = this.controller.createTestRun(request);
    for (const item of items) run.started(item);
    try {
      const results = await this.results(items.map((item) => item.id), stop, (text) => run.appendOutput(text.replaceAll("\n", "\r\n")));
      for (const item of items) {
        const own = results.filter((result) => result.model === item.id);
        const failed = own.filter((result) => !result.passed);
        if (failed.length) run.failed(item, failed.map((each) => new vscode.TestMessage(`${each.name}: ${wordsOf(each)}`)));
        else if (own.length) run.passed(item);
        else run.skipped(item);
      }
    } catch (failure) {
      for (const item of items) run.errored(item, new vscode.TestMessage(failure instanceof Error ? failure.message : String(failure)));
    }
    run.end();
  }

  private results(models: string[], stop: vscode.CancellationToken, say: (text: string) => void): Promise<TestResult[]> {
    return new Promise((resolve, reject) => {
      const child = execFile(
        this.program,
        ["test", ...models, "-o", "json"],
        { cwd: this.project.fsPath, maxBuffer: 64 * 1024 * 1024 },
        (failure, out, err) => {
          say(err);
          try {
            const report = JSON.parse(out) as TestReport;
            if (report.error) reject(new Error(report.error.message));
            else resolve([...report.unit_tests, ...report.data_tests]);
          } catch {
            reject(failure ?? new Error("`rocky test` gave no report"));
          }
        },
      );
      stop.onCancellationRequested(() => child.kill("SIGINT"));
    });
  }
}

function wordsOf(result: TestResult): string {
  if (result.error) return result.error;
  return result.failing_rows ? `${result.failing_rows} rows fail` : "failed";
}
