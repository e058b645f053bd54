import { defineConfig } from "vite";

// The built files are committed and embedded in the binary: the build must give the same
// bytes everywhere, and nothing inline, so that the page runs under a strict policy.
export default defineConfig({
  base: "/",
  build: {
    outDir: "dist",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    target: "es2022",
  },
  server: {
    proxy: { "/api": "http://127.0.0.1:8081", "/schemas": "http://127.0.0.1:8081" },
  },
});
