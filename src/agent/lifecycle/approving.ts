/** Which calls people are asked about: those that the agent's policy names, and those whose tools say so themselves. */
import { messageOf } from "../../core/problem.ts";
import { HoldfastError } from "../../errors.ts";
import type { CallPart } from "../thread/message.ts";
import type { ReadyTool } from "../tool/tool.ts";

/** The policy of an agent, as far as it is about calls. */
interface Approving {
  readonly id: string;
  readonly approve?: readonly string[] | ((call: CallPart) => Promise<boolean> | boolean);
}

/** Asks the policy and the tool. Who cannot tell fails the turn: nothing is called that might have to be asked about. */
export function mustAskOf(
  { id, approve = [] }: Approving,
  tools: ReadonlyMap<string, ReadyTool>,
  own: readonly { readonly name: string }[],
): (call: CallPart) => Promise<boolean> {
  const asks =
    typeof approve === "function"
      ? approve
      : isNamed(id, approve, [...tools.keys(), ...own.map(({ name }) => name)]);
  return async (call) => {
    try {
      return Boolean(await asks(call)) || (await isAskedByTool(tools.get(call.tool), call));
    } catch (error) {
      const why = `Whether people are asked about the call ${JSON.stringify(call.id)} of ${JSON.stringify(call.tool)} cannot be told: ${messageOf(error)}`;
      // To ask the model again would not help.
      throw Object.assign(new HoldfastError("AGENT_INVALID", why, { cause: error }), { retryable: false });
    }
  };
}

function isNamed(
  id: string,
  approve: readonly string[],
  tools: readonly string[],
): (call: CallPart) => boolean {
  const unknown = approve.find((name) => !tools.includes(name));
  if (unknown !== undefined) {
    throw new HoldfastError(
      "AGENT_INVALID",
      `The agent ${JSON.stringify(id)} asks people about ${JSON.stringify(unknown)}, which is none of its tools: ${tools.join(", ")}`,
    );
  }
  const names = new Set<string>(approve);
  return ({ tool }) => names.has(tool);
}

/** What a tool says of an input that fits it; one that does not is never called. */
async function isAskedByTool(tool: ReadyTool | undefined, { id, input }: CallPart): Promise<boolean> {
  const asks = tool?.asks ?? false;
  if (tool === undefined || typeof asks === "boolean") return asks === true;
  const checked = await tool.check(input);
  return "input" in checked && Boolean(await asks(checked.input, id));
}
