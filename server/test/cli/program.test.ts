import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import type { Command } from 'commander'
import { createProgram, commandsOf } from '@berth/cli/program.ts'
import { writePidFile } from '@berth/gateway/supervisor/run-folder.ts'
import { makeStore, noEngine, resultOf, runCommand, startCommand } from '#test/support/command-line.ts'
import { freePort } from '#test/support/free-port.ts'
import { onlyLong } from '#test/support/extent.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'berth-cli-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const makeData = (name: string) => makeStore(path.join(folder, name))
const neverRun = () => assert.fail('nothing is run here')
const program = createProgram(neverRun, { getOutHelpWidth: () => 80 })
const commands = [...commandsOf(program)]

test('every command has two examples of its own', () => {
  assert.ok(commands.length > 10)
  for (const [words, command] of commands) {
    const examples = [...helpOf(command).matchAll(/^ {2}berth (.*)$/gm)].map(([, line = '']) => line)
    assert.ok(examples.length >= 2 && examples.every((line) => line.startsWith(words)), words)
  }
})

function helpOf(command: Command): string {
  let help = ''
  command.configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => 80 }).outputHelp()
  return help
}

test('the version is that of the package', async () => {
  const { version } = JSON.parse(
    await readFile(path.resolve(import.meta.dirname, '../../../package.json'), 'utf8'),
  ) as { version: string }
  const { code, stdout } = await runCommand({ DATA_DIR: await makeData('version') }, '--version')
  assert.deepEqual([code, stdout.trim()], [0, version])
})

test('wrong usage is reported on stderr with exit code 2, help goes to stdout with 0', async () => {
  const dataDir = await makeData('usage')
  for (const args of [
    ['users', 'list', '--colour'],
    ['containers', 'block', 'x'],
  ]) {
    const { code, stdout, stderr } = await runCommand({ DATA_DIR: dataDir }, ...args)
    assert.equal(code, 2, `${args.join(' ')}: ${stderr}`)
    assert.equal(stdout, '')
    assert.notEqual(stderr, '')
  }
  const { code, stdout } = await runCommand({}, 'users', '--help')
  assert.deepEqual([code, stdout.includes('block')], [0, true])
})

test('where there is no Berth, or its settings are wrong, it says so and makes nothing', async () => {
  const empty = path.join(folder, 'empty')
  const missing = await runCommand({ DATA_DIR: empty }, 'users', 'list')
  assert.equal(missing.code, 1)
  assert.match(missing.stderr, /There is no Berth in .*empty/)
  const wrong = await runCommand({ DATA_DIR: empty, PORT: 'x', LOG_LEVEL: 'loud' }, 'users', 'list')
  assert.equal(wrong.code, 1)
  assert.match(wrong.stderr, /PORT: .*\n.*LOG_LEVEL: /)
  const status = await runCommand({ DATA_DIR: empty }, 'status', '--json')
  assert.deepEqual([status.code, JSON.parse(status.stdout)], [0, { running: false, data_dir: empty }])
  // It named "npm start" alone, which package and image do not have.
  assert.match((await runCommand({ DATA_DIR: empty }, 'status')).stdout, /Start its service, such as by "systemctl/)
  await assert.rejects(readFile(empty), { code: 'ENOENT' })
})

test('config check says what is wrong, and whether store, engine and mail server answer, without touching the store', async () => {
  const dataDir = path.join(folder, 'unmade')
  const wrong = await runCommand({ DATA_DIR: dataDir, PORT: 'x' }, 'config', 'check', '--json')
  assert.equal(wrong.code, 1)
  assert.equal(JSON.parse(wrong.stdout).settings.problems.length, 1)
  const closed = await freePort()
  const settings = { ...noEngine, DATA_DIR: dataDir, SMTP_URL: `smtp://me:secret@127.0.0.1:${closed}` }
  const away = await runCommand({ ...settings, DATABASE_URL: `postgres://127.0.0.1:${closed}/x` }, 'config', 'check')
  assert.equal(away.code, 1)
  for (const part of ['store', 'engine', 'mail'])
    assert.match(away.stdout, new RegExp(`^${part} +does not answer`, 'm'))
  assert.ok(!(away.stdout + away.stderr).includes('secret'))
  const fine = await runCommand({ DATA_DIR: dataDir }, 'config', 'check')
  assert.deepEqual([fine.code, fine.stderr], [0, ''], fine.stdout)
  await assert.rejects(readFile(dataDir), { code: 'ENOENT' })
})

test('the shell script finds its place by a link to it, and files where one is', async () => {
  const link = path.join(folder, 'berth')
  symlinkSync(path.resolve(import.meta.dirname, '../../../berth'), link)
  writeFileSync(path.join(folder, 'few.csv'), 'email\nno address\n')
  const env = { PATH: process.env.PATH, DATA_DIR: await makeData('script'), ...noEngine }
  const child = spawn(link, ['users', 'invite', '--csv', 'few.csv', '--no-mail'], { cwd: folder, env })
  const { code, stdout } = await resultOf(child)
  assert.deepEqual([code, stdout], [1, 'no address: is no address that mail can be sent to\n'])
})

test(
  'the file of a killed service does not block the store; one whose service runs is waited for',
  onlyLong,
  async () => {
    const dataDir = await makeData('killed')
    const settings = { ...noEngine, DATA_DIR: dataDir }
    const ended = startCommand(settings, ['--help'])
    await once(ended, 'exit')
    writePidFile(dataDir, { socket: path.join(folder, 'gone.sock'), pid: ended.pid ?? 0, since: new Date() })
    const listed = await runCommand(settings, 'users', 'list', '--json')
    assert.equal(listed.code, 0, listed.stderr)
    assert.equal(listed.stdout.trim().split('\n').length, 2)

    const socket = path.join(folder, 'late.sock')
    writePidFile(dataDir, { socket, pid: process.pid, since: new Date() })
    const waiting = startCommand(settings, ['status'])
    const result = resultOf(waiting)
    await Promise.race([once(waiting.stderr ?? assert.fail(), 'data'), result])
    const server = createServer((connection) => {
      connection.on('error', () => {})
      connection.once('data', () => connection.end('HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n'))
    })
    server.listen(socket)
    const { code, stderr } = await result
    server.close()
    assert.equal(code, 1)
    assert.match(stderr, /waiting for it.*\nberth: The server answered 500/)
  },
)

test('Ctrl-C ends it at once with exit code 130, whatever it waits for', async () => {
  const dataDir = await makeData('silent')
  const socket = path.join(folder, 'silent.sock')
  const asked = Promise.withResolvers<void>()
  let connections = 0
  const silent = createServer((connection) => {
    connection.on('error', () => {})
    // The first only asks whether a service answers.
    if (++connections === 2) asked.resolve()
  })
  silent.listen(socket)
  await once(silent, 'listening')
  writePidFile(dataDir, { socket, pid: process.pid, since: new Date() })
  const command = startCommand({ DATA_DIR: dataDir }, ['users', 'list'])
  const result = resultOf(command)
  await Promise.race([asked.promise, result])
  command.kill('SIGINT')
  const { code, stdout, stderr } = await result
  silent.close()
  assert.deepEqual([code, stdout], [130, ''])
  assert.match(stderr, /interrupted/)
})
