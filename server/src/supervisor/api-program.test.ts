import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { apiProgram } from './api-program.ts'

test('the bundle runs while it is newer than every source, and otherwise the sources do', (t) => {
  const root = mkdtempSync(path.join(tmpdir(), 'berth-bundle-'))
  t.after(() => rmSync(root, { recursive: true }))
  for (const folder of ['server/src/http', 'api/src', '.berth/server'])
    mkdirSync(path.join(root, folder), { recursive: true })
  const [source, bundle] = [path.join(root, 'server/src/http/a.ts'), path.join(root, '.berth/server/api-process.js')]
  for (const file of [source, path.join(root, 'api/src/b.ts'), path.join(root, 'package-lock.json')])
    writeFileSync(file, '')
  const sources = path.join(root, 'server/src/api-process.ts')

  assert.equal(apiProgram(root), sources)
  writeFileSync(bundle, '')
  const later = new Date(Date.now() + 60_000)
  utimesSync(bundle, later, later)
  assert.equal(apiProgram(root), bundle)
  utimesSync(source, later, new Date(later.getTime() + 1_000))
  assert.equal(apiProgram(root), sources, 'a source was changed since')
})
