/**
 * Traces by OpenTelemetry: a span for every step, from when it was taken until it was durable, and one for every attempt of an activity,
 * in whose context the activity runs, so that what it calls is drawn below it.
 *
 * A run is one trace, whichever processes it lived in and however often it was resumed: its id follows from the run's name, and
 * whoever knows the name finds the trace (`traceIdOf`). Spans hang from a span that was never made and stands for the run, since no
 * process sees the whole of it.
 */
import { hash } from "node:crypto";
import {
  type Attributes,
  type Context,
  context,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { describeError } from "../core/describe-error.ts";
import type { Effect } from "../core/effect.ts";
import type { JsonObject } from "../core/json.ts";
import type { AttemptBegun, Observer } from "../runtime/observer.ts";
import type { RunHead, RunName } from "../store/records.ts";
import { placeOf, stepOf } from "./fields.ts";

export interface TraceOptions {
  /** What else the span of an attempt is to say, such as attributes of a model by their GenAI names. */
  readonly attributes?: (attempt: AttemptBegun) => Attributes;
}

/** Traces what happens in a runtime. The tracer is of whatever provider the application has set up. */
export function traces(tracer: Tracer, { attributes = () => ({}) }: TraceOptions = {}): Observer {
  return {
    committed({ head, steps }) {
      for (const step of steps) {
        const span = tracer.startSpan(
          `step ${step.event.type}`,
          {
            startTime: step.at,
            attributes: named({ ...placeOf(head), ...stepOf(step) }),
            links: linksOf(head, step.seq),
          },
          contextOf(head),
        );
        for (const effect of step.effects) span.addEvent(`effect ${effect.type}`, named(tellEffect(effect)));
        if (step.error !== undefined) fail(span, describeError(step.error));
        span.end();
      }
    },
    attempt(begun, go) {
      const around = contextOf(begun);
      const all = { attributes: { ...named({ ...begun }), ...attributes(begun) } };
      const span = tracer.startSpan(`activity ${begun.activity}`, all, around);
      return context.with(trace.setSpan(around, span), go).then(({ error, spent }) => {
        if (error !== undefined) fail(span, error);
        span.setAttributes(named({ tokens: spent?.tokens, cost: spent?.cost }));
        span.end();
      });
    },
    problem({ tenant, run, error }) {
      const about = { attributes: named({ tenant, run }) };
      const span = tracer.startSpan("problem", about, contextOf({ tenant, run }));
      fail(span, describeError(error));
      span.end();
    },
  };
}

/** The id of a run's trace. */
export function traceIdOf(name: RunName): string {
  return spanContextOf(name).traceId;
}

/** The span that stands for a run. */
function spanContextOf({ tenant, run }: RunName): SpanContext {
  const digest = hash("sha256", JSON.stringify([tenant, run]), "hex");
  return {
    traceId: digest.slice(0, 32),
    spanId: digest.slice(32, 48),
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  };
}

const contextOf = (name: RunName): Context => trace.setSpanContext(ROOT_CONTEXT, spanContextOf(name));

/** A run that another one started, or that was forked, begins with a link to that one. */
function linksOf({ tenant, parent, fork }: RunHead, seq: number): { readonly context: SpanContext }[] {
  const from = fork ?? parent;
  return seq > 1 + (fork?.seq ?? 0) || from === undefined
    ? []
    : [{ context: spanContextOf({ tenant, run: from.run }) }];
}

/** What an effect asks for, without its payload. */
function tellEffect(effect: Effect): Readonly<Record<string, string | number>> {
  switch (effect.type) {
    case "activity":
      return { key: effect.key, activity: effect.activity };
    case "spawn":
      return { key: effect.key, machine: effect.machine };
    case "timer":
      return { key: effect.key, due: effect.due };
    case "send":
      return { key: effect.key, event: effect.event.type };
    case "emit":
      return { event: effect.event.type };
    default:
      return {};
  }
}

/** What went wrong, as the browsers of traces show it. */
function fail(span: Span, { name, message }: JsonObject): void {
  span.setStatus({ code: SpanStatusCode.ERROR, message: String(message) });
  span.recordException({ name: String(name), message: String(message) });
}

/** Under Holdfast's own names; what is not there is left out. */
function named(
  fields: Readonly<Record<string, string | number | readonly string[] | undefined>>,
): Attributes {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [[`holdfast.${name}`, value as Attributes[string]]],
    ),
  );
}
