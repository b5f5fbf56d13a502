/** As much of DBOS's types as the bench uses, so that the project compiles where it is not installed. */

export const DBOS: {
  setConfig(config: {
    readonly name: string;
    readonly systemDatabaseUrl: string;
    readonly logger: Readonly<Record<"info" | "debug" | "warn" | "error", (...said: unknown[]) => void>>;
  }): void;
  launch(): Promise<void>;
  shutdown(): Promise<void>;
  registerWorkflow<Given extends unknown[], Answer>(
    work: (...given: Given) => Promise<Answer>,
    config: { readonly name: string },
  ): (...given: Given) => Promise<Answer>;
  startWorkflow<Given extends unknown[], Answer>(
    workflow: (...given: Given) => Promise<Answer>,
    options: { readonly workflowID: string },
  ): (...given: Given) => Promise<{ getResult(): Promise<Answer> }>;
  runStep<Answer>(step: () => Promise<Answer>, config: { readonly name: string }): Promise<Answer>;
};
