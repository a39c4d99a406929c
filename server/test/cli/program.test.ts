import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { createProgram, commandsOf } from '#/cli/program.ts'
import { writeWhereabouts } from '#/processes/whereabouts.ts'
import { openDatabase } from '#/store/database.ts'
import { insertUser, moveUserState } from '#/store/users.ts'
import { resultOf, runCommand, startCommand } from '#test/support/command-line.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'berth-cli-'))
after(() => rmSync(folder, { recursive: true, force: true }))
const noEngine = { DOCKER_HOST: 'unix:///nowhere/docker.sock' }
const nobody = () => assert.fail('nothing is run here')
const program = createProgram(nobody, { getOutHelpWidth: () => 80 })
const commands = [...commandsOf(program)]

/** A store with one administrator and Ann, and no service. */
async function makeData(name: string): Promise<string> {
  const dataDir = path.join(folder, name)
  const { db, close } = await openDatabase(null, dataDir)
  const boss = await insertUser(db, { email: 'boss@x.org', slug: 'boss', isAdmin: true, now: new Date() })
  await moveUserState(db, boss.id, 'registered', 'verified')
  await insertUser(db, { email: 'ann@x.org', slug: 'ann', isAdmin: false, now: new Date() })
  await close()
  return dataDir
}

test('every command has two examples and says what happens to what runs, and the document has its help word by word', async () => {
  const document = await readFile(path.resolve(import.meta.dirname, '../../../docs/cli.md'), 'utf8')
  assert.ok(commands.length > 10)
  for (const [words, command] of [['', program] as const, ...commands]) {
    let help = ''
    command.configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => 80 }).outputHelp()
    const examples = [...help.matchAll(/^ {2}berth (.*)$/gm)].map(([, line = '']) => line)
    assert.ok(examples.length >= 2, words)
    if (words !== '')
      assert.ok(
        examples.every((line) => line.startsWith(words)),
        words,
      )
    assert.ok(document.includes(help.trimEnd()), `docs/cli.md has another help of "berth ${words}":\n${help}`)
  }
  const headings = [...document.matchAll(/^### `berth (.*)`$/gm)].map(([, words]) => words)
  assert.deepEqual(headings.sort(), commands.map(([words]) => words).sort())
})

test('wrong usage is told on stderr with exit code 2, help goes to stdout with 0', async () => {
  for (const args of [
    ['users', 'list', '--colour'],
    ['containers', 'block', 'x'],
  ]) {
    const { code, stdout, stderr } = await runCommand({ DATA_DIR: await makeDataOnce() }, ...args)
    assert.equal(code, 2, `${args.join(' ')}: ${stderr}`)
    assert.equal(stdout, '')
    assert.notEqual(stderr, '')
  }
  const { code, stdout } = await runCommand({}, 'users', '--help')
  assert.deepEqual([code, stdout.includes('block')], [0, true])
})

let made: Promise<string> | undefined
const makeDataOnce = () => (made ??= makeData('usage'))

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
  await assert.rejects(readFile(empty), { code: 'ENOENT' })
})

test('config check says what is wrong, and whether store, engine and mail server answer, without touching the store', async () => {
  const dataDir = path.join(folder, 'unmade')
  const wrong = await runCommand({ DATA_DIR: dataDir, PORT: 'x' }, 'config', 'check', '--json')
  assert.equal(wrong.code, 1)
  assert.equal(JSON.parse(wrong.stdout).settings.problems.length, 1)
  const closed = await closedPort()
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

test('nothing is deleted where nobody can be asked, and each refusal is told while the others are done', async () => {
  const settings = { ...noEngine, DATA_DIR: await makeData('delete') }
  const asked = await runCommand(settings, 'users', 'delete', 'ann@x.org')
  assert.equal(asked.code, 1)
  assert.match(asked.stderr, /ann@x\.org \(id 2\).*\n.*add --yes/)
  const deleted = await runCommand(
    settings,
    'users',
    'delete',
    'nobody@x.org',
    'ann@x.org',
    'boss@x.org',
    '--yes',
    '--json',
  )
  assert.equal(deleted.code, 1)
  const { done, failed } = JSON.parse(deleted.stdout) as { done: { id: number }[]; failed: { target: string }[] }
  assert.deepEqual(
    done.map(({ id }) => id),
    [2],
  )
  assert.deepEqual(
    failed.map(({ target }) => target),
    ['nobody@x.org', 'boss@x.org'],
  )
  assert.match(deleted.stderr, /last administrator/)
  assert.match(deleted.stderr, /Berth does the rest when it starts/)
})

test('without a service keys are rotated all the same: the new one signs, the old one is accepted still', async () => {
  const settings = { ...noEngine, DATA_DIR: await makeData('keys') }
  const list = async () => {
    const { stdout } = await runCommand(settings, 'keys', 'list', '--json')
    const keys = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, string>)
    assert.ok(keys.every((key) => key.d === undefined))
    return keys.map(({ kid }) => kid)
  }
  const [first] = await list()
  const rotated = await runCommand(settings, 'keys', 'rotate', '--json')
  const { kid, retired } = JSON.parse(rotated.stdout) as { kid: string; retired: { kid: string }[] }
  assert.notEqual(kid, first)
  assert.equal(retired[0]?.kid, first)
  assert.deepEqual(await list(), [kid, first])
})

test('the audit log is exported whole into a file that is never written over, and listed by action and day', async () => {
  const settings = { ...noEngine, DATA_DIR: await makeData('audit') }
  const run = (...args: string[]) => runCommand(settings, 'audit', ...args)
  await runCommand(settings, 'users', 'block', 'ann@x.org')
  await runCommand(settings, 'users', 'promote', 'ann@x.org')
  const out = path.join(folder, 'audit.csv')
  const exported = await run('export', '--format', 'csv', '--out', out)
  assert.deepEqual([exported.code, exported.stdout], [0, ''], exported.stderr)
  const lines = (await readFile(out, 'utf8')).trimEnd().split('\r\n')
  assert.match(lines[0] ?? '', /^id,at,/)
  assert.deepEqual(
    lines.slice(1).map((line) => line.split(',')[4]),
    ['user.promote', 'user.block'],
  )
  const again = await run('export', '--out', out)
  assert.deepEqual([again.code, again.stdout], [1, ''])
  assert.match(again.stderr, /is there already/)
  const listed = await run('list', '--action', 'user.', '--limit', '1', '--json')
  assert.equal((JSON.parse(listed.stdout) as { action: string }).action, 'user.promote')
  const tomorrow = new Date(Date.now() + 86_400_000).toISOString()
  assert.deepEqual(await run('list', '--since', tomorrow), { code: 0, stdout: '', stderr: 'Nothing.\n' })
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

test('a list of any length comes page by page, whole and in order', async () => {
  const dataDir = await makeData('many')
  const { transaction, close } = await openDatabase(null, dataDir)
  await transaction(async (tx) => {
    for (let n = 0; n < 1_100; n++)
      await insertUser(tx, { email: `p${n}@x.org`, slug: `p${n}`, isAdmin: false, now: new Date() })
  })
  await close()
  const { code, stdout } = await runCommand({ ...noEngine, DATA_DIR: dataDir }, 'users', 'list', '--json')
  assert.equal(code, 0)
  const ids = stdout
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { id: number }).id)
  assert.deepEqual(
    ids,
    Array.from({ length: 1_102 }, (_, n) => n + 1),
  )
})

test('a class is invited from a file, in parts, with a line for each', async () => {
  const settings = { ...noEngine, DATA_DIR: await makeData('invite') }
  const people = Array.from({ length: 60 }, (_, n) => `Student ${n},s${n}@school.org`)
  const file = path.join(folder, 'class.csv')
  writeFileSync(file, `Name,Email\n${people.join('\n')}\nNobody,no address\n`)
  const args = ['users', 'invite', 'boss@x.org', '--csv', file, '--no-mail', '--json']
  const first = await runCommand(settings, ...args)
  assert.equal(first.code, 1)
  assert.match(first.stderr, /1 of 62 could not be invited/)
  const invitations = first.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, string>)
  const count = (status: string) => invitations.filter((each) => each.status === status).length
  assert.deepEqual([count('invited'), count('already-registered'), count('invalid')], [60, 1, 1])
  const links = invitations.flatMap(({ link }) => link ?? [])
  assert.equal(new Set(links).size, 60)
  assert.ok(links.every((link) => link.includes('/verify-signup?token=')))
  const listed = await runCommand(settings, 'users', 'list', '--search', '@school.org', '--json')
  assert.equal(listed.stdout.trimEnd().split('\n').length, 60)
  const none = await runCommand(settings, 'users', 'invite')
  assert.deepEqual([none.code, none.stdout], [2, ''])
})

test('a file of a service that was killed keeps nobody from the store; one whose service lives is waited for', async () => {
  const dataDir = await makeData('killed')
  const settings = { ...noEngine, DATA_DIR: dataDir }
  const ended = startCommand(settings, ['--help'])
  await once(ended, 'exit')
  writeWhereabouts(dataDir, { socket: path.join(folder, 'gone.sock'), pid: ended.pid ?? 0, since: new Date() })
  const listed = await runCommand(settings, 'users', 'list', '--json')
  assert.equal(listed.code, 0, listed.stderr)
  assert.equal(listed.stdout.trim().split('\n').length, 2)

  const socket = path.join(folder, 'late.sock')
  writeWhereabouts(dataDir, { socket, pid: process.pid, since: new Date() })
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
})

test('Ctrl-C ends it at once with exit code 130, whatever it waits for', async () => {
  const dataDir = await makeData('silent')
  const socket = path.join(folder, 'silent.sock')
  const asked = Promise.withResolvers<void>()
  let connections = 0
  const silent = createServer((connection) => {
    connection.on('error', () => {})
    // The first only asks whether anybody is there.
    if (++connections === 2) asked.resolve()
  })
  silent.listen(socket)
  await once(silent, 'listening')
  writeWhereabouts(dataDir, { socket, pid: process.pid, since: new Date() })
  const command = startCommand({ DATA_DIR: dataDir }, ['users', 'list'])
  const result = resultOf(command)
  await Promise.race([asked.promise, result])
  command.kill('SIGINT')
  const { code, stdout, stderr } = await result
  silent.close()
  assert.deepEqual([code, stdout], [130, ''])
  assert.match(stderr, /interrupted/)
})

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  return typeof address === 'object' && address ? address.port : assert.fail()
}
