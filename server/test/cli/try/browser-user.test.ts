import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { findChromium, startChromium } from '@berth/cli/try/chromium.ts'

/** A page of an image that is tried is a stranger's: a fault of the browser must not make it root. */

const isRoot = process.getuid?.() === 0

/** Real user id and command line of each process whose arguments name this. */
function processesOf(name: string): { readonly uid: number; readonly command: string }[] {
  return readdirSync('/proc').flatMap((id) => {
    try {
      const command = readFileSync(`/proc/${id}/cmdline`, 'utf8')
      if (!/^\d+$/.test(id) || !command.includes(name)) return []
      return [{ uid: Number(/^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${id}/status`, 'utf8'))?.[1]), command }]
    } catch {
      // It has ended meanwhile.
      return []
    }
  })
}

test('for root, the browser of a trial runs as another user, in its sandbox', { skip: !isRoot }, async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-browser-user-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const executable = findChromium(process.env.PATH ?? '')
  assert.ok(executable, 'npm test installs Chromium')
  const chromium = await startChromium({ executable, folder, host: 'try.localhost', port: 1, env: process.env })
  t.after(() => chromium.close())
  const found = processesOf(folder)
  assert.ok(found.length > 0)
  assert.deepEqual(
    found.filter(({ uid, command }) => uid === 0 || command.includes('--no-sandbox')),
    [],
  )
})
