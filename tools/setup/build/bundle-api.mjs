/** Bundles the API process: `node tools/setup/build/bundle-api.mjs <folder>`, in the root of the repository. */
import { argv } from 'node:process'
import { rolldown } from 'rolldown'

const [, , dir = ''] = argv
const bundle = await rolldown({
  input: 'server/src/api-process.ts',
  platform: 'node',
  // pino finds its worker's program beside its own files.
  // The client of a cluster has 60 MB, and is loaded with ENGINE=kubernetes only.
  external: ['pino', 'pino-pretty', '@kubernetes/client-node'],
  plugins: [{ name: 'ascii', generateBundle: (_options, output) => Object.values(output).forEach(escapeNonAscii) }],
})
await bundle.write({
  dir,
  format: 'esm',
  // Without whitespace it needs 4 MB less; names stay, because logs contain them, and the source map has their origin.
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  sourcemap: true,
})

/**
 * One character beyond Latin-1 makes V8 store the whole source with two bytes per character.
 * @param {import('rolldown').OutputChunk | import('rolldown').OutputAsset} output
 */
function escapeNonAscii(output) {
  if (output.type !== 'chunk') return
  output.code = output.code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
