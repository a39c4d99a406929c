import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { frontEndFiles, prepareFrontEndFiles } from './static-assets.ts'

function builtFrontEnd(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-front-end-'))
  t.after(() => rmSync(folder, { recursive: true }))
  mkdirSync(path.join(folder, 'assets'))
  const build = (words: string) => {
    writeFileSync(path.join(folder, 'index.html'), words)
    for (const name of ['a.js', 'a.js.br', 'b.css'])
      writeFileSync(path.join(folder, 'assets', name), `${name} ${words}`)
  }
  return { folder, build }
}

test('files that were read in advance serve one start, and the next one reads them again', async (t) => {
  const { folder, build } = builtFrontEnd(t)
  build('first')
  await prepareFrontEndFiles(folder)
  build('second')
  const prepared = await frontEndFiles(folder)
  assert.equal(prepared.html, 'first')
  assert.equal(prepared.assets.get('a.js')?.get('br')?.bytes.toString(), 'a.js.br first')
  assert.deepEqual([...prepared.assets.keys()].toSorted(), ['a.js', 'b.css'])
  const next = await frontEndFiles(folder)
  assert.equal(next.html, 'second')
  assert.equal(next.assets.get('b.css')?.get('identity')?.bytes.toString(), 'b.css second')
})

test('a front end that is not built is reported with the folder and the command, also in advance', async (t) => {
  const { folder } = builtFrontEnd(t)
  for (const read of [prepareFrontEndFiles, frontEndFiles]) await assert.rejects(read(folder), /not built .* npm start/)
})
