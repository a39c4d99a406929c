import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const isolation = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' }

// oxlint-disable-next-line import/no-default-export -- Vite asks for it
export default defineConfig({ plugins: [react()], server: { headers: process.env.ISOLATED ? isolation : {} } })
