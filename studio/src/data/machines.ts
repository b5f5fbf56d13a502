/** Machines as pages read them. */
import { useQuery } from "@tanstack/react-query";
import { client } from "./client.ts";

export const useMachines = () =>
  useQuery({
    queryKey: ["machines", "list"],
    queryFn: async ({ signal }) => (await client.machines.list({}, { signal })).machines,
  });

/** One version of a machine; the newest if none is given. */
export const useMachine = (machine: string | undefined, version?: number) =>
  useQuery({
    queryKey: ["machine", machine, version],
    queryFn: ({ signal }) =>
      version === undefined
        ? client.machines.show({ machine: machine as string }, { signal })
        : client.machines.version({ machine: machine as string, version }, { signal }),
    enabled: machine !== undefined,
    staleTime: 5 * 60_000,
  });
