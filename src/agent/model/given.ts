/** What `defineAgent` takes for a model: a function, or a model of the AI SDK, for which that package is loaded when it is asked. */
import { HoldfastError } from "../../errors.ts";
import type { Model } from "./model.ts";

/** A model of the AI SDK, as far as it can be told from other things. */
export interface SdkModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
}

export type GivenModel = Model | SdkModel;

export function modelOf(agent: string, given: GivenModel): Model {
  if (typeof given === "function") return given;
  if (typeof Object(given).specificationVersion !== "string") {
    throw new HoldfastError(
      "AGENT_INVALID",
      `The agent ${JSON.stringify(agent)} has no model that can be asked: give one of the AI SDK, or a function`,
    );
  }
  return async (request, scope) => (await import("./ai-sdk.ts")).askSdk(given as never, request, scope);
}
