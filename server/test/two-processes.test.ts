// Part of npm run test:more: programs of two processes.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import http from 'node:http'
import type { Socket } from 'node:net'
import path from 'node:path'
import { tmpdir } from 'node:os'
import { after, describe, test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { decodeProtectedHeader } from 'jose'
import { unixFetch } from '@berth/cli/find-service.ts'
import { readPidFile } from '@berth/gateway/supervisor/run-folder.ts'
import { openDatabase } from '#/store/database.ts'
import { insertRevokedTokens } from '#/store/session-ends.ts'
import type { Lifetime } from './support/berth.ts'
import { lives, runProgram, signIn, waitFor, type Program } from './support/program.ts'
import { followResponse, tickingTemplates, type EndlessResponse } from './support/ticking-app.ts'
import { webSocketHeaders } from './support/web-socket-headers.ts'
import { pollUntil } from '#test/support/control-plane.ts'
import { onlyLong, waitLimit } from '#test/support/extent.ts'

/**
 * What people see while the API process comes and goes beside the gateway process: real processes, a real container.
 */

/** A started program with Ann, whose container answers. */
async function withAnn(t: Lifetime): Promise<{ program: Program; token: string; templates: string }> {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-templates-'))
  t.after(() => rm(folder, { recursive: true }))
  const templates = path.join(folder, 'templates.json')
  writeFileSync(templates, tickingTemplates)
  const program = runProgram(t, { CONTAINER_TEMPLATES_FILE: templates })
  const token = await signIn(program, 'ann@x.org')
  await waitFor("Ann's container answers", async () => (await program.fetch('/ann-dev/', token)).status === 200)
  return { program, token, templates }
}

async function download(program: Program, token: string): Promise<EndlessResponse> {
  const response = await program.fetch('/ann-dev/ticks', token)
  assert.equal(response.status, 200)
  return followResponse(response)
}

async function openWebSocket(program: Program, token: string): Promise<Socket> {
  const [, port] = await program.said(/listening on 127\.0\.0\.1:(\d+)/)
  const headers = webSocketHeaders(token)
  const asked = http.get({ host: '127.0.0.1', port, path: '/ann-dev/', headers })
  const [response, socket] = (await once(asked, 'upgrade')) as [http.IncomingMessage, Socket]
  assert.equal(response.statusCode, 101)
  return socket.on('error', () => {})
}

/** Says a frame into the WebSocket and hears it again. */
async function assertEchoes(socket: Socket): Promise<void> {
  assert.ok(!socket.destroyed, 'the WebSocket is open')
  // A masked text frame with two letters; no byte of it changes on the way.
  const frame = Buffer.from([0x81, 0x82, 1, 2, 3, 4, 0x69, 0x6b])
  socket.write(frame)
  const [heard] = (await once(socket, 'data', { signal: AbortSignal.timeout(waitLimit(20_000)) })) as [Buffer]
  assert.deepEqual(heard, frame)
}

async function assertStreams({ count, isOver }: EndlessResponse): Promise<void> {
  assert.ok(!isOver(), 'the download goes on')
  const before = count()
  await waitFor('more of the download', () => count() > before + 2, 20_000)
}

const back = /"msg":"the API is back"/

test('while the API process is away, streams and known routes go on, and it comes back with what was revoked meanwhile', async (t) => {
  const { program, token, templates } = await withAnn(t)
  const doomed = await signIn(program, 'ann@x.org', 'login')
  const socket = await openWebSocket(program, token)
  const [kept, cut] = [await download(program, token), await download(program, doomed)]
  const database = await openDatabase(null, program.dataDir)
  t.after(() => database.close())

  // Without its templates it cannot come back.
  renameSync(templates, `${templates}.away`)
  process.kill(program.api(), 'SIGKILL')
  await insertRevokedTokens(database.db, [{ jti: jtiOf(doomed), expiresAt: new Date(Date.now() + 3_600_000) }])
  assert.equal((await program.fetch('/api/user/me', token)).status, 503)
  await program.said(/started again in 0.4 s/)
  assert.equal((await program.fetch('/ann-dev/', token)).status, 200)
  assert.equal((await program.fetch('/ann-dev/', doomed)).status, 200, 'the gateway does not know it yet')
  await assertEchoes(socket)
  await assertStreams(kept)

  renameSync(`${templates}.away`, templates)
  await program.said(back)
  await pollUntil(
    async () => (await program.fetch('/ann-dev/', doomed)).status === 401,
    () => 'the revoked token is not refused',
  )
  await waitFor("the end of the revoked token's download", cut.isOver, 20_000)
  assert.equal((await program.fetch('/ann-dev/', token)).status, 200)
  assert.equal((await program.fetch('/api/user/me', token)).status, 200)
  await assertEchoes(socket)
  await assertStreams(kept)
  assert.equal(program.output().split('Berth is ready').length - 1, 1)
  assert.equal(program.output().split('ended by SIGKILL; it is started again at once').length - 1, 1)
})

test('SIGHUP with settings that are wrong by now changes nothing, and says what is wrong', onlyLong, async (t) => {
  const { program, token, templates } = await withAnn(t)
  const before = program.api()
  writeFileSync(templates, '{"dev": {}}')
  program.process.kill('SIGHUP')
  await program.said(/dev: image must be text/)
  await program.said(/the new API process did not come up; the old one goes on/)
  assert.equal(program.api(), before)
  assertSocketIsThere(program)
  assert.equal((await program.fetch('/api/user/me', token)).status, 200)
})

// The new process took the socket of the old one along when it ended; connections that were kept hid it for four seconds.
function assertSocketIsThere({ temporary }: Program): void {
  const [folder = ''] = readdirSync(temporary)
  assert.ok(readdirSync(path.join(temporary, folder)).includes('api.sock'))
}

test('SIGHUP reads berth.env again: what changed holds, what needs a restart is named, and no value is written', async (t) => {
  const { program, file } = runWithFile(t, 'SUPPORT_CONTACT=room 12\nHOST=127.0.0.1\n')
  assert.equal((await program.fetch('/metrics')).status, 200)
  assert.match(await (await program.fetch('/login')).text(), /room 12/)

  writeFileSync(file, 'SUPPORT_CONTACT=room 13\nHOST=127.0.0.2\nMETRICS_TOKEN=not-for-the-log\nPORT=1\nSMTP_ULR=x\n')
  program.process.kill('SIGHUP')
  await program.said(back)
  await program.said(/"msg":"settings that changed and are in force now: METRICS_TOKEN, SMTP_ULR, SUPPORT_CONTACT"/)
  await program.said(/"msg":"settings that changed and need a restart of Berth: HOST"/)
  await program.said(/berth.env: PORT has no effect, because the environment sets it, too/)
  await program.said(/berth.env: SMTP_ULR is no setting of Berth/)
  assert.equal((await program.fetch('/metrics')).status, 403)
  assert.equal((await program.fetch('/metrics', 'not-for-the-log')).status, 200)
  assert.match(await (await program.fetch('/login')).text(), /room 13/)
  assert.doesNotMatch(program.output(), /not-for-the-log/)
})

test(
  'SIGHUP reads secrets from their files again; one that every account may read leaves the old one in force',
  onlyLong,
  async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'berth-settings-'))
    t.after(() => rm(folder, { recursive: true }))
    const file = path.join(folder, 'metrics-token')
    writeFileSync(file, 'first-not-for-the-log\n', { mode: 0o600 })
    const program = runProgram(t, { METRICS_TOKEN_FILE: file })
    assert.equal((await program.fetch('/metrics', 'first-not-for-the-log')).status, 200)
    writeFileSync(file, 'second-not-for-the-log\n')
    program.process.kill('SIGHUP')
    await program.said(/settings that changed and are in force now: METRICS_TOKEN"/)
    assert.equal((await program.fetch('/metrics', 'first-not-for-the-log')).status, 403)
    assert.equal((await program.fetch('/metrics', 'second-not-for-the-log')).status, 200)
    chmodSync(file, 0o644)
    program.process.kill('SIGHUP')
    await program.said(/METRICS_TOKEN_FILE: every account of this machine can use \S+\. Run: chmod o= /)
    await program.said(/the old one goes on/)
    assert.equal((await program.fetch('/metrics', 'second-not-for-the-log')).status, 200)
    assert.doesNotMatch(program.output(), /not-for-the-log/)
  },
)

test('SIGHUP with a berth.env that is wrong says every problem, and the old settings hold', onlyLong, async (t) => {
  const { program, file } = runWithFile(t, 'SUPPORT_CONTACT=room 12\n')
  await program.said(/Berth is ready/)
  const before = program.api()
  writeFileSync(file, 'SUPPORT_CONTACT=room 13\nLOG_LEVEL=loud\nREQUESTS_PER_MINUTE=many\n')
  program.process.kill('SIGHUP')
  await program.said(/LOG_LEVEL: must be one of/)
  await program.said(/REQUESTS_PER_MINUTE: must be a whole number/)
  await program.said(/the old one goes on/)
  assert.equal(program.api(), before)
  assertSocketIsThere(program)
  assert.match(await (await program.fetch('/login')).text(), /room 12/)
  await rm(file)
  program.process.kill('SIGHUP')
  await program.said(/berth.env cannot be read/)
  assert.equal(program.api(), before)
})

function runWithFile(t: TestContext, text: string): { program: Program; file: string } {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-settings-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = path.join(folder, 'berth.env')
  writeFileSync(file, text)
  return { program: runProgram(t, { BERTH_ENV_FILE: file }), file }
}

test(
  'SIGTERM ends both processes within 20 s with exit code 0, although a download never ends',
  onlyLong,
  async (t) => {
    const { program, token } = await withAnn(t)
    const stream = await download(program, token)
    const api = program.api()
    const began = performance.now()
    program.process.kill('SIGTERM')
    assert.equal(await program.ended(), 0)
    assert.ok(performance.now() - began < waitLimit(20_000))
    assert.ok(!lives(api))
    await waitFor('the end of the download', stream.isOver, 10_000)
    assert.deepEqual(readdirSync(program.temporary), [], 'its run folder is gone')
  },
)

test(
  'Ctrl-C, which reaches both processes and the first of them twice, ends them with exit code 0',
  onlyLong,
  async (t) => {
    const program = runProgram(t)
    await program.said(/Berth is ready/)
    const api = program.api()
    process.kill(api, 'SIGINT')
    program.process.kill('SIGINT')
    await sleep(20)
    program.process.kill('SIGINT')
    assert.equal(await program.ended(), 0)
    assert.ok(!lives(api))
  },
)

/** The token's own name, without a look at its signature. */
function jtiOf(token: string): string {
  const [, claims = ''] = token.split('.')
  return (JSON.parse(Buffer.from(claims, 'base64url').toString()) as { jti: string }).jti
}

// One program for three tests: each start takes more than a second of CPU time, and its container half a second more.
describe('a program whose user has a container', async () => {
  const { program, token, templates } = await withAnn({ after })

  test('a new signing key counts in both processes at once, and nothing that is open is cut for it', async () => {
    const socket = await openWebSocket(program, token)
    const letters = await download(program, token)
    const pidFile = readPidFile(program.dataDir)
    assert.ok(pidFile)
    const operate = unixFetch(pidFile.socket, { headers: {}, timeout: 20_000 })
    const rotated = await operate('/api/operator/keys/rotate', { method: 'POST' })
    assert.equal(rotated.status, 200)
    const { kid } = (await rotated.json()) as { kid: string }
    const next = await signIn(program, 'ann@x.org', 'login')
    assert.equal(decodeProtectedHeader(next).kid, kid)
    for (const each of [token, next]) {
      assert.equal((await program.fetch('/ann-dev/', each)).status, 200)
      assert.equal((await program.fetch('/api/user/me', each)).status, 200)
    }
    await assertStreams(letters)
    await assertEchoes(socket)
  })

  // The old process had ended before the engine was asked: every path of the API answered 503 until the file was corrected.
  test('SIGHUP with a template that the engine cannot run changes nothing, and says what is missing', async () => {
    const before = program.api()
    writeFileSync(
      templates,
      tickingTemplates.replace('{', '{"odd": {"image": "berth-test-web:1", "runtime": "no-such"},'),
    )
    program.process.kill('SIGHUP')
    await program.said(/the template "odd" asks for the runtime "no-such", which the engine does not have/)
    await program.said(/the new API process did not come up; the old one goes on/)
    assert.equal(program.api(), before)
    assert.equal((await program.fetch('/api/user/me', token)).status, 200)
    writeFileSync(templates, tickingTemplates)
  })

  test('SIGHUP changes the API process for a new one, and streams live on', async () => {
    const socket = await openWebSocket(program, token)
    const stream = await download(program, token)
    const before = program.api()
    program.process.kill('SIGHUP')
    await program.said(back)
    assert.ok(!lives(before))
    assert.notEqual(program.api(), before)
    assert.equal((await program.fetch('/api/user/me', token)).status, 200)
    await assertEchoes(socket)
    await assertStreams(stream)
    assert.doesNotMatch(program.output(), /settings that changed/)
    writeFileSync(templates, tickingTemplates.replace('Development', 'Another'))
    program.process.kill('SIGHUP')
    await program.said(/settings that changed and are in force now: what the file of CONTAINER_TEMPLATES_FILE says/)
    const containers = await program.fetch('/api/user/containers', token)
    assert.match(await containers.text(), /"display_name":"Another"/)
  })
})

describe('a program without containers', () => {
  const program = runProgram({ after })

  test('the run folder, whose socket authenticates no caller, is accessible to our user only', async () => {
    await program.said(/Berth is ready/)
    const [folder = ''] = readdirSync(program.temporary)
    const { mode } = await stat(path.join(program.temporary, folder))
    assert.equal(mode & 0o777, 0o700)
  })

  // Both became ready, and each conducted the containers of all users.
  test('a second service on the same data folder does not start, and says which one uses it', async (t) => {
    await program.said(/Berth is ready/)
    const second = runProgram(t, {}, program.dataDir)
    const words = `another Berth (process ${program.process.pid}, started `
    await second.said(/uses the data folder \S+: stop that one, or give this one a folder of its own with DATA_DIR/)
    assert.ok(second.output().includes(words), second.output())
    assert.equal(await second.ended(), 1)
    assert.equal((await program.fetch('/healthz')).status, 200)
  })

  test('when the gateway process is killed, the API process ends by itself within 20 s and takes the run folder along', async (t) => {
    const api = program.api()
    t.after(() => lives(api) && process.kill(api, 'SIGKILL'))
    program.process.kill('SIGKILL')
    await waitFor('the end of the API process', () => !lives(api), 20_000)
    assert.deepEqual(readdirSync(program.temporary), [])
  })
})
