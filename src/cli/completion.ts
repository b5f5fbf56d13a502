/** `holdfast completion`: scripts that let a shell complete commands and options, made from the commands themselves. */
import type { Command } from "commander";
import { type Given, misused } from "./arguments.ts";
import { tell } from "./connect.ts";
import { commandOf, type World } from "./world.ts";

const shells = { bash, zsh, fish } as const;
type Shell = keyof typeof shells;

/** `program` gives the command with all its commands, this one among them. */
export function completionCommand(world: World, program: () => Command): Command {
  return commandOf({
    name: "completion",
    about: "Writes a script with which a shell completes commands and options.",
    examples: ["completion bash >> ~/.bashrc", "completion fish > ~/.config/fish/completions/holdfast.fish"],
  })
    .argument("<shell>", Object.keys(shells).join(", "))
    .option("--json", "tells it as JSON")
    .action((shell: string, given: Given) => {
      if (!Object.hasOwn(shells, shell))
        throw misused(`There is no script for ${shell}; there are ${Object.keys(shells).join(", ")}`);
      const script = shells[shell as Shell](wordsOf(program()));
      tell(world, given, { shell, script }, () => [script]);
    });
}

/** What can come next after each path of commands: the names inside, and the options. */
type Words = ReadonlyMap<string, readonly string[]>;

function wordsOf(program: Command): Words {
  const words = new Map<string, string[]>();
  const add = (command: Command, path: string) => {
    const names = command.commands.map((one) => one.name());
    const options = command.options.flatMap(({ long }) => long ?? []);
    words.set(path, [...names, ...options, "--help"]);
    for (const one of command.commands) add(one, `${path} ${one.name()}`.trim());
  };
  add(program, "");
  return words;
}

function bash(words: Words): string {
  const paths = [...words.keys()].filter((path) => path !== "").map((path) => `"${path}"`);
  const cases = [...words].map(([path, next]) => `    "${path}") words="${next.join(" ")}" ;;`);
  return [
    "_holdfast() {",
    '  local path="" word words=""',
    // Only the names of commands lead on; arguments and values of options stand wherever they like.
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's.
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's.
    '    case "${path:+$path }$word" in',
    `      ${paths.join("|")}) path="\${path:+$path }$word" ;;`,
    "    esac",
    "  done",
    '  case "$path" in',
    ...cases,
    "  esac",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is the shell's.
    '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))',
    "}",
    "complete -o default -F _holdfast holdfast",
  ].join("\n");
}

function zsh(words: Words): string {
  return ["autoload -U +X bashcompinit && bashcompinit", bash(words)].join("\n");
}

function fish(words: Words): string {
  const lines = [...words].flatMap(([path, next]) => {
    const parts = path.split(" ").filter(Boolean);
    const when =
      parts.length === 0
        ? "__fish_use_subcommand"
        : parts.map((part) => `__fish_seen_subcommand_from ${part}`).join("; and ");
    return next.map((word) =>
      word.startsWith("--")
        ? `complete -c holdfast -n '${when}' -l ${word.slice(2)}`
        : `complete -c holdfast -n '${when}' -f -a ${word}`,
    );
  });
  return lines.join("\n");
}
