import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { readManifest, sumsOf, verifyParts, type Part } from './backup-format.ts'

test('Ctrl-C ends the check of a backup, which takes hours for a large one', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-backup-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const content = Buffer.alloc(1_048_576)
  writeFileSync(path.join(folder, 'berth.sqlite'), content)
  const sha256 = createHash('sha256').update(content).digest('hex')
  const part = { kind: 'store', file: 'berth.sqlite', bytes: content.length, sha256, contentSha256: sha256 } as const
  const ctrlC = new AbortController()
  await verifyParts(folder, [part], ctrlC.signal)
  const checked = verifyParts(
    folder,
    Array.from({ length: 10_000 }, () => part),
    ctrlC.signal,
  )
  ctrlC.abort()
  await assert.rejects(checked, { name: 'AbortError' })
})

test('a manifest whose home would lead to another path of the engine is refused', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-manifest-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const read = async (volume: unknown) => {
    const home = { volume, userId: 1, slug: 'ann', type: 'dev' }
    const parts = [{ kind: 'home', file: 'homes/x.tar', sha256: '0'.repeat(64), home } as unknown as Part]
    const text = JSON.stringify({ format: 1, version: '1', recipients: [], parts, missing: [] })
    writeFileSync(path.join(folder, 'manifest.json'), text)
    writeFileSync(path.join(folder, 'SHA256SUMS'), sumsOf(text, parts))
    return readManifest(folder)
  }
  assert.equal((await read('berth-abcde-home-1-ann-dev')).parts.length, 1)
  for (const volume of ['../containers/x', 'x?force=1', 'x/y', '', '..', 'x%2fy', 7, 'x'.repeat(256)])
    await assert.rejects(read(volume), /names a home as no engine does/, String(volume))
})
