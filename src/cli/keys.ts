/** `holdfast keys`: who may ask a server, and for what. */
import type { Command } from "commander";
import { type Role, roles } from "../security/policy.ts";
import { misused, textOf, timeOption } from "./arguments.ts";
import { connectedCommand, looking, tell } from "./connect.ts";
import { plain, tableOf, timeText } from "./table.ts";
import { commandOf, type World } from "./world.ts";

export function keysCommand(world: World): Command {
  return commandOf({ name: "keys", about: "Keys for a server: who may ask it, and for what." })
    .addCommand(createCommand(world))
    .addCommand(listCommand(world))
    .addCommand(revokeCommand(world));
}

function createCommand(world: World): Command {
  return connectedCommand({
    name: "create",
    about: "Makes a key and tells it, once.",
    examples: [
      "keys create ci --role operator --expires 90d",
      "keys create first --role admin --store postgres://localhost/agents",
    ],
  })
    .argument("<name>", "what it is for")
    .option("--role <role>", roles.join(", "), "viewer")
    .option("--tenant <name>", "whose runs it sees; your own unless given")
    .addOption(timeOption("--expires <time>", "for how long it is good; for ever unless given"))
    .action(
      looking(world, async (client, given, name: string) => {
        const role = textOf(given, "role") as Role;
        if (!roles.includes(role)) throw misused(`--role is ${role}; there are ${roles.join(", ")}`);
        if (name.trim() === "")
          throw misused("The name is empty; say what the key is for, as in: keys create ci");
        if (given.expires === 0) throw misused("--expires is 0; write how long the key is good, as 90d");
        const [tenant, forMs] = [textOf(given, "tenant"), given.expires as number | undefined];
        const made = await client.keys.create({
          ...{ name, role },
          ...(tenant === undefined ? {} : { tenant }),
          ...(forMs === undefined ? {} : { expiresInMs: forMs }),
        });
        world.terminal.note("This key is told now and never again.");
        tell(world, given, made, () => [made.key]);
      }),
    );
}

function listCommand(world: World): Command {
  return connectedCommand({
    name: "list",
    about: "Lists keys, without their secrets.",
    examples: ["keys list"],
  }).action(
    looking(world, async (client, given) => {
      const { keys } = await client.keys.list();
      tell(world, given, keys, () =>
        tableOf(
          ["KEY", "NAME", "ROLE", "CREATED", "EXPIRES", "USED", "REVOKED"],
          keys.map((key) => [
            ...[key.id, key.name, key.role, timeText(key.createdAt)],
            ...[key.expiresAt, key.lastUsedAt, key.revokedAt].map((at) => timeText(at) ?? "-"),
          ]),
        ),
      );
    }),
  );
}

function revokeCommand(world: World): Command {
  return connectedCommand({
    name: "revoke",
    about: "Makes a key useless, from now on.",
    examples: ["keys revoke Xk3v9Qx2aB1c"],
  })
    .argument("<key>", "its id, as keys list tells it")
    .action(
      looking(world, async (client, given, key: string) => {
        const revoked = await client.keys.revoke({ key });
        tell(world, given, revoked, () => [`${plain(revoked.name)} is revoked`]);
      }),
    );
}
