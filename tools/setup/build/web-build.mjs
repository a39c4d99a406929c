import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../run.mjs'
import { hashOf, readIfThere } from './sources.mjs'

/** @import { SetupContext } from '../setup-context.mjs' */

/** What the built pages are made of. Not in it: tests, and what the build itself writes. */
const sources = ['web', 'api', 'package-lock.json']

/**
 * Builds `web/dist` unless it was built from the very sources that are there now (by content: a checkout changes times).
 * The new build takes the old one's place in one move, so a server that runs never serves half of one.
 * @param {SetupContext} here
 * @throws {SetupProblem} with the build's last words; `web/dist` is as before then
 */
export async function ensureWeb(here) {
  const stamp = join(here.own, 'web.sha256')
  const hash = hashOf(here.root, sources)
  if (existsSync(join(here.root, 'web/dist/index.html')) && readIfThere(stamp) === hash) return
  await here.during('web', 'building the front end', () => build(here))
  writeFileSync(stamp, hash)
}

/** @param {SetupContext} here */
async function build(here) {
  const fresh = join(here.own, `web-${process.pid}`)
  const dist = join(here.root, 'web/dist')
  mkdirSync(here.own, { recursive: true })
  try {
    const args = [join(here.root, 'node_modules/vite/bin/vite.js'), 'build', '--outDir', fresh, '--emptyOutDir']
    await run(join(here.own, 'node'), args, {
      log: join(here.own, 'web.log'),
      cwd: join(here.root, 'web'),
      env: here.env,
    })
    rmSync(dist, { recursive: true, force: true })
    renameSync(fresh, dist)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}
