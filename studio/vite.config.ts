/** How Studio is built: hashed files under `dist`, nothing inline, so that the server's strict policy lets all of it run. */
import { join } from "node:path";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

const server = process.env.HOLDFAST_URL ?? "http://127.0.0.1:4000";

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  resolve: { alias: { "holdfast/client": join(import.meta.dirname, "../src/client/index.ts") } },
  build: {
    outDir: "dist",
    target: "es2023",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    manifest: "manifest.json",
  },
  worker: { format: "es" },
  server: { proxy: { "/v1": { target: server, changeOrigin: true } } },
});
