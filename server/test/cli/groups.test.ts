import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { makeStore, noEngine, runCommand } from '#test/support/command-line.ts'
import { onlyLong } from '#test/support/extent.ts'

test(
  'the operator makes groups, adds and removes members, and deletes them, without a running service',
  onlyLong,
  async (t) => {
    const dataDir = await makeStore(await mkdtemp(path.join(tmpdir(), 'berth-groups-')))
    t.after(() => rm(dataDir, { recursive: true, force: true }))
    const berth = (...args: string[]) => runCommand({ ...noEngine, DATA_DIR: dataDir }, 'groups', ...args)

    const made = await berth('create', 'Physics 7b', '--max-running', '1')
    assert.equal(made.code, 0, made.stderr)
    assert.match(made.stdout, /Group 1: Physics 7b/)

    const csv = path.join(dataDir, 'class.csv')
    await writeFile(csv, 'name,email\nNew,new@x.org\n')
    const added = await berth('add', 'Physics 7b', 'boss@x.org', '--role', 'manager', '--csv', csv)
    assert.equal(added.code, 0, added.stderr)
    assert.match(added.stdout, /boss@x\.org: added\nnew@x\.org: invited/)
    assert.match((await berth('invitations', 'Physics 7b')).stdout, /new@x\.org +manager/)
    assert.match((await berth('withdraw', 'Physics 7b', 'NEW@x.org')).stdout, /The invitation is withdrawn/)
    const hours = path.join(dataDir, 'hours.json')
    await writeFile(
      hours,
      JSON.stringify({ time_zone: 'Europe/Berlin', lessons: [], stop_at: '22:00', exceptions: [] }),
    )
    assert.match((await berth('timetable', 'Physics 7b', '--set', hours)).stdout, /Europe\/Berlin\nStop: 22:00/)
    assert.match((await berth('timetable', 'Physics 7b', '--remove')).stderr, /None/)
    assert.match((await berth('folder', 'Physics 7b')).stdout, /has no folder/)
    assert.equal((await berth('folder', 'Physics 7b', '--members', 'write')).code, 2, 'without a name')
    assert.match(
      (await berth('folder', 'Physics 7b', '--name', 'physics')).stdout,
      /physics, members read, not measured yet/,
    )
    assert.match((await berth('folder', '1', '--members', 'write')).stdout, /physics, members write/)
    assert.match((await berth('folder', '1', '--remove', '--purge')).stdout, /is removed as soon as/)
    assert.match((await berth('members', '1')).stdout, /boss@x\.org +manager/)
    assert.match((await berth('remove', 'Physics 7b', 'boss@x.org')).stdout, /not a member any more/)
    assert.match((await berth('delete', 'Physics 7b')).stdout, /Physics 7b: The group is deleted/)
    assert.match((await berth('list')).stderr, /None/)
  },
)
