import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocket, makeKeys, startApp } from '../testing/app.js'

/** @import { TestContext } from 'node:test' */

/** Timeout of a shell in ms. */
const limit = 20_000

/**
 * A terminal as the page opens it.
 * @param {TestContext} t
 * @param {number} port
 */
async function openTerminal(t, port) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/terminal?cols=100&rows=40`)
  t.after(() => socket.terminate())
  let text = ''
  socket.on('message', (data) => (text += data))
  await once(socket, 'open')
  return {
    socket,
    type: (/** @type {string} */ data) => socket.send(JSON.stringify({ type: 'input', data })),
    resize: (/** @type {number} */ cols, /** @type {number} */ rows) =>
      socket.send(JSON.stringify({ type: 'resize', cols, rows })),
    shows: (/** @type {RegExp} */ pattern) =>
      until(
        () => pattern.exec(text),
        () => `${pattern} in ${JSON.stringify(text)}`,
      ),
  }
}

/**
 * @template T
 * @param {() => T} look
 * @param {() => string} what
 */
async function until(look, what) {
  const deadline = Date.now() + limit
  for (let found = look(); ; found = look()) {
    if (found) return found
    if (Date.now() > deadline) throw new Error(`did not see ${what()}`)
    await sleep(20)
  }
}

/** @param {string | undefined} pid */
function isAlive(pid) {
  try {
    return process.kill(Number(pid), 0)
  } catch {
    return false
  }
}

/**
 * @param {number} port
 * @param {Record<string, string>} headers
 * @returns {Promise<number | undefined>} status of the refusal; 101 when the terminal opened
 */
async function statusOf(port, headers) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/terminal`, { headers })
  return new Promise((resolve, reject) => {
    socket.on('open', () => resolve((socket.terminate(), 101)))
    socket.on('unexpected-response', (request, response) => resolve((request.destroy(), response.statusCode)))
    socket.on('error', reject)
  })
}

test('a terminal runs a shell in the home folder, at the size of the page, and follows it', async (t) => {
  const { port, home } = await startApp(t)
  const terminal = await openTerminal(t, port)
  // Spelled apart, so that the echo of the command is not taken for its answer.
  terminal.type("printf 'at=%s ' \"$PWD\"; tty; printf 'si''ze='; stty size\r")
  await terminal.shows(new RegExp(`at=${home} /dev/pts/`))
  await terminal.shows(/size=40 100/)
  terminal.resize(120, 50)
  terminal.type("printf 'ne''w='; stty size\r")
  await terminal.shows(/new=50 120/)
})

test('the shell ends when the page is closed', async (t) => {
  const { port } = await startApp(t)
  const terminal = await openTerminal(t, port)
  terminal.type("printf 'pi''d=%s.' $$\r")
  const [, pid] = (await terminal.shows(/pid=(\d+)\./)) ?? []
  assert.ok(isAlive(pid))
  terminal.socket.terminate()
  await until(
    () => !isAlive(pid),
    () => `the end of shell ${pid}`,
  )
})

test('the page is notified when the shell ends', async (t) => {
  const { port } = await startApp(t)
  const terminal = await openTerminal(t, port)
  const closed = once(terminal.socket, 'close', { signal: AbortSignal.timeout(limit) })
  terminal.type('exit 3\r')
  const [code, reason] = await closed
  assert.equal(code, 4000)
  assert.match(String(reason), /exit code 3/)
})

test('invalid messages are ignored', async (t) => {
  const { port } = await startApp(t)
  const terminal = await openTerminal(t, port)
  for (const message of [
    '',
    'null',
    '[]',
    '{"type":"input","data":5}',
    '{"type":"resize","cols":-1,"rows":1e9}',
    '{',
  ]) {
    terminal.socket.send(message)
  }
  terminal.type("printf 'st''ill='; stty size\r")
  await terminal.shows(/still=40 100/)
})

test('one terminal more than allowed is closed with a reason, until another one closes', async (t) => {
  const { port } = await startApp(t, { terminals: 1 })
  const first = await openTerminal(t, port)
  const second = new WebSocket(`ws://127.0.0.1:${port}/api/terminal`)
  const [code, reason] = await once(second, 'close')
  assert.equal(code, 4429)
  assert.match(String(reason), /At most 1/)
  first.socket.close()
  await once(first.socket, 'close')
  const third = await openTerminal(t, port)
  third.type("printf 'he''re'\r")
  await third.shows(/here/)
})

test("a page of another site cannot open a terminal, the workspace's own can", async (t) => {
  const { port } = await startApp(t)
  assert.equal(await statusOf(port, { origin: 'https://evil.example' }), 403)
  assert.equal(await statusOf(port, { origin: 'https://a.example', 'x-forwarded-host': 'b.example' }), 403)
  assert.equal(await statusOf(port, { origin: 'https://a.example', 'x-forwarded-host': 'a.example' }), 101)
})

test("with Berth's keys, a terminal is for the owner with a token for this container only", async (t) => {
  const { jwks, sign } = await makeKeys()
  const env = { BERTH_JWKS: jwks, BERTH_EMAIL: 'ann@example.org', BASE_PATH: '/ann-dev' }
  const { port } = await startApp(t, { env })
  const owner = { 'x-berth-user': 'ann@example.org' }
  const cookie = `spawner_token=${await sign({ aud: '/ann-dev' })}`
  assert.equal(await statusOf(port, {}), 401)
  assert.equal(await statusOf(port, owner), 401)
  assert.equal(await statusOf(port, { cookie }), 403)
  assert.equal(await statusOf(port, { cookie, 'x-berth-user': 'eve@example.org' }), 403)
  assert.equal(await statusOf(port, { ...owner, authorization: `Bearer ${await sign({ aud: '/eve-dev' })}` }), 401)
  assert.equal(await statusOf(port, { ...owner, cookie }), 101)
})

test('a site has no terminal', async (t) => {
  const { port } = await startApp(t, { mode: 'site' })
  assert.equal(await statusOf(port, {}), 404)
})
