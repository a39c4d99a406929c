import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { endpointTable } from '../endpoint-table.ts'
import { precompiledMessages } from '../precompiled-messages.ts'

const local = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/**
 * The stories: every page and state of the front end at its own URL, without a server. `npm run stories` serves them;
 * tests build them. Not part of the product.
 */
export default defineConfig({
  root: local('.'),
  plugins: [react(), precompiledMessages(), endpointTable()],
  // Tests serve the stories with the content security policy of the product.
  html: { cspNonce: '__BERTH_NONCE__' },
  resolve: { alias: { typebox: local('../src/typebox-stub.ts') } },
  server: { host: '127.0.0.1', port: 8090 },
  build: {
    outDir: local('./dist'),
    emptyOutDir: true,
    modulePreload: false,
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    // One script: a picture must not be taken before a part of the page is loaded.
    rolldownOptions: { output: { codeSplitting: false } },
  },
})
