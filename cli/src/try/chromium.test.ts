import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
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
    const processes = await processesOf(chromium)
    const renderers = processes.filter(({ type }) => type === 'renderer')
    assert.ok(renderers.length > 0)
    for (const { status, command } of processes) {
      assert.notEqual(field(status, 'Uid'), '0')
      assert.doesNotMatch(command, /--no-sandbox/)
    }
    // Filtered: 2. Source: proc(5).
    for (const { status } of renderers) assert.equal(field(status, 'Seccomp'), '2')
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
