import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { test } from 'node:test'
import { temporaryRepository, write } from '../../test-support/temporary-repository.mjs'
import { ensureWeb } from './web-build.mjs'

const root = resolve(import.meta.dirname, '../../..')

test('the pages are built once, and again when a source changes', async (t) => {
  const { here, said } = placeWithPages(t, 'First')
  await ensureWeb(here)
  assert.match(builtPage(here), /First/)
  const before = said.length
  // As one whose files were moved; it is no source.
  mkdirSync(join(here.root, 'web/src/moved'), { recursive: true })
  await ensureWeb(here)
  assert.deepEqual(said.slice(before), [])
  write(join(here.root, 'web/index.html'), page('Second'))
  await ensureWeb(here)
  assert.match(builtPage(here), /Second/)
})

test('a build that fails leaves the old pages in place, and is tried again at the next start', async (t) => {
  const { here } = placeWithPages(t, 'First')
  await ensureWeb(here)
  write(join(here.root, 'web/index.html'), page('Broken', '<script type="module" src="/absent.js"></script>'))
  await assert.rejects(ensureWeb(here), { name: 'SetupProblem', message: /absent\.js/ })
  assert.match(builtPage(here), /First/)
  await assert.rejects(ensureWeb(here))
})

/**
 * @param {import('node:test').TestContext} t
 * @param {string} title
 */
function placeWithPages(t, title) {
  const files = {
    'web/index.html': page(title),
    'api/src/a.ts': '',
    'server/reference/a.ts': '',
    'package-lock.json': '{}',
  }
  const made = temporaryRepository(t, files)
  mkdirSync(made.here.own)
  symlinkSync(process.execPath, join(made.here.own, 'node'))
  symlinkSync(join(root, 'node_modules'), join(made.here.root, 'node_modules'))
  return made
}

/** @param {string} title @param {string} [more] */
const page = (title, more = '') => `<!doctype html><title>${title}</title>${more}`

/** @param {import('../setup-context.mjs').SetupContext} here */
const builtPage = (here) => readFileSync(join(here.root, 'web/dist/index.html'), 'utf8')
