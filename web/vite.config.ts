import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { compressedAssets } from './compressed-assets.ts'
import { endpointTable } from './endpoint-table.ts'
import { precompiledMessages } from './precompiled-messages.ts'

const local = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/**
 * Builds `dist/`: scripts, style sheets, one icon, their compressed variants, and `index.html`. The server fills the
 * placeholders in `index.html` at every navigation: `__BERTH_NONCE__` (CSP nonce), `__BERTH_BOOT__` (JSON),
 * `__BERTH_LANGUAGE__` and `__BERTH_NO_SCRIPT__`.
 */
export default defineConfig({
  root: local('.'),
  plugins: [react(), precompiledMessages(), endpointTable(), compressedAssets()],
  html: { cspNonce: '__BERTH_NONCE__' },
  // Schema modules also hold constants that pages use; their schemas are not used, and TypeBox would add 23 KB (gzip).
  resolve: { alias: { typebox: local('./src/typebox-stub.ts') } },
  build: {
    // The polyfill is an inline helper for browsers that could not run this bundle anyway.
    modulePreload: false,
    // Every asset is a file under /assets/, so that data: URLs need not be allowed.
    assetsInlineLimit: 0,
    // Several style sheets would arrive one after the other and shift the page.
    cssCodeSplit: false,
  },
})
