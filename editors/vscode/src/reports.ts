// What the server answers: the reports of Rocky's operations, as they are. Only fields that a view shows are named here.
import type { LanguageClient } from "vscode-languageclient/node";

export interface PageTable {
  name: string;
  kind: "source" | "seed" | "model" | "import" | "table";
  path: string;
  columns: string[];
  target?: string;
  strategy?: string;
  description?: string;
  tests?: string[];
  errors?: number;
  warnings?: number;
  outcome?: string;
}

export interface PageRun {
  run_id: string;
  status: string;
  died: boolean;
  started_at: string;
  duration_ms?: number;
  trigger: string;
  pipeline?: string;
  outcomes: Record<string, number>;
  checks_failed: number;
}

export interface PageIndex {
  project: string;
  branch?: string;
  tables: PageTable[];
  runs: PageRun[];
}

export interface Branches {
  branches: { name: string; created_at: string; created_by?: string }[];
}

export type Arguments = Record<string, string | string[]>;

// Something in the project changed: its files, git's HEAD or the ledger.
export const CHANGED = "rocky/changed";

export class Reports {
  constructor(private readonly client: LanguageClient) {}

  ask<Report>(name: string, given: Arguments = {}): Promise<Report> {
    return this.client.sendRequest<Report>("rocky/report", { name, arguments: given });
  }

  project(): Promise<PageIndex> {
    return this.ask<PageIndex>("project");
  }
}
