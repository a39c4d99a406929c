import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')

const formatCache = ['--cache', '--cache-strategy', 'content', '--cache-location', '.berth/prettier-cache']

/** Timeout of one check in ms. */
const timeout = 300_000

/**
 * What `npm run check` and `npm test` demand of the source: a title, and the program of node_modules with its arguments.
 * @type {ReadonlyMap<string, readonly [string, ...string[]]>}
 */
export const checks = new Map([
  ['types of api', ['typescript/bin/tsc', '-p', 'api']],
  ['types of server', ['typescript/bin/tsc', '-p', 'server']],
  ['types of journeys', ['typescript/bin/tsc', '-p', 'server/test/journeys']],
  ['types of web', ['typescript/bin/tsc', '-p', 'web']],
  ['types of tools', ['typescript/bin/tsc', '-p', 'tools']],
  // What builds the images; the packages of the application in them are not in node_modules.
  ['types of images', ['typescript/bin/tsc', '-p', 'images/tsconfig.build.json']],
  ['lint', ['oxlint/bin/oxlint', '--deny-warnings', '--report-unused-disable-directives']],
  // With a cache, because reading every file takes 20 s of CPU.
  ['format', ['prettier/bin/prettier.cjs', '--check', '--log-level', 'warn', ...formatCache, '.']],
])

/**
 * Runs one check over the repository, without changing a file.
 * @param {readonly string[]} check one of `checks`
 * @returns {Promise<string | undefined>} what it found fault with, or undefined
 */
export function faultsOf([program = '', ...args]) {
  const options = { cwd: root, timeout, maxBuffer: 64 * 1024 * 1024 }
  return new Promise((done) => {
    execFile(process.execPath, [join(root, 'node_modules', program), ...args], options, (error, stdout, stderr) =>
      done(error ? `${stdout}${stderr}`.trim() || error.message : undefined),
    )
  })
}
