/**
 * Writes some functions of a file so that V8 compiles them as it reads the file. It does so with function expressions in
 * parentheses and with nothing else, so the others become such expressions:
 *
 * - A declaration becomes a constant, and moves up behind the imports, since it may be used above itself.
 * - A method of an object literal becomes a property.
 * - A method of a class is given to its prototype by a static block, where private names are known.
 * - A private method becomes a variable, which the same block sets: `this.#take(x)` is then `Turn_take.call(this, x)`.
 *
 * Each keeps its name in stack traces. Constructors, accessors, static methods and whatever says `super` stay as they are.
 */
import {
  type Class,
  type Function as Method,
  type MethodDefinition,
  type Program,
  parseSync,
  Visitor,
} from "oxc-parser";
import { Edits, type Span } from "./edits.ts";

/** The text with those functions compiled as they are read that begin at one of the places. What it does and exports stays as it is. */
export function compileAsRead(text: string, starts: ReadonlySet<number>): string {
  const { program } = parseSync("built.js", text);
  return new Rewriting(program, new Edits(text), starts).write();
}

/** What a class has its methods from, as if they stood in it: they are not listed among its properties. */
const defineMethods = `const defineMethods = (({ prototype }, methods) => {
  for (const name of Object.keys(methods))
    Object.defineProperty(prototype, name, { value: methods[name], writable: true, configurable: true });
});
`;

/** A call such as `this.#take(x)`. */
interface PrivateCall extends Span {
  readonly name: string;
  readonly object: Span;
  readonly hasArguments: boolean;
}

/** A class at the top of a file: a variable of the file can stand before it. */
interface Home {
  readonly name: string;
  readonly statement: Span;
}

class Rewriting {
  readonly #program: Program;
  readonly #edits: Edits;
  readonly #starts: ReadonlySet<number>;
  readonly #classes: Class[] = [];
  readonly #privateCalls: PrivateCall[] = [];
  /** Every place where a private name stands. */
  readonly #privateNames: (Span & { readonly name: string })[] = [];

  constructor(program: Program, edits: Edits, starts: ReadonlySet<number>) {
    this.#program = program;
    this.#edits = edits;
    this.#starts = starts;
  }

  write(): string {
    this.#look();
    const homes = this.#homes();
    const moved = this.#classes.map((node) => this.#moveMethods(node, homes.get(node)));
    return this.#moveDeclarations(moved.some((publics) => publics > 0) ? defineMethods : "");
  }

  /** Finds classes and uses of private names, and sees to functions that need not move. */
  #look(): void {
    const methods = new Set<Span>();
    const take = (node: Span) => {
      if (!this.#starts.has(node.start) || methods.has(node)) return;
      this.#edits.insert(node.start, "(");
      this.#edits.insert(node.end, ")");
    };
    new Visitor({
      ArrowFunctionExpression: take,
      FunctionExpression: take,
      ClassDeclaration: (node) => void this.#classes.push(node),
      ClassExpression: (node) => void this.#classes.push(node),
      MethodDefinition: ({ value }) => void methods.add(value),
      Property: (node) => {
        const { key, value, method, kind, computed } = node;
        if (kind !== "init" || method) methods.add(value);
        if (!method || computed || value.type !== "FunctionExpression" || !this.#canMove(node, value)) return;
        this.#edits.replace(node, () => this.#property(this.#edits.read(key), value));
      },
      PrivateIdentifier: (node) => void this.#privateNames.push(node),
      CallExpression: ({ callee, arguments: given, optional }) => {
        if (optional || callee.type !== "MemberExpression" || callee.optional) return;
        const { property, object, start, end } = callee;
        if (property.type !== "PrivateIdentifier" || this.#edits.text[end] !== "(") return;
        this.#privateCalls.push({ name: property.name, object, start, end, hasArguments: given.length > 0 });
      },
    }).visit(this.#program);
  }

  #homes(): ReadonlyMap<Class, Home> {
    const homes = new Map<Class, Home>();
    for (const statement of this.#program.body) {
      if (statement.type !== "VariableDeclaration") continue;
      for (const { id, init } of statement.declarations)
        if (id.type === "Identifier" && init?.type === "ClassExpression")
          homes.set(init, { name: id.name, statement });
    }
    return homes;
  }

  /** Has a static block define the methods that are called, and tells how many of them are public. */
  #moveMethods({ body }: Class, home: Home | undefined): number {
    const methods = body.body.filter(
      (node): node is MethodDefinition =>
        node.type === "MethodDefinition" &&
        node.kind === "method" &&
        !node.static &&
        !node.computed &&
        this.#canMove(node, node.value),
    );
    const publics = methods.filter(({ key }) => key.type === "Identifier");
    const privates =
      home === undefined ? [] : methods.filter((method) => this.#freePrivate(method, body, home));
    if (publics.length + privates.length === 0) return 0;
    for (const method of [...publics, ...privates]) this.#edits.replace(method, () => "");
    this.#edits.replace({ start: body.start + 1, end: body.start + 1 }, () => {
      const properties = publics.map(({ key, value }) => this.#property(this.#edits.read(key), value));
      const variables = privates.map(({ key, value }) => {
        const name = this.#edits.read(key);
        // Taken out of an object, it has the name that it had.
        return `${variableOf(home!, name)} = { ${this.#property(`"${name}"`, value)} }["${name}"];`;
      });
      const defined = publics.length === 0 ? [] : [`defineMethods(this, { ${properties.join(",\n")} });`];
      return `\nstatic { ${[...defined, ...variables].join("\n")} }`;
    });
    return publics.length;
  }

  /** Makes a private method a variable before its class, unless something but calls is done with it, or the name is taken. */
  #freePrivate({ key }: MethodDefinition, body: Span, home: Home): boolean {
    if (key.type !== "PrivateIdentifier") return false;
    const isHere = ({ start, end, name }: Span & { readonly name: string }) =>
      name === key.name && start > body.start && end < body.end;
    const calls = this.#privateCalls.filter(isHere);
    if (calls.length + 1 !== this.#privateNames.filter(isHere).length) return false;
    const variable = variableOf(home, key.name);
    if (this.#edits.text.includes(variable)) return false;
    this.#edits.insert(home.statement.start, `var ${variable};\n`);
    for (const { start, end, object, hasArguments } of calls)
      this.#edits.replace(
        { start, end: end + "(".length },
        () => `${variable}.call(${this.#edits.write(object)}${hasArguments ? ", " : ""}`,
      );
    return true;
  }

  /** V8 says that a method begins somewhere between its first modifier and its parameters. */
  #canMove(whole: Span, method: Span): boolean {
    for (let at = whole.start; at <= method.start; at++)
      if (this.#starts.has(at)) return !/\bsuper\b/.test(this.#edits.read(method));
    return false;
  }

  #property(name: string, method: Method): string {
    const kind = `${method.async ? "async " : ""}function${method.generator ? "*" : ""}`;
    return `${name}: (${kind} ${this.#edits.write(method)})`;
  }

  #moveDeclarations(defined: string): string {
    const edits = this.#edits;
    const { body } = this.#program;
    const declarations = body
      .flatMap((node) => (node.type === "FunctionDeclaration" ? [node] : []))
      .filter(({ start }) => this.#starts.has(start));
    const top = body.findLast((node) => node.type === "ImportDeclaration")?.end ?? 0;
    const constants = declarations.map((node) => `const ${node.id!.name} = (${edits.write(node)});\n`);
    const ends = [...declarations.map(({ start }) => start), edits.text.length];
    const between = [top, ...declarations.map(({ end }) => end)].map((start, index) =>
      edits.write({ start, end: ends[index]! }),
    );
    return `${edits.text.slice(0, top)}\n${defined}${constants.join("")}${between.join("")}`;
  }
}

/** What a private method is called outside its class. */
const variableOf = ({ name }: Home, method: string) => `${name}_${method.replace("#", "")}`;
