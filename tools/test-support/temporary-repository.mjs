import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createSetupContext } from '../setup/setup-context.mjs'

/**
 * A repository of its own for a test of set-up, removed after the test, and the lines that set-up says in it.
 * @param {import('node:test').TestContext} t
 * @param {Record<string, string>} [files] their contents by path
 * @param {NodeJS.ProcessEnv} [env] beside the test's own environment
 */
export function temporaryRepository(t, files = {}, env = {}) {
  const root = mkdtempSync(join(tmpdir(), 'berth-setup-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  for (const [path, text] of Object.entries(files)) write(join(root, path), text)
  /** @type {string[]} */
  const said = []
  const here = createSetupContext(root, { ...process.env, ...env }, (line) => said.push(line))
  return { here, said }
}

/**
 * Writes a file, its folders included; one that begins with `#!` can be run.
 * @param {string} file
 * @param {string} text
 */
export function write(file, text) {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  if (text.startsWith('#!')) chmodSync(file, 0o755)
}
