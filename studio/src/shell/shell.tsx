/** What is on every page: the rail with where one can go, the palette, the keys, and what is wrong with the connection. */
import { Link, Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { useState } from "react";
import { useInbox } from "../data/inbox.ts";
import { useConnection } from "../data/live.ts";
import { Icon, type IconName } from "../design/icon.tsx";
import { keyName } from "./key-name.ts";
import { useKeys } from "./keys.ts";
import { KeysDialog } from "./keys-dialog.tsx";
import { Mark } from "./mark.tsx";
import { Palette } from "./palette.tsx";
import { setTheme, type Theme, themes, useTheme } from "./theme.ts";
import "./shell.css";

const places = [
  { to: "/runs", name: "Runs", icon: "runs", key: "1" },
  { to: "/inbox", name: "Inbox", icon: "inbox", key: "2" },
  { to: "/machines", name: "Machines", icon: "machines", key: "3" },
  { to: "/dashboard", name: "Dashboard", icon: "dashboard", key: "4" },
] as const satisfies readonly { to: string; name: string; icon: IconName; key: string }[];

export function Shell() {
  const [open, setOpen] = useState<"palette" | "keys" | undefined>(undefined);
  const navigate = useNavigate();
  useKeys([
    { key: "mod+k", does: "Find anything", run: () => setOpen("palette") },
    { key: "?", does: "Show the keys", run: () => setOpen("keys") },
    ...places.map(({ to, name, key }) => ({
      key,
      does: `Go to ${name}`,
      run: () => void navigate({ to, search: {} }),
    })),
  ]);
  return (
    <div className="shell">
      <a className="shell-skip" href="#page">
        To the page
      </a>
      <Rail onFind={() => setOpen("palette")} onKeys={() => setOpen("keys")} />
      <main id="page" className="shell-page" tabIndex={-1}>
        <Outlet />
      </main>
      {open === "palette" ? <Palette onClose={() => setOpen(undefined)} /> : null}
      {open === "keys" ? <KeysDialog onClose={() => setOpen(undefined)} /> : null}
    </div>
  );
}

function Rail({ onFind, onKeys }: { readonly onFind: () => void; readonly onKeys: () => void }) {
  const path = useRouterState({ select: (state) => state.location.pathname });
  const { decisions, hasMore } = useInbox();
  const waiting = decisions?.length ?? 0;
  return (
    <nav className="rail" aria-label="Pages">
      <Link to="/runs" search={{}} className="rail-home" aria-label="Holdfast: all runs">
        <Mark />
        <span>Holdfast</span>
      </Link>
      <button type="button" className="rail-find" onClick={onFind}>
        <Icon name="search" />
        <span>Find</span>
        <kbd>{keyName("mod+k")}</kbd>
      </button>
      <ul>
        {places.map(({ to, name, icon }) => (
          <li key={to}>
            <Link
              to={to}
              search={{}}
              className="rail-link"
              aria-current={path.startsWith(to) ? "page" : undefined}
            >
              <Icon name={icon} size={18} />
              <span>{name}</span>
              {name === "Inbox" && waiting > 0 ? (
                <b className="rail-count">
                  {waiting}
                  {hasMore ? "+" : ""}
                  <span className="unseen"> waiting</span>
                </b>
              ) : null}
            </Link>
          </li>
        ))}
      </ul>
      <div className="rail-foot">
        <Connection />
        <ThemeChoice />
        <button type="button" className="rail-link" onClick={onKeys}>
          <Icon name="keys" size={18} />
          <span>Keys</span>
        </button>
      </div>
    </nav>
  );
}

const connectionWords = { live: "Live", lost: "Reconnecting…", refused: "No access" } as const;

function Connection() {
  const connection = useConnection();
  return (
    <p className="rail-live" data-live={connection === "live"} role="status">
      <i aria-hidden="true" />
      <span>{connectionWords[connection]}</span>
    </p>
  );
}

function ThemeChoice() {
  const theme = useTheme();
  const names: Record<Theme, string> = { system: "System", light: "Light", dark: "Dark" };
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] as Theme;
  return (
    <button
      type="button"
      className="rail-link"
      onClick={() => setTheme(next)}
      aria-label={`Theme: ${names[theme]}. Change to ${names[next]}`}
    >
      <Icon name="theme" size={18} />
      <span>{names[theme]}</span>
    </button>
  );
}
