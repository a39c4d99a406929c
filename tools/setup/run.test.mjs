import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { run } from './run.mjs'

test('a program that does not end is ended at its limit, with words', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-run-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const running = run('sleep', ['60'], { log: join(folder, 'log'), limitMs: 100 })
  await assert.rejects(running, /sleep 60 did not end within 100 ms/)
})

// `npm run release` went on for ten minutes after its end, on a machine without the linker's tools for ARM64.
test('a program that does not exist leaves nothing that keeps its caller alive', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-run-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const caller = `import { run } from ${JSON.stringify(join(import.meta.dirname, 'run.mjs'))}
    await run('no-such-program', [], { log: ${JSON.stringify(join(folder, 'log'))} }).catch(() => {})`
  execFileSync(process.execPath, ['--input-type=module', '--eval', caller], { timeout: 20_000 })
})
