/** As much of Restate's types as the bench uses, so that the project compiles where it is not installed. */
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";

export interface Context {
  run<Answer>(name: string, step: () => Answer): Promise<Answer>;
}

export interface Service {
  readonly name: string;
}

export function service<Given>(description: {
  readonly name: string;
  readonly handlers: Readonly<Record<string, (context: Context, given: Given) => Promise<unknown>>>;
}): Service;

export function createEndpointHandler(options: {
  readonly services: readonly Service[];
  readonly logger: () => void;
}): (request: Http2ServerRequest, response: Http2ServerResponse) => void;

export interface Opts {
  readonly idempotencyKey?: string;
}
export const Opts: { from(options: { readonly idempotencyKey: string }): Opts };

export function connect(options: { readonly url: string }): {
  serviceClient<Client>(service: Service): Client;
};

export function restateBinary(): string;
