/** As much of pg-boss's types as the bench uses, so that the project compiles where it is not installed. */

export class PgBoss {
  constructor(options: {
    readonly connectionString: string;
    readonly supervise: boolean;
    readonly schedule: boolean;
  });
  on(event: "error", listener: (error: unknown) => void): void;
  start(): Promise<unknown>;
  stop(options: { readonly graceful: boolean }): Promise<void>;
  createQueue(name: string): Promise<void>;
  insert(name: string, jobs: readonly { readonly data: object }[]): Promise<unknown>;
  fetch(
    name: string,
    options: { readonly batchSize: number },
  ): Promise<readonly { readonly id: string; readonly data: unknown }[]>;
  complete(name: string, ids: readonly string[]): Promise<unknown>;
  getDb(): { executeSql(text: string): Promise<{ readonly rows: readonly unknown[] }> };
}
