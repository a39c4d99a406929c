import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { ArchiveFiles } from './archive-files.ts'
import { pauseFor } from './archive-member.ts'

// Archives filled the disk of the store to its last byte, and Berth could store nothing any more.
test('an archive leaves the reserve of the store, and all archives wait until there is room', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-archives-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  let left = 20 * 1024 ** 2
  const files = new ArchiveFiles(folder, async () => Math.max(0, left))
  const home = (async function* () {
    for (let at = 0; at < 100; at++, left -= 1024 ** 2) yield new Uint8Array(1024 ** 2)
  })()
  const failure: unknown = await files.write(7, 'one', home).catch((error: unknown) => error)
  assert.equal(pauseFor(failure)?.problem, 'disk')
  assert.deepEqual(readdirSync(path.join(folder, '7')), [])
})
