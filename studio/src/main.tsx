/** Where Studio begins. */
import "@fontsource-variable/instrument-sans/index.css";
import "@fontsource-variable/spline-sans-mono/index.css";
import "./design/tokens.css";
import "./design/ground.css";
import "./design/controls.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queryClient } from "./data/query-client.ts";
import { router } from "./router.tsx";
import { watchKeys } from "./shell/keys.ts";
import { watchTheme } from "./shell/theme.ts";

watchTheme();
watchKeys();
createRoot(document.getElementById("studio") as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);
