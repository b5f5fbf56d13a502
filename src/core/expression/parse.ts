/** From text to a syntax tree: CEL's grammar, within limits. https://github.com/google/cel-spec/blob/master/doc/langdef.md */
import { type ASTNode, Environment, ParseError } from "@marcbachmann/cel-js";
import { limits } from "../../limits.ts";
import { invalid } from "./failure.ts";

export type Syntax = ASTNode;

/** Only the grammar of the library is used. Types and evaluation are ours: docs/decisions/0007-data-machines.md. */
const grammar = new Environment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  enableOptionalTypes: true,
  limits: {
    maxAstNodes: limits.expressionLengthMax,
    maxDepth: 64,
    maxListElements: 1_000,
    maxMapEntries: 1_000,
  },
});

/** The syntax tree of an expression; throws EXPRESSION_INVALID if it is none. */
export function parseExpression(text: string): Syntax {
  if (text.length > limits.expressionLengthMax)
    invalid(`is longer than ${limits.expressionLengthMax} characters`);
  try {
    return grammar.parse(text).ast;
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    const at = error.range === undefined ? "" : ` at character ${error.range.start + 1}`;
    return invalid(`cannot be read${at}: ${error.summary}`);
  }
}
