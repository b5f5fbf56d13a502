/** As much of LangGraph's types as the bench uses, so that the project compiles where it is not installed. */

export const START: "__start__";
export const END: "__end__";

/** A state's description; what is in it is LangGraph's own. */
export interface StateDescription {
  readonly spec: object;
}

export const Annotation: {
  <Value>(options?: { reducer: (old: Value, more: Value) => Value; default: () => Value }): object;
  Root(channels: Readonly<Record<string, object>>): StateDescription;
};
export const MessagesAnnotation: StateDescription;

export class HumanMessage {
  readonly content: string;
  constructor(content: string);
}

export class Command {
  constructor(parts: { readonly goto: string });
}

export class SqliteSaver {
  readonly db: {
    pragma(text: string, options?: { readonly simple: boolean }): unknown;
    close(): void;
  };
  static fromConnString(path: string): SqliteSaver;
  protected setup(): void;
}

export interface GraphConfig {
  readonly configurable: { readonly thread_id: string };
  readonly durability?: "sync";
  readonly recursionLimit?: number;
  readonly interruptBefore?: readonly string[];
}

export interface Graph<State> {
  invoke(input: Partial<State> | Command | null, config: GraphConfig): Promise<State>;
  getState(config: GraphConfig): Promise<{ readonly values: State }>;
}

export class StateGraph<State> {
  constructor(state: StateDescription);
  addNode(name: string, node: (state: State, config: GraphConfig) => Partial<State>): this;
  addEdge(from: string, to: string): this;
  addConditionalEdges(
    from: string,
    route: (state: State, config: GraphConfig) => string,
    targets: readonly string[],
  ): this;
  compile(options: { readonly checkpointer: object }): Graph<State>;
}
