/**
 * `npm run test:vm`: the Debian package in `dist/` on a stock Debian in a machine of its own (QEMU, emulated in software), with
 * a real systemd and control groups of version 2. Debian 13; `npm run test:vm -- bookworm` is Debian 12. Further words choose
 * the facts whose sentence has one of them, after those on which all others build. `--keep` leaves the machine running for the
 * next run with `--keep`, which brings the package and the templates in it up to date; a run without ends it. Needs root,
 * debootstrap, QEMU and, for the image, the first time, a network. Its last result is in docs/how-to/install-the-package.md.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { env, execPath, exit } from 'node:process'
import { parseArgs } from 'node:util'
import { readCounts, reporters } from '../test-run/counts.mjs'
import { suites } from './vm.mjs'

const { values, positionals } = parseArgs({ options: { keep: { type: 'boolean' } }, allowPositionals: true })
const suite = positionals.find((word) => word in suites) ?? 'trixie'
const words = positionals.filter((word) => !(word in suites))
if (process.getuid?.() !== 0) fail('test:vm needs root: debootstrap makes the image')

/** In ms, for a test; a machine that does other work takes half an hour for all of them. */
const limit = 7_200_000

const counts = mkdtempSync(join(tmpdir(), 'berth-counts-'))
const flags = ['--test', `--test-timeout=${limit}`, ...reporters(counts)]
const chosen = {
  BERTH_VM_SUITE: suite,
  BERTH_VM_WORDS: JSON.stringify(words),
  BERTH_VM_KEEP: values.keep ? 'yes' : 'no',
}
const { status } = spawnSync(execPath, [...flags, join(import.meta.dirname, 'debian.mjs')], {
  cwd: resolve(import.meta.dirname, '../..'),
  stdio: 'inherit',
  env: { ...env, ...chosen },
})
const { passed, failed } = readCounts(counts)
rmSync(counts, { recursive: true })
console.log(`${passed} passed, ${failed} failed`)
exit(status ?? 1)

/** @param {string} message @returns {never} */
function fail(message) {
  console.error(message)
  exit(1)
}
