import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../run.mjs'
import { hashOf, readIfThere } from './sources.mjs'

/** @import { SetupContext } from '../setup-context.mjs' */

/** The sources of the front end, without tests and build output. */
const sources = ['web', 'api', 'server/reference', 'package-lock.json']

/**
 * Builds `web/dist` unless it was built from the current sources (compared by content: a checkout changes times). The
 * new build replaces the old one by a rename, so a running server never serves a partial one.
 * @param {SetupContext} here
 * @throws {SetupProblem} with the build's output; `web/dist` stays as before
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
