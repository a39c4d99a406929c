import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { verifyParts } from './backup-format.ts'

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
