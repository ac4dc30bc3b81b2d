// What the server answers: the reports of Rocky's operations, as they are. Only fields that a view shows are named here.

export interface PageTable {
  name: string;
  part: number;
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
  tests_failed?: number;
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

// Details of the tables of one part, by their places in the index.
export interface PagePart {
  tables: Record<string, { tests?: { name: string; place?: string }[] } | undefined>;
}

export interface Branches {
  branches: { name: string; created_at: string; created_by?: string }[];
}

export type Arguments = Record<string, string | string[]>;

// Something in the project changed: its files, git's HEAD or the ledger.
export const CHANGED = "rocky/changed";
