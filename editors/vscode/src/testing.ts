// The Testing view: the tests that models declare, at the lines that declare them, each run by `rocky test` with its
// verdict taken from the report.
import { execFile } from "node:child_process";
import * as vscode from "vscode";
import type { PageIndex, PagePart } from "./reports";
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
  private index: PageIndex = { project: "", tables: [], runs: [] };
  private parts = new Map<number, Promise<PagePart>>();

  constructor() {
    this.controller.createRunProfile("Test", vscode.TestRunProfileKind.Run, (request, stop) => this.run(request, stop), true);
    // Where tests are declared is looked up when somebody looks at a model: there may be thousands.
    this.controller.resolveHandler = async (model) => {
      if (model && !model.parent) await this.resolve(model);
    };
  }

  serve(session: Session): void {
    this.session = session;
  }

  // Items are kept where they are still right: a verdict belongs to its item.
  show(index: PageIndex): void {
    this.index = index;
    this.parts.clear();
    const models = index.tables.filter((table) => table.kind === "model" && table.tests?.length);
    this.controller.items.replace(
      models.map((model) => {
        const item = this.item(this.controller.items, model.name, model.path);
        item.canResolveChildren = true;
        return item;
      }),
    );
    for (const [, item] of this.controller.items) if (item.children.size) void this.resolve(item);
  }

  // The tests of a model whose file is looked at have their marks beside their lines.
  lookAt(table: string | undefined): void {
    const model = table === undefined ? undefined : this.controller.items.get(table);
    if (model && !model.children.size) void this.resolve(model);
  }

  dispose(): void {
    this.controller.dispose();
  }

  private async resolve(model: vscode.TestItem): Promise<void> {
    const { session, index } = this;
    const place = index.tables.findIndex((table) => table.kind === "model" && table.name === model.id);
    const table = index.tables[place];
    if (!session || !table) return;
    const asked = this.parts.get(table.part) ?? session.ask<PagePart>("details", { part: String(table.part) });
    this.parts.set(table.part, asked);
    try {
      const tests = (await asked).tables[String(place)]?.tests ?? [];
      if (index !== this.index) return;
      model.error = undefined;
      model.children.replace(tests.map((test) => this.item(model.children, test.name, ...placeOf(test.place ?? table.path))));
    } catch (failure) {
      if (index === this.index) model.error = failure instanceof Error ? failure.message : String(failure);
    }
  }

  private item(among: vscode.TestItemCollection, name: string, path: string, line?: number): vscode.TestItem {
    const file = this.session && vscode.Uri.joinPath(this.session.project, path);
    const known = among.get(name);
    const item = known && known.uri?.toString() === file?.toString() ? known : this.controller.createTestItem(name, name, file);
    item.range = line === undefined ? undefined : new vscode.Range(line - 1, 0, line - 1, 0);
    return item;
  }

  // `rocky test` takes models, so of a chosen test its model's are run, and each has its verdict.
  private async run(request: vscode.TestRunRequest, stop: vscode.CancellationToken): Promise<void> {
    const chosen = request.include ?? [...this.controller.items].map(([, item]) => item);
    const models = new Set(chosen.filter((item) => !request.exclude?.includes(item)).map((item) => item.parent ?? item));
    const run = this.controller.createTestRun(request);
    for (const model of models) run.enqueued(model);
    await Promise.all([...models].filter((model) => !model.children.size).map((model) => this.resolve(model)));
    const tests = [...models].flatMap((model) => [...model.children].map(([, test]) => test));
    for (const test of tests) run.started(test);
    try {
      const results = await this.results([...models].map((item) => item.id), stop, (text) => run.appendOutput(text.replaceAll("\n", "\r\n")));
      for (const model of models) judge(run, model, results.filter((result) => result.model === model.id));
    } catch (failure) {
      const words = failure instanceof Error ? failure.message : String(failure);
      for (const test of tests.length ? tests : models) run.errored(test, new vscode.TestMessage(words));
    }
    run.end();
  }

  private results(models: string[], stop: vscode.CancellationToken, say: (text: string) => void): Promise<TestResult[]> {
    const { session } = this;
    if (!session) return Promise.reject(new Error("the project has no server"));
    return new Promise((resolve, reject) => {
      const child = execFile(
        session.program,
        // A model may be called like an option.
        ["test", "-o", "json", "--", ...models],
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

// `models/orders.toml:7`; without a line, the whole file.
function placeOf(place: string): [string, number?] {
  const found = /^(.*):(\d+)$/.exec(place);
  return found?.[1] === undefined ? [place] : [found[1], Number(found[2])];
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
  if (!result.failing_rows) return "failed";
  return result.failing_rows === 1 ? "1 row fails" : `${result.failing_rows} rows fail`;
}
