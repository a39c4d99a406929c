import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { TarArchiveEnd } from './tar-archive-end.ts'

/** Archives of the machine's own tar, in both formats that engines write. */

function filesOf(t: TestContext): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-tar-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

for (const [format, headers] of [
  ['pax', 3 * 512],
  ['gnu', 512],
] as const) {
  const tar = (folder: string, ...args: string[]) =>
    execFileSync('tar', [`--format=${format}`, '--blocking-factor=1', '-c', '-C', folder, ...args])

  test(`a ${format} archive is complete at its end only, however its bytes come`, (t) => {
    const folder = filesOf(t)
    mkdirSync(path.join(folder, 'x'.repeat(200)))
    for (const [name, size] of [
      ['empty', 0],
      ['zeros', 5_000],
      ['block', 512],
      [`${'x'.repeat(200)}/${'y'.repeat(200)}`, 10],
    ] as const)
      writeFileSync(path.join(folder, name), Buffer.alloc(size))
    symlinkSync('empty', path.join(folder, 'link'))
    const archive = tar(folder, '.')
    const length = archive.length
    for (const step of [1, 511, 512, 513, length]) {
      const end = new TarArchiveEnd()
      for (let at = 0; at < length; at += step) {
        // The last block of zeros is the last of the archive.
        assert.equal(end.hasCome, false, `${step} ${at}`)
        end.pass(archive.subarray(at, at + step))
      }
      assert.equal(end.hasCome, true, String(step))
    }
  })

  test(`a ${format} archive with a file of more than 8 GiB is followed to its end`, (t) => {
    const folder = filesOf(t)
    const size = 9 * 1024 ** 3
    writeFileSync(path.join(folder, 'large'), '')
    truncateSync(path.join(folder, 'large'), size)
    const command = `tar --format=${format} -c -C ${folder} large 2>/dev/null | head -c ${headers}`
    const header = execFileSync('/bin/sh', ['-c', command])
    const end = new TarArchiveEnd()
    end.pass(header)
    const piece = Buffer.alloc(64 * 1024 ** 2)
    for (let sent = 0; sent < size; sent += piece.length) end.pass(piece)
    assert.equal(end.hasCome, false)
    end.pass(Buffer.alloc(1_024))
    assert.equal(end.hasCome, true)
  })
}
