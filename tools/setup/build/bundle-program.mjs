/**
 * Bundles a program of the server: `node tools/setup/build/bundle-program.mjs <source> <folder>`, in the root of the
 * repository. The folder is below `.berth`, of the repository or of the tree of a release.
 */
import { dirname, relative, resolve } from 'node:path'
import { argv } from 'node:process'
import { rolldown } from 'rolldown'

const [, , input = '', dir = ''] = argv
const workspaces = ['server', 'gateway', 'cli', 'texts', 'api'].map((name) => `${resolve(name, 'src')}/`)
const bundle = await rolldown({
  input,
  platform: 'node',
  // pino finds its worker's program beside its own files.
  // The client of a cluster has 60 MB, and is loaded with ENGINE=kubernetes only.
  // ssh2 looks for parts in machine code beside its own files.
  external: ['pino', 'pino-pretty', '@kubernetes/client-node', 'ssh2'],
  plugins: [
    { name: 'folders of sources', transform: keepFolder },
    { name: 'ascii', generateBundle: (_options, output) => Object.values(output).forEach(escapeNonAscii) },
  ],
})
await bundle.write({
  dir,
  format: 'esm',
  // Without whitespace it needs 4 MB less, and 1 MB with short names of variables. Names of functions and classes stay, because logs
  // contain them, and the source map has their origin.
  minify: { compress: false, mangle: { keepNames: true }, codegen: { removeWhitespace: true } },
  sourcemap: true,
})

/**
 * `import.meta.dirname` stays the folder of the source, so that a program finds its files as without a bundle.
 * @param {string} code
 * @param {string} id
 */
function keepFolder(code, id) {
  if (!workspaces.some((folder) => id.startsWith(folder)) || !code.includes('import.meta.dirname')) return undefined
  // By a relative path: a release is unpacked elsewhere than where it is built.
  const root = dir.slice(dir.lastIndexOf('.berth')).replace(/[^/]+/g, '..')
  return code.replaceAll('import.meta.dirname', `(import.meta.dirname + '/${root}/${relative('.', dirname(id))}')`)
}

/**
 * One character beyond Latin-1 makes V8 store the whole source with two bytes per character.
 * @param {import('rolldown').OutputChunk | import('rolldown').OutputAsset} output
 */
function escapeNonAscii(output) {
  if (output.type !== 'chunk') return
  output.code = output.code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
