/** Starting a run of a machine. */
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { client } from "../data/client.ts";
import { asCommand } from "../data/commands.ts";
import type { MachineDetail } from "../data/contract.ts";
import { CopyButton } from "../design/copy.tsx";
import { DataForm } from "../design/data-form.tsx";
import { Failure } from "../design/failure.tsx";
import { Icon } from "../design/icon.tsx";

export function StartForm({
  detail: { machine, version, input: schema, loaded },
}: {
  readonly detail: MachineDetail;
}) {
  const [input, setInput] = useState<unknown>(null);
  const [run, setRun] = useState("");
  const navigate = useNavigate();
  const start = useMutation({
    mutationFn: () =>
      client.runs.start({
        ...{ machine, version },
        ...(run === "" ? {} : { run }),
        ...(input === null ? {} : { input: input as never }),
      }),
    onSuccess: (started) => navigate({ to: "/runs/$run", params: { run: started.run }, search: {} }),
  });
  const command = asCommand("runs", "start", machine, ...(run === "" ? [] : ["--id", run]));
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
          <code>{command}</code> <CopyButton text={command} what="command" />
        </span>
      </p>
    </form>
  );
}
