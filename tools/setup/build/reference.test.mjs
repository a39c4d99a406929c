import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryRepository, write } from '../../test-support/temporary-repository.mjs'
import { ensureReference } from './reference.mjs'

test('the pages of the reference are written once, and again when a source changes or they are gone', async (t) => {
  const { here, said } = placeWith(t, writing('first'))
  await ensureReference(here)
  assert.equal(page(here), 'first')
  const before = said.length
  await ensureReference(here)
  assert.deepEqual(said.slice(before), [])
  rmSync(join(here.root, 'docs/reference'), { recursive: true })
  await ensureReference(here)
  assert.equal(page(here), 'first')
  write(join(here.root, 'server/reference/generate.ts'), writing('second'))
  await ensureReference(here)
  assert.equal(page(here), 'second')
})

test('pages that cannot be written keep nothing from starting, which is said, and tried again the next time', async (t) => {
  const { here, said } = placeWith(t, `throw new Error('no row for this setting')`)
  await ensureReference(here)
  assert.match(said.join('\n'), /docs\/reference are missing or old[^]*no row for this setting/)
  assert.ok(!existsSync(join(here.root, 'docs')) || !existsSync(join(here.root, 'docs/reference')))
  write(join(here.root, 'server/reference/generate.ts'), writing('mended'))
  await ensureReference(here)
  assert.equal(page(here), 'mended')
})

/**
 * @param {import('node:test').TestContext} t
 * @param {string} generator
 */
function placeWith(t, generator) {
  const folders = ['server/src', 'gateway/src', 'cli/src', 'texts/src', 'api/src', 'templates']
  const made = temporaryRepository(t, {
    'server/reference/generate.ts': generator,
    [join('docs', 'explanation/decisions/a.md')]: '',
    ...Object.fromEntries(folders.map((folder) => [`${folder}/a.ts`, ''])),
  })
  mkdirSync(made.here.own)
  symlinkSync(process.execPath, join(made.here.own, 'node'))
  return made
}

/** @param {string} text */
const writing = (text) => `import { mkdirSync, writeFileSync } from 'node:fs'
mkdirSync('docs/reference', { recursive: true })
writeFileSync('docs/reference/openapi.json', '${text}')`

/** @param {import('../setup-context.mjs').SetupContext} here */
const page = (here) => readFileSync(join(here.root, 'docs/reference/openapi.json'), 'utf8')
