/** As much of graphile-worker's types as the bench uses, so that the project compiles where it is not installed. */

export class Logger {
  constructor(factory: () => () => void);
}

export interface Preset {
  readonly worker: {
    readonly connectionString: string;
    readonly maxPoolSize: number;
    readonly pollInterval: number;
    readonly concurrentJobs?: number;
    readonly localQueue?: { readonly size: number };
    readonly completeJobBatchDelay?: number;
    readonly failJobBatchDelay?: number;
    readonly logger: Logger;
  };
}

interface Client {
  query(text: string): Promise<{ readonly rows: readonly unknown[] }>;
}

export function runMigrations(options: { readonly preset: Preset }): Promise<void>;
export function makeWorkerUtils(options: { readonly preset: Preset }): Promise<{
  addJobs(jobs: readonly { readonly identifier: string; readonly payload: unknown }[]): Promise<unknown>;
  withPgClient<Answer>(work: (client: Client) => Promise<Answer>): Promise<Answer>;
  release(): Promise<void>;
}>;
export function run(options: {
  readonly preset: Preset;
  readonly taskList: Readonly<Record<string, (payload: unknown) => Promise<void>>>;
  readonly noHandleSignals: boolean;
}): Promise<{ stop(): Promise<void> }>;
