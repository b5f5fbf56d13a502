/** Starting a run of a machine. */
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { client } from "../data/client.ts";
import type { MachineDetail } from "../data/contract.ts";
import { useMachines } from "../data/machines.ts";
import { DataForm } from "../design/data-form.tsx";
import { Failure } from "../design/failure.tsx";
import { Icon } from "../design/icon.tsx";
import { Command } from "../shell/command.tsx";

interface Start {
  readonly machine: string;
  readonly run?: string;
  readonly input?: unknown;
}

const partsOf = ({ machine, run, input }: Start): readonly string[] => [
  ...["runs", "start", machine],
  ...(run === undefined ? [] : ["--id", run]),
  ...(input === undefined ? [] : ["--input", JSON.stringify(input)]),
];

export function StartForm({
  detail: { machine, version, input: schema, loaded },
}: {
  readonly detail: MachineDetail;
}) {
  const [input, setInput] = useState<unknown>(null);
  const [run, setRun] = useState("");
  const navigate = useNavigate();
  // The command begins with the newest version; of another one it would say something else.
  const isNewest = useMachines().data?.find((one) => one.machine === machine)?.newest === version;
  const start = useMutation({
    mutationFn: () =>
      client.runs.start({
        ...{ machine, version },
        ...(run === "" ? {} : { run }),
        ...(input === null ? {} : { input: input as never }),
      }),
    onSuccess: (started) => navigate({ to: "/runs/$run", params: { run: started.run }, search: {} }),
  });
  const body = {
    ...{ machine, version },
    ...(run === "" ? {} : { run }),
    ...(input === null || input === undefined ? {} : { input }),
  };
  return (
    <form
      className="panel machine-about"
      onSubmit={(event) => {
        event.preventDefault();
        start.mutate();
      }}
    >
      <h2>Start a run</h2>
      <label className="labelled">
        Name
        <input
          className="field"
          placeholder="one is made up"
          value={run}
          onChange={({ target }) => setRun(target.value)}
        />
      </label>
      <DataForm label="Input" value={input ?? undefined} schema={schema} onChange={setInput} rows={3} />
      <Failure error={start.error} />
      <p className="row">
        <button
          type="submit"
          className="button"
          data-look="main"
          disabled={!loaded || input === undefined || start.isPending}
        >
          <Icon name="play" /> Start
        </button>
        <span className="quiet small row">
          <Command parts={isNewest ? partsOf(body) : undefined} call={{ path: "/v1/runs", body }} />
        </span>
      </p>
    </form>
  );
}
