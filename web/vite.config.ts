import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { apiReference } from './api-reference.ts'
import { compressedAssets } from './compressed-assets.ts'
import { endpointTable } from './endpoint-table.ts'
import { precompiledMessages } from './precompiled-messages.ts'

const local = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Libraries with a file of their own; the second is only needed on the pages of administrators. Then all of the first load. */
const groups = [
  { name: 'react', test: /rolldown.runtime|node_modules\/(react|react-dom|scheduler)\// },
  { name: 'tables', test: /node_modules\/(@tanstack\/[a-z-]*(table|virtual)[a-z-]*|uplot)\// },
  // Without it Rolldown makes files of what the first load shares with some of the others, which compress worse.
  { name: 'first', tags: ['$initial' as const] },
]

/**
 * Builds `dist/`: scripts, style sheets, one icon, their compressed variants, and `index.html`. The server fills the
 * placeholders in `index.html` at every navigation: `__BERTH_NONCE__` (CSP nonce), `__BERTH_BOOT__` (JSON),
 * `__BERTH_LANGUAGE__` and `__BERTH_NO_SCRIPT__`. Also `api-docs.html.gz`, the reference of the API.
 */
export default defineConfig({
  root: local('.'),
  plugins: [react(), precompiledMessages(), endpointTable(), apiReference(), compressedAssets()],
  html: { cspNonce: '__BERTH_NONCE__' },
  // Schema modules also hold constants that pages use; their schemas are not used, and TypeBox would add 23 KB (gzip).
  resolve: { alias: { typebox: local('./src/typebox-stub.ts') } },
  build: {
    // The polyfill is an inline helper for browsers that could not run this bundle anyway.
    modulePreload: { polyfill: false },
    // Every asset is a file under /assets/, so that data: URLs need not be allowed.
    assetsInlineLimit: 0,
    // Several style sheets would arrive one after the other and shift the page.
    cssCodeSplit: false,
    // The largest file bounds what a request without an account costs, and a library stays in the browser's cache over upgrades.
    rolldownOptions: { output: { codeSplitting: { groups } } },
  },
})
