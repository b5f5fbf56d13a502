/**
 * Machines as SCXML documents. https://www.w3.org/TR/scxml/
 * Structure, targets, histories and actions that are data are written as they are; functions and what SCXML has no word
 * for are noted. A document that needs no expressions is one of the null data model.
 */
import type { StateNode } from "../../chart.ts";
import type { Guard, MachineDefinition, StateDefinition } from "../../definition.ts";
import { durationMs } from "../../duration.ts";
import { doneInvokeType } from "../../event.ts";
import type { Machine } from "../../machine.ts";
import { specificity } from "../../policy.ts";
import { resolveTarget } from "../../target.ts";
import type { AnyMachine } from "../any-machine.ts";
import { type Note, Notes } from "../note.ts";
import {
  conditionOf,
  contentOf,
  dataItems,
  dataOf,
  expressionOf,
  never,
  payloadOf,
  unsupported,
} from "./export-content.ts";
import { delaysOf, type Handler, handlers, inputOf, invokesOf, isActing } from "./export-handler.ts";
import { DocumentNames } from "./export-names.ts";
import { type ExportScope, type ExportTopic, exportTopics } from "./export-scope.ts";
import { type Markup, markup, writeMarkup } from "./markup.ts";
import { isScxmlSource } from "./source.ts";

type Parts = Readonly<Record<string, unknown>>;

export interface ScxmlExport {
  readonly text: string;
  readonly notes: readonly Note[];
}

/** The machine as an SCXML document, and notes of everything that could not be written. */
export function toScxml(machine: AnyMachine): ScxmlExport {
  const scope = new Export(machine as Machine);
  const document = scope.document();
  return {
    text: `<?xml version="1.0" encoding="UTF-8"?>\n${writeMarkup(document)}`,
    notes: scope.notes.list,
  };
}

class Export extends DocumentNames implements ExportScope {
  readonly notes = new Notes<ExportTopic>(exportTopics);
  #expressions = false;

  needExpressions(): void {
    this.#expressions = true;
  }

  child(name: string): Markup | undefined {
    const child = this.machine.machines[name] as Machine | undefined;
    if (child?.chart === undefined) return undefined;
    const inner = new Export(child);
    const document = inner.document();
    for (const { path, topic, note } of inner.notes.list)
      this.notes.list.push({ path: `${name} → ${path}`, topic, note });
    return document;
  }

  document(): Markup {
    const { definition, chart } = this.machine;
    this.#noteMachine(definition);
    const data = dataOf(definition.start, this);
    const parallel = chart.root.kind === "parallel";
    if (parallel) this.notes.add("", "parallel-root");
    const inside = parallel
      ? [markup("parallel", { id: this.rootId }, this.#inside(chart.root, definition, ""))]
      : this.#inside(chart.root, definition, "");
    const start = parallel ? {} : this.#initialAttribute(chart.root, definition);
    return markup(
      "scxml",
      {
        xmlns: "http://www.w3.org/2005/07/scxml",
        version: "1.0",
        name: this.machine.id,
        ...start,
        datamodel: this.#expressions ? "ecmascript" : "null",
        binding: chart.nodes.some(({ declare }) => declare !== undefined) ? "late" : undefined,
      },
      [...data, ...inside],
    );
  }

  /** What stands inside a state: where it begins, what it does, what it listens to, and its states. */
  #inside(node: StateNode, state: StateDefinition, at: string): Markup[] {
    const place = (key: string) => (at === "" ? key : `${at}.${key}`);
    this.#noteState(node, state, at);
    const isRoot = node.parent === undefined;
    const timers = isRoot ? [] : this.#timers(node, state, place("after"));
    const states = [...node.children, ...node.histories].sort((one, other) => one.index - other.index);
    return [
      ...this.#bound(state, place("data")),
      ...this.#initialElement(node, state, place("initial")),
      ...(isRoot ? [] : this.#blocks("onentry", state.entry, place("entry"))),
      ...(timers.length === 0
        ? []
        : [
            markup(
              "onentry",
              {},
              timers.map(({ start }) => start),
            ),
          ]),
      ...(isRoot ? [] : this.#blocks("onexit", state.exit, place("exit"))),
      ...(timers.length === 0
        ? []
        : [
            markup(
              "onexit",
              {},
              timers.map(({ stop }) => stop),
            ),
          ]),
      ...this.#transitions(node, state, at),
      ...(isRoot ? [] : this.#invokes(node, state, place("invoke"))),
      ...(node.kind === "final" && state.output !== undefined
        ? [markup("donedata", {}, payloadOf(state.output, place("output"), this))]
        : []),
      ...states.map((child) =>
        this.#state(child, state.states?.[child.key] as StateDefinition, place(`states.${child.key}`)),
      ),
    ];
  }

  #state(node: StateNode, state: StateDefinition, at: string): Markup {
    const id = this.idOf(node);
    if (node.kind !== "history") {
      const tag = node.kind === "parallel" || node.kind === "final" ? node.kind : "state";
      const attributes = { id, ...this.#initialAttribute(node, state) };
      return markup(tag, attributes, this.#inside(node, state, at));
    }
    const content = this.#work(state as Parts, at);
    const target = this.#ids(node.initial?.targets ?? []);
    return markup("history", { id, type: node.deep ? "deep" : "shallow" }, [
      markup("transition", { target }, content),
    ]);
  }

  #ids(nodes: readonly StateNode[]): string {
    return nodes.map((node) => this.idOf(node)).join(" ");
  }

  /** The attribute is enough where nothing happens on the way. */
  #initialAttribute(node: StateNode, { initial }: StateDefinition): { readonly initial?: string } {
    if (node.kind !== "compound" || isActing(initial)) return {};
    return { initial: this.#ids(node.initial?.targets ?? []) };
  }

  #initialElement(node: StateNode, { initial }: StateDefinition, at: string): Markup[] {
    if (node.kind !== "compound" || !isActing(initial)) return [];
    const target = this.#ids(node.initial?.targets ?? []);
    return [markup("initial", {}, [markup("transition", { target }, this.#work(initial as Parts, at))])];
  }

  #bound({ data }: StateDefinition, at: string): Markup[] {
    if (data === undefined) return [];
    if (!isScxmlSource(data) || data.scxml !== "bind") {
      this.notes.add(at, "model");
      return [];
    }
    return [markup("datamodel", {}, dataItems(data.data, at, this))];
  }

  /** A list of lists is a list of blocks, and each block is a handler of its own. */
  #blocks(tag: string, blocks: unknown, at: string): Markup[] {
    const many =
      Array.isArray(blocks) && blocks.length > 0 && blocks.every(Array.isArray) ? blocks : [blocks];
    return many.flatMap((block, index) => {
      const content = contentOf(block, many.length > 1 ? `${at}[${index}]` : at, this);
      return content.length === 0 ? [] : [markup(tag, {}, content)];
    });
  }

  #work(parts: Parts, at: string): Markup[] {
    if (parts.update !== undefined) this.notes.add(`${at}.update`, "function");
    return contentOf(parts.actions, `${at}.actions`, this);
  }

  /** Every transition of a state, in the order in which they are tried. */
  #transitions(node: StateNode, state: StateDefinition, at: string): Markup[] {
    const place = (key: string) => (at === "" ? key : `${at}.${key}`);
    const listed = this.#listed(node, state, place);
    const rank = (one: Handler) => (one.events[0] === undefined ? 0 : specificity(one.events[0]));
    if (!Array.isArray(state.on)) listed.sort((one, other) => rank(other) - rank(one));
    const always = handlers([], state.always, place("always"));
    return [...listed, ...always].map((handler) => this.#transition(node, handler));
  }

  #listed(node: StateNode, state: StateDefinition, place: (key: string) => string): Handler[] {
    const { on } = state;
    const own = Array.isArray(on)
      ? (on as readonly Parts[]).flatMap((handler, index) =>
          handlers(
            [handler.event].flat().flatMap((one) => String(one).trim().split(/\s+/)),
            handler,
            `${place("on")}[${index}]`,
          ),
        )
      : Object.entries(on ?? {}).flatMap(([key, given]) => handlers([key], given, place(`on.${key}`)));
    const done =
      node.parent === undefined ? [] : handlers([`done.state.${node.name}`], state.onDone, place("onDone"));
    const settled = this.#settled(node, state, place("invoke"));
    const delayed =
      node.parent === undefined
        ? []
        : delaysOf(state).flatMap(({ given }, index) =>
            handlers([this.timerName(node, index)], given, `${place("after")}[${index}]`),
          );
    return [...own, ...done, ...settled, ...delayed];
  }

  #settled(node: StateNode, state: StateDefinition, at: string): Handler[] {
    return invokesOf(state, node).flatMap(({ parts, id }) => {
      if (parts.machine === undefined) return [];
      for (const key of ["onError", "onUnknown"])
        if (parts[key] !== undefined) this.notes.add(`${at}.${key}`, "activity");
      return handlers([doneInvokeType(id)], parts.onDone, `${at}.onDone`);
    });
  }

  #transition(node: StateNode, { events, parts, at }: Handler): Markup {
    if ((parts.require ?? parts.ensure) !== undefined) this.notes.add(at, "contract");
    const event = events.map((key) => this.keyOf(key)).join(" ");
    return markup(
      "transition",
      {
        event: event === "" ? undefined : event,
        cond: this.#condition(events, parts, at),
        ...this.#route(node, parts, at),
      },
      [...this.#work(parts, at), ...this.#restart(node, parts, at)],
    );
  }

  /** An exact key says so where the machine itself speaks of longer events. */
  #condition(events: readonly string[], parts: Parts, at: string): string | undefined {
    const [only] = events;
    const exact = this.chart.matching === "exact" && only !== undefined && !only.endsWith("*");
    const conditions: string[] = [];
    if (exact && this.isExtended(only)) {
      this.needExpressions();
      conditions.push(`_event.name === ${JSON.stringify(this.keyOf(only))}`);
    }
    if (parts.guard !== undefined) {
      const written = conditionOf(parts.guard as Guard, `${at}.guard`, this);
      if (written === undefined) this.notes.add(at, "guard");
      conditions.push(written ?? never(this));
    }
    if (conditions.length < 2) return conditions[0];
    return conditions.map((one) => `(${one})`).join(" && ");
  }

  #targets(node: StateNode, parts: Parts): StateNode[] {
    return [parts.target].flat().flatMap((name) => {
      const found = typeof name === "string" ? resolveTarget(name, node, this.chart) : undefined;
      return found === undefined ? [] : [found];
    });
  }

  #route(node: StateNode, parts: Parts, at: string): { readonly target?: string; readonly type?: string } {
    const targets = this.#targets(node, parts);
    if (targets.length === 0) return {};
    if (!staysIn(node, targets, parts)) return { target: this.#ids(targets) };
    if (node.kind === "atomic") return {};
    if (node.kind === "parallel") this.notes.add(at, "parallel-inside");
    if (!targets.includes(node)) return { target: this.#ids(targets), type: "internal" };
    if (node.kind === "parallel") return { target: this.#ids(targets) };
    return { target: this.#ids(node.initial?.targets ?? []), type: "internal" };
  }

  /** A state that is its own target starts inside again, with what its initial transition does. */
  #restart(node: StateNode, parts: Parts, at: string): Markup[] {
    const targets = this.#targets(node, parts);
    if (node.kind !== "compound" || !targets.includes(node) || !staysIn(node, targets, parts)) return [];
    const { initial } = this.definitionOf(node);
    return isActing(initial) ? this.#work(initial as Parts, at) : [];
  }

  /** SCXML has no delayed transitions: an event is sent on entry, and cancelled on exit. */
  #timers(node: StateNode, state: StateDefinition, at: string): { start: Markup; stop: Markup }[] {
    return delaysOf(state).map(({ delay, given }, index) => {
      const event = this.timerName(node, index);
      const constant = typeof delay === "number" || typeof delay === "string";
      if (!constant) this.notes.add(`${at}[${index}]`, "delay");
      if ((given as Parts).resume !== undefined) this.notes.add(`${at}[${index}]`, "resume");
      const wait = constant ? `${durationMs(delay)}ms` : "0ms";
      return {
        start: markup("send", { event, id: event, delay: wait }),
        stop: markup("cancel", { sendid: event }),
      };
    });
  }

  #invokes(node: StateNode, state: StateDefinition, at: string): Markup[] {
    return invokesOf(state, node).flatMap(({ parts, id }, index) => {
      const place = index === 0 ? at : `${at}[${index}]`;
      if (parts.machine === undefined) {
        this.notes.add(place, "activity");
        return [];
      }
      const { attributes, content } = this.#source(parts.machine, place);
      const location = (parts.idLocation as { readonly text?: string } | undefined)?.text;
      const named = location === undefined ? { id } : { idlocation: location };
      const autoforward = parts.autoforward === true ? "true" : undefined;
      const finalize =
        parts.finalize === undefined ? [] : [markup("finalize", {}, contentOf(parts.finalize, place, this))];
      const input = inputOf(parts.input, place, this);
      return [
        markup("invoke", { ...named, ...attributes, autoforward }, [...input, ...finalize, ...content]),
      ];
    });
  }

  /** What is invoked: a document inside this one, or how to find it. */
  #source(
    machine: unknown,
    at: string,
  ): { attributes: Record<string, string | undefined>; content: Markup[] } {
    if (isScxmlSource(machine)) {
      if (machine.scxml !== "machine") return { attributes: { src: "none", type: unsupported }, content: [] };
      const typeexpr = machine.type === undefined ? undefined : expressionOf(machine.type, at, this);
      const { name } = machine;
      const inside = name.scxml === "constant" ? this.child(String(name.value)) : undefined;
      if (inside !== undefined)
        return { attributes: { typeexpr }, content: [markup("content", {}, [inside])] };
      return { attributes: { srcexpr: expressionOf(name, at, this), typeexpr }, content: [] };
    }
    const name = typeof machine === "object" && machine !== null ? (machine as Parts).id : machine;
    const document = typeof name === "string" ? this.child(name) : undefined;
    if (document !== undefined) return { attributes: {}, content: [markup("content", {}, [document])] };
    this.notes.add(at, "child");
    return { attributes: { src: String(name) }, content: [] };
  }

  #noteMachine(definition: MachineDefinition): void {
    for (const key of ["limits", "checkpoint", "priorities"] as const)
      if (definition[key] !== undefined) this.notes.add(key, "policy");
    if (definition.unhandled !== "ignore") this.notes.add("unhandled", "unhandled");
    for (const key of ["entry", "exit", "after", "invoke", "output"] as const)
      if (definition[key] !== undefined) this.notes.add(key, "root");
    if (this.chart.matching === "exact") this.notes.add("matching", "prefix");
  }

  #noteState(node: StateNode, state: StateDefinition, at: string): void {
    const place = (key: string) => (at === "" ? key : `${at}.${key}`);
    if (state.defer !== undefined) this.notes.add(place("defer"), "defer");
    for (const key of ["invariants", "require", "ensure"] as const)
      if (state[key] !== undefined) this.notes.add(place(key), "contract");
    if (node.kind === "parallel" && state.writes !== "last") this.notes.add(place("writes"), "writes");
    for (const key of ["tags", "meta", "description"] as const)
      if (state[key] !== undefined) this.notes.add(place(key), "text");
  }
}

/** Whether a transition leads only to its source and what is inside, which stays active. */
function staysIn(node: StateNode, targets: readonly StateNode[], { reenter }: Parts): boolean {
  const isInside = ({ index }: StateNode) => index >= node.index && index <= node.last;
  return reenter !== true && node.parent !== undefined && targets.every(isInside);
}
