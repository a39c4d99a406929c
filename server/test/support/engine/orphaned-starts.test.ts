import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { lives } from '../program.ts'
import { endOrphanedStarts } from './orphaned-starts.ts'
import { waitLimit } from '../extent.ts'

/** A program that waits for ever and looks like `name init`, started for a container with this state folder. */
async function startLike(t: TestContext, folder: string, name: string, stateFolder: string) {
  writeFileSync(path.join(folder, 'init'), 'process.stdout.write("waits"); setInterval(() => {}, 60_000)')
  const env = { ...process.env, _LIBCONTAINER_STATEDIR: stateFolder }
  const child = spawn(process.execPath, ['init'], {
    argv0: name,
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  t.after(() => child.kill('SIGKILL'))
  await once(child.stdout, 'data', { signal: AbortSignal.timeout(waitLimit(20_000)) })
  return child
}

test('a start that a killed dockerd left behind is ended; those of other engines and other programs go on', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-orphaned-starts-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const left = await startLike(t, folder, 'runc', `${folder}/engine/containers/a`)
  const ofAnother = await startLike(t, folder, 'runc', `${folder}/engine-2/containers/a`)
  const noStart = await startLike(t, folder, 'other', `${folder}/engine/containers/b`)
  const ended = once(left, 'exit', { signal: AbortSignal.timeout(waitLimit(20_000)) })
  endOrphanedStarts(`${folder}/engine`)
  assert.deepEqual(await ended, [null, 'SIGKILL'])
  for (const { pid = 0 } of [ofAnother, noStart]) assert.ok(lives(pid), `process ${pid} goes on`)
})
