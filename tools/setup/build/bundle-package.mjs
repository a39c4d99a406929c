/**
 * Makes one file of a package's modules: `node tools/setup/build/bundle-package.mjs <folder of the package>`. Its own imports of
 * other packages stay. For a client of an API with a thousand generated modules, which take a block of the disk each.
 */
import { readFileSync, renameSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { argv } from 'node:process'
import { rolldown } from 'rolldown'

const folder = resolve(argv[2] ?? '')
const { main } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
const isOther = (/** @type {string} */ name) => !name.startsWith('.') && !name.startsWith('/')
const bundle = await rolldown({ input: join(folder, main), platform: 'node', external: isOther })
const made = join(folder, 'bundled')
await bundle.write({
  dir: made,
  format: 'esm',
  minify: true,
})
const modules = join(folder, main.split('/')[0])
rmSync(modules, { recursive: true })
renameSync(made, modules)
