import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { waitLimit } from '@berth/server/test/support/extent.ts'
import { findChromium, startChromium, type Chromium } from './chromium.ts'

const executable = findChromium(process.env.PATH ?? '') ?? ''
const where = { host: 'spawner.localhost', port: 9, env: process.env }

async function processesOf({ devtools }: Chromium): Promise<{ type: string; status: string; command: string }[]> {
  const { processInfo } = await devtools.send<{ processInfo: { type: string; id: number }[] }>(
    'SystemInfo.getProcessInfo',
  )
  return processInfo.map(({ type, id }) => ({
    type,
    status: readFileSync(`/proc/${id}/status`, 'utf8'),
    command: readFileSync(`/proc/${id}/cmdline`, 'utf8'),
  }))
}

const field = (status: string, name: string) => new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(status)?.[1]
const profiles = () => readdirSync(tmpdir()).filter((name) => name.startsWith('berth-browser-'))

test('the browser of a trial runs in its sandbox, and not as root', async () => {
  const before = profiles()
  const chromium = await startChromium({ ...where, executable })
  try {
    assert.equal(chromium.isSandboxed, true)
    for (const { status, command } of await processesOf(chromium)) {
      assert.notEqual(field(status, 'Uid'), '0')
      assert.doesNotMatch(command, /--no-sandbox/)
    }
    // Filtered: 2. Source: proc(5). A renderer that has just begun is not filtered yet.
    const filters = async () =>
      (await processesOf(chromium)).flatMap(({ type, status }) => (type === 'renderer' ? field(status, 'Seccomp') : []))
    const end = performance.now() + waitLimit(10_000)
    for (let seen = await filters(); new Set(seen).size !== 1 || seen[0] !== '2'; seen = await filters()) {
      assert.ok(performance.now() < end, `filters of renderers: ${seen.join()}`)
      await sleep(50)
    }
  } finally {
    await chromium.close()
  }
  assert.deepEqual(profiles(), before)
})

test('where no sandbox can be made the browser starts without one, says so, and is not root either', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-chromium-'))
  t.after(() => rmSync(folder, { recursive: true }))
  chmodSync(folder, 0o755)
  const refusing = path.join(folder, 'chromium')
  const script = `#!/bin/sh\ncase "$*" in *--no-sandbox*) exec ${executable} "$@" ;; esac\necho 'No usable sandbox!' >&2\nexit 1\n`
  writeFileSync(refusing, script, { mode: 0o755 })
  const chromium = await startChromium({ ...where, executable: refusing })
  try {
    assert.equal(chromium.isSandboxed, false)
    for (const { status } of await processesOf(chromium)) assert.notEqual(field(status, 'Uid'), '0')
  } finally {
    await chromium.close()
  }
})
