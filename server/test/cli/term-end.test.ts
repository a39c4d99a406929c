import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { openDatabase } from '#/store/database.ts'
import { makeStore, noEngine, runCommand } from '#test/support/command-line.ts'
import { onlyLong } from '#test/support/extent.ts'

test(
  'the operator previews, begins and cancels the end of a term; without a service it waits for the next start',
  onlyLong,
  async (t) => {
    const dataDir = await makeStore(await mkdtemp(path.join(tmpdir(), 'berth-term-end-')))
    t.after(() => rm(dataDir, { recursive: true, force: true }))
    const berth = (...args: string[]) => runCommand({ ...noEngine, DATA_DIR: dataDir }, 'groups', ...args)
    assert.equal((await berth('create', 'Physics 7b')).code, 0)
    const endTerm = (...args: string[]) => berth('end-term', 'Physics 7b', ...args)

    assert.match((await endTerm()).stderr, /None/)
    const preview = await endTerm('--preview')
    assert.equal(preview.code, 0, preview.stderr)
    assert.match(preview.stderr, /0 accounts of 0 members and 0 containers are removed\.\n0 homes are archived/)

    const [remove, keep] = ['2096-08-07T00:00:00Z', '2026-10-31T00:00:00Z']
    const unconfirmed = await endTerm('--keep-until', keep)
    assert.equal(unconfirmed.code, 1)
    assert.match(unconfirmed.stderr, /add --yes to confirm/)
    assert.match((await endTerm('--keep-until', keep, '--remove-at', remove, '--yes')).stderr, /kept for longer/)
    const later = new Date(Date.now() + 86_400_000).toISOString()
    const begun = await endTerm('--keep-until', later, '--yes', '--json')
    assert.equal(begun.code, 0, begun.stderr)
    assert.equal(JSON.parse(begun.stdout).phase, 'archiving')
    assert.match(
      (await endTerm()).stdout,
      /^Phase: archived and mailed, waits for the removal\nMembers: none\nArchives: 0, 0 MiB, until /,
    )
    // It asked once a second for ever.
    const waited = await endTerm('--wait')
    assert.equal(waited.code, 1)
    assert.match(waited.stderr, /Berth does not run\. The end of term of Physics 7b goes on when it is started/)
    const database = await openDatabase(null, dataDir)
    await database.db.updateTable('term_ends').set({ problem: 'administrator' }).execute()
    await database.close()
    assert.match((await endTerm('--wait')).stderr, /is no administrator any more\. Add --retry/)
    assert.match((await endTerm('--retry')).stdout, /^Phase: archived and mailed, /)
    assert.match((await berth('delete', 'Physics 7b')).stderr, /is under way/)
    assert.match((await endTerm('--forget', 'ann@x.org')).stderr, /keeps nothing of ann@x\.org/)
    assert.match((await endTerm('--cancel')).stdout, /cancelled/)
    assert.match((await endTerm()).stderr, /None/)
    assert.equal((await endTerm('--cancel', '--retry')).code, 2)
  },
)
