import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SetupProblem } from '../problem.mjs'
import { run } from '../run.mjs'
import { hashOf, readIfThere } from './sources.mjs'

/** @import { SetupContext } from '../setup-context.mjs' */

/** Everything that the pages are written from. */
const sources = [
  'server/reference',
  'server/src',
  'gateway/src',
  'cli/src',
  'texts/src',
  'api/src',
  'templates',
  'docs/explanation/decisions',
]

/**
 * Writes the generated pages of the docs folder, unless they were written from the current sources. It takes a second. Nothing
 * that runs depends on them: when they cannot be written, set-up says so and goes on.
 * @param {SetupContext} here
 */
export async function ensureReference(here) {
  const stamp = join(here.own, 'reference.sha256')
  const hash = hashOf(here.root, sources)
  if (existsSync(join(here.root, 'docs/reference/openapi.json')) && readIfThere(stamp) === hash) return
  mkdirSync(here.own, { recursive: true })
  try {
    await here.during('docs', 'writing the pages of the reference', () =>
      run(join(here.own, 'node'), [join(here.root, 'server/reference/generate.ts')], {
        log: join(here.own, 'reference.log'),
        cwd: here.root,
        env: here.env,
      }),
    )
  } catch (error) {
    if (!(error instanceof SetupProblem)) throw error
    here.say('docs', `the pages in docs/reference are missing or old. ${error.message}`)
    return
  }
  writeFileSync(stamp, hash)
}
