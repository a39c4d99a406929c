import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, statSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { holdDataFolder } from './database-lock.ts'

const folder = (t: TestContext) => {
  const made = mkdtempSync(path.join(tmpdir(), 'berth-lock-'))
  t.after(() => rm(made, { recursive: true }))
  return made
}

/** In another process, because the kernel's lock is one of processes. */
async function holderOf(t: TestContext, dataDir: string) {
  const program = `
    const { holdDataFolder } = await import(${JSON.stringify(path.join(import.meta.dirname, 'database-lock.ts'))})
    const lock = await holdDataFolder(process.argv[1], { timeout: 0 })
    process.send(lock !== undefined)
    setInterval(() => lock, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, dataDir], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  t.after(() => child.kill('SIGKILL'))
  const [isHeld] = (await once(child, 'message')) as [boolean]
  return { child, isHeld }
}

test('one process at a time holds a data folder, and one that is killed holds it no more', async (t) => {
  const dataDir = folder(t)
  const { child, isHeld } = await holderOf(t, dataDir)
  assert.ok(isHeld)
  let waits = 0
  assert.equal(await holdDataFolder(dataDir, { timeout: 300, onWait: () => void waits++ }), undefined)
  assert.equal(waits, 1)

  const next = holdDataFolder(dataDir, { timeout: 8_000 })
  child.kill('SIGKILL')
  const lock = await next
  assert.ok(lock)
  assert.equal((await holderOf(t, dataDir)).isHeld, false)
  lock.release()
  assert.equal((await holderOf(t, dataDir)).isHeld, true)
})

test('the file of the lock is of its account alone, and empty', async (t) => {
  const dataDir = folder(t)
  const lock = await holdDataFolder(dataDir, { timeout: 8_000 })
  t.after(() => lock?.release())
  const { mode, size } = statSync(path.join(dataDir, 'lock'))
  assert.deepEqual([(mode & 0o777).toString(8), size], ['600', 0])
})

test('a folder that cannot be made is an error, not a lock that another holds', async (t) => {
  const file = path.join(folder(t), 'file')
  writeFileSync(file, '')
  await assert.rejects(holdDataFolder(path.join(file, 'data'), { timeout: 0 }), /ENOTDIR/)
})
