import assert from 'node:assert/strict'
import type { Db } from '#/store/database.ts'
import { insertGroup, localSource, type Group } from '#/store/groups.ts'

/** A local group for these types, without limits and without an end. */
export async function newGroup(db: Db, types: readonly string[], createdAt: Date): Promise<Group> {
  const limits = { running: null, memory: null, cpus: null, gpus: null, disk: null }
  const fields = { name: 'Physics', description: '', types, limits, expiresAt: null, source: localSource }
  return (await insertGroup(db, { ...fields, createdAt })) ?? assert.fail('there is a group of this name')
}
