/** The palette: places, machines, the newest runs, and whatever the page offers, found by writing a part of its name. */
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { useMachines } from "../data/machines.ts";
import { useNewestRuns } from "../data/runs.ts";
import { Icon, type IconName } from "../design/icon.tsx";
import { useOffers } from "./offers.ts";
import { setTheme, themes } from "./theme.ts";
import "./palette.css";

interface Choice {
  readonly name: string;
  readonly more?: string;
  readonly icon: IconName;
  readonly go: () => void;
}

/** Whether all parts of what was written occur in the name. */
const fits = (name: string, written: string): boolean =>
  written
    .toLowerCase()
    .split(/\s+/)
    .every((part) => name.toLowerCase().includes(part));

function useChoices(written: string): readonly Choice[] {
  const navigate = useNavigate();
  const offers = useOffers();
  const machines = useMachines().data ?? [];
  const runs = useNewestRuns().data ?? [];
  const all: Choice[] = [
    ...offers.map(({ name, icon, run }) => ({ name, more: "this page", icon, go: run })),
    { name: "Runs", icon: "runs", go: () => navigate({ to: "/runs", search: {} }) },
    {
      name: "Runs that wait for a person",
      icon: "person",
      go: () => navigate({ to: "/runs", search: { waiting: "person" } }),
    },
    { name: "Stuck runs", icon: "clock", go: () => navigate({ to: "/runs", search: { stuck: true } }) },
    {
      name: "Failed runs",
      icon: "cancel",
      go: () => navigate({ to: "/runs", search: { status: "failed" } }),
    },
    { name: "Inbox", icon: "inbox", go: () => navigate({ to: "/inbox", search: {} }) },
    { name: "Machines", icon: "machines", go: () => navigate({ to: "/machines" }) },
    { name: "Dashboard", icon: "dashboard", go: () => navigate({ to: "/dashboard" }) },
    ...themes.map((theme) => ({
      name: `Theme: ${theme}`,
      icon: "theme" as const,
      go: () => setTheme(theme),
    })),
    ...machines.map(({ machine, kind }) => ({
      ...{ name: machine, more: kind, icon: "machines" as const },
      go: () => navigate({ to: "/machines/$machine", params: { machine }, search: {} }),
    })),
    ...runs.map(({ run, machine }) => ({
      ...{ name: run, more: `run of ${machine}`, icon: "runs" as const },
      go: () => navigate({ to: "/runs/$run", params: { run }, search: {} }),
    })),
  ];
  const found = written === "" ? all : all.filter(({ name, more }) => fits(`${name} ${more ?? ""}`, written));
  if (written === "" || all.some(({ name }) => name === written)) return found.slice(0, 40);
  const open = { name: `Open run “${written}”`, icon: "right" as const };
  return [
    ...found.slice(0, 40),
    { ...open, go: () => navigate({ to: "/runs/$run", params: { run: written }, search: {} }) },
  ];
}

export function Palette({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [written, setWritten] = useState("");
  const [at, setAt] = useState(0);
  const choices = useChoices(written.trim());
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  const take = (choice: Choice | undefined) => {
    onClose();
    choice?.go();
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) {
      event.preventDefault();
      setAt((now) => Math.max(0, Math.min(choices.length - 1, now + step)));
    } else if (event.key === "Enter") take(choices[at]);
  };
  return (
    <dialog
      ref={dialog}
      className="palette"
      aria-label="Find anything"
      onClose={onClose}
      onMouseDown={(event) => event.target === dialog.current && onClose()}
    >
      <input
        role="combobox"
        aria-label="Find anything"
        aria-expanded="true"
        aria-controls="palette-choices"
        aria-activedescendant={choices[at] === undefined ? undefined : `palette-${at}`}
        placeholder="A page, a machine, a run…"
        value={written}
        onChange={({ target }) => {
          setWritten(target.value);
          setAt(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id="palette-choices" role="listbox" aria-label="Choices">
        {choices.map((choice, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys; a choice never has the focus.
          <div
            key={`${choice.name} ${choice.more ?? ""}`}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === at}
            onMouseMove={() => setAt(index)}
            onClick={() => take(choice)}
          >
            <Icon name={choice.icon} />
            <span>{choice.name}</span>
            <span className="palette-more">{choice.more}</span>
          </div>
        ))}
      </div>
    </dialog>
  );
}
