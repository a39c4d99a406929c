// Part of npm run test:more: an API process that dies, which two-processes.test.ts has, too, and a full log.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { compileCache } from '../support/compile-cache.ts'
import { runProgram, signIn, waitFor } from '../support/program.ts'
import { freePort } from '#test/support/free-port.ts'

/** No engine: nothing here needs one. */
const nowhere = 'unix:///nowhere/docker.sock'

/** An unhandled rejection, whenever the API process receives a signal. */
const bug = "process.send&&process.on('SIGUSR2',()=>{void/**/Promise.reject(new/**/Error('planted'))})"

test('a bug in the API process is reported once with its cause, and another process takes over', async (t) => {
  const options = `--import=data:text/javascript,${bug}`
  const program = runProgram(t, { NODE_OPTIONS: options, DOCKER_HOST: nowhere })
  const token = await signIn(program, 'ann@x.org')
  const before = program.api()
  process.kill(before, 'SIGUSR2')
  await program.said(/"msg":"the API is back"/)
  assert.notEqual(program.api(), before)
  assert.equal((await program.fetch('/api/user/me', token)).status, 200)
  const told = program
    .output()
    .split('\n')
    .filter((line) => line.includes('planted'))
  assert.equal(told.length, 1, told.join('\n'))
  assert.match(told[0] ?? '', /"level":60.*"stack".*"msg":"a bug: the API process ends/)
  assert.match(program.output(), /the API process ended with exit code 1; it is started again at once/)
})

test('a full disk under the log blocks neither requests nor the stop of Berth', async (t) => {
  const port = await freePort()
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-log-'))
  t.after(() => rm(folder, { recursive: true }))
  const full = openSync('/dev/full', 'w')
  const main = path.resolve(import.meta.dirname, '../../../gateway/src/main.ts')
  const berth = spawn(process.execPath, [main], {
    stdio: ['ignore', full, full],
    env: {
      PATH: process.env.PATH,
      ...compileCache,
      TMPDIR: folder,
      DATA_DIR: path.join(folder, 'data'),
      PORT: String(port),
      LOG_LEVEL: 'trace',
      DOCKER_HOST: nowhere,
    },
  })
  t.after(() => berth.kill('SIGKILL'))
  closeSync(full)
  const answers = async (target: string) =>
    (await fetch(`http://127.0.0.1:${port}${target}`).catch(() => undefined))?.status === 200
  await waitFor('Berth', () => answers('/api/openapi.json'), 60_000)
  for (let time = 0; time < 50; time++) assert.ok(await answers('/healthz'))
  berth.kill('SIGTERM')
  const [code] = (await once(berth, 'exit')) as [number | null]
  assert.equal(code, 0)
})
