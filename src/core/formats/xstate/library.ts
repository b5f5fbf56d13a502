/** XState as far as the exporter uses it: the makers of its own actions, guards and actors. */
export interface XStateLibrary {
  readonly assign: Maker;
  readonly raise: Maker;
  readonly sendTo: Maker;
  readonly emit: Maker;
  readonly log: Maker;
  readonly cancel: Maker;
  readonly spawnChild: Maker;
  readonly stopChild: Maker;
  readonly enqueueActions: Maker;
  readonly and: Maker;
  readonly or: Maker;
  readonly not: Maker;
  readonly stateIn: Maker;
  readonly fromPromise: Maker;
  readonly createMachine: Maker;
}

type Maker = (...given: never[]) => unknown;
