import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { Client } from 'pg'
import type { Manifest } from '#/backup/backup-format.ts'
import { requireNoStore } from '#/backup/restore-store.ts'
import { startPostgres } from '#test/support/store/postgres.ts'

// The restore moved the keys aside, failed at the schema with the words "this is a bug", and Berth did not start any more.
test('a restore with --force says before it changes anything that the store cannot be moved aside', async (t) => {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'berth-rights-'))
  t.after(() => rmSync(dataDir, { recursive: true }))
  const postgres = await startPostgres()
  t.after(() => postgres.stop())
  const client = new Client({ connectionString: postgres.url })
  await client.connect()
  await client.query('create role tenant login; grant all on schema public to tenant')
  await client.end()
  const manifest = { createdAt: '2026-11-27T02:00:00Z' } as Manifest
  const databaseUrl = postgres.url.replace('//berth@', '//tenant@')
  await assert.rejects(requireNoStore({ databaseUrl, dataDir, force: true }, manifest), /GRANT CREATE ON DATABASE/)
  await requireNoStore({ databaseUrl: postgres.url, dataDir, force: true }, manifest)
  assert.deepEqual(readdirSync(dataDir), [])
})
