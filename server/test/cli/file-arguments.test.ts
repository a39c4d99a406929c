import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { commandLineProgram } from '@berth/gateway/supervisor/api-program.ts'
import { makeStore, noEngine, resultOf, runCommand } from '#test/support/command-line.ts'

// The program changes to its own folder, where these commands looked for the files that an operator named.
test('file arguments are relative to the folder that the operator is in', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'berth-files-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const dataDir = await makeStore(path.join(folder, 'data'))
  const berth = (...args: string[]) => runCommand({ ...noEngine, DATA_DIR: dataDir, BERTH_FOLDER: folder }, ...args)

  const exported = await berth('users', 'export', 'ann@x.org', '--output', 'ann.json')
  assert.equal(exported.code, 0, exported.stderr)
  assert.equal(JSON.parse(await readFile(path.join(folder, 'ann.json'), 'utf8')).account.email, 'ann@x.org')

  await berth('groups', 'create', 'Physics 7b')
  const hours = { time_zone: 'Europe/Berlin', lessons: [], stop_at: '22:00', exceptions: [] }
  await writeFile(path.join(folder, 'hours.json'), JSON.stringify(hours))
  const set = await berth('groups', 'timetable', 'Physics 7b', '--set', 'hours.json')
  assert.match(set.stdout, /Stop: 22:00/, set.stderr)
  assert.match(
    (await berth('groups', 'timetable', 'Physics 7b', '--set', 'none.json')).stderr,
    /none\.json cannot be read/,
  )

  await writeFile(path.join(folder, 'address'), 'mysql://db.example.org/berth', { mode: 0o600 })
  assert.match((await berth('store', 'copy', '--to', 'address')).stderr, /--to: address holds no address postgres:/)
})

// Root's class.csv in /root "cannot be read", and nothing said that the package asks as the account of the service.
test('a file that the account may not use is refused with the name of the account', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'berth-files-'))
  const closed = path.join(folder, 'closed')
  await mkdir(closed)
  t.after(async () => {
    // Only root removes a folder that is closed.
    await chmod(closed, 0o700)
    await rm(folder, { recursive: true, force: true })
  })
  const dataDir = await makeStore(path.join(folder, 'data'))
  for (const name of ['class.csv', 'templates.yaml', 'key.txt']) await writeFile(path.join(closed, name), 'x')
  await chmod(closed, 0)
  // Root may read all files, but for a root without these two rights.
  const lesser = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : ['env']
  const berth = (...args: string[]) => {
    const [program = '', ...words] = [...lesser, process.execPath, commandLineProgram(), ...args]
    const env = { PATH: process.env.PATH, ...noEngine, DATA_DIR: dataDir, BERTH_FOLDER: closed }
    return resultOf(spawn(program, words, { env, stdio: ['ignore', 'pipe', 'pipe'] }))
  }
  const account = `This ran as the account ${userInfo().username}: put the file where that account may read or write it.\n`
  for (const args of [
    ['users', 'invite', '--csv', 'class.csv'],
    ['restore', folder, '--check', '--identity', 'key.txt'],
    ['audit', 'export', '--out', 'log.jsonl'],
  ]) {
    const { code, stderr } = await berth(...args)
    assert.ok(code === 1 && stderr.endsWith(account), `${args.join(' ')}: ${stderr}`)
  }
  assert.ok((await berth('templates', 'check', 'templates.yaml')).stdout.endsWith(account))
})
